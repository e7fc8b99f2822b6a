/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Accounts of target and generator threads that exit between two readings.
 *
 * Each CPU has its own ring, to which it writes at a thread's last switch, so a ring has one writer
 * at a time. A reader that comes too late finds a higher `number` than it expects in an entry, and
 * so knows how many entries were lost.
 */
#ifndef STALLSCOPE_EXITED_BPF_H
#define STALLSCOPE_EXITED_BPF_H

#include "thread_state.bpf.h"

/* Entries per CPU; the map has as many for each CPU. */
const volatile __u32 exited_per_cpu = 1;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct thread_time_exited);
} exited_by_index SEC(".maps");

/* Reports an exited thread on `queue`, of `cpu`, after its last switch-out. */
static __noinline int report_exited(struct task_struct *task, struct run_queue *queue, __u32 cpu)
{
	struct thread *thread = bpf_task_storage_get(&thread_by_task, task, NULL, 0);
	struct thread_time_exited *exited;
	__u32 index;

	if (!queue || !exited_per_cpu || !thread || thread->role == THREAD_TIME_BACKGROUND || thread->state != EXITED ||
	    thread->reaped)
		return 0;
	thread->reaped = 1;
	index = cpu * exited_per_cpu + queue->exited % exited_per_cpu;
	exited = bpf_map_lookup_elem(&exited_by_index, &index);
	if (!exited)
		return 0;
	*(volatile __u64 *)&exited->number = 0;
	barrier();
	exited->tid = task->pid;
	exited->tgid = task->tgid;
	exited->parent_tgid = thread->parent_tgid;
	exited->until_ns = thread->since;
	exited->account = thread->account;
	barrier();
	*(volatile __u64 *)&exited->number = ++queue->exited;
	return 0;
}

#endif
