/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Background threads that exit: their times pass to their process, and a process's to its parent, as
 * the kernel does with CPU time (times(2)). Without that, processes shorter than a reading interval
 * would appear to have delayed nothing.
 */
#ifndef STALLSCOPE_INHERITED_BPF_H
#define STALLSCOPE_INHERITED_BPF_H

#include "reading.bpf.h"

/* Creates the account if needed: a parent or leader that has been asleep since before the start has
 * none yet. */
static __always_inline struct thread *account_of(struct task_struct *task)
{
	return task ? bpf_task_storage_get(&thread_by_task, task, NULL,
					   BPF_LOCAL_STORAGE_GET_F_CREATE)
		    : NULL;
}

/* Returns the thread that inherits the background time of an exiting thread: the process's first
 * thread, or the parent's if the first thread is the one that exits, or has exited before
 * (exit_group makes the first thread end the others). */
static __always_inline struct thread *reaper_of(struct task_struct *task)
{
	struct thread *first = task->pid == task->tgid ? NULL : account_of(task->group_leader);

	return first && !first->reaped ? first : account_of(task->real_parent);
}

/* A background thread exits at `now`. */
static __always_inline void pass_on(struct task_struct *task, struct thread *thread, __u64 now)
{
	struct thread *reaper = reaper_of(task);
	struct thread_time_background last;

	if (!reaper || !take_background(thread, &last, now))
		return;
	thread->reaped = 1;
	__sync_fetch_and_add(&reaper->inherited_on_cpu_ns, last.on_cpu_ns + thread->inherited_on_cpu_ns);
	__sync_fetch_and_add(&reaper->inherited_delay_caused_ns,
			     last.delay_caused_ns + thread->inherited_delay_caused_ns);
}

#endif
