/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Accounts of target and generator threads that exit between two readings.
 *
 * Each CPU has its own ring, to which it writes at a thread's last switch, so a ring has one writer
 * at a time. A reader that comes too late finds a higher `turn` than it expects at a place, and so
 * knows how many entries were lost.
 */
#ifndef STALLSCOPE_ENDED_BPF_H
#define STALLSCOPE_ENDED_BPF_H

#include "thread_state.bpf.h"

/* Entries per CPU; the map has as many for each CPU. */
const volatile __u32 ended_per_cpu = 1;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct thread_time_ended);
} ended_by_place SEC(".maps");

/* Reports an exited thread on `queue`, of `cpu`, after its last switch-out. */
static __noinline int tell_ended(struct task_struct *task, struct run_queue *queue, __u32 cpu)
{
	struct thread *thread = bpf_task_storage_get(&thread_by_task, task, NULL, 0);
	struct thread_time_ended *ended;
	__u32 place;

	if (!queue || !ended_per_cpu || !thread || thread->role == THREAD_TIME_BACKGROUND || thread->state != ENDED ||
	    thread->reaped)
		return 0;
	thread->reaped = 1;
	place = cpu * ended_per_cpu + queue->ended % ended_per_cpu;
	ended = bpf_map_lookup_elem(&ended_by_place, &place);
	if (!ended)
		return 0;
	*(volatile __u64 *)&ended->turn = 0;
	barrier();
	ended->tid = task->pid;
	ended->tgid = task->tgid;
	ended->parent_tgid = thread->parent_tgid;
	ended->until_ns = thread->since;
	ended->account = thread->account;
	barrier();
	*(volatile __u64 *)&ended->turn = ++queue->ended;
	return 0;
}

#endif
