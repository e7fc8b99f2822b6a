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
#include "../psi_group.h"

/* What threads do, counted side by side in one word: up to 32,767 of each. */
#define COUNT_BITS 15
#define COULD_RUN (1ULL << 0)
#define WAITS_FOR_IO (1ULL << 15)
#define STALLS (1ULL << 30)
#define STALLS_RUNNING (1ULL << 45)
/* One of them has the CPU. That is the CPU's own, and no thread's share: who has left it unseen then does
 * not have it on. */
#define HAS_CPU (1ULL << 60)
/* It has the CPU and stalls for memory: nothing productive can run there. */
#define STALLS_ON_CPU (1ULL << 62)
#define count_of(threads, unit) (((threads) / (unit)) & ((1 << COUNT_BITS) - 1))
#define flag_of(threads, unit) (((threads) / (unit)) & 3)

/* One thread's membership; part of its page. */
struct membership {
	/* Which sets it is in by its process. */
	__u64 groups;
	/* Which it was counted in last, where, and as what. */
	__u64 counted;
	__u64 share;
	__u32 counted_cpu;
	/* Whether it reclaims memory. */
	__u32 reclaims;
	/* The set of its pool, and as of which telling: not looked for at events. */
	__u32 pool_group;
	__u32 pools_told;
};

/* Sets of pools by their numbers (wakeup.h). Only user space writes it, and counts then. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, SETS_MOST_POOLS);
	__type(key, __u64);
	__type(value, __u32);
} set_by_pool SEC(".maps");
__u32 pools_told;

/* CPU by CPU, SETS_MOST of each; as many as there are CPUs. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SETS_MOST);
	__type(key, __u32);
	__type(value, struct sets_stall);
} set_by_place SEC(".maps");

static __always_inline struct sets_stall *set_on(__u32 group, __u32 cpu)
{
	__u32 place = cpu * SETS_MOST + group - 1;

	return group ? bpf_map_lookup_elem(&set_by_place, &place) : NULL;
}

static __always_inline __u64 groups_of(const struct membership *member)
{
	return member->groups | member->pool_group;
}

/* The lowest in a word of sets. */
static __always_inline __u32 first_of(__u64 groups)
{
	return groups & ((1 << SETS_BITS) - 1);
}

/* 1 where it is less, of numbers below 2^63. No branch: of all that there are the verifier would follow each
 * combination. */
static __always_inline __u64 is_less(__u64 one, __u64 other)
{
	__u64 apart = one - other;

	barrier_var(apart);
	return apart >> 63;
}

/* In which states a CPU is (test_states in kernel/sched/psi.c): bits by enum pressure_state. */
static __always_inline __u64 states_of(__u64 threads)
{
	__u64 could_run = count_of(threads, COULD_RUN), stalls = count_of(threads, STALLS);
	__u64 has_cpu = flag_of(threads, HAS_CPU), on_cpu = flag_of(threads, STALLS_ON_CPU);
	__u64 any_io = is_less(0, count_of(threads, WAITS_FOR_IO)), any_stalls = is_less(0, stalls);
	__u64 none_could_run = is_less(could_run, 1);
	__u64 only_stalls = is_less(could_run ^ count_of(threads, STALLS_RUNNING), 1);

	return is_less(has_cpu, could_run) << PRESSURE_CPU_SOME |
	       (is_less(has_cpu, 1) & is_less(0, could_run)) << PRESSURE_CPU_FULL |
	       any_stalls << PRESSURE_MEMORY_SOME |
	       (any_stalls & (only_stalls | is_less(0, on_cpu))) << PRESSURE_MEMORY_FULL |
	       any_io << PRESSURE_IO_SOME | (any_io & none_could_run) << PRESSURE_IO_FULL |
	       (is_less(0, threads >> 1) | (threads & 1)) << PRESSURE_NONIDLE;
}

/* The time in a state, if it is one of these. */
static __always_inline __u64 in_state(__u64 states, __u32 state, __u64 passed)
{
	return (states >> state & 1) * passed;
}

/* A change without the lock, or of a moment that is counted already: from `until` on it will be counted,
 * and it was so from `now` on. */
static __always_inline void add_to_set(__u32 group, __u32 cpu, __u64 now, __u64 by)
{
	struct sets_stall *stall = set_on(group, cpu);
	__u64 before, passed, old, new;
	__u32 each;

	if (!stall)
		return;
	before = stall->threads + __sync_fetch_and_add(&stall->threads_moved, by);
	old = states_of(before);
	new = states_of(before + by);
	passed = now - stall->until;
	for (each = 0; each < PRESSURE_STATES; each++) {
		if ((old ^ new) >> each & 1)
			__sync_fetch_and_add(&stall->ns_moved[each],
					     in_state(old, each, passed) - in_state(new, each, passed));
	}
}

static __always_inline void add_from_afar(__u64 groups, __u32 cpu, __u64 now, __u64 by)
{
	__u32 each;

	for (each = 0; each < SETS_AT_ONCE; each++, groups >>= SETS_BITS) {
		if (first_of(groups))
			add_to_set(first_of(groups), cpu, now, by);
	}
}

/* No static function, as those below: the verifier looks at it once. */
int change_from_afar(__u64 groups, __u32 cpu, __u64 now, __u64 by)
{
	add_from_afar(groups, cpu, now, by);
	return 0;
}

/* Counts up to now, and a change of what the threads do from now on; under the lock. */
int change_set(__u32 group, __u32 cpu, __u64 now, __u64 by)
{
	struct sets_stall *stall = set_on(group, cpu);
	__u64 passed, states;
	__u32 each;

	if (!stall)
		return 0;
	if (now < stall->until)
		return change_from_afar(group, cpu, now, by);
	passed = now - stall->until;
	step(stall);
	states = states_of(stall->threads + stall->threads_moved);
	for (each = 0; each < PRESSURE_STATES; each++)
		stall->ns[each] += in_state(states, each, passed);
	stall->until = now;
	stall->threads += by;
	step(stall);
	return 0;
}

int change(__u64 groups, __u32 cpu, __u64 now, __u64 by)
{
	__u32 each;

	for (each = 0; each < SETS_AT_ONCE; each++, groups >>= SETS_BITS) {
		if (first_of(groups))
			change_set(first_of(groups), cpu, now, by);
	}
	return 0;
}

/* A CPU goes from one thread to another: sets that both are in keep it. */
int change_hands(__u64 from, __u64 to, __u32 cpu, __u64 now)
{
	__u32 each;

	for (each = 0; each < SETS_AT_ONCE; each++, from >>= SETS_BITS, to >>= SETS_BITS) {
		if (first_of(from) == first_of(to))
			continue;
		if (first_of(from))
			change_set(first_of(from), cpu, now, -HAS_CPU);
		if (first_of(to))
			change_set(first_of(to), cpu, now, HAS_CPU);
	}
	return 0;
}

/* To another CPU or other sets; with none of them it does nothing any more. */
static __always_inline void move_share(struct membership *member, __u64 groups, __u32 cpu, __u64 now)
{
	change_from_afar(member->counted, member->counted_cpu, now, -member->share);
	if (groups)
		change_from_afar(groups, cpu, now, member->share);
	else
		member->share = 0;
	member->counted = groups;
	member->counted_cpu = cpu;
}

/* A thread does something else from now on, on a CPU whose run queue's lock is held. */
static __always_inline void count_as(struct membership *member, __u32 cpu, __u64 now, __u64 share)
{
	__u64 groups = groups_of(member);
	bool moves = member->counted != groups || member->counted_cpu != cpu;

	if (member->share == share && !moves)
		return;
	if (member->share && moves)
		move_share(member, groups, cpu, now);
	if (!groups)
		return;
	change(groups, cpu, now, share - member->share);
	member->share = share;
	member->counted = groups;
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
	return COULD_RUN + (member->reclaims ? STALLS + STALLS_RUNNING + STALLS_ON_CPU : 0);
}

/* A CPU is a thread's of other sets from now on, or nobody's. */
static __always_inline void hand_over(struct run_queue *queue, __u32 cpu, __u64 now, __u64 groups)
{
	if (queue->groups == groups)
		return;
	change_hands(queue->groups, groups, cpu, now);
	queue->groups = groups;
}

/* It blocks and stays in the run queue for a while, to be moved with others (since 6.12, DELAY_DEQUEUE,
 * commit 152e11f6df29). */
static __always_inline bool is_half_asleep(struct task_struct *task)
{
	return bpf_core_field_exists(task->se.sched_delayed) && task->se.sched_delayed;
}

/* Direct reclaim begins or ends for a thread that has its CPU, of which the scheduler knows nothing;
 * where no lock is held, but preemption is off: then before 6.15 only static functions may be called
 * (check_func_call in kernel/bpf/verifier.c). */
static __always_inline void reclaim(struct membership *member, __u64 now, bool begins)
{
	__u64 share;

	member->reclaims = begins;
	if (!member->share)
		return;
	share = share_of_running(member);
	add_from_afar(member->counted, member->counted_cpu, now, share - member->share);
	member->share = share;
}

#endif
