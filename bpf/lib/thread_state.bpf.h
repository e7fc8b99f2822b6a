/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The per-thread state machine: how an event changes a thread's account. */
#ifndef STALLSCOPE_THREAD_STATE_BPF_H
#define STALLSCOPE_THREAD_STATE_BPF_H

#include "reason.bpf.h"
#include "thread.bpf.h"
#include "waiting.bpf.h"

/* Adds time to a class, to the wait site if the class has one, and to what was inside a request or not
 * (enum serving_state). */
static __always_inline void add_class(struct thread_time_account *account, __u32 class, __u32 wait_site,
				      __u32 serving, __u64 ns)
{
	if (class >= THREAD_TIME_CLASSES)
		return;
	account->ns[class] += ns;
	if (class >= THREAD_TIME_MEMORY && class < THREAD_TIME_FUTEX && wait_site < WAIT_SITES)
		account->kernel_wait_ns[wait_site] += ns;
	serving_add(account, serving, class, ns);
}

/* A thread's first event. The account begins where a reading found the thread, or else now. */
static __always_inline void begin(struct thread *thread, struct run_queue *queue, __u32 cpu, __u64 now)
{
	const volatile __u64 *at = &thread->found.at;
	const struct found *found = &thread->found;
	struct thread_time_account *account = &thread->account;
	__u64 since = *at, passed = elapsed(since, now), held_ns[THREAD_TIME_ROLES];

	account->known_since_ns = now;
	if (!since)
		return;
	barrier();
	account->known_since_ns = since;
	if (found->state == THREAD_TIME_RUNNING) {
		/* The run time was as of the last tick when the thread was found, so the hidden
		 * time of this slice is unknown. */
		account->ns[THREAD_TIME_ON_CPU] += passed;
	} else if (found->state == THREAD_TIME_QUEUED && found->cpu == cpu) {
		holders_at(queue, now, held_ns);
		share_out(account->queued_ns, passed, found->held_ns, held_ns);
	} else if (found->state == THREAD_TIME_QUEUED) {
		account->queued_ns[THREAD_TIME_BACKGROUND] += passed;
	} else {
		add_class(account, found->class, WAIT_SITE_OTHER, SERVING_UNKNOWN, passed);
	}
}

/* Prevents double counting: a reading may find a thread in a state just before the event about it
 * arrives. */
static __always_inline void continue_from(struct thread *thread, __u64 now)
{
	if (now > thread->since)
		thread->since = now;
}

/* Adds the state that ends now to the account. */
static __always_inline void close(struct thread *thread, struct run_queue *queue, __u32 cpu, __u64 now,
				  __u64 run_time_ns)
{
	__u64 passed = elapsed(thread->since, now);
	struct thread_time_account *account = &thread->account;

	switch (thread->state) {
	case THREAD_TIME_UNSEEN:
		begin(thread, queue, cpu, now);
		break;
	case THREAD_TIME_RUNNING:
		account->ns[THREAD_TIME_ON_CPU] += passed;
		account->hidden_ns += passed - (run_time_ns - thread->run_time_ns);
		account->delay_caused_ns += waited_on(queue) - thread->waited_ns;
		break;
	case THREAD_TIME_QUEUED:
		stop_waiting(thread, queue, cpu, now);
		break;
	default:
		add_class(account, thread->class, thread->wait_site, thread->serving, passed);
	}
	continue_from(thread, now);
}

/* The scheduler's run-queue delay, without what is known to be wrong in it, less ours. */
static __always_inline __u64 wait_diff(const struct thread *thread, __u64 run_delay)
{
	const struct thread_time_account *account = &thread->account;
	int each;

	for (each = 0; each < THREAD_TIME_ROLES; each++)
		run_delay -= account->queued_ns[each];
	return run_delay - thread->miscounted_ns - account->ns[THREAD_TIME_THROTTLED];
}

/* By how much the second of two differences is larger; both may be negative. */
static __always_inline __u64 grown(__u64 before, __u64 after)
{
	return (__s64)(after - before) > 0 ? after - before : 0;
}

/* Saves the scheduler's counters as the thread leaves its CPU; `backfill_switch` compares with
 * them. */
static __always_inline void remember(struct thread *thread, struct task_struct *task)
{
	thread->run_time_ns = task->se.sum_exec_runtime;
	thread->wait_diff_ns = wait_diff(thread, task->sched_info.run_delay);
	thread->slices_diff = task->sched_info.pcount - thread->account.slices;
}

/* The thread left its CPU without an event. Its run time says how long it ran; why it left is
 * unknown. */
static __always_inline void close_missed_slice(struct thread *thread, struct run_queue *queue, __u64 now,
					 __u64 run_time_ns)
{
	__u64 left = thread->since + elapsed(thread->run_time_ns, run_time_ns);

	thread->waited_ns = waited_on(queue);
	close(thread, queue, thread->cpu, left < now ? left : now, run_time_ns);
	thread->run_time_ns = run_time_ns;
	thread->state = THREAD_TIME_BLOCKED;
	thread->class = THREAD_TIME_UNKNOWN;
	thread->serving = SERVING_UNKNOWN;
}

/* The thread ran or was woken without an event. The scheduler has counted for how long, but not
 * when. The holder of the CPU that it waited for is unknown; mostly it is a background thread. */
static __always_inline void backfill_switch(struct thread *thread, struct run_queue *queue, __u32 cpu, __u64 now,
				    __u64 ran, __u64 run_delay)
{
	__u64 left = elapsed(thread->since, now), waited;
	struct thread_time_account *account = &thread->account;

	ran = ran < left ? ran : left;
	account->ns[THREAD_TIME_ON_CPU] += ran;
	left -= ran;
	waited = grown(thread->wait_diff_ns, wait_diff(thread, run_delay));
	waited = waited < left ? waited : left;
	account->queued_ns[THREAD_TIME_BACKGROUND] += waited;
	left -= waited;
	if (thread->state == THREAD_TIME_QUEUED)
		add_class(account, THREAD_TIME_UNKNOWN, WAIT_SITE_OTHER, SERVING_UNKNOWN, left);
	else
		add_class(account, thread->class, thread->wait_site, thread->serving, left);
	count_out(thread, queue, cpu, now);
	thread->state = THREAD_TIME_BLOCKED;
	continue_from(thread, now);
}

/* A slice begins. Slices without an event, between an off-window and the first event, are counted
 * with it. */
static __always_inline void count_slices(struct thread *thread, struct task_struct *task, __u64 now)
{
	/* sched_info_arrive counts this slice right after the event, unless the event of its
	 * beginning was missed. */
	bool is_past = task->sched_info.last_arrival == now;
	__u64 before = task->sched_info.pcount - (is_past ? 1 : 0);

	if (thread->state == THREAD_TIME_UNSEEN)
		thread->slices_diff = before - thread->account.slices;
	else if (thread->since <= reconciled_at)
		thread->account.slices = before - thread->slices_diff;
	thread->account.slices++;
	/* If a task was preempted on its way to sleep, sched_info_depart does not record it, nor
	 * does sched_info_arrive. */
	if (!is_past && !task->sched_info.last_queued) {
		thread->unnoted_slices++;
		thread->slices_diff--;
	}
}

/* A migrating thread is in no run queue for a moment, longer if several migrate together. It still
 * waits, but the scheduler does not count that time (sched_info_dequeue, sched_info_enqueue). */
static __always_inline void note_move(struct thread *thread, struct task_struct *task)
{
	if (thread->state == THREAD_TIME_QUEUED && thread->migrated)
		thread->miscounted_ns -= elapsed(thread->since, task->sched_info.last_queued);
}

/* Whether the CPU's current thread was switched in without an event. After an off-window it may be
 * a later slice of the thread that was found there. */
static __always_inline bool is_another(const struct run_queue *queue, struct task_struct *task)
{
	struct thread *thread;

	if ((__u32)queue->tid != (__u32)task->pid)
		return true;
	if (!(queue->tid & AS_FOUND) || !task->pid)
		return false;
	thread = bpf_task_storage_get(&thread_by_task, task, NULL, 0);
	return thread && thread->state == THREAD_TIME_RUNNING && task->sched_info.last_arrival > thread->since;
}

/* The scheduler's run-queue delay at `now`, with the wait that ends now and that the kernel has not
 * added yet. */
static __always_inline __u64 delay_at(struct task_struct *task, __u64 now)
{
	__u64 queued = task->sched_info.last_queued;

	return task->sched_info.run_delay + (queued ? elapsed(queued, now) : 0);
}

/* Backfills, at the first wake-up after an off-window, what the thread did between `begin_as_found`
 * and this event. */
static __always_inline void reconcile(struct thread *thread, struct task_struct *task, struct run_queue *queue,
				   __u64 now)
{
	__u64 ran = elapsed(thread->run_time_ns, task->se.sum_exec_runtime);

	if (thread->state == THREAD_TIME_UNSEEN)
		return;
	thread->account.slices = task->sched_info.pcount - thread->slices_diff;
	if (thread->state != THREAD_TIME_BLOCKED || !ran)
		return;
	backfill_switch(thread, queue, thread->cpu, now, ran, delay_at(task, now));
	thread->run_time_ns = task->se.sum_exec_runtime;
}

/* A thread leaves its CPU. For what a tracked thread blocks, its caller says (`class`,
 * `wait_site`). */
static __always_inline void thread_time_on_switch_out(struct thread *thread, struct task_struct *task,
						      struct run_queue *queue, __u32 cpu, __u64 now,
						      __u32 blocked_in)
{
	/* A thread switched in at the end of an off-window was read before the scheduler counted
	 * that slice. */
	if (thread->state == THREAD_TIME_RUNNING && thread->since <= reconciled_at)
		thread->account.slices = task->sched_info.pcount - thread->slices_diff;
	close(thread, queue, cpu, now, task->se.sum_exec_runtime);
	remember(thread, task);
	if (blocked_in & TASK_DEAD) {
		thread->state = EXITED;
	} else if (thread->role == THREAD_TIME_BACKGROUND) {
		thread->state = THREAD_TIME_UNSEEN;
	} else if (blocked_in) {
		thread->state = THREAD_TIME_BLOCKED;
		thread->migrated_delayed = 0;
	} else if (is_throttled(task)) {
		thread->state = THREAD_TIME_THROTTLED_STATE;
		thread->class = THREAD_TIME_THROTTLED;
	} else {
		thread->state = THREAD_TIME_QUEUED;
		start_waiting(thread, queue, cpu, now);
		/* Preempted between setting its state and blocking: sched_info_depart takes the
		 * task for asleep. */
		thread->unnoted = task->__state != 0;
	}
}

/* A thread gets the CPU; `run_time_ns` and `run_delay` are the scheduler's counters at `now`. */
static __always_inline void thread_time_on_switch_in(struct thread *thread, struct task_struct *task,
						     struct run_queue *queue, __u32 cpu, __u64 now,
						     __u64 run_time_ns, __u64 run_delay)
{
	/* Before the backfill, which ends the state THREAD_TIME_UNSEEN. */
	count_slices(thread, task, now);
	if (thread->state == THREAD_TIME_RUNNING)
		close_missed_slice(thread, queue, now, run_time_ns);
	if (thread->state != THREAD_TIME_UNSEEN && thread->role != THREAD_TIME_BACKGROUND &&
		 (thread->state == THREAD_TIME_BLOCKED || run_time_ns > thread->run_time_ns)) {
		note_missed(queue, thread->since);
		backfill_switch(thread, queue, cpu, now, elapsed(thread->run_time_ns, run_time_ns),
			run_delay);
	}
	note_move(thread, task);
	close(thread, queue, cpu, now, run_time_ns);
	thread->state = THREAD_TIME_RUNNING;
	thread->cpu = cpu;
	thread->waited_ns = waited_on(queue);
	thread->run_time_ns = run_time_ns;
}

/* The wait that a wake-up ends. */
struct ended_wait {
	__u64 from;
	__u64 until;
	/* Whether it was seen from its beginning, or else found by a reading. */
	bool was_blocked;
	bool was_found;
};

/* Whether its state has a class: it sleeps, or is throttled. */
static __always_inline bool is_off_cpu(const struct thread *thread)
{
	return thread->state == THREAD_TIME_BLOCKED || thread->state == THREAD_TIME_THROTTLED_STATE;
}

/* Whether a wake-up event makes the thread ready. One that is woken before it has left its CPU just
 * goes on running. */
static __always_inline bool becomes_ready(const struct thread *thread, struct task_struct *task)
{
	return thread->state == THREAD_TIME_BLOCKED ||
	       (!task->on_cpu &&
		(thread->state == THREAD_TIME_UNSEEN || thread->state == THREAD_TIME_RUNNING));
}

/* A tracked thread becomes ready on `queue`, which is locked. */
static __always_inline struct ended_wait thread_time_on_wakeup(struct thread *thread, struct task_struct *task,
							       struct run_queue *queue, __u32 cpu,
							       __u64 now)
{
	struct ended_wait ended = {};
	__u64 waited = 0;

	if (thread->since <= reconciled_at)
		reconcile(thread, task, queue, now);
	if (thread->state == THREAD_TIME_RUNNING)
		close_missed_slice(thread, queue, now, task->se.sum_exec_runtime);
	if (thread->state == THREAD_TIME_UNSEEN)
		remember(thread, task);
	if (thread->state == THREAD_TIME_BLOCKED) {
		waited = grown(thread->wait_diff_ns, wait_diff(thread, delay_at(task, now)));
		if (thread->migrated_delayed) {
			thread->miscounted_ns += waited;
			waited = 0;
		}
	}
	/* The thread may have been ready for longer already: then this is a second wake-up, and the
	 * first raised no event. */
	waited = waited < elapsed(thread->since, now) ? waited : 0;
	ended.was_blocked = thread->state == THREAD_TIME_BLOCKED;
	ended.was_found = thread->state == THREAD_TIME_UNSEEN && thread->found.at;
	ended.from = ended.was_found ? thread->found.at : thread->since;
	ended.until = now - waited;
	close(thread, queue, cpu, ended.until, 0);
	thread->state = THREAD_TIME_QUEUED;
	start_waiting(thread, queue, cpu, now);
	return ended;
}

/* Moves a waiting thread to another run queue, of `to`. The event comes before the kernel records the
 * new CPU, so task's run queue is still the old one. */
static __always_inline void thread_time_on_migrate(struct thread *thread, struct task_struct *task, int to)
{
	struct run_queue *old, *new, copy;
	__u64 now;

	if (thread->state == THREAD_TIME_BLOCKED && is_dequeue_delayed(task))
		thread->migrated_delayed = 1;
	if (thread->state != THREAD_TIME_QUEUED)
		return;
	old = run_queue_of(thread->cpu);
	new = run_queue_of(to);
	if (!old || !new)
		return;
	now = rq_of(task)->clock;
	copy_run_queue(new, &copy);
	step(thread);
	close(thread, old, thread->cpu, now, 0);
	continue_waiting(thread, new, &copy, to, now);
	step(thread);
}

#endif
