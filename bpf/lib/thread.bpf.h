/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Each thread's account, and what is known of its process.
 *
 * A page is changed by whoever holds the lock of the run queue that its thread is on: at a switch, a
 * wake-up or a move (thread_state.bpf.h). It is read without (reading.bpf.h).
 */
#ifndef STALLSCOPE_THREAD_BPF_H
#define STALLSCOPE_THREAD_BPF_H

#include "kernel.bpf.h"
#include "run_queue.bpf.h"
#include "psi_group.bpf.h"

/* Of a thread that has ended; it is not shown. */
#define ENDED (THREAD_TIME_HELD + 1)

/* What a thread was found in by a reading that came before any event of it; only readings write it, and
 * it stands from when `at` is not 0. */
struct found {
	__u64 at;
	/* As a page has them. */
	__u32 state;
	__u32 class;
	__u32 cpu;
	__u32 wait_event;
	__u64 held_ns[THREAD_TIME_HOLDERS];
	/* The scheduler's numbers then. */
	__u64 run_time_ns;
	__u64 run_delay;
	__u64 slices;
};

/* A thread's last wait, and how long it had had a CPU before. */
struct last_wait {
	__u32 class;
	__u64 from;
	__u64 until;
	__u64 on_cpu_ns;
};

/* Who is about to wake a thread (enum wakeup_by), its last wait, how long it had a CPU since and before the
 * time since which it runs now. */
struct waking {
	__u32 by;
	__u64 waker;
	struct last_wait last;
	__u64 ran_ns;
	__u64 runs_since;
};

/* One thread's account. */
struct thread {
	/* Odd while it is being changed. */
	__u32 sequence;
	/* enum thread_time_state, and the class where it is blocked or held. */
	__u32 state;
	__u32 class;
	/* What keeps it, where the class is of the kernel's own (enum wait_site). */
	__u32 channel;
	/* Its part in this (enum thread_time_holder), and as of which assignment. */
	__u32 role;
	__u32 assignment;
	/* The CPU that it has or waits for, and whether it is among those counted there. */
	__u32 cpu;
	__u32 counted;
	/* Whether it has ended, and what is in its account was told, or its heir has it. */
	__u32 reaped;
	/* When the state began, and what then was: who had had the CPU how long; how long the CPU had been
	 * waited for; its own run time. */
	__u64 since;
	__u64 held_ns[THREAD_TIME_HOLDERS];
	__u64 waited_ns;
	__u64 run_time_ns;
	/* When it last left a CPU: the scheduler's run-queue delay of it less ours, and the scheduler's slices. */
	__u64 wait_diff_ns;
	__u64 slices_diff;
	/* What the scheduler's run-queue delay is too long by, known to be wrong; modulo 2^64. */
	__u64 miscounted_ns;
	/* Its slices that the scheduler did not count. */
	__u64 unnoted_slices;
	/* It waits for a CPU and the scheduler does not count that. */
	__u32 unnoted;
	/* It was moved to another CPU while it waits. */
	__u32 moved;
	/* Moved to another CPU while half asleep: the scheduler counts the rest of its sleep as a wait
	 * (since 6.12, DELAY_DEQUEUE, commit 152e11f6df29). */
	__u32 moved_asleep;
	struct thread_time_account account;
	/* Of the others: what those had who have ended, its process's threads and its children. */
	__u64 ended_on_cpu_ns;
	__u64 ended_delay_caused_ns;
	/* While the state is THREAD_TIME_UNSEEN. */
	struct found found;
	/* Where its process has its wait event (struct thread_time_process). */
	__u64 event_pointer;
	__u64 event_offset;
	/* Where it was last found; 0 where it is to be looked up. */
	__u64 event_at;
	/* Once it ends: the process of its parent. */
	__u64 parent_tgid;
	/* The sets that it is in (psi_group.bpf.h). */
	struct membership member;
	/* Of target and generator: its pool's number (lib/wakeup.bpf.h), 0 until it is asked for. */
	__u64 pool;
	struct last_wait last;
	struct waking waking;
	/* Its word as it blocked, and how much of this wait has been counted for that (lib/wait_event.bpf.h). */
	__u32 wait_event;
	__u64 event_ns;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread);
} thread_by_task SEC(".maps");

/* What is known of processes that have a part; what they fork inherits it. Only user space writes it. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, THREAD_TIME_MOST_PROCESSES);
	__type(key, __u32);
	__type(value, struct thread_time_process);
} process_by_tgid SEC(".maps");

/* Counts the assignments, from 1; at its first event after one, a thread looks for its part. */
__u32 assignment;

static __always_inline struct thread *thread_of(struct task_struct *task, struct run_queue *queue)
{
	struct thread *thread = bpf_task_storage_get(&thread_by_task, task, NULL,
						     BPF_LOCAL_STORAGE_GET_F_CREATE);
	struct thread_time_process *process;
	__u32 tgid, before;

	tgid = task->tgid;
	if (!thread) {
		/* What one of the others does before there is room for it is less than one of its slices. */
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
		thread->event_pointer = process->pointer;
		thread->event_offset = process->offset;
		thread->event_at = 0;
		thread->member.groups = process->groups;
	}
	/* Its account begin anew: of the others less is counted. */
	if (before == THREAD_TIME_BACKGROUND && thread->role != THREAD_TIME_BACKGROUND && thread->state != ENDED) {
		step(thread);
		thread->state = THREAD_TIME_UNSEEN;
		__builtin_memset(&thread->account, 0, sizeof(thread->account));
		thread->last.until = 0;
		step(thread);
	}
	return thread;
}

#endif
