// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The scheduler's events: the entry to the questions about them.
 *
 * Each hook has one attachment, because a further one costs as much as a question itself
 * (docs/decisions/one-attachment.md). So this file finds the records of thread and CPU once, calls the
 * questions in their order, and knows no more of them than that. Each has a file with its maps and
 * its part of a thread's record (lib/thread.bpf.h), and all but the first can be off:
 *   where does the time of each thread go?               lib/thread_state.bpf.h, thread_time_on_*
 *   where in the kernel does it wait, and for what I/O?  lib/wait_site.bpf.h, wait_site_on_*
 *   in which wait event of its application?              lib/wait_event.bpf.h, wait_event_on_*
 *   for which statement of a database server?            lib/statement.bpf.h, statement_on_*
 *   who ends its waits?                                  lib/wakeup.bpf.h, wakeup_on_*
 *   does it sleep inside a request?                      lib/serving.bpf.h, serving_on_*
 *   in which call stack does it wait?                    lib/wait_stack.bpf.h, wait_stack_on_*
 *   what is the pressure of a set of threads?            lib/psi_group.bpf.h, psi_group_on_*
 *
 * Hooks: sched_switch, sched_waking, sched_wakeup, sched_wakeup_new, sched_migrate_task, where the
 * kernel has it sched_exit_tp, sched_process_fork, sched_process_exec, sched_process_exit, task_rename; for PSI groups, where
 * the kernel has them, mm_vmscan_direct_reclaim_begin and _end, mm_vmscan_memcg_reclaim_begin and
 * _end.
 * User space runs `read` and `find_pools` at any time. Under a heavy load it runs a duty cycle: it
 * sets `off_window_since` to end an on-window, from then on the programs count nothing, and it may
 * detach the first six hooks until it attaches them again and runs `resume`.
 * Clock: times are the scheduler's own (rq->clock), which the kernel has just updated at every
 * event. Reading it costs nothing, all changes of one event get the same time, and the kernel
 * counts run_delay and sum_exec_runtime with it.
 * Cost: `make bench` (probes) measures it; a background thread costs two additions per switch.
 * Kernel: 6.7 for the walk over threads (bpf_iter_task), 6.10 for sections with preemption off
 * (bpf_preempt_disable), CONFIG_FAIR_GROUP_SCHED.
 * Lost: events of a target or generator thread for which the kernel has no memory for an account
 * (`drops`); an account that changes during each of 16 attempts to read it, until the next reading
 * (`torn`); accounts of threads that exit, where more threads exit on one CPU between two readings
 * than its ring holds (the reader sees the gap in `number`). A switch or wake-up that raises no
 * event (`missed`) is noticed at the next switch of the CPU or the thread, and backfilled from the
 * scheduler's own counters. The kernel raises no event when a CPU quota releases a thread, so the
 * thread counts as throttled until it runs. If a waiting thread migrates to a CPU in the same
 * nanoseconds in which that CPU updates its count of waiting threads, its wait is short by at most
 * the time since that CPU's last event.
 */
#include "lib/kernel.bpf.h"
#include <bpf/bpf_tracing.h>
#include "lib/inherited.bpf.h"
#include "lib/kfunc.bpf.h"
#include "lib/on_window.bpf.h"
#include "lib/reading.bpf.h"
#include "lib/thread_state.bpf.h"
#include "lib/wait_site.bpf.h"
#include "lib/wait_stack.bpf.h"

/* Set by user space: whether `read` also reports background threads. */
__u32 wants_background;
/* A thread leaves its CPU. */
static __always_inline void leave(struct task_struct *task, struct run_queue *queue, __u32 cpu, __u64 now,
				  __u32 blocked_in, struct wait_context context)
{
	struct thread *thread = thread_of(task, queue);
	__u32 class;

	if (!thread || thread->state == EXITED)
		return;
	step(thread);
	thread_time_on_switch_out(thread, task, queue, cpu, now, blocked_in);
	if (has_statements(thread, task))
		statement_on_look(&thread->statement, task, pool_of(task, &thread->pool),
				  &thread->account, thread->account.ns[THREAD_TIME_ON_CPU],
				  thread->state == THREAD_TIME_BLOCKED);
	if (thread->state == THREAD_TIME_BLOCKED) {
		class = reason(task, blocked_in, context.io_intent);
		thread->class = wait_event_on_switch_out(&thread->event, task, class,
							 thread->account.slices);
		thread->wait_site = context.wait_site;
		thread->serving = thread->role == THREAD_TIME_TARGET ?
					  serving_on_sleep(task, thread->class, &thread->account) :
					  SERVING_UNKNOWN;
		wait_stack_on_sleep(&thread->wait_stack);
	}
	if (has_statements(thread, task) && is_off_cpu(thread))
		statement_on_sleep(&thread->statement, thread->class, &thread->account);
	step(thread);
	psi_group_on_switch_out(&thread->member, task, cpu, now, blocked_in);
}

/* A thread, or with pid 0 none, gets the CPU; `run_time_ns` and `run_delay` are the scheduler's
 * counters at `now`. Returns the CPU's holder. */
static __always_inline __u32 enter(struct task_struct *task, struct run_queue *queue, __u32 cpu, __u64 now,
				   __u64 run_time_ns, __u64 run_delay)
{
	struct thread *thread = task->pid ? thread_of(task, queue) : NULL;

	if (thread && thread->state == EXITED)
		thread = NULL;
	psi_group_on_switch_in(thread ? &thread->member : NULL, cpu, now);
	if (!thread)
		return task->pid ? THREAD_TIME_BACKGROUND : THREAD_TIME_IDLE;
	step(thread);
	thread_time_on_switch_in(thread, task, queue, cpu, now, run_time_ns, run_delay);
	step(thread);
	if (asks_wait_stacks && thread->wait_stack.chosen == WAIT_ENDED)
		queue->takes_stack_of = (__u32)task->pid;
	return thread->role;
}

/* Another thread has the CPU than the one of the last event: a switch was missed. The scheduler's
 * last_arrival says to the ns when that was. */
static __always_inline void open_missed_slice(struct task_struct *task, struct run_queue *queue, __u32 cpu,
					 __u64 now)
{
	__u64 arrival = queue->until;

	if (!(queue->tid & AS_FOUND))
		queue->missed++;
	if (task->pid)
		arrival = task->sched_info.last_arrival;
	if (arrival > now)
		arrival = now;
	/* A wake-up on this CPU may have been counted after that time. */
	if (arrival > queue->until)
		count_until(queue, cpu, arrival);
	queue->holder = enter(task, queue, cpu, arrival, task->se.sum_exec_runtime - (now - arrival),
			      task->sched_info.run_delay);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct run_queue *queue = run_queue_of(cpu);
	__u64 now = rq_of(prev)->clock;
	/* A task with a pending signal does not block after all. Kernels before 6.16 pass the state
	 * that it was about to have (commit 8feb053d5319). */
	__u32 blocked_in = !prev->pid || preempt || !prev->__state ? 0 : prev_state;
	struct wait_context context = {};

	if (!queue || off_window_since)
		return 0;
	/* Before `step`, because a reader retries for as long as a change lasts. */
	if (has_wait_site(prev, blocked_in) && has_role(prev))
		wait_site_on_switch_out(ctx, &context);
	step(queue);
	if (queue->until && is_another(queue, prev))
		open_missed_slice(prev, queue, cpu, now);
	count_until(queue, cpu, now);
	if (prev->pid)
		leave(prev, queue, cpu, now, blocked_in, context);
	if (prev_state & TASK_DEAD)
		report_exited(prev, queue, cpu);
	queue->tid = (__u32)next->pid;
	queue->takes_stack_of = 0;
	queue->holder = enter(next, queue, cpu, now, next->se.sum_exec_runtime, delay_at(next, now));
	step(queue);
	return 0;
}

/* A blocked thread becomes ready. */
static __always_inline void wake(struct task_struct *task)
{
	struct ended_wait ended;
	struct run_queue *queue;
	struct thread *thread;
	__u32 cpu, wait_event;
	struct rq *rq;
	__u64 now;

	if (off_window_since)
		return;
	thread = thread_of(task, run_queue_of(bpf_get_smp_processor_id()));
	if (!thread)
		return;
	rq = rq_of(task);
	cpu = rq->cpu;
	now = rq->clock;
	if (thread->role == THREAD_TIME_BACKGROUND) {
		/* Background threads are counted only if they share a PSI group with tracked
		 * ones. */
		if (thread->member.groups && !task->on_cpu)
			psi_group_on_wakeup(&thread->member, task, cpu, now);
		return;
	}
	queue = run_queue_of(cpu);
	if (!becomes_ready(thread, task) || !queue)
		return;
	step(queue);
	count_until(queue, cpu, now);
	step(thread);
	ended = thread_time_on_wakeup(thread, task, queue, cpu, now);
	step(thread);
	step(queue);
	psi_group_on_wakeup(&thread->member, task, cpu, now);
	if (asks_wait_stacks && (ended.was_blocked || ended.was_found))
		wait_stack_on_wakeup(&thread->wait_stack, ended.from, ended.until);
	if (ended.was_blocked && wakeup_on_wakeup(&thread->wakeup, thread->class, ended.from, ended.until,
						  thread->account.ns[THREAD_TIME_ON_CPU]))
		count_wakeup(&thread->wakeup, pool_of(task, &thread->pool), thread->serving,
			     ended.from, ended.until);
	wait_event = ended.was_blocked ? thread->event.wait_event :
		     ended.was_found   ? thread->found.wait_event :
					 0;
	if (wait_event)
		wait_event_on_wakeup(&thread->event, pool_of(task, &thread->pool), wait_event,
				     elapsed(ended.from, ended.until));
}

/* Since when a target or generator thread has been waiting, 0 if it is not, and in which class. */
static __always_inline __u64 waits_since(const struct thread *thread, __u32 *class)
{
	if (thread->role == THREAD_TIME_BACKGROUND)
		return 0;
	if (thread->state == THREAD_TIME_BLOCKED) {
		*class = thread->class;
		return thread->since;
	}
	if (thread->state == THREAD_TIME_UNSEEN && thread->found.state == THREAD_TIME_BLOCKED) {
		*class = thread->found.class;
		return thread->found.at;
	}
	return 0;
}

/* Draws the lot of the thread's wait, which is about to be ended by the current thread. */
static __always_inline void draw_wait(void *ctx, struct task_struct *task, struct thread *thread)
{
	__u32 class = THREAD_TIME_UNKNOWN;
	__u64 from;

	/* A thread that was found asleep has had no event that gave it its role. */
	if (thread->state == THREAD_TIME_UNSEEN && thread->found.at)
		thread_of(task, NULL);
	from = waits_since(thread, &class);
	if (from)
		wait_stack_on_waking(ctx, &thread->wait_stack, task->pid, class, from, scheduler_now());
}

/* Runs on the waker's CPU and in its context; sched_wakeup follows, perhaps on another CPU. */
SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *task)
{
	struct thread *thread = bpf_task_storage_get(&thread_by_task, task, NULL, 0), *waker = NULL;
	struct task_struct *current;
	__u32 kind;

	if (!thread || off_window_since)
		return 0;
	if (asks_wait_stacks)
		draw_wait(ctx, task, thread);
	if (thread->state != THREAD_TIME_BLOCKED)
		return 0;
	if (!wakeup_on_waking(&thread->wakeup, thread->class))
		return 0;
	current = bpf_get_current_task_btf();
	kind = waker_kind(current);
	if (kind == WAKEUP_BY_BACKGROUND)
		waker = bpf_task_storage_get(&thread_by_task, current, NULL, 0);
	if (waker && waker->role != THREAD_TIME_BACKGROUND)
		note_waker(&thread->wakeup, &waker->wakeup, pool_of(current, &waker->pool),
			   waker->account.ns[THREAD_TIME_ON_CPU], waker->since);
	else
		note_other_waker(&thread->wakeup, current, kind);
	return 0;
}

/* The current thread has the CPU again, and is still where it waited. */
SEC("tp_btf/sched_exit_tp")
int BPF_PROG(on_return, bool is_switch)
{
	struct run_queue *queue = run_queue_of(bpf_get_smp_processor_id());
	struct task_struct *current;
	struct thread *thread;

	if (!queue || !queue->takes_stack_of)
		return 0;
	current = bpf_get_current_task_btf();
	if (queue->takes_stack_of != (__u32)current->pid)
		return 0;
	queue->takes_stack_of = 0;
	thread = bpf_task_storage_get(&thread_by_task, current, NULL, 0);
	if (thread)
		send_wait(ctx, &thread->wait_stack);
	return 0;
}

/* The clock's sample of what runs on this CPU: divides a long time on it between statements. It
 * interrupts no switch of this CPU, which happens with interrupts off. */
SEC("perf_event")
int on_sample(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *thread = bpf_task_storage_get(&thread_by_task, task, NULL, 0);
	__u64 ran;

	if (!thread || off_window_since || thread->state != THREAD_TIME_RUNNING || !thread->pool ||
	    !has_statements(thread, task))
		return 0;
	ran = thread->account.ns[THREAD_TIME_ON_CPU] + elapsed(thread->since, scheduler_now());
	statement_on_look(&thread->statement, task, thread->pool, &thread->account, ran, false);
	return 0;
}

/* The kernel also raises this event for an exec. A pool is keyed by the thread's name, so it has to
 * be found again. */
SEC("tp_btf/task_rename")
int BPF_PROG(on_rename, struct task_struct *task)
{
	struct thread *thread = bpf_task_storage_get(&thread_by_task, task, NULL, 0);

	if (thread)
		thread->pool = 0;
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(on_wakeup, struct task_struct *task)
{
	wake(task);
	return 0;
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_wakeup_new, struct task_struct *task)
{
	wake(task);
	return 0;
}

SEC("tp_btf/sched_migrate_task")
int BPF_PROG(on_migrate, struct task_struct *task, int to)
{
	struct thread *thread = bpf_task_storage_get(&thread_by_task, task, NULL, 0);

	if (!thread || off_window_since)
		return 0;
	psi_group_on_migrate(&thread->member, task, to, scheduler_now());
	thread_time_on_migrate(thread, task, to);
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	struct run_queue *queue = run_queue_of(bpf_get_smp_processor_id());
	struct thread *of_parent = thread_of(parent, queue);
	struct thread *thread = bpf_task_storage_get(&thread_by_task, child, NULL,
						     BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (of_parent && thread) {
		thread->role = of_parent->role;
		thread->assignment = of_parent->assignment;
		wait_event_on_fork(&thread->event, &of_parent->event);
		statement_on_fork(&thread->statement, &of_parent->statement);
		psi_group_on_assignment(&thread->member, of_parent->member.groups);
	} else if (of_parent && of_parent->role != THREAD_TIME_BACKGROUND && queue) {
		queue->drops++;
	}
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task)
{
	struct thread *thread = bpf_task_storage_get(&thread_by_task, task, NULL, 0);
	struct thread_time_process *process = process_of(task);

	if (thread) {
		wait_event_on_exec(&thread->event);
		statement_on_exec(&thread->statement);
	}
	if (process)
		process->pointer = process->wait_event = process->statement = 0;
	return 0;
}

/* An exiting target or generator thread is reported at its last switch, or here if that falls into
 * an off-window. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task)
{
	struct thread *thread = bpf_task_storage_get(&thread_by_task, task, NULL, 0);

	if (!thread)
		return 0;
	if (thread->role == THREAD_TIME_BACKGROUND) {
		pass_on(task, thread, scheduler_now());
		return 0;
	}
	thread->parent_tgid = (__u32)task->real_parent->tgid;
	if (off_window_since) {
		bpf_preempt_disable();
		exit_in_off_window(task, thread);
		bpf_preempt_enable();
	}
	return 0;
}

static __always_inline int note_reclaim(bool begins)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *thread = bpf_task_storage_get(&thread_by_task, task, NULL, 0);

	if (!thread || !thread->member.groups)
		return 0;
	/* A task that reclaims because it wrote to memory.reclaim does not stall for memory. */
	begins = begins && stalls_for_memory(task);
	bpf_preempt_disable();
	psi_group_on_reclaim(&thread->member, scheduler_now(), begins);
	bpf_preempt_enable();
	return 0;
}

SEC("tp_btf/mm_vmscan_direct_reclaim_begin")
int BPF_PROG(on_reclaim)
{
	return note_reclaim(true);
}

SEC("tp_btf/mm_vmscan_direct_reclaim_end")
int BPF_PROG(on_reclaimed)
{
	return note_reclaim(false);
}

SEC("tp_btf/mm_vmscan_memcg_reclaim_begin")
int BPF_PROG(on_group_reclaim)
{
	return note_reclaim(true);
}

SEC("tp_btf/mm_vmscan_memcg_reclaim_end")
int BPF_PROG(on_group_reclaimed)
{
	return note_reclaim(false);
}

/* Finds the pool of threads that have woken no other thread yet. */
SEC("syscall")
int find_pools(void *ctx)
{
	struct bpf_iter_task it;
	struct task_struct *task;
	struct thread *thread;

	bpf_rcu_read_lock();
	bpf_iter_task_new(&it, NULL, ALL_THREADS);
	while ((task = bpf_iter_task_next(&it))) {
		thread = bpf_task_storage_get(&thread_by_task, task, NULL, 0);
		if (thread && thread->role != THREAD_TIME_BACKGROUND && thread->state != EXITED)
			pool_of(task, &thread->pool);
	}
	bpf_iter_task_destroy(&it);
	bpf_rcu_read_unlock();
	return 0;
}

/* Chooses among the waits in progress, for `take_wait_stack`; in an off-window as of when it began. */
SEC("syscall")
int look_at_waits(void *ctx)
{
	__u64 now = off_window_since ? off_window_since : scheduler_now(), from;
	struct bpf_iter_task it;
	struct task_struct *task;
	struct thread *thread;
	__u32 class;

	waits_chosen = 0;
	bpf_rcu_read_lock();
	bpf_iter_task_new(&it, NULL, ALL_THREADS);
	while ((task = bpf_iter_task_next(&it))) {
		thread = bpf_task_storage_get(&thread_by_task, task, NULL, 0);
		if (!thread)
			continue;
		if (thread->found.at)
			thread_of(task, NULL);
		class = THREAD_TIME_UNKNOWN;
		from = waits_since(thread, &class);
		if (from && from < now)
			choose_in_progress(task, class, from, now);
	}
	bpf_iter_task_destroy(&it);
	bpf_rcu_read_unlock();
	return 0;
}

/* Takes the stack of one of the waits that were chosen, that with the number `wait_requested`. */
SEC("syscall")
int take_wait_stack(void *ctx)
{
	__u32 index = wait_requested;
	struct wait_in_progress *entry = bpf_map_lookup_elem(&wait_in_progress_by_index, &index);
	struct task_struct *task;

	if (!entry)
		return 0;
	task = bpf_task_from_pid(entry->tid);
	if (task) {
		send_in_progress(task, entry);
		bpf_task_release(task);
	} else {
		send_in_progress(NULL, entry);
	}
	return 0;
}

/* Begins the next on-window: first closes every open state as of the end of the last one. */
SEC("syscall")
int resume(void *ctx)
{
	struct bpf_iter_task it;
	struct task_struct *task;

	bpf_rcu_read_lock();
	bpf_iter_task_new(&it, NULL, ALL_THREADS);
	while ((task = bpf_iter_task_next(&it)))
		end_on_window(task);
	bpf_iter_task_destroy(&it);
	clear_run_queues(scheduler_now());
	clear_psi_groups(scheduler_now());
	bpf_iter_task_new(&it, NULL, ALL_THREADS);
	while ((task = bpf_iter_task_next(&it)))
		begin_on_window(task, scheduler_now());
	bpf_iter_task_destroy(&it);
	bpf_rcu_read_unlock();
	reconciled_at = scheduler_now();
	barrier();
	*(volatile __u64 *)&off_window_since = 0;
	return 0;
}

/* Reads the target's and generator's threads, and background threads if `wants_background` is
 * set. */
SEC("syscall")
int read(void *ctx)
{
	struct bpf_iter_task it;
	struct task_struct *task;
	struct thread *thread;

	records = background_threads = unplaced = torn = looks_again = 0;
	/* In an off-window the accounts stay as they were when it began. */
	read_at_ns = off_window_since ? off_window_since : scheduler_now();
	bpf_rcu_read_lock();
	bpf_iter_task_new(&it, NULL, ALL_THREADS);
	while ((task = bpf_iter_task_next(&it))) {
		thread = bpf_task_storage_get(&thread_by_task, task, NULL, 0);
		if (is_tracked(task, thread))
			read_thread(task);
		else if (thread && wants_background)
			read_background(task);
	}
	bpf_iter_task_destroy(&it);
	bpf_rcu_read_unlock();
	if (!looks_again)
		looked_for = assignment;
	read_psi_groups(read_at_ns);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
