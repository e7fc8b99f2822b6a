/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who had each CPU, and how many of the target's threads waited for it meanwhile.
 *
 * A CPU's numbers are changed under its run queue's lock, which the scheduler holds at a switch and at
 * a wake-up. A thread that is moved while it waits is the exception: what changes of its new CPU without the
 * lock is added up apart, atomically, and the others are read without it.
 */
#ifndef STALLSCOPE_RUN_QUEUE_BPF_H
#define STALLSCOPE_RUN_QUEUE_BPF_H

#include "kernel.bpf.h"
#include "../thread_time.h"

/* More CPUs than that were tried nowhere. */
#define MOST_CPUS 512

/* Before and after a change of what others read meanwhile. Stores stay in order on x86; elsewhere an
 * atomic operation that returns a value orders them. */
#ifdef __TARGET_ARCH_x86
#define step(it)                  \
	do {                      \
		barrier();        \
		(it)->sequence++; \
		barrier();        \
	} while (0)
#else
#define step(it)                                                            \
	do {                                                                \
		__u64 before_it = __sync_fetch_and_add(&(it)->sequence, 1); \
                                                                            \
		/* Unless the value is used, none is returned. */           \
		asm volatile("" ::"r"(before_it));                          \
	} while (0)
#endif
/* An event takes less than a microsecond: who writes longer was itself interrupted. */
#define MOST_TRIES 16

#define AS_FOUND (1ULL << 32)

struct run_queue {
	/* Odd while it is being changed. */
	__u64 sequence;
	/* Up to when the rest is counted. */
	__u64 until;
	/* Who has it (enum thread_time_holder). */
	__u64 holder;
	/* How long each had it. */
	__u64 held_ns[THREAD_TIME_HOLDERS];
	/* Threads of the target that wait for it, and the integral of that: thread x ns; and what others have
	 * changed of both without the lock. */
	__u64 waiting;
	__u64 waited_ns;
	__u64 waiting_moved;
	__u64 waited_moved_ns;
	/* Events of target and generator that were not counted: there was no memory for an account. */
	__u64 drops;
	/* The thread that has it, and how often it was another when it left: nobody reported a switch. As it was
	 * found at the end of an off-window: AS_FOUND, until the first switch. */
	__u64 tid;
	__u64 missed;
	/* Threads of target and generator that ended on it. */
	__u64 ended;
	/* The sets that the thread is in which has it. */
	__u64 groups;
};
_Static_assert(sizeof(struct run_queue) == 128, "whole cache lines: each CPU has its own");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, MOST_CPUS);
	__type(key, __u32);
	__type(value, struct run_queue);
} run_queue_by_cpu SEC(".maps");

/* When the off-window began that lasts, in which nothing is counted; 0 for none (lib/on_window.bpf.h). From when on
 * everything has been counted again since the last. */
__u64 paused_at;
__u64 reconciled_at;

/* The run queue of a task: of its CPU also while it sleeps. */
static __always_inline struct rq *rq_of(struct task_struct *task)
{
	return task->se.cfs_rq->rq;
}

static __always_inline struct run_queue *run_queue_of(__u32 cpu)
{
	return bpf_map_lookup_elem(&run_queue_by_cpu, &cpu);
}

static __always_inline __u64 elapsed(__u64 from, __u64 to)
{
	return to > from ? to - from : 0;
}

/* Copies what begins with a sequence count; whether nobody wrote to it meanwhile. */
static __always_inline bool copy_whole(const __u64 *from, __u64 *to, __u64 bytes)
{
	const volatile __u64 *sequence = from;
	__u64 before;
	int tries;

	for (tries = 0; tries < MOST_TRIES; tries++) {
		before = *sequence;
		barrier();
		__builtin_memcpy(to, from, bytes);
		barrier();
		if (!(before & 1) && *sequence == before)
			return true;
	}
	return false;
}

/* A copy that nobody wrote to meanwhile, if one is to be had. */
static __always_inline void copy_run_queue(const struct run_queue *queue, struct run_queue *copy)
{
	copy_whole(&queue->sequence, &copy->sequence, sizeof(*copy));
}

static __always_inline __u64 waiting_on(const struct run_queue *queue)
{
	return queue->waiting + queue->waiting_moved;
}

/* Up to `until`. */
static __always_inline __u64 waited_on(const struct run_queue *queue)
{
	return queue->waited_ns + queue->waited_moved_ns;
}

/* Counts up to now; under the lock. */
static __always_inline void count_until(struct run_queue *queue, __u64 now)
{
	__u64 passed = queue->until ? elapsed(queue->until, now) : 0;

	queue->held_ns[queue->holder & (THREAD_TIME_HOLDERS - 1)] += passed;
	queue->waited_ns += waiting_on(queue) * passed;
	queue->until = now;
}

/* Of a switch or a wake-up since a time nobody told; after an off-window that is so for a moment. */
static __always_inline void note_missed(struct run_queue *queue, __u64 since)
{
	if (since > reconciled_at)
		queue->missed++;
}

/* How long each had a CPU as of now. */
static __always_inline void holders_at(const struct run_queue *queue, __u64 now, __u64 *held_ns)
{
	__u64 holder = queue->holder & (THREAD_TIME_HOLDERS - 1);
	int each;

	for (each = 0; each < THREAD_TIME_HOLDERS; each++)
		held_ns[each] = queue->held_ns[each];
	held_ns[holder] += elapsed(queue->until, now);
}

/* Of a run queue and its copy: what others change without the lock is not in what was copied whole. */
static __always_inline __u64 waited_at(const struct run_queue *queue, const struct run_queue *copy, __u64 now)
{
	return copy->waited_ns + queue->waited_moved_ns +
	       (copy->waiting + queue->waiting_moved) * elapsed(copy->until, now);
}

/* One of the target's threads more or less waits from now on; under the lock. */
static __always_inline void add_waiting(struct run_queue *queue, __u64 now, __u64 change)
{
	/* It will be counted from `until`, and was not there before now. */
	queue->waited_ns -= change * elapsed(queue->until, now);
	queue->waiting += change;
}

/* The same without the lock. */
static __always_inline void add_waiting_from_afar(struct run_queue *queue, __u64 now, __u64 change)
{
	__sync_fetch_and_add(&queue->waited_moved_ns, -change * elapsed(queue->until, now));
	__sync_fetch_and_add(&queue->waiting_moved, change);
}

#endif
