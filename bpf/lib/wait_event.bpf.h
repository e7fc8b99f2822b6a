/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Waits by the application's own wait event: how many and how long, per pool.
 *
 * A wait is added to its pool when it ends, and by each reading while it lasts, since a wait for a
 * lock may outlast the recording. `event_ns` says how much has been added; an atomic operation on
 * it decides which of the two adds the rest.
 */
#ifndef STALLSCOPE_WAIT_EVENT_BPF_H
#define STALLSCOPE_WAIT_EVENT_BPF_H

#include "wakeup.bpf.h"

/* Value of `event_ns` when the wait is over and added. */
#define ALL_COUNTED (~0ULL)

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, THREAD_TIME_MOST_EVENTS);
	__type(key, struct thread_time_event);
	__type(value, struct thread_time_event_sum);
} sum_by_event SEC(".maps");

/* Additions that found no room. */
__u64 event_drops;

/* Adds `waits` waits that have ended, and `ns` of waiting. */
static __always_inline void add_wait_event(struct task_struct *task, struct thread *thread, __u32 wait_event,
				     __u64 waits, __u64 ns)
{
	struct thread_time_event key = { .pool = pool_of(task, thread), .wait_event = wait_event };
	struct thread_time_event_sum none = {}, *sum;

	sum = key.pool ? bpf_map_lookup_elem(&sum_by_event, &key) : NULL;
	if (!sum && key.pool) {
		/* Another CPU may have inserted the key first. */
		bpf_map_update_elem(&sum_by_event, &key, &none, BPF_NOEXIST);
		sum = bpf_map_lookup_elem(&sum_by_event, &key);
	}
	if (!sum) {
		__sync_fetch_and_add(&event_drops, 1);
		return;
	}
	if (waits)
		__sync_fetch_and_add(&sum->waits, waits);
	__sync_fetch_and_add(&sum->ns, ns);
}

/* A wait ends that lasted `passed` ns. */
static __always_inline void end_wait_event(struct task_struct *task, struct thread *thread, __u32 wait_event,
				     __u64 passed)
{
	__u64 counted = __sync_lock_test_and_set(&thread->event_ns, ALL_COUNTED);

	if (counted != ALL_COUNTED)
		add_wait_event(task, thread, wait_event, 1, elapsed(counted, passed));
}

/* A wait has lasted `passed` ns and goes on. Called by a reading, perhaps after the wait has
 * ended. */
static __always_inline void continue_wait_event(struct task_struct *task, struct thread *thread, __u32 wait_event,
					 __u64 passed)
{
	__u64 counted = *(volatile __u64 *)&thread->event_ns;
	__u64 more = elapsed(counted, passed);

	if (more && __sync_val_compare_and_swap(&thread->event_ns, counted, passed) == counted)
		add_wait_event(task, thread, wait_event, 0, more);
}

#endif
