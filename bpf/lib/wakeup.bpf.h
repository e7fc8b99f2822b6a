/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which pool, process or interrupt ends the waits of target and generator threads, and what did the
 * waker do during the wait?
 *
 * sched_waking runs in the waker's context and notes the waker in the woken thread's record.
 * sched_wakeup, perhaps on another CPU, ends the wait and knows its length. Waits for a disk and
 * timed waits are left out: what ends those is known.
 * Lost: waits for whose pair the map has no room (`wakeup_drops`).
 */
#ifndef STALLSCOPE_WAKEUP_BPF_H
#define STALLSCOPE_WAKEUP_BPF_H

#include "reason.bpf.h"
#include "run_queue.bpf.h"
#include "../wakeup.h"

/* include/linux/preempt.h */
#define SOFTIRQ_OFFSET 0x00000100
#define HARDIRQ_MASK 0x000f0000
#define NMI_MASK 0x00f00000

/* Whether this question is asked. Set by user space. */
const volatile __u32 asks_wakers = 1;

/* A thread's last wait, and its CPU time before it. */
struct last_wait {
	__u32 class;
	__u64 from;
	__u64 until;
	__u64 on_cpu_ns;
};

/* The waker of a thread that is about to wake (enum wakeup_by): its last wait, its CPU time since
 * then up to its current slice, and when that slice began. */
struct waking {
	__u32 by;
	__u64 waker;
	struct last_wait last;
	__u64 ran_ns;
	__u64 runs_since;
};

/* The part of a thread's record that this file changes. */
struct wakeup_state {
	struct last_wait last;
	struct waking waking;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 2 * WAKEUP_MOST);
	__type(key, struct wakeup_pair);
	__type(value, struct wakeup_sum);
} sum_by_pair SEC(".maps");

/* The period to which waits are added: 0 or 1. */
__u8 wakeup_period;
/* Waits that were not counted for want of room. */
__u64 wakeup_drops;

/* Offset from a CPU's run queue to its __preempt_count, or to its pcpu_hot where the kernel has
 * that; 0 if it is unknown. Set by user space: few kernels name their variables
 * (CONFIG_KALLSYMS_ALL). */
const volatile __s64 count_behind_run_queue;

/* This CPU's preempt_count, which says whether it is in an interrupt; 0 if it is unknown. */
static __always_inline __u32 preempt_count(struct task_struct *current)
{
	__u32 count = 0;
	void *place;

	if (bpf_core_field_exists(current->thread_info.preempt.count)) /* arm64 */
		return current->thread_info.preempt.count;
	if (!count_behind_run_queue)
		return 0;
	place = (void *)rq_of(current) + count_behind_run_queue;
	if (bpf_core_field_exists(struct pcpu_hot, preempt_count))
		place += bpf_core_field_offset(struct pcpu_hot, preempt_count);
	bpf_probe_read_kernel(&count, sizeof(count), place);
	return count;
}

/* Whether the thread is in a system call that sends. */
static __always_inline bool sends(struct task_struct *task)
{
	long call = is_kernel_thread(task) ? NO_CALL : call_of(task);

	return call >= 0 && call < THREAD_TIME_CALLS && sleep_class_by_call[call] == THREAD_TIME_OUTPUT;
}

/* Whether the present work on this CPU is not the current thread's. A softirq is the thread's own
 * work if the thread sends to its own machine: it then does the receiver's part in a softirq before
 * it goes on. */
static __always_inline bool is_interrupt(struct task_struct *current)
{
	__u32 count = preempt_count(current);

	if (!current->pid || (count & (HARDIRQ_MASK | NMI_MASK)))
		return true;
	return (count & SOFTIRQ_OFFSET) && !sends(current);
}

/* Whether another thread decides when a wait of this class ends. */
static __always_inline bool has_waker(__u32 class)
{
	return class == THREAD_TIME_FUTEX || class == THREAD_TIME_OUTPUT || class == THREAD_TIME_INPUT ||
	       class == THREAD_TIME_OTHER_CALL ||
	       (class >= THREAD_TIME_EVENT_LWLOCK && class != THREAD_TIME_EVENT_TIMEOUT) ||
	       (class >= THREAD_TIME_KERNEL && class < THREAD_TIME_KERNEL + THREAD_TIME_CALL_KINDS);
}

/* What kind of waker the current thread is (enum wakeup_by); a thread that is neither in an
 * interrupt nor of the kernel may also be of a pool. */
static __always_inline __u32 waker_kind(struct task_struct *current)
{
	if (is_interrupt(current))
		return WAKEUP_BY_INTERRUPT;
	return current->flags & PF_KTHREAD ? WAKEUP_BY_KERNEL : WAKEUP_BY_BACKGROUND;
}

/* A thread is about to be woken from a wait of this class. Returns whether its waker is wanted, by
 * one of the next two functions. */
static __always_inline bool wakeup_on_waking(struct wakeup_state *woken, __u32 class)
{
	woken->waking.by = WAKEUP_BY_UNKNOWN;
	return asks_wakers && has_waker(class);
}

/* The waker is not of a pool. */
static __always_inline void note_other_waker(struct wakeup_state *woken, struct task_struct *current,
					     __u32 kind)
{
	woken->waking.last.until = 0;
	woken->waking.waker = kind == WAKEUP_BY_BACKGROUND ? current->tgid : 0;
	woken->waking.by = kind;
}

/* The waker is the current thread, of `pool`; it has been on CPU since `runs_since`, and before that
 * for `on_cpu_ns`. Its own record does not change meanwhile. */
static __always_inline void note_waker(struct wakeup_state *woken, const struct wakeup_state *waker,
				       __u64 pool, __u64 on_cpu_ns, __u64 runs_since)
{
	struct waking *waking = &woken->waking;

	waking->by = WAKEUP_BY_POOL;
	waking->waker = pool;
	waking->last = waker->last;
	waking->ran_ns = on_cpu_ns - waker->last.on_cpu_ns;
	waking->runs_since = runs_since;
}

/* Divides the waker's time between `from` and `now`: blocked in its last wait; since then on CPU or
 * ready. */
static __always_inline void divide_waker_time(const struct waking *waking, __u64 from, __u64 now,
				      struct wakeup_sum *sum)
{
	const struct last_wait *last = &waking->last;
	__u64 start, ran;

	if (waking->by != WAKEUP_BY_POOL || !last->until)
		return;
	start = last->from > from ? last->from : from;
	sum->blocked_ns = elapsed(start, last->until);
	start = last->until > from ? last->until : from;
	ran = waking->ran_ns + elapsed(waking->runs_since, now);
	sum->on_cpu_ns = ran < elapsed(start, now) ? ran : elapsed(start, now);
	sum->ready_ns = elapsed(start, now) - sum->on_cpu_ns;
}

/* Counts a wait from `from` to `now` of a thread of `pool`, inside a request or not (enum serving_state),
 * ended by the waker in `state`. */
static __always_inline void count_wakeup(struct wakeup_state *state, __u64 pool, __u32 serving,
					 __u64 from, __u64 now)
{
	struct waking *waking = &state->waking;
	struct wakeup_sum sum = { .ns = elapsed(from, now) }, none = {}, *all;
	struct wakeup_pair pair = {};

	divide_waker_time(waking, from, now, &sum);
	pair.woken = pool;
	pair.waker = waking->waker;
	pair.by = waking->by;
	pair.class = state->last.class;
	pair.before = sum.blocked_ns ? waking->last.class : THREAD_TIME_ON_CPU;
	pair.period = wakeup_period;
	pair.serving = serving;
	waking->by = WAKEUP_BY_UNKNOWN;
	if (!pair.woken || (pair.by == WAKEUP_BY_POOL && !pair.waker)) {
		__sync_fetch_and_add(&wakeup_drops, 1);
		return;
	}
	all = bpf_map_lookup_elem(&sum_by_pair, &pair);
	if (!all) {
		/* Another CPU may have inserted the pair first. */
		bpf_map_update_elem(&sum_by_pair, &pair, &none, BPF_NOEXIST);
		all = bpf_map_lookup_elem(&sum_by_pair, &pair);
	}
	if (!all) {
		__sync_fetch_and_add(&wakeup_drops, 1);
		return;
	}
	__sync_fetch_and_add(&all->waits, 1);
	__sync_fetch_and_add(&all->ns, sum.ns);
	if (sum.blocked_ns)
		__sync_fetch_and_add(&all->blocked_ns, sum.blocked_ns);
	if (sum.on_cpu_ns)
		__sync_fetch_and_add(&all->on_cpu_ns, sum.on_cpu_ns);
	if (sum.ready_ns)
		__sync_fetch_and_add(&all->ready_ns, sum.ready_ns);
}

/* A wait of this class ends, from `from` to `until`, of a thread with that time on CPU. It is
 * remembered for when the thread becomes a waker itself (`divide_waker_time`). Returns whether
 * `count_wakeup` is to count it. */
static __always_inline bool wakeup_on_wakeup(struct wakeup_state *state, __u32 class, __u64 from,
					     __u64 until, __u64 on_cpu_ns)
{
	struct last_wait *last = &state->last;

	if (!asks_wakers)
		return false;
	last->class = class;
	last->from = from;
	last->until = until;
	last->on_cpu_ns = on_cpu_ns;
	return state->waking.by != WAKEUP_BY_UNKNOWN;
}

/* What the thread did before is not known any more. */
static __always_inline void forget_waits(struct wakeup_state *state)
{
	state->waking.by = WAKEUP_BY_UNKNOWN;
	state->last.until = 0;
}

#endif
