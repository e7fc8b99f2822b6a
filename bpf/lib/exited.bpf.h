/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What those threads of target and generator had that ended between two readings.
 *
 * Each CPU has a ring of its own, written to at the last switch of a thread, when nobody else writes on
 * that CPU. Who reads too late finds a later turn than expected in a place, and so knows what was lost.
 */
#ifndef STALLSCOPE_ENDED_BPF_H
#define STALLSCOPE_ENDED_BPF_H

#include "thread_state.bpf.h"

/* Places of each CPU; as many as the map was made for. */
const volatile __u32 ended_per_cpu = 1;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct thread_time_ended);
} ended_by_place SEC(".maps");

/* On `queue`, of `cpu`, after it has left that for the last time. */
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
