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
	__uint(map_flags, BPF_F_NO_PREALLOC);
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

/* A change without the lock, or of a moment that is counted already: from `until` on it will be counted,
 * and it was so from `now` on. */
static __always_inline void add_from_afar(__u32 set, __u32 cpu, __u64 now, __u64 by)
{
	struct sets_stall *stall = set_on(set, cpu);
	__u64 before, passed;
	__u32 old, new, each;

	if (!stall)
		return;
	before = stall->threads + __sync_fetch_and_add(&stall->threads_moved, by);
	old = states_of(before);
	new = states_of(before + by);
	passed = now - stall->until;
	for (each = 0; each < PRESSURE_STATES; each++) {
		if ((old ^ new) & (1 << each))
			__sync_fetch_and_add(&stall->ns_moved[each], new & (1 << each) ? -passed : passed);
	}
}

/* No static function, as the next: the verifier looks at it once. */
int change_from_afar(__u32 set, __u32 cpu, __u64 now, __u64 by)
{
	add_from_afar(set, cpu, now, by);
	return 0;
}

/* Counts up to now, and a change of what the threads do from now on; under the lock. */
int change(__u32 set, __u32 cpu, __u64 now, __u64 by)
{
	struct sets_stall *stall = set_on(set, cpu);
	__u32 states, each;
	__u64 passed;

	if (!stall)
		return 0;
	if (now < stall->until)
		return change_from_afar(set, cpu, now, by);
	passed = now - stall->until;
	step(stall);
	states = states_of(stall->threads + stall->threads_moved);
	for (each = 0; each < PRESSURE_STATES; each++) {
		if (states & (1 << each))
			stall->ns[each] += passed;
	}
	stall->until = now;
	stall->threads += by;
	step(stall);
	return 0;
}

/* To another CPU, or with set 0 to none. */
static __always_inline void move_share(struct membership *member, __u32 set, __u32 cpu, __u64 now)
{
	change_from_afar(member->counted_set, member->counted_cpu, now, -member->share);
	if (set)
		change_from_afar(set, cpu, now, member->share);
	else
		member->share = 0;
	member->counted_set = set;
	member->counted_cpu = cpu;
}

/* A thread does something else from now on, on a CPU whose run queue's lock is held. */
static __always_inline void count_as(struct membership *member, __u32 cpu, __u64 now, __u64 share)
{
	if (member->share == share && member->counted_set == member->set && member->counted_cpu == cpu)
		return;
	if (member->share && (member->counted_set != member->set || member->counted_cpu != cpu))
		move_share(member, member->set, cpu, now);
	if (!member->set)
		return;
	change(member->set, cpu, now, share - member->share);
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
	return COULD_RUN + (member->reclaims ? STALLS + STALLS_RUNNING + STALLS_ON_CPU : 0);
}

/* A CPU is another set's from now on, or nobody's. */
static __always_inline void hand_over(struct run_queue *queue, __u32 cpu, __u64 now, __u32 set)
{
	if (queue->set == set)
		return;
	if (queue->set)
		change(queue->set, cpu, now, -HAS_CPU);
	if (set)
		change(set, cpu, now, HAS_CPU);
	queue->set = set;
}

/* It blocks and stays in the run queue for a while, to be moved with others (since 6.12, DELAY_DEQUEUE,
 * commit 152e11f6df29). */
static __always_inline bool is_half_asleep(struct task_struct *task)
{
	return bpf_core_field_exists(task->se.sched_delayed) && task->se.sched_delayed;
}

/* Making memory free begins or ends for a thread that has its CPU, of which the scheduler knows nothing;
 * where no lock is held, but preemption is off: then before 6.15 only static functions may be called
 * (check_func_call in kernel/bpf/verifier.c). */
static __always_inline void reclaim(struct membership *member, __u64 now, bool begins)
{
	__u64 share;

	member->reclaims = begins;
	if (!member->share)
		return;
	share = share_of_running(member);
	add_from_afar(member->counted_set, member->counted_cpu, now, share - member->share);
	member->share = share;
}

#endif
