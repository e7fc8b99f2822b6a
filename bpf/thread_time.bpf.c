// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Where does the time of each thread go?
 *
 * Hooks: sched_switch, sched_waking, sched_wakeup, sched_wakeup_new, sched_migrate_task,
 * sched_process_fork, sched_process_exec, sched_process_exit, task_rename; for PSI groups, where the kernel
 * has them, mm_vmscan_direct_reclaim_begin and _end, mm_vmscan_memcg_reclaim_begin and _end. User space
 * runs `read` and `find_pools` as often as it likes. Under a heavy load there is a duty cycle: from `paused_at`
 * on nothing is counted, and the first five hooks may be left, until user space attaches them and runs `resume`.
 * Times are the scheduler's own (rq->clock), which it has just read at every event: one time for all that an
 * event changes, at no cost, and the clock that run_delay and sum_exec_runtime are counted with.
 * Cost: `make bench` (probes) measures it; a background thread costs two additions a switch.
 * Kernel: 6.7 for the walk over threads (bpf_iter_task), 6.10 for what is done with preemption off
 * (bpf_preempt_disable), CONFIG_FAIR_GROUP_SCHED.
 * Lost: events of a thread of target or generator whose account finds no memory (`drops`); an account that is
 * being written at each of 16 looks is left for the next reading (`torn`); accounts of threads that exit, where
 * more exit on a CPU between two readings than the ring holds (turns that are missed). A switch or wake-up that
 * raises no event (`missed`) is noticed at the next switch of the CPU or thread, and backfilled from the
 * scheduler's own counters. The end of a quota's hold raises no event: a thread counts as throttled until it
 * runs. The wait of a thread that is moved to a CPU within the ns in which that CPU counts its waiters is short
 * by the time since that CPU's last event at most.
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


/* Whether `read` is to report the others too. */
__u32 wants_others;
/* sched_clock() less CLOCK_BOOTTIME. */
__s64 clock_ahead_ns;

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct run_queue *queue = run_queue_of(cpu);
	__u64 now = rq_of(prev)->clock;
	/* With a signal pending it does not block after all; kernels before 6.16 show the state that it was
	 * about to have (commit 8feb053d5319). */
	__u32 blocked_in = !prev->pid || preempt || !prev->__state ? 0 : prev_state;
	struct whereabouts where = {};

	if (!queue || paused_at)
		return 0;
	/* It takes long: whoever reads meanwhile would wait for the end of the change. */
	if (is_uninterruptible(prev, blocked_in))
		look_where(ctx, prev, &where);
	step(queue);
	if (queue->until && is_another(queue, prev))
		open_missed_slice(prev, queue, cpu, now);
	count_until(queue, now);
	if (prev->pid)
		leave(prev, queue, cpu, now, blocked_in, where);
	if (prev_state & TASK_DEAD)
		tell_ended(prev, queue, cpu);
	queue->tid = (__u32)next->pid;
	queue->holder = THREAD_TIME_NOBODY;
	if (next->pid)
		queue->holder = enter(next, queue, cpu, now, next->se.sum_exec_runtime,
				      delay_at(next, now));
	else
		hand_over(queue, cpu, now, 0);
	step(queue);
	return 0;
}

/* A thread can be run: if it is blocked. Who is woken before it has left its CPU goes on running. */
static __always_inline void wake(struct task_struct *task)
{
	struct run_queue *queue;
	struct thread *thread;
	struct rq *rq;
	__u64 now, waited = 0, from;
	bool was_blocked;
	__u32 wait_event;

	if (paused_at)
		return;
	thread = thread_of(task, run_queue_of(bpf_get_smp_processor_id()));
	if (!thread)
		return;
	if (thread->role == THREAD_TIME_BACKGROUND) {
		/* Others in a group of the target's. */
		if (groups_of(&thread->member) && !task->on_cpu)
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
		if (thread->moved_asleep) {
			thread->miscounted_ns += waited;
			waited = 0;
		}
	}
	/* It may be ready for longer, and woken once more: of the first time nobody told. */
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

/* Here the waker runs; it is told again when the thread can be run. */
SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *task)
{
	struct thread *thread = bpf_task_storage_get(&thread_by_task, task, NULL, 0);

	if (!thread || thread->state != THREAD_TIME_BLOCKED || paused_at)
		return 0;
	thread->waking.by = WAKEUP_BY_UNKNOWN;
	if (is_for_somebody(thread->class))
		note_waker(thread);
	return 0;
}

/* An exec too is told so. */
SEC("tp_btf/task_rename")
int BPF_PROG(on_rename, struct task_struct *task)
{
	struct thread *thread = bpf_task_storage_get(&thread_by_task, task, NULL, 0);

	if (thread)
		thread->pool = thread->member.pool_group = 0;
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

/* Of its PSI groups, on another CPU: it goes on waiting there, unless it is being woken. */
static __always_inline void move_counted(struct thread *thread, struct task_struct *task, __u32 to)
{
	struct membership *member = &thread->member;

	if (count_of(member->share, COULD_RUN))
		move_share(member, member->counted, to, rq_of(task)->clock);
	else
		/* Whoever wakes it does not look at the clock of the CPU that it slept on. */
		move_share(member, is_half_asleep(task) ? member->counted : 0, to,
			   bpf_ktime_get_boot_ns() + clock_ahead_ns);
}

/* It goes on waiting for another CPU; before, the kernel has not yet noted the new one. */
SEC("tp_btf/sched_migrate_task")
int BPF_PROG(on_migrate, struct task_struct *task, int to)
{
	struct thread *thread = bpf_task_storage_get(&thread_by_task, task, NULL, 0);
	struct run_queue *old, *new, copy;
	__u64 now;

	if (!thread || paused_at)
		return 0;
	if (thread->member.share)
		move_counted(thread, task, to);
	if (thread->state == THREAD_TIME_BLOCKED && is_half_asleep(task))
		thread->moved_asleep = 1;
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
	go_on_waiting(thread, new, &copy, to, now);
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
		thread->member.pool_group = of_parent->member.pool_group;
	} else if (of_parent && of_parent->role != THREAD_TIME_BACKGROUND && queue) {
		queue->drops++;
	}
	return 0;
}

/* Another program keeps its wait event elsewhere, if it has one; user space will tell. */
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

/* Who waits for its children or threads since before may have no page yet. */
static __always_inline struct thread *page_of(struct task_struct *task)
{
	return task ? bpf_task_storage_get(&thread_by_task, task, NULL,
					   BPF_LOCAL_STORAGE_GET_F_CREATE)
		    : NULL;
}

/* The process's first thread; its parent, where that is the one that ends or ended before: at the end of
 * a whole process its other threads are told to end by the first. */
static __always_inline struct thread *reaper_of(struct task_struct *task)
{
	struct thread *first = task->pid == task->tgid ? NULL : page_of(task->group_leader);

	return first && !first->reaped ? first : page_of(task->real_parent);
}

/* A thread ends. Of target and generator it is told (exited.bpf.h), in an off-window here. Of the others, what it had
 * goes to its process, and a process's to its parent, as CPU time does (times(2)). Otherwise those that live
 * shorter than a reading would have held up nobody. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task)
{
	struct thread *thread = bpf_task_storage_get(&thread_by_task, task, NULL, 0), *reaper;
	struct thread_time_other last;

	if (!thread)
		return 0;
	if (thread->role != THREAD_TIME_BACKGROUND) {
		thread->parent_tgid = (__u32)task->real_parent->tgid;
		if (paused_at) {
			bpf_preempt_disable();
			end_between(task, thread);
			bpf_preempt_enable();
		}
		return 0;
	}
	reaper = reaper_of(task);
	if (!reaper || !take_other(thread, &last, bpf_ktime_get_boot_ns() + clock_ahead_ns))
		return 0;
	thread->reaped = 1;
	__sync_fetch_and_add(&reaper->ended_on_cpu_ns, last.on_cpu_ns + thread->ended_on_cpu_ns);
	__sync_fetch_and_add(&reaper->ended_delay_caused_ns, last.delay_caused_ns + thread->ended_delay_caused_ns);
	return 0;
}

static __always_inline int make_free(bool begins)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *thread = bpf_task_storage_get(&thread_by_task, task, NULL, 0);

	if (!thread || !groups_of(&thread->member))
		return 0;
	/* Who is told to reclaim memory, by writing to a file, does not stall for it. */
	begins = begins && stalls_for_memory(task);
	bpf_preempt_disable();
	reclaim(&thread->member, bpf_ktime_get_boot_ns() + clock_ahead_ns, begins);
	bpf_preempt_enable();
	return 0;
}

SEC("tp_btf/mm_vmscan_direct_reclaim_begin")
int BPF_PROG(on_reclaim)
{
	return make_free(true);
}

SEC("tp_btf/mm_vmscan_direct_reclaim_end")
int BPF_PROG(on_reclaimed)
{
	return make_free(false);
}

SEC("tp_btf/mm_vmscan_memcg_reclaim_begin")
int BPF_PROG(on_group_reclaim)
{
	return make_free(true);
}

SEC("tp_btf/mm_vmscan_memcg_reclaim_end")
int BPF_PROG(on_group_reclaimed)
{
	return make_free(false);
}

/* Looks which pools threads are of that woke nobody yet, and which sets those are. */
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
		if (thread && thread->role != THREAD_TIME_BACKGROUND && thread->state != ENDED)
			join_pool(task, thread);
	}
	bpf_iter_task_destroy(&it);
	bpf_rcu_read_unlock();
	return 0;
}

/* The next on-window begins: first everything is closed as of the end of the last. */
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
	clear_places(bpf_ktime_get_boot_ns() + clock_ahead_ns);
	bpf_iter_task_new(&it, NULL, ALL_THREADS);
	while ((task = bpf_iter_task_next(&it)))
		begin_on_window(task, clock_ahead_ns);
	bpf_iter_task_destroy(&it);
	bpf_rcu_read_unlock();
	reconciled_at = bpf_ktime_get_boot_ns() + clock_ahead_ns;
	barrier();
	*(volatile __u64 *)&paused_at = 0;
	return 0;
}

/* The threads of target and generator, and the others where that is wanted. */
SEC("syscall")
int read(void *ctx)
{
	struct bpf_iter_task it;
	struct task_struct *task;
	struct thread *thread;

	records = others = unplaced = torn = looks_again = 0;
	/* In an off-window the pages stand as they were when it began. */
	read_at_ns = paused_at ? paused_at : bpf_ktime_get_boot_ns() + clock_ahead_ns;
	bpf_rcu_read_lock();
	bpf_iter_task_new(&it, NULL, ALL_THREADS);
	while ((task = bpf_iter_task_next(&it))) {
		thread = bpf_task_storage_get(&thread_by_task, task, NULL, 0);
		if (is_tracked(task, thread))
			read_thread(task);
		else if (thread && wants_others)
			read_other(task);
	}
	bpf_iter_task_destroy(&it);
	bpf_rcu_read_unlock();
	if (!looks_again)
		looked_for = assignment;
	read_sets(read_at_ns);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
