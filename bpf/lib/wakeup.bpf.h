/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Wakers: which pool, process or interrupt ends the waits of target and generator threads, and what
 * a waker did during the wait.
 *
 * sched_waking runs in the waker's context and notes the waker in the woken thread's account.
 * sched_wakeup, perhaps on another CPU, ends the wait and knows its length. Waits for a disk and
 * timed waits are left out: what ends those is known.
 */
#ifndef STALLSCOPE_WAKEUP_BPF_H
#define STALLSCOPE_WAKEUP_BPF_H

#include "thread_state.bpf.h"
#include "../wakeup.h"

/* include/linux/preempt.h */
#define SOFTIRQ_OFFSET 0x00000100
#define HARDIRQ_MASK 0x000f0000
#define NMI_MASK 0x00f00000

/* Ancestors of the same name that count as one program: a server, its workers, their children. */
#define MOST_ABOVE 4
#define FNV_START 0xcbf29ce484222325ULL
#define FNV_PRIME 0x100000001b3ULL

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 2 * WAKEUP_MOST);
	__type(key, struct wakeup_pair);
	__type(value, struct wakeup_sum);
} sum_by_pair SEC(".maps");

/* A pool's number is a hash of its contents, so no list of numbers has to be agreed on. User space
 * looks a number up once, soon after its first use; the map evicts pools that were not used for
 * long. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, WAKEUP_MOST_POOLS);
	__type(key, __u64);
	__type(value, struct wakeup_pool);
} pool_by_number SEC(".maps");

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

/* Copies the name with each digit as `#`, and hashes it. Only the reader collapses runs of `#`:
 * here the verifier would follow every position, which takes seconds at load time. */
static __always_inline __u64 mask_digits(const char *comm, struct wakeup_pool *pool)
{
	__u64 number = (FNV_START ^ pool->tgid) * FNV_PRIME;
	int each;
	char c;

	for (each = 0; each < WAKEUP_NAME; each++) {
		c = comm[each];
		/* Behind the terminator are leftovers of earlier names. */
		if (!c)
			break;
		c = c >= '0' && c <= '9' ? '#' : c;
		pool->name[each] = c;
		number = (number ^ (__u8)c) * FNV_PRIME;
	}
	return number;
}

static __noinline __u64 find_pool(struct task_struct *task)
{
	struct task_struct *leader = task->group_leader, *above;
	char comm[WAKEUP_NAME], name[WAKEUP_NAME], other[WAKEUP_NAME];
	struct wakeup_pool pool = {};
	__u64 number;
	int steps;

	bpf_probe_read_kernel(comm, sizeof(comm), task->comm);
	bpf_probe_read_kernel(name, sizeof(name), leader->comm);
	for (steps = 0; steps < MOST_ABOVE; steps++) {
		above = leader->real_parent->group_leader;
		bpf_probe_read_kernel(other, sizeof(other), above->comm);
		if (above->pid <= 1 || *(__u64 *)name != *(__u64 *)other ||
		    *(__u64 *)(name + 8) != *(__u64 *)(other + 8))
			break;
		leader = above;
	}
	pool.tgid = leader->pid;
	number = mask_digits(comm, &pool);
	if (!bpf_map_lookup_elem(&pool_by_number, &number) &&
	    bpf_map_update_elem(&pool_by_number, &number, &pool, BPF_ANY))
		return 0;
	return number;
}

static __always_inline __u64 pool_of(struct task_struct *task, struct thread *thread)
{
	if (!thread->pool)
		thread->pool = find_pool(task);
	return thread->pool;
}

/* Whether another thread decides when a wait of this class ends. */
static __always_inline bool has_waker(__u32 class)
{
	return class == THREAD_TIME_FUTEX || class == THREAD_TIME_OUTPUT || class == THREAD_TIME_INPUT ||
	       class == THREAD_TIME_OTHER_CALL ||
	       (class >= THREAD_TIME_EVENT_LWLOCK && class != THREAD_TIME_EVENT_TIMEOUT) ||
	       (class >= THREAD_TIME_KERNEL && class < THREAD_TIME_KERNEL + THREAD_TIME_CALL_KINDS);
}

/* Notes the waker in the account of the thread that it is about to wake. The waker is the current
 * thread, so its own account does not change meanwhile. */
static __always_inline void note_waker(struct thread *thread)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct waking *waking = &thread->waking;
	struct thread *waker;

	waking->waker = 0;
	waking->last.until = 0;
	if (is_interrupt(current)) {
		waking->by = WAKEUP_BY_INTERRUPT;
		return;
	}
	if (current->flags & PF_KTHREAD) {
		waking->by = WAKEUP_BY_KERNEL;
		return;
	}
	waker = bpf_task_storage_get(&thread_by_task, current, NULL, 0);
	if (!waker || waker->role == THREAD_TIME_BACKGROUND) {
		waking->by = WAKEUP_BY_BACKGROUND;
		waking->waker = current->tgid;
		return;
	}
	waking->by = WAKEUP_BY_POOL;
	waking->waker = pool_of(current, waker);
	waking->last = waker->last;
	waking->ran_ns = waker->account.ns[THREAD_TIME_ON_CPU] - waker->last.on_cpu_ns;
	waking->runs_since = waker->since;
}

/* Remembers a wait that ends, for when this thread becomes a waker (`divide_waker_time`). */
static __always_inline void note_wait(struct thread *thread, __u64 from, __u64 until)
{
	struct last_wait *last = &thread->last;

	last->class = thread->class;
	last->from = from;
	last->until = until;
	last->on_cpu_ns = thread->account.ns[THREAD_TIME_ON_CPU];
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

/* Counts a wait from `from` to `now` that was ended by the waker in `thread->waking`. */
static __always_inline void count_wakeup(struct task_struct *task, struct thread *thread, __u64 from,
					 __u64 now)
{
	struct waking *waking = &thread->waking;
	struct wakeup_sum sum = { .ns = elapsed(from, now) }, none = {}, *all;
	struct wakeup_pair pair = {};

	divide_waker_time(waking, from, now, &sum);
	pair.woken = pool_of(task, thread);
	pair.waker = waking->waker;
	pair.by = waking->by;
	pair.class = thread->last.class;
	pair.before = sum.blocked_ns ? waking->last.class : THREAD_TIME_ON_CPU;
	pair.period = wakeup_period;
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

#endif
