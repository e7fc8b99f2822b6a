/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Threads that have had no event since they got a role: they have slept since before that, run on
 * without a switch, or wait for a CPU.
 *
 * A reading finds out their state and writes it to `found` beside the account, which only events
 * change; the first event continues from there (`begin`).
 */
#ifndef STALLSCOPE_FIRST_LOOK_BPF_H
#define STALLSCOPE_FIRST_LOOK_BPF_H

#include "thread_state.bpf.h"

/* include/linux/sched.h */
#define TASK_WAKING 0x200
#define TASK_NEW 0x800

/* Unless `looked_for` equals `assignment`, readings look for threads of newly assigned processes.
 * `looks_again` makes them repeat that until every such thread has been read. */
__u32 looked_for;
__u32 looks_again;
__u64 read_at_ns;

static __always_inline struct thread_time_process *process_of(struct task_struct *task)
{
	__u32 tgid = task->tgid;

	return bpf_map_lookup_elem(&process_by_tgid, &tgid);
}

static __always_inline bool has_events(const struct thread *thread)
{
	return thread->role != THREAD_TIME_BACKGROUND && thread->state != THREAD_TIME_UNSEEN;
}

/* Whether this is a target or generator thread, also if it has no account yet. */
static __always_inline bool is_tracked(struct task_struct *task, const struct thread *thread)
{
	struct thread_time_process *process;

	if (thread && (thread->role != THREAD_TIME_BACKGROUND || thread->found.at))
		return true;
	/* A forked thread has had an event (sched_process_fork), so only an assignment leaves
	 * threads to be found. */
	process = looked_for != assignment ? process_of(task) : NULL;
	return process && process->role != THREAD_TIME_BACKGROUND;
}

/* The task is between two states; its next event is a moment away. */
static __always_inline bool is_in_transition(__u32 state)
{
	return state & (TASK_DEAD | TASK_WAKING | TASK_NEW);
}

static __always_inline bool is_asleep(struct task_struct *task, __u32 state)
{
	if (!state)
		return false;
	return is_dequeue_delayed(task) || !task->on_rq;
}

/* The wait event of a sleep that began before, as user space read it when it assigned the role. */
static __always_inline __u32 event_before(struct task_struct *task)
{
	struct thread_time_process *process = process_of(task);

	return asks_wait_event && process && task->pid == task->tgid ? process->wait_event : 0;
}

/* Records the thread's state unless that was done before. Returns whether the state is known. */
static __always_inline bool find(struct task_struct *task, struct thread *thread)
{
	struct found *found = &thread->found;
	struct run_queue *queue, copy;
	__u32 state = task->__state;

	if (found->at)
		return true;
	if (is_in_transition(state))
		return false;
	found->cpu = rq_of(task)->cpu;
	if (task->on_cpu) {
		found->state = THREAD_TIME_RUNNING;
	} else if (is_asleep(task, state)) {
		found->state = THREAD_TIME_BLOCKED;
		found->class = reason(task, state, THREAD_TIME_CALL_OTHER);
		found->wait_event = found->class == THREAD_TIME_UNKNOWN ? 0 : event_before(task);
		found->class = class_of_event(found->wait_event, found->class);
	} else if (is_throttled(task)) {
		found->state = THREAD_TIME_THROTTLED_STATE;
		found->class = THREAD_TIME_THROTTLED;
	} else {
		queue = run_queue_of(found->cpu);
		if (!queue)
			return false;
		copy_run_queue(queue, &copy);
		found->state = THREAD_TIME_QUEUED;
		holders_at(&copy, read_at_ns, found->held_ns);
	}
	found->run_time_ns = task->se.sum_exec_runtime;
	found->run_delay = delay_at(task, read_at_ns);
	found->slices = task->sched_info.pcount;
	barrier();
	/* `at` was 0; the addition makes it visible after the other fields. */
	__sync_fetch_and_add(&found->at, read_at_ns);
	return true;
}

#endif
