/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which role has each CPU, and how many target threads wait for that CPU meanwhile.
 *
 * The scheduler holds the run queue's lock at a switch and at a wake-up, and a CPU's numbers are
 * written under it. A waiting thread that migrates is the exception: the lock of its new CPU is not
 * held, so those changes go to separate fields with atomic additions, and the other fields are read
 * without the lock.
 */
#ifndef STALLSCOPE_RUN_QUEUE_BPF_H
#define STALLSCOPE_RUN_QUEUE_BPF_H

#include "kernel.bpf.h"
#include "../thread_time.h"

/* Not tested on machines with more CPUs. */
#define MOST_CPUS 512

/* Stands before and after a change of data that readers copy without a lock (a sequence count). x86
 * keeps stores in order; elsewhere an atomic operation that returns a value orders them. */
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
/* An event takes less than a microsecond. A writer that takes longer was itself interrupted. */
#define MOST_TRIES 16

#define AS_FOUND (1ULL << 32)

struct run_queue {
	/* Odd while a writer changes the numbers. */
	__u64 sequence;
	/* End of the time that `held_ns` and `waited_ns` cover. */
	__u64 until;
	/* When the present bin ends (struct cpu_edge). */
	__u64 bin_until;
	/* enum thread_time_role: the role of the thread that has the CPU. */
	__u64 holder;
	/* By that role: time for which such a thread had the CPU. */
	__u64 held_ns[THREAD_TIME_ROLES];
	/* Number of target threads that wait for this CPU and its integral over time (threads x
	 * ns); then what was added to both without the lock. */
	__u64 waiting;
	__u64 waited_ns;
	__u64 waiting_unlocked;
	__u64 waited_unlocked_ns;
	/* The thread that has the CPU. AS_FOUND is set from the end of an off-window to the first
	 * switch. */
	__u64 tid;
	/* The thread that has just got the CPU, if its stack is to be taken (wait_stack.bpf.h). */
	__u64 takes_stack_of;
	/* Edges of bins that were noted. */
	__u64 edges;
	/* Not written often: how often another thread than `tid` was found at a switch, because a
	 * switch raised no event; target and generator threads that exited on this CPU; events of
	 * such threads that were not counted: no memory for an account. */
	__u64 missed;
	__u64 exited;
	__u64 drops;
	__u64 unused[6];
};
_Static_assert(sizeof(struct run_queue) == 192, "whole cache lines: each CPU has its own");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, MOST_CPUS);
	__type(key, __u32);
	__type(value, struct run_queue);
} run_queue_by_cpu SEC(".maps");

/* What was so far counted of a CPU, at each edge between bins: for the reader, which looks less often.
 * Between two edges that are further apart than a bin no number changed its speed. */
struct cpu_edge {
	__u64 at;
	__u64 held_ns[THREAD_TIME_ROLES];
	__u64 waited_ns;
};
_Static_assert(sizeof(struct cpu_edge) == 48, "as the reader has it");

/* A ring for each CPU; user space sets the size. Changed and read under the run queue's sequence count. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, MOST_CPUS * CPU_EDGES);
	__type(key, __u32);
	__type(value, struct cpu_edge);
} edge_by_index SEC(".maps");

/* When the present off-window began, in which nothing is counted; 0 for none (lib/on_window.bpf.h).
 * Then: when `resume` had counted all threads again after the last one. */
__u64 off_window_since;
__u64 reconciled_at;
/* sched_clock() less CLOCK_BOOTTIME. Set by user space. */
__s64 clock_ahead_ns;

/* The present time on the scheduler's clock, where no run queue has just been updated. */
static __always_inline __u64 scheduler_now(void)
{
	return bpf_ktime_get_boot_ns() + clock_ahead_ns;
}

/* A task's run queue; for a sleeping task, that of the CPU on which it last ran. */
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

/* Copies data that begins with a sequence count. Returns whether no writer changed it meanwhile. */
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

/* Copies a run queue; the copy may be torn if a writer changed it during each of MOST_TRIES
 * attempts. */
static __always_inline void copy_run_queue(const struct run_queue *queue, struct run_queue *copy)
{
	copy_whole(&queue->sequence, &copy->sequence, sizeof(*copy));
}

static __always_inline __u64 waiting_on(const struct run_queue *queue)
{
	return queue->waiting + queue->waiting_unlocked;
}

/* Target threads' waiting, threads x ns, up to `until`. */
static __always_inline __u64 waited_on(const struct run_queue *queue)
{
	return queue->waited_ns + queue->waited_unlocked_ns;
}

/* Notes the numbers as they were at an edge since `until`. */
static __always_inline void note_edge(struct run_queue *queue, __u32 cpu, __u64 at)
{
	__u32 index = cpu * CPU_EDGES + queue->edges % CPU_EDGES;
	struct cpu_edge *edge = bpf_map_lookup_elem(&edge_by_index, &index);
	__u64 passed = elapsed(queue->until, at);
	int each;

	if (!edge)
		return;
	edge->at = at;
	for (each = 0; each < THREAD_TIME_ROLES; each++)
		edge->held_ns[each] = queue->held_ns[each];
	edge->held_ns[queue->holder & (THREAD_TIME_ROLES - 1)] += passed;
	edge->waited_ns = waited_on(queue) + waiting_on(queue) * passed;
	queue->edges++;
}

/* Notes the first and the last edge up to `now`, before the time since `until` is added. */
static __noinline void end_bins(struct run_queue *queue, __u32 cpu, __u64 now)
{
	__u64 last = now - now % CPU_BIN_NS;

	if (queue->until) {
		if (queue->bin_until < last)
			note_edge(queue, cpu, queue->bin_until);
		note_edge(queue, cpu, last);
	}
	queue->bin_until = last + CPU_BIN_NS;
}

/* Adds the time since `until`; under the lock. */
static __always_inline void count_until(struct run_queue *queue, __u32 cpu, __u64 now)
{
	__u64 passed = queue->until ? elapsed(queue->until, now) : 0;

	if (now >= queue->bin_until)
		end_bins(queue, cpu, now);
	queue->held_ns[queue->holder & (THREAD_TIME_ROLES - 1)] += passed;
	queue->waited_ns += waiting_on(queue) * passed;
	queue->until = now;
}

/* Counts a switch or wake-up without an event. Up to `reconciled_at`, shortly after an off-window,
 * that is expected. */
static __always_inline void note_missed(struct run_queue *queue, __u64 since)
{
	if (since > reconciled_at)
		queue->missed++;
}

/* Time by holder, up to `now`. */
static __always_inline void holders_at(const struct run_queue *queue, __u64 now, __u64 *held_ns)
{
	__u64 holder = queue->holder & (THREAD_TIME_ROLES - 1);
	int each;

	for (each = 0; each < THREAD_TIME_ROLES; each++)
		held_ns[each] = queue->held_ns[each];
	held_ns[holder] += elapsed(queue->until, now);
}

/* Of a run queue and its copy: `waited_unlocked_ns` and `waiting_unlocked` change without the lock
 * and are no part of the consistent copy. */
static __always_inline __u64 waited_at(const struct run_queue *queue, const struct run_queue *copy, __u64 now)
{
	return copy->waited_ns + queue->waited_unlocked_ns +
	       (copy->waiting + queue->waiting_unlocked) * elapsed(copy->until, now);
}

/* `change` more target threads wait from `now` on; under the lock. */
static __always_inline void add_waiting(struct run_queue *queue, __u64 now, __u64 change)
{
	/* `count_until` will multiply by the new number from `until` on, so the time before `now`
	 * is subtracted here. */
	queue->waited_ns -= change * elapsed(queue->until, now);
	queue->waiting += change;
}

/* As `add_waiting`, without the lock. */
static __always_inline void add_waiting_unlocked(struct run_queue *queue, __u64 now, __u64 change)
{
	__sync_fetch_and_add(&queue->waited_unlocked_ns, -change * elapsed(queue->until, now));
	__sync_fetch_and_add(&queue->waiting_unlocked, change);
}

#endif
