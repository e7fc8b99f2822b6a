/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * In which of the application's own wait events do threads wait, and how many and how long, per
 * pool?
 *
 * A wait is added to its pool when it ends, and by each reading while it lasts, since a wait for a
 * lock may outlast the recording. `counted_ns` says how much has been added; an atomic operation
 * on it decides which of the two adds the rest.
 * Cost: two reads of user memory at a switch-out in which a thread with a wait event blocks.
 * Lost: waits for whose pool and event the map has no room (`event_drops`).
 */
#ifndef STALLSCOPE_WAIT_EVENT_BPF_H
#define STALLSCOPE_WAIT_EVENT_BPF_H

#include "reason.bpf.h"
#include "run_queue.bpf.h"

/* Value of `counted_ns` when the wait is over and added. */
#define ALL_COUNTED (~0ULL)
/* Slices between two lookups of the wait event's address: a PostgreSQL process moves it to shared
 * memory early in its life. */
#define SLICES_TO_LOOK 64

/* Whether this question is asked. Set by user space. */
const volatile __u32 asks_wait_event = 1;

/* By the highest byte of a wait event: the class of a sleep; 0 leaves it to the system call. Two
 * events have classes of their own: the WAL flush lock and the wait to send. Set by user space. */
const volatile __u8 class_by_event[THREAD_TIME_EVENT_CLASSES];
const volatile __u32 log_event;
const volatile __u32 output_event;

/* The part of a thread's record that this file changes. */
struct wait_event_state {
	/* Where its process has its wait event (struct thread_time_process). */
	__u64 pointer;
	__u64 offset;
	/* Address at which the wait event was last found; 0 if it has to be looked up. */
	__u64 at;
	/* Its wait event when it blocked, and how much of this wait has been added to that event. */
	__u32 wait_event;
	__u64 counted_ns;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, THREAD_TIME_MOST_EVENTS);
	__type(key, struct thread_time_event);
	__type(value, struct thread_time_event_sum);
} sum_by_event SEC(".maps");

/* Additions that found no room. */
__u64 event_drops;

/* The class of a sleep with this wait event; `class` is the class by system call. */
static __always_inline __u32 class_of_event(__u32 wait_event, __u32 class)
{
	__u32 of_event = class_by_event[(wait_event >> 24) % THREAD_TIME_EVENT_CLASSES];

	/* Kernel waits come first; a stopped thread does not wait for what its wait event says. */
	if (class < THREAD_TIME_FUTEX || class == THREAD_TIME_UNKNOWN || !wait_event || wait_event >> 24 >= THREAD_TIME_EVENT_CLASSES)
		return class;
	if (wait_event == log_event)
		return THREAD_TIME_EVENT_LOG;
	if (wait_event == output_event)
		return THREAD_TIME_OUTPUT;
	return of_event ? of_event : class;
}

/* The wait event in the current task's memory; only a process's first thread has one. 0 for
 * none. */
static __always_inline __u32 event_of(struct wait_event_state *state, struct task_struct *task,
				      __u64 slices)
{
	__u64 structure = 0;
	__u32 wait_event = 0;

	if (!state->pointer || task->pid != task->tgid || !task->mm)
		return 0;
	/* The read does not fault pages in; if the page is absent, the system call decides the
	 * class. */
	if (state->at && slices % SLICES_TO_LOOK &&
	    !bpf_probe_read_user(&wait_event, sizeof(wait_event), (void *)state->at) && wait_event)
		return wait_event;
	state->at = 0;
	if (bpf_probe_read_user(&structure, sizeof(structure), (void *)state->pointer) || !structure ||
	    bpf_probe_read_user(&wait_event, sizeof(wait_event), (void *)(structure + state->offset)))
		return 0;
	state->at = structure + state->offset;
	return wait_event;
}

/* The thread's process got a role, and user space says where its wait event is. */
static __always_inline void wait_event_on_assignment(struct wait_event_state *state,
						     const struct thread_time_process *process)
{
	state->pointer = process->pointer;
	state->offset = process->offset;
	state->at = 0;
}

static __always_inline void wait_event_on_fork(struct wait_event_state *state,
					       const struct wait_event_state *of_parent)
{
	state->pointer = of_parent->pointer;
	state->offset = of_parent->offset;
}

/* A new program has its wait event at another address, if it has one at all. User space looks for
 * it and sets it. */
static __always_inline void wait_event_on_exec(struct wait_event_state *state)
{
	state->pointer = 0;
}

/* A sleep begins whose wait event is known; returns its class, which is `class` by system call. */
static __always_inline __u32 begin_wait_event(struct wait_event_state *state, __u32 wait_event,
					      __u32 class)
{
	/* A stopped thread does not wait for what its wait event says. */
	state->wait_event = asks_wait_event && class != THREAD_TIME_UNKNOWN ? wait_event : 0;
	state->counted_ns = 0;
	return class_of_event(state->wait_event, class);
}

/* The current thread, with this number of slices, is about to sleep; `class` is what it waits for by
 * its system call. Returns the class by its wait event, if it has one. */
static __always_inline __u32 wait_event_on_switch_out(struct wait_event_state *state,
						      struct task_struct *task, __u32 class,
						      __u64 slices)
{
	__u32 wait_event = 0;

	if (asks_wait_event && class != THREAD_TIME_UNKNOWN)
		wait_event = event_of(state, task, slices);
	return begin_wait_event(state, wait_event, class);
}

/* Adds `waits` waits that have ended, and `ns` of waiting. */
static __always_inline void add_wait_event(__u64 pool, __u32 wait_event, __u64 waits, __u64 ns)
{
	struct thread_time_event key = { .pool = pool, .wait_event = wait_event };
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

/* A wait of a thread of this pool ends that lasted `passed` ns. */
static __always_inline void wait_event_on_wakeup(struct wait_event_state *state, __u64 pool,
						 __u32 wait_event, __u64 passed)
{
	__u64 counted = __sync_lock_test_and_set(&state->counted_ns, ALL_COUNTED);

	if (counted != ALL_COUNTED)
		add_wait_event(pool, wait_event, 1, elapsed(counted, passed));
}

/* A reading: a wait has lasted `passed` ns and goes on, or has just ended. */
static __always_inline void wait_event_on_reading(struct wait_event_state *state, __u64 pool,
						  __u32 wait_event, __u64 passed)
{
	__u64 counted = *(volatile __u64 *)&state->counted_ns;
	__u64 more = elapsed(counted, passed);

	if (more && __sync_val_compare_and_swap(&state->counted_ns, counted, passed) == counted)
		add_wait_event(pool, wait_event, 0, more);
}

#endif
