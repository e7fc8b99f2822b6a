/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Why a thread leaves its CPU, from the kernel's state at that moment.
 *
 * In order of precedence: CPU quota, memory, disk, another kernel wait, the application's wait
 * event (PostgreSQL), the system call.
 */
#ifndef STALLSCOPE_REASON_BPF_H
#define STALLSCOPE_REASON_BPF_H

#include "kernel.bpf.h"
#include "../thread_time.h"

/* include/linux/sched.h */
#define TASK_INTERRUPTIBLE 0x1
#define TASK_UNINTERRUPTIBLE 0x2
#define TASK_DEAD 0x80
#define TASK_NOLOAD 0x400
#define PF_IO_WORKER 0x10
#define PF_USER_WORKER 0x4000
#define PF_KTHREAD 0x200000
/* arch/x86/include/asm/thread_info.h: a 32-bit call, which another table numbers. */
#define TS_COMPAT 0x2

/* The kernel's value for "in no system call". */
#define NO_CALL (-1)
/* A call that is in no table. */
#define OTHER_CALL THREAD_TIME_CALLS

/* By system call number: the class of a sleep in the call, and its I/O intent. Set by user
 * space. */
const volatile __u8 sleep_class_by_call[THREAD_TIME_CALLS];
const volatile __u8 intent_by_call[THREAD_TIME_CALLS];

/* Kernel threads never came from user space: they are in no system call. */
static __always_inline bool is_kernel_thread(struct task_struct *task)
{
	return task->flags & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER);
}

static __always_inline long call_of(struct task_struct *task)
{
	void *registers = (void *)bpf_task_pt_regs(task);
	struct pt_regs___x86 *x86 = registers;
	struct pt_regs___arm64 *arm64 = registers;

	if (bpf_core_field_exists(x86->orig_ax)) {
		if (bpf_core_field_exists(task->thread_info.status) &&
		    (task->thread_info.status & TS_COMPAT))
			return OTHER_CALL;
		return (long)x86->orig_ax;
	}
	if (bpf_core_field_exists(arm64->syscallno))
		return arm64->syscallno;
	return OTHER_CALL;
}

static __always_inline bool is_throttled(struct task_struct *task)
{
	return bpf_core_field_exists(task->throttled) && BPF_CORE_READ_BITFIELD(task, throttled);
}

static __always_inline bool is_in_memstall(struct task_struct *task)
{
	return bpf_core_field_exists(task->in_memstall) && BPF_CORE_READ_BITFIELD(task, in_memstall);
}

/* Whether a thread that blocks is in a kernel wait: for memory, a disk or something else. */
static __always_inline bool is_uninterruptible(struct task_struct *task, __u32 state)
{
	if (!state || (state & TASK_DEAD))
		return false;
	return ((state & TASK_UNINTERRUPTIBLE) && !(state & TASK_NOLOAD)) ||
	       BPF_CORE_READ_BITFIELD(task, in_iowait) || is_in_memstall(task);
}

/* The class of a thread that blocks. `stack_intent` is the I/O intent that its kernel stack shows,
 * THREAD_TIME_CALL_OTHER for none, and overrides the system call's: an O_SYNC write is a sync, and
 * any call may fault. */
static __always_inline __u32 reason(struct task_struct *task, __u32 state, __u32 stack_intent)
{
	__u32 io_intent = THREAD_TIME_CALL_OTHER, sleep_class = THREAD_TIME_UNKNOWN;
	long call;

	if (!is_kernel_thread(task)) {
		call = call_of(task);
		if (call == NO_CALL) {
			io_intent = THREAD_TIME_CALL_FAULT;
		} else if (call >= 0 && call < THREAD_TIME_CALLS) {
			io_intent = intent_by_call[call];
			sleep_class = sleep_class_by_call[call];
		} else {
			sleep_class = THREAD_TIME_OTHER_CALL;
		}
	}
	if (stack_intent != THREAD_TIME_CALL_OTHER)
		io_intent = stack_intent;
	if (is_in_memstall(task))
		return THREAD_TIME_MEMORY + io_intent;
	if (BPF_CORE_READ_BITFIELD(task, in_iowait))
		return THREAD_TIME_IO + io_intent;
	if ((state & TASK_UNINTERRUPTIBLE) && !(state & TASK_NOLOAD))
		return THREAD_TIME_KERNEL + io_intent;
	/* Stopped, traced, frozen or parked: the thread does not wait for anything that it asked
	 * for. */
	return state & TASK_INTERRUPTIBLE ? sleep_class : THREAD_TIME_UNKNOWN;
}

#endif
