/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Some and full waiting of any set of threads, as kernel/sched/psi.c has it for control groups: on each
 * CPU it is counted how many of a set's threads run or could, wait for I/O, stall for memory; from that
 * follows the state of the CPU, and the time in each state is added up.
 *
 * Other than the kernel's, by what the scheduler's events do not tell: a thread that stalls for memory
 * does so from when it blocks on, unless it reclaims (psi_memstall_enter tells nobody).
 */
#ifndef STALLSCOPE_SET_BPF_H
#define STALLSCOPE_SET_BPF_H

#include "run_queue.bpf.h"
#include "../sets.h"

/* What threads do, counted side by side in one word: up to 32,767 of each, of which one has the CPU. */
#define COUNT_BITS 15
#define COULD_RUN (1ULL << 0)
#define WAITS_FOR_IO (1ULL << 15)
#define STALLS (1ULL << 30)
#define STALLS_RUNNING (1ULL << 45)
#define HAS_CPU (1ULL << 60)
/* It has the CPU and stalls for memory: nothing productive can run there. */
#define STALLS_ON_CPU (1ULL << 62)
#define count_of(threads, unit) (((threads) / (unit)) & ((1 << COUNT_BITS) - 1))
#define flag_of(threads, unit) (((threads) / (unit)) & 3)

/* One thread's membership; part of its page. */
struct membership {
	/* Which set it is in. */
	__u32 set;
	/* Where it was counted last, and as what. */
	__u32 counted_set;
	__u32 counted_cpu;
	/* Whether it makes memory free. */
	__u32 reclaims;
	__u64 share;
};

/* Sets that processes, or threads alone (SETS_THREAD), were put into; what they fork inherits. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SETS_MOST_MEMBERS);
	__type(key, __u64);
	__type(value, __u32);
} set_by_member SEC(".maps");

/* CPU by CPU, SETS_MOST of each; as many as there are CPUs. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SETS_MOST);
	__type(key, __u32);
	__type(value, struct sets_stall);
} set_by_place SEC(".maps");

static __always_inline struct sets_stall *set_on(__u32 set, __u32 cpu)
{
	__u32 place = cpu * SETS_MOST + set - 1;

	return set ? bpf_map_lookup_elem(&set_by_place, &place) : NULL;
}

/* A thread looks for its set, itself before its process. */
static __always_inline void join(struct membership *member, struct task_struct *task)
{
	__u64 process = task->tgid, thread = task->pid | SETS_THREAD;
	__u32 *set = bpf_map_lookup_elem(&set_by_member, &thread);

	if (!set)
		set = bpf_map_lookup_elem(&set_by_member, &process);
	if (set && *set <= SETS_MOST)
		member->set = *set;
}

/* In which states a CPU is (test_states in kernel/sched/psi.c): bits by enum pressure_state. */
static __always_inline __u32 states_of(__u64 threads)
{
	__u64 could_run = count_of(threads, COULD_RUN), stalls = count_of(threads, STALLS);
	__u64 has_cpu = flag_of(threads, HAS_CPU);
	__u32 states = 0;

	if (!threads)
		return 0;
	if (count_of(threads, WAITS_FOR_IO)) {
		states |= 1 << PRESSURE_IO_SOME;
		if (!could_run)
			states |= 1 << PRESSURE_IO_FULL;
	}
	if (stalls) {
		states |= 1 << PRESSURE_MEMORY_SOME;
		if (could_run == count_of(threads, STALLS_RUNNING) || flag_of(threads, STALLS_ON_CPU))
			states |= 1 << PRESSURE_MEMORY_FULL;
	}
	if (could_run > has_cpu)
		states |= 1 << PRESSURE_CPU_SOME;
	if (could_run && !has_cpu)
		states |= 1 << PRESSURE_CPU_FULL;
	return states | 1 << PRESSURE_NONIDLE;
}

/* Counts up to now, and a change of what the threads do from now on; under the lock. */
static __always_inline void change(struct sets_stall *stall, __u64 now, __u64 by)
{
	__u64 passed = elapsed(stall->until, now);
	__u32 states, each;

	step(stall);
	if (passed) {
		states = states_of(stall->threads + stall->threads_moved);
		for (each = 0; each < PRESSURE_STATES; each++) {
			if (states & (1 << each))
				stall->ns[each] += passed;
		}
		stall->until += passed;
	}
	stall->threads += by;
	step(stall);
}

/* The same without the lock: what will be counted from `until` was so from now on only. */
static __always_inline void change_from_afar(struct sets_stall *stall, __u64 now, __u64 by)
{
	__u64 passed = elapsed(stall->until, now);
	__u64 before = stall->threads + __sync_fetch_and_add(&stall->threads_moved, by);
	__u32 old = states_of(before), new = states_of(before + by), each;

	for (each = 0; each < PRESSURE_STATES; each++) {
		if ((old ^ new) & (1 << each))
			__sync_fetch_and_add(&stall->ns_moved[each], new & (1 << each) ? -passed : passed);
	}
}

static __noinline void move_share(struct membership *member, __u32 set, __u32 cpu, __u64 now)
{
	struct sets_stall *old = set_on(member->counted_set, member->counted_cpu);
	struct sets_stall *new = set_on(set, cpu);

	if (old)
		change_from_afar(old, now, -member->share);
	if (new)
		change_from_afar(new, now, member->share);
	if (!new)
		member->share = 0;
	member->counted_set = set;
	member->counted_cpu = cpu;
}

/* A thread does something else from now on, on a CPU whose run queue's lock is held. */
static __always_inline void count_as(struct membership *member, __u32 cpu, __u64 now, __u64 share)
{
	struct sets_stall *stall;

	if (!member->set && !member->share)
		return;
	if (member->share && (member->counted_set != member->set || member->counted_cpu != cpu))
		move_share(member, member->set, cpu, now);
	stall = set_on(member->set, cpu);
	if (!stall)
		return;
	change(stall, now, share - member->share);
	member->share = share;
	member->counted_set = member->set;
	member->counted_cpu = cpu;
}

static __always_inline bool stalls_for_memory(struct task_struct *task)
{
	return bpf_core_field_exists(task->in_memstall) && BPF_CORE_READ_BITFIELD(task, in_memstall);
}

/* What a thread counts as that waits for a CPU, or is held by a quota. */
static __always_inline __u64 share_of_ready(struct task_struct *task)
{
	return COULD_RUN + (stalls_for_memory(task) ? STALLS + STALLS_RUNNING : 0);
}

static __always_inline __u64 share_of_blocked(struct task_struct *task)
{
	return (BPF_CORE_READ_BITFIELD(task, in_iowait) ? WAITS_FOR_IO : 0) +
	       (stalls_for_memory(task) ? STALLS : 0);
}

static __always_inline __u64 share_of_running(const struct membership *member)
{
	return COULD_RUN + HAS_CPU +
	       (member->reclaims ? STALLS + STALLS_RUNNING + STALLS_ON_CPU : 0);
}

/* It blocks and stays in the run queue for a while, to be moved with others (DELAY_DEQUEUE). */
static __always_inline bool is_half_asleep(struct task_struct *task)
{
	return bpf_core_field_exists(task->se.sched_delayed) && task->se.sched_delayed;
}

/* Making memory free begins or ends for a thread that has its CPU, of which the scheduler knows nothing;
 * where no lock is held, but preemption is off. */
static __always_inline void reclaim(struct membership *member, __u64 now, bool begins)
{
	struct sets_stall *stall = set_on(member->counted_set, member->counted_cpu);
	__u64 share;

	member->reclaims = begins;
	if (!stall || !flag_of(member->share, HAS_CPU))
		return;
	share = share_of_running(member);
	change_from_afar(stall, now, share - member->share);
	member->share = share;
}

#endif
