/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * In which call stack does a thread wait, and in which was the one who ended the wait?
 *
 * A wait of `least_wait_ns` or more is always taken, a shorter one with a probability in proportion
 * to its length (threshold sampling: N. Duffield, C. Lund, M. Thorup, Learn more, sample less, IEEE
 * Transactions on Information Theory 51, 2005). Then each stack stands for its length or for
 * `least_wait_ns`, whichever is more, sums are right on average, and `least_wait_ns` bounds their
 * error and the number of stacks.
 *
 * The lot is drawn when the thread is about to be woken, because the waker is there then; its own
 * stack is taken when it has the CPU again and has not left the kernel (sched_exit_tp, since 6.15):
 * it is what it was during the wait, both in the kernel and in user space. Registers and the top of
 * the stack are copied; user space unwinds them.
 * Cost: 10 us per stack; a reading of the clock per wake-up; a further attachment per switch.
 * Lost: stacks for which the ring has no room (`stacks_lost`); without that tracepoint all
 * of waits that end, so that the question is not asked.
 */
#ifndef STALLSCOPE_WAIT_STACK_BPF_H
#define STALLSCOPE_WAIT_STACK_BPF_H

#include "kernel.bpf.h"
#include "reason.bpf.h"
#include "wakeup.bpf.h"
#include "../wait_stack.h"

/* As large as fits a stack in use between two readings; user space sets the size. */
#define RING_BYTES (4 << 20)
/* A thread's stack is not larger; beyond that a hint at its end is not one. */
#define MOST_STACK_BYTES (8 << 20)
/* This program, its trampoline, the tracepoint. */
#define FRAMES_BEFORE_STACK 3

/* Whether this question is asked. Set by user space. */
const volatile __u32 asks_wait_stacks = 1;

/* Waits of that length are always taken; 0 to take all. Less than 2^32. */
__u64 least_wait_ns;
/* Stacks so far, those of wakers included, and those that found no room. */
__u64 stacks_taken;
__u64 stacks_lost;
/* Waits in progress that `look_at_waits` has chosen, and which one `take_wait_stack` is to take. */
__u32 waits_chosen;
__u32 wait_requested;

/* Of a wait that may be taken. */
enum wait_chosen {
	WAIT_NOT_CHOSEN,
	WAIT_CHOSEN,
	/* It has ended: its stack is to be taken. */
	WAIT_ENDED
};

/* The part of a thread's record that this file changes. */
struct wait_stack_state {
	/* enum wait_chosen */
	__u32 chosen;
	__u32 class;
	__u64 from;
	__u64 until;
	__u64 drawn_ns;
	__u64 least_ns;
	__u32 waker_by;
	__u32 waker_tgid;
	__u32 waker_tid;
	__u32 unused;
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RING_BYTES);
} wait_stack_ring SEC(".maps");

/* Where stacks are put together: of a thread that waited; of a waker, which may be an interrupt in the
 * midst of the first; of a wait in progress. */
enum scratch {
	SCRATCH_WAIT,
	SCRATCH_WAKER,
	SCRATCH_IN_PROGRESS,
	SCRATCHES
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SCRATCHES);
	__type(key, __u32);
	__type(value, struct wait_stack);
} stack_scratch SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WAIT_STACK_MOST_WAITING);
	__type(key, __u32);
	__type(value, struct wait_in_progress);
} wait_in_progress_by_index SEC(".maps");

/* Whether a wait of this length so far is taken, with the threshold `least`. */
static __always_inline bool is_drawn(__u64 waited, __u64 least)
{
	if (waited >= least)
		return true;
	/* Both are less than 2^32. */
	return (__u64)bpf_get_prandom_u32() * least < waited << 32;
}

/* The end of the thread's stack in user space; 0 where it is not known. glibc keeps a thread's own data
 * at the end of its stack. */
static __always_inline __u64 stack_end(struct task_struct *task, __u64 sp)
{
	__u64 end = 0;

	if (task->mm)
		end = BPF_CORE_READ(task, mm, start_stack);
	if (end >= sp && end - sp < MOST_STACK_BYTES)
		return end;
	if (bpf_core_field_exists(((struct task_struct___x86 *)0)->thread.fsbase)) {
		end = BPF_CORE_READ((struct task_struct___x86 *)task, thread.fsbase);
		if (end >= sp && end - sp < MOST_STACK_BYTES)
			return end;
	}
	return 0;
}

/* The registers of a thread at its entry into the kernel, and the futex it waits for. */
static __always_inline void copy_registers(struct wait_stack *to, struct task_struct *task)
{
	void *registers = (void *)bpf_task_pt_regs(task);
	struct pt_regs___x86 *x86 = registers;
	struct pt_regs___arm64 *arm64 = registers;
	long call;

	to->ip = to->sp = to->fp = to->lr = to->lock = 0;
	/* A 32-bit program's stack is not unwound. */
	if (is_kernel_thread(task) || (bpf_core_field_exists(task->thread_info.status) &&
				       (task->thread_info.status & TS_COMPAT)))
		return;
	call = call_of(task);
	if (bpf_core_field_exists(x86->orig_ax)) {
		to->ip = x86->ip;
		to->sp = x86->sp;
		to->fp = x86->bp;
		to->lock = x86->di;
	} else if (bpf_core_field_exists(arm64->syscallno)) {
		to->ip = arm64->pc;
		to->sp = arm64->sp;
		to->fp = arm64->regs[29];
		to->lr = arm64->regs[30];
		to->lock = arm64->orig_x0;
	}
	if (call < 0 || call >= THREAD_TIME_CALLS || sleep_class_by_call[call] != THREAD_TIME_FUTEX)
		to->lock = 0;
}

/* Bytes of the stack that are to be copied, and whether that is all. */
static __always_inline __u32 wanted_bytes(struct wait_stack *to, struct task_struct *task)
{
	__u64 end = to->sp ? stack_end(task, to->sp) : 0;

	to->user_bytes = 0;
	to->is_cut = !end || end - to->sp > WAIT_STACK_BYTES;
	if (!to->sp)
		return 0;
	return to->is_cut ? WAIT_STACK_BYTES : (__u32)(end - to->sp);
}

/* Length of the next piece of a stack, which ends with a page: a page may be absent. */
static __always_inline __u32 piece(const struct wait_stack *to, __u32 wanted)
{
	__u64 from = to->sp + to->user_bytes;
	__u32 length = WAIT_STACK_PAGE - (from & (WAIT_STACK_PAGE - 1));

	return length < wanted - to->user_bytes ? length : wanted - to->user_bytes;
}

/* Puts the stack of the current thread into the ring. */
static __always_inline void send_stack(void *ctx, struct task_struct *current, struct wait_stack *to)
{
	__u32 wanted, length, bytes;
	long kernel;
	int each;

	copy_registers(to, current);
	kernel = bpf_get_stack(ctx, to->kernel, sizeof(to->kernel), FRAMES_BEFORE_STACK);
	to->kernel_frames = kernel > 0 ? (__u32)kernel / sizeof(__u64) : 0;
	wanted = wanted_bytes(to, current);
	for (each = 0; each < WAIT_STACK_BYTES / WAIT_STACK_PAGE + 1 && to->user_bytes < wanted; each++) {
		length = piece(to, wanted);
		bytes = to->user_bytes;
		if (bytes >= WAIT_STACK_BYTES || length > WAIT_STACK_PAGE)
			break;
		if (bpf_probe_read_user(to->user + bytes, length, (void *)(to->sp + bytes)))
			break;
		to->user_bytes = bytes + length;
	}
	bytes = to->user_bytes;
	if (bytes > WAIT_STACK_BYTES)
		return;
	__sync_fetch_and_add(&stacks_taken, 1);
	if (bpf_ringbuf_output(&wait_stack_ring, to, WAIT_STACK_HEAD + bytes, BPF_RB_NO_WAKEUP))
		__sync_fetch_and_add(&stacks_lost, 1);
}

static __always_inline struct wait_stack *scratch_of(__u32 scratch)
{
	return bpf_map_lookup_elem(&stack_scratch, &scratch);
}

/* The thread begins to wait. */
static __always_inline void wait_stack_on_sleep(struct wait_stack_state *state)
{
	state->chosen = WAIT_NOT_CHOSEN;
}

/* The stack of the current thread, which is about to wake `woken`. */
static __noinline int send_waker(void *ctx, struct wait_stack_state *state, __u32 woken)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct wait_stack *to = scratch_of(SCRATCH_WAKER);

	if (!to || !state)
		return 0;
	to->tgid = current->tgid;
	to->tid = current->pid;
	to->woken_tid = woken;
	to->class = state->class;
	to->from = state->from - clock_ahead_ns;
	to->until = state->until - clock_ahead_ns;
	to->drawn_ns = state->drawn_ns;
	to->least_ns = state->least_ns;
	to->waker_by = to->waker_tgid = to->waker_tid = 0;
	send_stack(ctx, current, to);
	return 0;
}

/* A thread that has waited since `from` is about to be woken by the current one. */
static __always_inline void wait_stack_on_waking(void *ctx, struct wait_stack_state *state, __u32 woken,
						 __u32 class, __u64 from, __u64 now)
{
	struct task_struct *current;
	__u64 least = least_wait_ns, waited = elapsed(from, now);

	state->chosen = WAIT_NOT_CHOSEN;
	if (!is_drawn(waited, least))
		return;
	state->chosen = WAIT_CHOSEN;
	state->class = class;
	state->from = from;
	state->until = now;
	state->drawn_ns = waited;
	state->least_ns = least;
	state->waker_by = WAKEUP_BY_UNKNOWN;
	state->waker_tgid = state->waker_tid = 0;
	if (!has_waker(class))
		return;
	current = bpf_get_current_task_btf();
	state->waker_by = waker_kind(current);
	if (state->waker_by != WAKEUP_BY_BACKGROUND)
		return;
	state->waker_tgid = current->tgid;
	state->waker_tid = current->pid;
	send_waker(ctx, state, woken);
}

/* It is ready; the wait is known to have ended at `until`. */
static __always_inline void wait_stack_on_wakeup(struct wait_stack_state *state, __u64 from, __u64 until)
{
	if (state->chosen != WAIT_CHOSEN)
		return;
	state->chosen = WAIT_ENDED;
	state->from = from;
	state->until = until;
}

/* Sends the stack of a wait of the current thread, which has ended. */
static __always_inline void send_wait(void *ctx, struct wait_stack_state *state)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct wait_stack *to = scratch_of(SCRATCH_WAIT);

	if (!to || state->chosen != WAIT_ENDED)
		return;
	state->chosen = WAIT_NOT_CHOSEN;
	to->tgid = current->tgid;
	to->tid = current->pid;
	to->woken_tid = 0;
	to->class = state->class;
	to->from = state->from - clock_ahead_ns;
	to->until = state->until - clock_ahead_ns;
	to->drawn_ns = state->drawn_ns;
	to->least_ns = state->least_ns;
	to->waker_by = state->waker_by;
	to->waker_tgid = state->waker_tgid;
	to->waker_tid = state->waker_tid;
	send_stack(ctx, current, to);
}

/* Notes that a thread waits in this class since `from`, if its lot is drawn. */
static __always_inline void choose_in_progress(struct task_struct *task, __u32 class, __u64 from, __u64 now)
{
	__u64 least = least_wait_ns, waited = elapsed(from, now);
	struct wait_in_progress *entry;
	__u32 index = waits_chosen;

	if (!is_drawn(waited, least))
		return;
	entry = bpf_map_lookup_elem(&wait_in_progress_by_index, &index);
	if (!entry) {
		__sync_fetch_and_add(&stacks_lost, 1);
		return;
	}
	entry->tgid = task->tgid;
	entry->tid = task->pid;
	entry->slices = (__u32)task->sched_info.pcount;
	entry->class = class;
	entry->from = from;
	entry->until = now;
	entry->drawn_ns = waited;
	entry->least_ns = least;
	waits_chosen++;
}

/* Begins the record of a wait in progress; as yet it has no stack. */
static __always_inline struct wait_stack *begin_in_progress(const struct wait_in_progress *entry)
{
	struct wait_stack *to = scratch_of(SCRATCH_IN_PROGRESS);

	if (!to)
		return NULL;
	to->tgid = entry->tgid;
	to->tid = entry->tid;
	to->woken_tid = 0;
	to->class = entry->class;
	to->from = entry->from - clock_ahead_ns;
	to->until = entry->until - clock_ahead_ns;
	to->drawn_ns = entry->drawn_ns;
	to->least_ns = entry->least_ns;
	to->waker_by = WAKEUP_BY_UNKNOWN;
	to->waker_tgid = to->waker_tid = 0;
	to->kernel_frames = to->user_bytes = 0;
	to->ip = to->sp = to->fp = to->lr = to->lock = 0;
	return to;
}

/* Copies the stack of a thread that sleeps. Unlike programs at events this one may wait for a page. */
static __always_inline void copy_sleeper(struct wait_stack *to, struct task_struct *task)
{
	__u32 wanted, length, bytes;
	long kernel;
	int each;

	copy_registers(to, task);
	kernel = bpf_get_task_stack(task, to->kernel, sizeof(to->kernel), 0);
	to->kernel_frames = kernel > 0 ? (__u32)kernel / sizeof(__u64) : 0;
	wanted = wanted_bytes(to, task);
	for (each = 0; each < WAIT_STACK_BYTES / WAIT_STACK_PAGE + 1 && to->user_bytes < wanted; each++) {
		length = piece(to, wanted);
		bytes = to->user_bytes;
		if (bytes >= WAIT_STACK_BYTES || length > WAIT_STACK_PAGE)
			break;
		if (bpf_copy_from_user_task(to->user + bytes, length, (void *)(to->sp + bytes), task, 0))
			break;
		to->user_bytes = bytes + length;
	}
}

/* Puts a wait in progress into the ring; without a stack where its thread, which is NULL then, has ended or goes on
 * meanwhile. */
static __always_inline int send_in_progress(struct task_struct *task, const struct wait_in_progress *entry)
{
	struct wait_stack *to = begin_in_progress(entry);
	__u32 bytes;

	if (!to)
		return 0;
	if (task) {
		copy_sleeper(to, task);
		/* Or another thread has its number. */
		if ((__u32)task->sched_info.pcount != entry->slices || (__u32)task->tgid != entry->tgid)
			to->kernel_frames = to->user_bytes = to->sp = to->lock = 0;
	}
	bytes = to->user_bytes;
	if (bytes > WAIT_STACK_BYTES)
		return 0;
	__sync_fetch_and_add(&stacks_taken, 1);
	if (bpf_ringbuf_output(&wait_stack_ring, to, WAIT_STACK_HEAD + bytes, BPF_RB_NO_WAKEUP))
		__sync_fetch_and_add(&stacks_lost, 1);
	return 0;
}

#endif
