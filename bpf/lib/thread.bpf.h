/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Each thread's record, and what user space sets for its process. The record is one lookup for all
 * questions.
 *
 * An account is written under the lock of the thread's run queue: at a switch, a wake-up or a
 * migration (thread_state.bpf.h). Readers take no lock and check `sequence` (reading.bpf.h).
 */
#ifndef STALLSCOPE_THREAD_BPF_H
#define STALLSCOPE_THREAD_BPF_H

#include "kernel.bpf.h"
#include "run_queue.bpf.h"
#include "pool.bpf.h"
#include "psi_group.bpf.h"
#include "serving.bpf.h"
#include "statement.bpf.h"
#include "wait_event.bpf.h"
#include "wait_stack.bpf.h"
#include "wakeup.bpf.h"

/* State of a thread that has exited; it never leaves the kernel. */
#define EXITED (THREAD_TIME_THROTTLED_STATE + 1)

/* What a reading found a thread in, before any event of it. Only readings write this; it is valid
 * once `at` is not 0. */
struct found {
	__u64 at;
	/* As in struct thread. */
	__u32 state;
	__u32 class;
	__u32 cpu;
	__u32 wait_event;
	__u64 held_ns[THREAD_TIME_ROLES];
	/* The scheduler's counters at `at`. */
	__u64 run_time_ns;
	__u64 run_delay;
	__u64 slices;
};

/* One thread's account and state. */
struct thread {
	/* Odd while a writer changes the account. */
	__u32 sequence;
	/* enum thread_time_state, and the class while blocked or throttled. */
	__u32 state;
	__u32 class;
	/* enum wait_site, if the class is one of a kernel wait. */
	__u32 wait_site;
	/* enum serving_state, while blocked. */
	__u32 serving;
	/* enum thread_time_role, and the number of the assignment that set it. */
	__u32 role;
	__u32 assignment;
	/* The CPU that the thread has or waits for, and whether it is in that CPU's `waiting`. */
	__u32 cpu;
	__u32 counted;
	/* Set once its account has been reported, or its parent has inherited it. */
	__u32 reaped;
	/* When the state began, and as of then: the CPU's time by holder, the CPU's sum of waiting,
	 * and the thread's run time. */
	__u64 since;
	__u64 held_ns[THREAD_TIME_ROLES];
	__u64 waited_ns;
	__u64 run_time_ns;
	/* As of the last switch-out: the scheduler's run-queue delay less ours, and its slice count
	 * less ours. */
	__u64 wait_diff_ns;
	__u64 slices_diff;
	/* Known error of the scheduler's run-queue delay, to be subtracted; modulo 2^64. */
	__u64 miscounted_ns;
	/* Slices that the scheduler did not count. */
	__u64 unnoted_slices;
	/* The thread waits for a CPU and the scheduler does not count this wait. */
	__u32 unnoted;
	/* The thread migrated while it waits. */
	__u32 migrated;
	/* The thread migrated with its dequeue delayed: the scheduler counts the rest of its sleep
	 * as a wait (since 6.12, DELAY_DEQUEUE, commit 152e11f6df29). */
	__u32 migrated_delayed;
	struct thread_time_account account;
	/* Background only: times inherited from exited threads of its process and from its exited
	 * children. */
	__u64 inherited_on_cpu_ns;
	__u64 inherited_delay_caused_ns;
	/* Valid while the state is THREAD_TIME_UNSEEN. */
	struct found found;
	/* Set at exit: the parent process. */
	__u64 parent_tgid;
	/* Target and generator only: its pool's number (pool.bpf.h), 0 until one is computed. */
	__u64 pool;
	/* One part for each of the other questions, which only the file of that question changes. */
	struct membership member;
	struct wakeup_state wakeup;
	struct wait_event_state event;
	struct statement_state statement;
	struct wait_stack_state wait_stack;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread);
} thread_by_task SEC(".maps");

/* Roles by process; children inherit theirs at fork. Only user space writes this map. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, THREAD_TIME_MOST_PROCESSES);
	__type(key, __u32);
	__type(value, struct thread_time_process);
} process_by_tgid SEC(".maps");

/* Number of the last assignment of roles, from 1. A thread looks its role up at its first event
 * after one. */
__u32 assignment;

/* Whether a thread is the target's or the generator's, as of its last event. */
static __always_inline bool has_role(struct task_struct *task)
{
	struct thread *thread = bpf_task_storage_get(&thread_by_task, task, NULL, 0);

	return thread && thread->role != THREAD_TIME_BACKGROUND;
}

/* Whether the thread's time is counted by statement. */
static __always_inline bool has_statements(const struct thread *thread, struct task_struct *task)
{
	return asks_statement && thread->statement.pointer && thread->role == THREAD_TIME_TARGET &&
	       task->pid == task->tgid;
}

static __always_inline struct thread *thread_of(struct task_struct *task, struct run_queue *queue)
{
	struct thread *thread = bpf_task_storage_get(&thread_by_task, task, NULL,
						     BPF_LOCAL_STORAGE_GET_F_CREATE);
	struct thread_time_process *process;
	__u32 tgid, before;

	tgid = task->tgid;
	if (!thread) {
		/* Not counted for a background thread, which loses less than one timeslice until
		 * there is memory. */
		if (queue && bpf_map_lookup_elem(&process_by_tgid, &tgid))
			queue->drops++;
		return NULL;
	}
	if (thread->assignment == assignment)
		return thread;
	thread->assignment = assignment;
	before = thread->role;
	process = bpf_map_lookup_elem(&process_by_tgid, &tgid);
	if (process) {
		thread->role = process->role;
		wait_event_on_assignment(&thread->event, process);
		statement_on_assignment(&thread->statement, process);
		psi_group_on_assignment(&thread->member, process->groups);
	}
	/* Less is counted of background threads, so the account of a former one begins anew. */
	if (before == THREAD_TIME_BACKGROUND && thread->role != THREAD_TIME_BACKGROUND && thread->state != EXITED) {
		step(thread);
		thread->state = THREAD_TIME_UNSEEN;
		__builtin_memset(&thread->account, 0, sizeof(thread->account));
		forget_waits(&thread->wakeup);
		statement_begin(&thread->statement);
		step(thread);
	}
	return thread;
}

#endif
