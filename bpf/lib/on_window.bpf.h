/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The edges of an on-window: in off-windows neither switches nor wake-ups are counted.
 *
 * User space sets `off_window_since` to end an on-window: from then on no program changes anything.
 * `resume` closes every open state as of that time, and counts every thread, CPU and PSI group anew
 * as it finds them. Nothing is estimated for the off-window: the scheduler's own counters of each
 * thread run through it, and the reader of a recording combines the two.
 */
#ifndef STALLSCOPE_ON_WINDOW_BPF_H
#define STALLSCOPE_ON_WINDOW_BPF_H

#include "exited.bpf.h"
#include "first_look.bpf.h"
#include "kfunc.bpf.h"
#include "psi_group_reading.bpf.h"

/* Adds a state that lasted until the on-window ended. Needs no lock: no program changes the thread
 * or its run queue any more. */
static __always_inline void add_until_end(struct thread_time_account *account, __u32 state, __u32 class,
					  __u32 wait_site, __u32 serving, __u32 cpu, __u64 since,
					  const __u64 *held_ns)
{
	__u64 passed = elapsed(since, off_window_since), held_then_ns[THREAD_TIME_ROLES];
	struct run_queue *queue = run_queue_of(cpu);

	if (state == THREAD_TIME_RUNNING) {
		account->ns[THREAD_TIME_ON_CPU] += passed;
	} else if (state == THREAD_TIME_QUEUED && queue) {
		holders_at(queue, off_window_since, held_then_ns);
		share_out(account->queued_ns, passed, held_ns, held_then_ns);
	} else {
		add_class(account, class, wait_site, serving, passed);
	}
}

/* Closes the thread's state as of the end of the on-window. */
static __always_inline void close_at_end(struct thread *thread)
{
	struct thread_time_account *account = &thread->account;
	const struct found *found = &thread->found;
	struct run_queue *queue;

	if (thread->state == THREAD_TIME_UNSEEN) {
		if (thread->role == THREAD_TIME_BACKGROUND || !found->at || found->at >= off_window_since)
			return;
		account->known_since_ns = found->at;
		add_until_end(account, found->state, found->class, WAIT_SITE_OTHER, SERVING_UNKNOWN,
			      found->cpu, found->at, found->held_ns);
		return;
	}
	add_until_end(account, thread->state, thread->class, thread->wait_site, thread->serving, thread->cpu,
		      thread->since, thread->held_ns);
	queue = run_queue_of(thread->cpu);
	if (thread->state == THREAD_TIME_RUNNING && queue)
		account->delay_caused_ns += elapsed(thread->waited_ns, waited_at(queue, queue, off_window_since));
}

/* A target or generator thread exits in an off-window, on the current CPU: reports its account as
 * of the end of the on-window. A thread that also began in the off-window has none. */
static __always_inline void exit_in_off_window(struct task_struct *task, struct thread *thread)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct run_queue *queue = run_queue_of(cpu);

	if (!queue || thread->state == EXITED)
		return;
	step(thread);
	close_at_end(thread);
	thread->since = off_window_since;
	thread->state = EXITED;
	step(thread);
	if (thread->account.known_since_ns)
		report_exited(task, queue, cpu);
}

/* State of a thread when an on-window begins. */
struct observation {
	__u64 now;
	__u64 run_time_ns;
	__u32 cpu;
	bool runs;
	bool is_asleep;
	bool is_throttled;
};

/* Run time that sum_exec_runtime does not include yet: since the last tick or the switch-in. */
static __always_inline __u64 since_update(struct task_struct *task, __u64 now)
{
	struct rq *rq = rq_of(task);
	__u64 clock = rq->clock_task + elapsed(rq->clock, now);
	__u64 since = elapsed(task->se.exec_start, clock);
	__u64 slice = elapsed(task->sched_info.last_arrival, now);

	return since < slice ? since : slice;
}

static __always_inline struct observation look_at(struct task_struct *task, __u64 now)
{
	struct rq *rq = rq_of(task);
	/* Not `on_cpu`: a thread that leaves a CPU still has that set for a moment, beside the next
	 * one. */
	struct observation seen = { .now = now, .cpu = rq->cpu, .runs = rq->curr == task };
	__u32 state = task->__state;

	seen.run_time_ns = task->se.sum_exec_runtime;
	if (seen.runs)
		seen.run_time_ns += since_update(task, now);
	seen.is_asleep = !seen.runs && is_asleep(task, state);
	seen.is_throttled = !seen.runs && !seen.is_asleep && is_throttled(task);
	return seen;
}

/* A target or generator thread begins the on-window in the state in which it is found. */
static __always_inline void begin_as_found(struct task_struct *task, struct thread *thread, struct run_queue *queue,
					   const struct observation *seen)
{
	__u64 run_delay = delay_at(task, seen->now);

	if (!thread->account.known_since_ns)
		thread->account.known_since_ns = seen->now;
	thread->since = seen->now;
	thread->run_time_ns = seen->run_time_ns;
	thread->wait_diff_ns = wait_diff(thread, run_delay);
	thread->slices_diff = task->sched_info.pcount - thread->account.slices;
	thread->cpu = seen->cpu;
	thread->counted = thread->unnoted = thread->migrated_delayed = 0;
	forget_waits(&thread->wakeup);
	wait_stack_on_sleep(&thread->wait_stack);
	/* Whether it had read a request was not looked at meanwhile. */
	thread->serving = SERVING_UNKNOWN;
	if (has_statements(thread, task))
		end_sleep(&thread->statement, pool_of(task, &thread->pool), &thread->account);
	if (seen->runs) {
		thread->state = THREAD_TIME_RUNNING;
		thread->waited_ns = waited_on(queue);
	} else if (seen->is_asleep) {
		thread->state = THREAD_TIME_BLOCKED;
		thread->class = begin_wait_event(&thread->event, event_before(task),
						 reason(task, task->__state, THREAD_TIME_CALL_OTHER));
		thread->wait_site = WAIT_SITE_OTHER;
	} else if (seen->is_throttled) {
		thread->state = THREAD_TIME_THROTTLED_STATE;
		thread->class = THREAD_TIME_THROTTLED;
	} else {
		thread->state = THREAD_TIME_QUEUED;
		start_waiting(thread, queue, seen->cpu, seen->now);
	}
	if (has_statements(thread, task) && is_off_cpu(thread))
		statement_on_sleep(&thread->statement, thread->class, &thread->account);
}

/* Clears the CPU's holder and its waiting threads; sums stay. */
static __always_inline void clear_run_queue(struct run_queue *queue, __u32 cpu, __u64 now)
{
	step(queue);
	count_until(queue, cpu, off_window_since);
	queue->until = now;
	queue->bin_until = now - now % CPU_BIN_NS + CPU_BIN_NS;
	queue->tid = AS_FOUND;
	queue->holder = THREAD_TIME_IDLE;
	queue->waiting = queue->waiting_unlocked = 0;
	step(queue);
}

static __always_inline void clear_run_queues(__u64 now)
{
	struct run_queue *queue;
	struct bpf_iter_num it;
	int *next;

	bpf_iter_num_new(&it, 0, cpus);
	while ((next = bpf_iter_num_next(&it))) {
		queue = run_queue_of(*next);
		if (queue)
			clear_run_queue(queue, *next, now);
	}
	bpf_iter_num_destroy(&it);
}

__noinline int end_on_window(struct task_struct *task __arg_trusted)
{
	struct thread *thread = bpf_task_storage_get(&thread_by_task, task, NULL, 0);

	if (!thread || thread->state == EXITED)
		return 0;
	/* A thread found asleep and without an event since then gets its role here. */
	if (thread->found.at)
		thread_of(task, NULL);
	step(thread);
	close_at_end(thread);
	thread->state = THREAD_TIME_UNSEEN;
	thread->found.at = 0;
	step(thread);
	return 0;
}

__noinline int begin_on_window(struct task_struct *task __arg_trusted, __u64 now)
{
	struct thread *thread = bpf_task_storage_get(&thread_by_task, task, NULL, 0);
	struct observation seen = look_at(task, now);
	struct run_queue *queue = run_queue_of(seen.cpu);

	if (!queue)
		return 0;
	if (seen.runs) {
		count_until(queue, seen.cpu, now);
		queue->tid = AS_FOUND | (__u32)task->pid;
		queue->holder = thread ? thread->role & (THREAD_TIME_ROLES - 1) : THREAD_TIME_BACKGROUND;
	}
	if (!thread || thread->state == EXITED)
		return 0;
	psi_group_on_resume(&thread->member, task, seen.cpu, seen.now, seen.runs, seen.is_asleep);
	step(thread);
	if (thread->role != THREAD_TIME_BACKGROUND) {
		begin_as_found(task, thread, queue, &seen);
	} else if (seen.runs) {
		/* Background threads are only followed while they have a CPU. */
		thread->state = THREAD_TIME_RUNNING;
		thread->since = now;
		thread->cpu = seen.cpu;
		thread->run_time_ns = seen.run_time_ns;
		thread->waited_ns = waited_on(queue);
	}
	step(thread);
	return 0;
}

#endif
