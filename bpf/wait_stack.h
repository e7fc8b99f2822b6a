/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shared by `lib/wait_stack.bpf.h` and its reader: call stacks of waits, and of those who ended
 * them. Times are ns of CLOCK_BOOTTIME, in waits in progress of the scheduler's clock.
 */
#ifndef STALLSCOPE_WAIT_STACK_H
#define STALLSCOPE_WAIT_STACK_H

#include "thread_time.h"

/* Frames in the kernel. */
#define WAIT_STACK_FRAMES 48
/* What is copied of a stack in user space, bytes, at most; and a page more, because the verifier
 * adds the largest piece to the largest place. */
#define WAIT_STACK_BYTES 16384
#define WAIT_STACK_PAGE 4096
/* Waits in progress that one look can choose. */
#define WAIT_STACK_MOST_WAITING 4096

/* A stack: that of a thread whose wait has ended or is in progress, or that of a waker. */
struct wait_stack {
	/* Whose stack it is. */
	__u32 tgid;
	__u32 tid;
	/* The thread that is woken, if this is its waker's; else 0. The record of the wait follows,
	 * with the same `from`. */
	__u32 woken_tid;
	/* enum thread_time_class of the wait. */
	__u32 class;
	__u64 from;
	__u64 until;
	/* The wait was chosen with the probability drawn_ns / least_ns, if that is less than one. */
	__u64 drawn_ns;
	__u64 least_ns;
	/* The waker: enum wakeup_by, or WAKEUP_BY_UNKNOWN where nobody can have been. */
	__u32 waker_by;
	__u32 waker_tgid;
	__u32 waker_tid;
	__u32 kernel_frames;
	/* The futex that it waits for; 0 for none. */
	__u64 lock;
	/* Registers in user space; `sp` is 0 where it has none. */
	__u64 ip;
	__u64 sp;
	__u64 fp;
	__u64 lr;
	/* Bytes copied from `sp` on, and whether more of the stack may lie behind them. */
	__u32 user_bytes;
	__u32 is_cut;
	/* The innermost first. */
	__u64 kernel[WAIT_STACK_FRAMES];
	/* A record ends behind `user_bytes`. */
	__u8 user[WAIT_STACK_BYTES + WAIT_STACK_PAGE];
};
#define WAIT_STACK_HEAD 496
_Static_assert(__builtin_offsetof(struct wait_stack, user) == WAIT_STACK_HEAD, "as the reader has it");

/* A wait in progress that was chosen. */
struct wait_in_progress {
	__u32 tgid;
	__u32 tid;
	__u32 class;
	/* sched_info.pcount, modulo 2^32: if it has changed, the thread has gone on. */
	__u32 slices;
	__u64 from;
	__u64 until;
	__u64 drawn_ns;
	__u64 least_ns;
};
_Static_assert(sizeof(struct wait_in_progress) == 48, "as the reader has it");

#endif
