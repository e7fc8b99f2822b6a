/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is the some and full pressure of a set of threads?
 *
 * Counted as kernel/sched/psi.c counts it for control groups: for each CPU, the number of a group's
 * threads that run or could run, wait for I/O, stall for memory. The state of the CPU follows from
 * these numbers, and the time in each state is added up.
 *
 * One difference, because psi_memstall_enter raises no event for it: a thread stalls for memory
 * from when it blocks on, unless it reclaims.
 */
#ifndef STALLSCOPE_PSI_GROUP_BPF_H
#define STALLSCOPE_PSI_GROUP_BPF_H

#include "reason.bpf.h"
#include "run_queue.bpf.h"
#include "../psi_group.h"

/* Counts of threads by what they do, packed into one word: up to 32,767 of each. */
#define COUNT_BITS 15
#define COULD_RUN (1ULL << 0)
#define WAITS_FOR_IO (1ULL << 15)
#define STALLS (1ULL << 30)
#define STALLS_RUNNING (1ULL << 45)
/* A thread of the group has the CPU. Kept apart from the threads' shares: a thread that has left
 * the CPU without an event does not appear to have it. */
#define HAS_CPU (1ULL << 60)
/* The thread that has the CPU stalls for memory: nothing productive can run there. */
#define STALLS_ON_CPU (1ULL << 62)
#define count_of(threads, unit) (((threads) / (unit)) & ((1 << COUNT_BITS) - 1))
#define flag_of(threads, unit) (((threads) / (unit)) & 3)

/* Whether this question is asked. Set by user space. */
const volatile __u32 asks_psi_group = 1;

/* The part of a thread's record that this file changes. */
struct membership {
	/* The PSI groups that it is in. */
	__u64 groups;
	/* Where it was last counted: groups, share and CPU. */
	__u64 counted;
	__u64 share;
	__u32 counted_cpu;
	/* Set during direct reclaim. */
	__u32 reclaims;
};

/* Index: CPU x PSI_GROUP_MOST + group - 1. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PSI_GROUP_MOST);
	__type(key, __u32);
	__type(value, struct psi_group_stall);
} psi_group_by_index SEC(".maps");

/* PSI groups of the thread that has each CPU. */
struct psi_group_cpu_holder {
	__u64 groups;
	/* Pads to a cache line, so that CPUs share none. */
	__u64 unused[7];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MOST_CPUS);
	__type(key, __u32);
	__type(value, struct psi_group_cpu_holder);
} psi_group_holder_by_cpu SEC(".maps");

static __always_inline struct psi_group_stall *psi_group_on(__u32 group, __u32 cpu)
{
	__u32 index = cpu * PSI_GROUP_MOST + group - 1;

	return group ? bpf_map_lookup_elem(&psi_group_by_index, &index) : NULL;
}

/* The first group in a word of up to PSI_GROUP_PER_THREAD. */
static __always_inline __u32 first_of(__u64 groups)
{
	return groups & ((1 << PSI_GROUP_BITS) - 1);
}

/* 1 if one < other, for numbers below 2^63. Without a branch: the verifier would follow every
 * combination of all the branches. */
static __always_inline __u64 is_less(__u64 one, __u64 other)
{
	__u64 apart = one - other;

	barrier_var(apart);
	return apart >> 63;
}

/* The states that a CPU is in (test_states in kernel/sched/psi.c), as bits by enum
 * psi_group_state. */
static __always_inline __u64 states_of(__u64 threads)
{
	__u64 could_run = count_of(threads, COULD_RUN), stalls = count_of(threads, STALLS);
	__u64 has_cpu = flag_of(threads, HAS_CPU), on_cpu = flag_of(threads, STALLS_ON_CPU);
	__u64 any_io = is_less(0, count_of(threads, WAITS_FOR_IO)), any_stalls = is_less(0, stalls);
	__u64 none_could_run = is_less(could_run, 1);
	__u64 only_stalls = is_less(could_run ^ count_of(threads, STALLS_RUNNING), 1);

	return is_less(has_cpu, could_run) << PSI_GROUP_CPU_SOME |
	       (is_less(has_cpu, 1) & is_less(0, could_run)) << PSI_GROUP_CPU_FULL |
	       any_stalls << PSI_GROUP_MEMORY_SOME |
	       (any_stalls & (only_stalls | is_less(0, on_cpu))) << PSI_GROUP_MEMORY_FULL |
	       any_io << PSI_GROUP_IO_SOME | (any_io & none_could_run) << PSI_GROUP_IO_FULL |
	       (is_less(0, threads >> 1) | (threads & 1)) << PSI_GROUP_NONIDLE;
}

/* `passed` if `state` is one of `states`, else 0. */
static __always_inline __u64 in_state(__u64 states, __u32 state, __u64 passed)
{
	return (states >> state & 1) * passed;
}

/* A change without the lock, or at a time that is already counted: `change_psi_group` will count
 * the new states from `until` on, and they hold from `now` on, so the difference is added to
 * `ns_unlocked`. */
static __always_inline void add_to_psi_group(__u32 group, __u32 cpu, __u64 now, __u64 by)
{
	struct psi_group_stall *stall = psi_group_on(group, cpu);
	__u64 before, passed, old, new;
	__u32 each;

	if (!stall)
		return;
	before = stall->threads + __sync_fetch_and_add(&stall->threads_unlocked, by);
	old = states_of(before);
	new = states_of(before + by);
	passed = now - stall->until;
	for (each = 0; each < PSI_GROUP_STATES; each++) {
		if ((old ^ new) >> each & 1)
			__sync_fetch_and_add(&stall->ns_unlocked[each],
					     in_state(old, each, passed) - in_state(new, each, passed));
	}
}

static __always_inline void add_unlocked(__u64 groups, __u32 cpu, __u64 now, __u64 by)
{
	__u32 each;

	for (each = 0; each < PSI_GROUP_PER_THREAD; each++, groups >>= PSI_GROUP_BITS) {
		if (first_of(groups))
			add_to_psi_group(first_of(groups), cpu, now, by);
	}
}

/* Not static, as the functions below: so the verifier checks it once, not at each call. */
int change_unlocked(__u64 groups, __u32 cpu, __u64 now, __u64 by)
{
	add_unlocked(groups, cpu, now, by);
	return 0;
}

/* Adds the time since `until`, then changes the counts from `now` on; under the lock. */
int change_psi_group(__u32 group, __u32 cpu, __u64 now, __u64 by)
{
	struct psi_group_stall *stall = psi_group_on(group, cpu);
	__u64 passed, states;
	__u32 each;

	if (!stall)
		return 0;
	if (now < stall->until)
		return change_unlocked(group, cpu, now, by);
	passed = now - stall->until;
	step(stall);
	states = states_of(stall->threads + stall->threads_unlocked);
	for (each = 0; each < PSI_GROUP_STATES; each++)
		stall->ns[each] += in_state(states, each, passed);
	stall->until = now;
	stall->threads += by;
	step(stall);
	return 0;
}

int change(__u64 groups, __u32 cpu, __u64 now, __u64 by)
{
	__u32 each;

	for (each = 0; each < PSI_GROUP_PER_THREAD; each++, groups >>= PSI_GROUP_BITS) {
		if (first_of(groups))
			change_psi_group(first_of(groups), cpu, now, by);
	}
	return 0;
}

/* The CPU passes from one thread to another; nothing changes for groups that both are in. */
int change_hands(__u64 from, __u64 to, __u32 cpu, __u64 now)
{
	__u32 each;

	for (each = 0; each < PSI_GROUP_PER_THREAD; each++, from >>= PSI_GROUP_BITS, to >>= PSI_GROUP_BITS) {
		if (first_of(from) == first_of(to))
			continue;
		if (first_of(from))
			change_psi_group(first_of(from), cpu, now, -HAS_CPU);
		if (first_of(to))
			change_psi_group(first_of(to), cpu, now, HAS_CPU);
	}
	return 0;
}

/* Moves a thread's share to another CPU or other groups; without groups the share becomes 0. */
static __always_inline void move_share(struct membership *member, __u64 groups, __u32 cpu, __u64 now)
{
	change_unlocked(member->counted, member->counted_cpu, now, -member->share);
	if (groups)
		change_unlocked(groups, cpu, now, member->share);
	else
		member->share = 0;
	member->counted = groups;
	member->counted_cpu = cpu;
}

/* Changes a thread's share from `now` on; the CPU's run queue is locked. */
static __always_inline void count_as(struct membership *member, __u32 cpu, __u64 now, __u64 share)
{
	__u64 groups = member->groups;
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

/* Share of a thread that waits for a CPU or is throttled. */
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

/* Whether the thread blocks but stays in the run queue for a while, with its dequeue delayed (since
 * 6.12, DELAY_DEQUEUE, commit 152e11f6df29). */
static __always_inline bool is_dequeue_delayed(struct task_struct *task)
{
	return bpf_core_field_exists(task->se.sched_delayed) && task->se.sched_delayed;
}

/* From `now` on the CPU belongs to a thread of these groups, or to none. */
static __always_inline void hand_over(__u32 cpu, __u64 now, __u64 groups)
{
	struct psi_group_cpu_holder *holder = bpf_map_lookup_elem(&psi_group_holder_by_cpu, &cpu);

	if (!holder || holder->groups == groups)
		return;
	change_hands(holder->groups, groups, cpu, now);
	holder->groups = groups;
}

/* The thread's process has these groups from its next event on. */
static __always_inline void psi_group_on_assignment(struct membership *member, __u64 groups)
{
	member->groups = asks_psi_group ? groups : 0;
}

/* The thread leaves its CPU: blocked in a state, or ready. */
static __always_inline void psi_group_on_switch_out(struct membership *member, struct task_struct *task,
						    __u32 cpu, __u64 now, __u32 blocked_in)
{
	__u64 share = 0;

	if (!asks_psi_group)
		return;
	if (member->groups && !(blocked_in & TASK_DEAD))
		share = blocked_in ? share_of_blocked(task) : share_of_ready(task);
	count_as(member, cpu, now, share);
}

/* The thread gets the CPU; NULL for the idle thread, and for one that is not counted. */
static __always_inline void psi_group_on_switch_in(struct membership *member, __u32 cpu, __u64 now)
{
	if (!asks_psi_group)
		return;
	hand_over(cpu, now, member ? member->groups : 0);
	if (member)
		count_as(member, cpu, now, share_of_running(member));
}

/* The thread, which has no CPU, becomes ready. */
static __always_inline void psi_group_on_wakeup(struct membership *member, struct task_struct *task,
						__u32 cpu, __u64 now)
{
	if (asks_psi_group)
		count_as(member, cpu, now, share_of_ready(task));
}

/* The thread migrates at `now`. One that is ready keeps
 * waiting there; a sleeping one migrates only because it is being woken. */
static __always_inline void psi_group_on_migrate(struct membership *member, struct task_struct *task,
						 __u32 to, __u64 now)
{
	if (!asks_psi_group || !member->share)
		return;
	if (count_of(member->share, COULD_RUN))
		move_share(member, member->counted, to, rq_of(task)->clock);
	else
		/* The waker has not updated the clock of the CPU on which the thread slept. */
		move_share(member, is_dequeue_delayed(task) ? member->counted : 0, to, now);
}

/* Direct reclaim begins or ends for a thread that has its CPU; the scheduler does not know. No lock
 * is held but preemption is off, in which before 6.15 only static functions may be called
 * (check_func_call in kernel/bpf/verifier.c). */
static __always_inline void psi_group_on_reclaim(struct membership *member, __u64 now, bool begins)
{
	__u64 share;

	member->reclaims = begins;
	if (!member->share)
		return;
	share = share_of_running(member);
	add_unlocked(member->counted, member->counted_cpu, now, share - member->share);
	member->share = share;
}

#endif
