// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Where does the time of each thread go?
 *
 * Hooks: sched_switch, sched_waking, sched_wakeup, sched_wakeup_new, sched_migrate_task,
 * sched_process_fork, sched_process_exec, sched_process_exit, task_rename; for PSI groups, where
 * the kernel has them, mm_vmscan_direct_reclaim_begin and _end, mm_vmscan_memcg_reclaim_begin and
 * _end.
 * User space runs `read` and `find_pools` at any time. Under a heavy load it runs a duty cycle: it
 * sets `off_window_since` to end an on-window, from then on the programs count nothing, and it may
 * detach the first five hooks until it attaches them again and runs `resume`.
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
#include "lib/wait_site.bpf.h"
#include "lib/exited.bpf.h"
#include "lib/kfunc.bpf.h"
#include "lib/reading.bpf.h"
#include "lib/on_window.bpf.h"
#include "lib/wait_event.bpf.h"
#include "lib/psi_group_reading.bpf.h"
#include "lib/thread_state.bpf.h"
#include "lib/wakeup.bpf.h"


/* Set by user space: whether `read` also reports background threads. */
__u32 wants_background;
/* sched_clock() less CLOCK_BOOTTIME. */
__s64 clock_ahead_ns;

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
	/* The stack walk takes microseconds. It comes before `step`, because a reader retries for
	 * as long as a change lasts. */
	if (is_uninterruptible(prev, blocked_in))
		walk_stack(ctx, prev, &context);
	step(queue);
	if (queue->until && is_another(queue, prev))
		open_missed_slice(prev, queue, cpu, now);
	count_until(queue, now);
	if (prev->pid)
		switch_out(prev, queue, cpu, now, blocked_in, context);
	if (prev_state & TASK_DEAD)
		report_exited(prev, queue, cpu);
	queue->tid = (__u32)next->pid;
	queue->holder = THREAD_TIME_IDLE;
	if (next->pid)
		queue->holder = switch_in(next, queue, cpu, now, next->se.sum_exec_runtime,
				      delay_at(next, now));
	else
		hand_over(queue, cpu, now, 0);
	step(queue);
	return 0;
}

/* Makes a blocked thread ready. A thread that is woken before it has left its CPU just goes on
 * running. */
static __always_inline void wake(struct task_struct *task)
{
	struct run_queue *queue;
	struct thread *thread;
	struct rq *rq;
	__u64 now, waited = 0, from;
	bool was_blocked;
	__u32 wait_event;

	if (off_window_since)
		return;
	thread = thread_of(task, run_queue_of(bpf_get_smp_processor_id()));
	if (!thread)
		return;
	if (thread->role == THREAD_TIME_BACKGROUND) {
		/* Background threads are counted only if they share a PSI group with tracked
		 * ones. */
		if (thread->member.groups && !task->on_cpu)
			count_as(&thread->member, rq_of(task)->cpu, rq_of(task)->clock,
				 share_of_ready(task));
		return;
	}
	if (thread->state != THREAD_TIME_BLOCKED &&
	    (task->on_cpu || (thread->state != THREAD_TIME_UNSEEN && thread->state != THREAD_TIME_RUNNING)))
		return;
	rq = rq_of(task);
	now = rq->clock;
	queue = run_queue_of(rq->cpu);
	if (!queue)
		return;
	step(queue);
	count_until(queue, now);
	step(thread);
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
	was_blocked = thread->state == THREAD_TIME_BLOCKED;
	from = thread->since;
	wait_event = was_blocked ? thread->wait_event : 0;
	if (thread->state == THREAD_TIME_UNSEEN && thread->found.at) {
		wait_event = thread->found.wait_event;
		from = thread->found.at;
	}
	close(thread, queue, rq->cpu, now - waited, 0);
	if (was_blocked)
		note_wait(thread, from, now - waited);
	thread->state = THREAD_TIME_QUEUED;
	start_waiting(thread, queue, rq->cpu, now);
	step(thread);
	step(queue);
	count_as(&thread->member, rq->cpu, now, share_of_ready(task));
	if (was_blocked && thread->waking.by)
		count_wakeup(task, thread, from, now - waited);
	if (wait_event)
		end_wait_event(task, thread, wait_event, elapsed(from, now - waited));
}

/* Runs on the waker's CPU and in its context; sched_wakeup follows, perhaps on another CPU. */
SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *task)
{
	struct thread *thread = bpf_task_storage_get(&thread_by_task, task, NULL, 0);

	if (!thread || thread->state != THREAD_TIME_BLOCKED || off_window_since)
		return 0;
	thread->waking.by = WAKEUP_BY_UNKNOWN;
	if (has_waker(thread->class))
		note_waker(thread);
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

/* Moves the thread's share in its PSI groups to another CPU. A thread that is ready keeps waiting
 * there; a sleeping one migrates only because it is being woken. */
static __always_inline void move_counted(struct thread *thread, struct task_struct *task, __u32 to)
{
	struct membership *member = &thread->member;

	if (count_of(member->share, COULD_RUN))
		move_share(member, member->counted, to, rq_of(task)->clock);
	else
		/* The waker has not updated the clock of the CPU on which the thread slept. */
		move_share(member, is_dequeue_delayed(task) ? member->counted : 0, to,
			   bpf_ktime_get_boot_ns() + clock_ahead_ns);
}

/* Moves a waiting thread to another run queue. The event comes before the kernel records the new
 * CPU, so task's run queue is still the old one. */
SEC("tp_btf/sched_migrate_task")
int BPF_PROG(on_migrate, struct task_struct *task, int to)
{
	struct thread *thread = bpf_task_storage_get(&thread_by_task, task, NULL, 0);
	struct run_queue *old, *new, copy;
	__u64 now;

	if (!thread || off_window_since)
		return 0;
	if (thread->member.share)
		move_counted(thread, task, to);
	if (thread->state == THREAD_TIME_BLOCKED && is_dequeue_delayed(task))
		thread->migrated_delayed = 1;
	if (thread->state != THREAD_TIME_QUEUED)
		return 0;
	old = run_queue_of(thread->cpu);
	new = run_queue_of(to);
	if (!old || !new)
		return 0;
	now = rq_of(task)->clock;
	copy_run_queue(new, &copy);
	step(thread);
	close(thread, old, thread->cpu, now, 0);
	continue_waiting(thread, new, &copy, to, now);
	step(thread);
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
		thread->event_pointer = of_parent->event_pointer;
		thread->event_offset = of_parent->event_offset;
		thread->member.groups = of_parent->member.groups;
	} else if (of_parent && of_parent->role != THREAD_TIME_BACKGROUND && queue) {
		queue->drops++;
	}
	return 0;
}

/* A new program has its wait event at another address, if it has one at all. User space looks for
 * it and sets it. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task)
{
	struct thread *thread = bpf_task_storage_get(&thread_by_task, task, NULL, 0);
	struct thread_time_process *process = process_of(task);

	if (thread)
		thread->event_pointer = 0;
	if (process)
		process->pointer = process->wait_event = 0;
	return 0;
}

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

/* A thread exits. An exiting target or generator thread is reported at its last switch
 * (exited.bpf.h), or here if that falls into an off-window. A background thread's times pass to its
 * process, and a process's to its parent, as the kernel does with CPU time (times(2)). Without
 * that, processes shorter than a reading interval would appear to have delayed nothing. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task)
{
	struct thread *thread = bpf_task_storage_get(&thread_by_task, task, NULL, 0), *reaper;
	struct thread_time_background last;

	if (!thread)
		return 0;
	if (thread->role != THREAD_TIME_BACKGROUND) {
		thread->parent_tgid = (__u32)task->real_parent->tgid;
		if (off_window_since) {
			bpf_preempt_disable();
			exit_in_off_window(task, thread);
			bpf_preempt_enable();
		}
		return 0;
	}
	reaper = reaper_of(task);
	if (!reaper || !take_background(thread, &last, bpf_ktime_get_boot_ns() + clock_ahead_ns))
		return 0;
	thread->reaped = 1;
	__sync_fetch_and_add(&reaper->inherited_on_cpu_ns, last.on_cpu_ns + thread->inherited_on_cpu_ns);
	__sync_fetch_and_add(&reaper->inherited_delay_caused_ns,
			     last.delay_caused_ns + thread->inherited_delay_caused_ns);
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
	reclaim(&thread->member, bpf_ktime_get_boot_ns() + clock_ahead_ns, begins);
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
			pool_of(task, thread);
	}
	bpf_iter_task_destroy(&it);
	bpf_rcu_read_unlock();
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
	clear_queues_and_groups(bpf_ktime_get_boot_ns() + clock_ahead_ns);
	bpf_iter_task_new(&it, NULL, ALL_THREADS);
	while ((task = bpf_iter_task_next(&it)))
		begin_on_window(task, clock_ahead_ns);
	bpf_iter_task_destroy(&it);
	bpf_rcu_read_unlock();
	reconciled_at = bpf_ktime_get_boot_ns() + clock_ahead_ns;
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
	read_at_ns = off_window_since ? off_window_since : bpf_ktime_get_boot_ns() + clock_ahead_ns;
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
