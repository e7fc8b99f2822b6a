/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Why a thread leaves its CPU, as the kernel has it at that moment.
 *
 * By precedence: a quota, memory, a disk, something else of the kernel's own, the application's own word
 * (PostgreSQL's wait event), the system call.
 */
#ifndef STALLSCOPE_REASON_BPF_H
#define STALLSCOPE_REASON_BPF_H

#include "kernel.bpf.h"
#include "../ledger.h"

/* include/linux/sched.h */
#define TASK_INTERRUPTIBLE 0x1
#define TASK_UNINTERRUPTIBLE 0x2
#define TASK_DEAD 0x80
#define TASK_NOLOAD 0x400
#define PF_IO_WORKER 0x10
#define PF_USER_WORKER 0x4000
#define PF_KTHREAD 0x200000
/* arch/x86/include/asm/thread_info.h: a 32-bit call, numbered by another table */
#define TS_COMPAT 0x2

/* No system call, as the kernel writes it. */
#define NO_CALL (-1)
/* One that is in no table. */
#define OTHER_CALL LEDGER_CALLS

/* By the number of a call: the class of a sleep in it, and what it asks of a disk. From user space. */
const volatile __u8 asleep_by_call[LEDGER_CALLS];
const volatile __u8 kind_by_call[LEDGER_CALLS];

/* By the highest byte of an application's word, and for two words of their own: the log's lock, and that of
 * who sends. Class 0 leaves it to the system call. From user space. */
const volatile __u8 class_by_word[LEDGER_WORD_CLASSES];
const volatile __u32 log_word;
const volatile __u32 output_word;

/* Threads that the kernel has for itself never came out of user space: they are in no call. */
static __always_inline bool is_kernels_own(struct task_struct *task)
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

static __always_inline bool is_held_by_quota(struct task_struct *task)
{
	return bpf_core_field_exists(task->throttled) && BPF_CORE_READ_BITFIELD(task, throttled);
}

static __always_inline bool is_in_memstall(struct task_struct *task)
{
	return bpf_core_field_exists(task->in_memstall) && BPF_CORE_READ_BITFIELD(task, in_memstall);
}

/* Whether a thread that blocks waits for memory, a disk, or something else of the kernel's own. */
static __always_inline bool is_kept(struct task_struct *task, __u32 state)
{
	if (!state || (state & TASK_DEAD))
		return false;
	return ((state & TASK_UNINTERRUPTIBLE) && !(state & TASK_NOLOAD)) ||
	       BPF_CORE_READ_BITFIELD(task, in_iowait) || is_in_memstall(task);
}

/* The class of the time of a thread that blocks. `told` is what its functions in the kernel say that it is
 * at (enum ledger_call), or LEDGER_CALL_OTHER: a write that has to be safe at once is a sync, and a page
 * that is not there may be missed in any call. */
static __always_inline __u32 reason(struct task_struct *task, __u32 state, __u32 told)
{
	__u32 kind = LEDGER_CALL_OTHER, asleep = LEDGER_UNKNOWN;
	long call;

	if (!is_kernels_own(task)) {
		call = call_of(task);
		if (call == NO_CALL) {
			kind = LEDGER_CALL_NONE;
		} else if (call >= 0 && call < LEDGER_CALLS) {
			kind = kind_by_call[call];
			asleep = asleep_by_call[call];
		} else {
			asleep = LEDGER_OTHER_CALL;
		}
	}
	if (told != LEDGER_CALL_OTHER)
		kind = told;
	if (is_in_memstall(task))
		return LEDGER_MEMORY + kind;
	if (BPF_CORE_READ_BITFIELD(task, in_iowait))
		return LEDGER_IO + kind;
	if ((state & TASK_UNINTERRUPTIBLE) && !(state & TASK_NOLOAD))
		return LEDGER_KERNEL + kind;
	/* Stopped, traced, frozen, parked: it waits for nothing that it asked for. */
	return state & TASK_INTERRUPTIBLE ? asleep : LEDGER_UNKNOWN;
}

/* What a word makes of a sleep that the system call has another class for. */
static __always_inline __u32 class_of_word(__u32 word, __u32 class)
{
	__u32 of_word = class_by_word[(word >> 24) % LEDGER_WORD_CLASSES];

	/* Memory, disk and the kernel's own come first; who was stopped does not wait for what it said. */
	if (class < LEDGER_FUTEX || class == LEDGER_UNKNOWN || !word || word >> 24 >= LEDGER_WORD_CLASSES)
		return class;
	if (word == log_word)
		return LEDGER_WORD_LOG;
	if (word == output_word)
		return LEDGER_OUTPUT;
	return of_word ? of_word : class;
}

/* The same by the word that the current task has in its memory; its first thread keeps one. */
static __always_inline __u32 class_as_told(struct task_struct *task, __u64 pointer, __u64 offset,
					   __u32 class)
{
	__u64 structure = 0;
	__u32 word = 0;

	if (!pointer || class < LEDGER_FUTEX || task->pid != task->tgid || !task->mm)
		return class;
	/* A page that is not in memory is left alone: the call tells. */
	if (bpf_probe_read_user(&structure, sizeof(structure), (void *)pointer) || !structure ||
	    bpf_probe_read_user(&word, sizeof(word), (void *)(structure + offset)))
		return class;
	return class_of_word(word, class);
}

#endif
