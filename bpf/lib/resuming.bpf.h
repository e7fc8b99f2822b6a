/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How the books go on after a pause, in which switches and wake-ups are not counted.
 *
 * Before they are counted again, each thread is looked at. Who slept through the pause is as it was, and so is
 * who ran through it. Of the others the scheduler has counted how long they ran and how long they waited for a
 * CPU, and what the CPUs lost meanwhile to interrupts and steal is theirs by how long they ran; who had the CPU
 * that they waited for, and what they were blocked in for the rest, nobody knows: the first is written down as the
 * others', the second as LEDGER_UNKNOWN, and user space shares both out by what it saw before.
 */
#ifndef STALLSCOPE_RESUMING_BPF_H
#define STALLSCOPE_RESUMING_BPF_H

#include "ended.bpf.h"
#include "first_look.bpf.h"
#include "kfunc.bpf.h"
#include "set_reading.bpf.h"

/* What the scheduler had not counted of each CPU's time as run time of anybody's when a pause began. */
struct hidden {
	__u64 paused_at;
	__u64 ns;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MOST_CPUS);
	__type(key, __u32);
	__type(value, struct hidden);
} hidden_by_cpu SEC(".maps");

/* The first reading in a pause comes right after it has begun. */
static __always_inline void note_hidden(const struct rq *rq)
{
	__u32 cpu = rq->cpu;
	struct hidden *hidden = bpf_map_lookup_elem(&hidden_by_cpu, &cpu);

	if (!hidden || hidden->paused_at == paused_at)
		return;
	hidden->paused_at = paused_at;
	hidden->ns = rq->clock - rq->clock_task;
}

/* In this pause so far, ns. */
static __always_inline __u64 hidden_on(const struct rq *rq)
{
	__u32 cpu = rq->cpu;
	struct hidden *hidden = bpf_map_lookup_elem(&hidden_by_cpu, &cpu);

	return hidden && hidden->paused_at == paused_at ? elapsed(hidden->ns, rq->clock - rq->clock_task) : 0;
}

/* How a thread is found, on which CPU, and what that CPU lost in the pause. */
struct sight {
	__u64 now;
	__u64 run_time_ns;
	__u64 hidden_ns;
	__u32 cpu;
	bool runs;
	bool is_asleep;
	bool is_held;
};

/* Ran since its run time was last added to: at the tick, or at the switch to it. */
static __always_inline __u64 since_update(struct task_struct *task, __u64 now)
{
	struct rq *rq = rq_of(task);
	__u64 clock = rq->clock_task + elapsed(rq->clock, now);
	__u64 since = elapsed(task->se.exec_start, clock);
	__u64 slice = elapsed(task->sched_info.last_arrival, now);

	return since < slice ? since : slice;
}

static __always_inline struct sight look_at(struct task_struct *task, __u64 now)
{
	struct rq *rq = rq_of(task);
	/* Who leaves a CPU is on it a moment longer (on_cpu), beside who comes. */
	struct sight sight = { .now = now, .cpu = rq->cpu, .runs = rq->curr == task };
	__u32 state = task->__state;

	sight.hidden_ns = hidden_on(rq);
	sight.run_time_ns = task->se.sum_exec_runtime;
	if (sight.runs)
		sight.run_time_ns += since_update(task, now);
	sight.is_asleep = !sight.runs && is_asleep(task, state);
	sight.is_held = !sight.runs && !sight.is_asleep && is_held_by_quota(task);
	return sight;
}

/* Whether it stayed in a state that began at a time, with its run time then. */
static __always_inline bool is_as_before(struct task_struct *task, const struct sight *sight, __u32 state,
					 __u64 since, __u64 run_time_ns)
{
	if (state == LEDGER_RUNNING)
		return sight->runs && task->sched_info.last_arrival <= since;
	if (sight->run_time_ns != run_time_ns)
		return false;
	return (state == LEDGER_BLOCKED && sight->is_asleep) || (state == LEDGER_HELD && sight->is_held);
}

/* Of what its CPU lost in the pause, a thread's part is that of who ran so long there. */
static __always_inline __u64 hidden_of(const struct sight *sight, __u64 ran)
{
	__u64 left = elapsed(sight->hidden_ns, elapsed(paused_at, sight->now));

	/* In microseconds: pauses of hours do not overflow. */
	return left > 1000 ? ran / 1000 * (sight->hidden_ns / 1000) / (left / 1000) * 1000 : 0;
}

/* Adds what the scheduler has counted since the page's last state began. */
static __always_inline void add_unseen(struct thread *thread, const struct sight *sight, __u64 run_delay)
{
	__u64 left = elapsed(thread->since, sight->now), ran, waited, hidden;
	struct ledger_account *account = &thread->account;

	ran = elapsed(thread->run_time_ns, sight->run_time_ns);
	ran = ran < left ? ran : left;
	left -= ran;
	waited = grown(thread->wait_apart_ns, wait_apart(thread, run_delay));
	waited = waited < left ? waited : left;
	left -= waited;
	hidden = hidden_of(sight, ran);
	hidden = hidden < left ? hidden : left;
	account->ns[LEDGER_ON_CPU] += ran + hidden;
	account->hidden_ns += hidden;
	account->queued_ns[LEDGER_REST] += waited;
	account->ns[LEDGER_UNKNOWN] += left - hidden;
}

/* What was known when it was found is where its account begins: it has done something else since. */
static __always_inline void begin_as_found(struct thread *thread)
{
	thread->account.known_since_ns = thread->since = thread->found.at;
	thread->run_time_ns = thread->found.run_time_ns;
	thread->wait_apart_ns = thread->found.run_delay;
	thread->slices_apart = thread->found.slices;
}

/* A thread of target or generator ends in a pause, and has its CPU: it is told of here, with all that the
 * scheduler has counted; of who began in it too, from the start. */
static __always_inline void end_in_pause(struct task_struct *task, struct thread *thread, __s64 clock_ahead)
{
	__u32 cpu = bpf_get_smp_processor_id();
	__u64 now = bpf_ktime_get_boot_ns() + clock_ahead;
	__u64 start = task->start_boottime + clock_ahead;
	struct run_queue *queue = run_queue_of(cpu);
	struct sight sight = look_at(task, now);

	if (!queue || thread->state == ENDED)
		return;
	if (thread->state == LEDGER_UNSEEN) {
		if (thread->found.at)
			begin_as_found(thread);
		else if (start >= paused_at)
			thread->account.known_since_ns = thread->since = start;
		else
			return;
	}
	step(thread);
	add_unseen(thread, &sight, task->sched_info.run_delay);
	thread->account.slices = task->sched_info.pcount - thread->slices_apart;
	thread->since = now;
	thread->state = ENDED;
	step(thread);
	tell_ended(task, queue, cpu);
}

/* Of target and generator. */
static __always_inline void go_on_with(struct task_struct *task, struct thread *thread,
				       struct run_queue *queue, const struct sight *sight, __u64 paused_ns)
{
	__u64 run_delay = delay_at(task, sight->now);
	struct found *found = &thread->found;

	if (thread->state == LEDGER_UNSEEN) {
		if (!found->at || is_as_before(task, sight, found->state, found->at, found->run_time_ns))
			return;
		begin_as_found(thread);
	} else if (is_as_before(task, sight, thread->state, thread->since, thread->run_time_ns)) {
		/* What it said in the pause is left to what stands for that. */
		if (thread->state == LEDGER_BLOCKED && thread->word_ns != ~0ULL)
			thread->word_ns += paused_ns;
		return;
	}
	add_unseen(thread, sight, run_delay);
	thread->account.slices = task->sched_info.pcount - thread->slices_apart;
	thread->since = sight->now;
	thread->run_time_ns = sight->run_time_ns;
	thread->wait_apart_ns = wait_apart(thread, run_delay);
	thread->cpu = sight->cpu;
	thread->counted = thread->unnoted = thread->moved_asleep = 0;
	thread->waking.by = 0;
	thread->last.until = 0;
	thread->word = thread->word_ns = 0;
	if (sight->runs) {
		thread->state = LEDGER_RUNNING;
		thread->waited_ns = waited_on(queue);
	} else if (sight->is_asleep) {
		thread->state = LEDGER_BLOCKED;
		thread->class = reason(task, task->__state, LEDGER_CALL_OTHER);
		thread->channel = LEDGER_CHANNEL_OTHER;
		thread->word = thread->class == LEDGER_UNKNOWN ? 0 : word_before(task);
		thread->class = class_of_word(thread->word, thread->class);
	} else if (sight->is_held) {
		thread->state = LEDGER_HELD;
		thread->class = LEDGER_THROTTLED;
	} else {
		thread->state = LEDGER_QUEUED;
		start_waiting(thread, queue, sight->cpu, sight->now);
	}
}

/* Of the others: only who has a CPU is followed. */
static __always_inline void go_on_with_other(struct task_struct *task, struct thread *thread,
					     struct run_queue *queue, const struct sight *sight)
{
	if (thread->state == LEDGER_RUNNING &&
	    is_as_before(task, sight, thread->state, thread->since, thread->run_time_ns))
		return;
	thread->state = sight->runs ? LEDGER_RUNNING : LEDGER_UNSEEN;
	thread->since = sight->now;
	thread->cpu = sight->cpu;
	thread->run_time_ns = sight->run_time_ns;
	thread->waited_ns = waited_on(queue);
}

/* Who has which CPU and who waits for it begins anew; what was added up stays. */
static __always_inline void clear_run_queue(struct run_queue *queue, __u64 now)
{
	step(queue);
	queue->until = now;
	queue->tid = AS_FOUND;
	queue->holder = LEDGER_NOBODY;
	queue->sets = 0;
	queue->waiting = queue->waiting_moved = 0;
	step(queue);
}

static __always_inline void clear_set(struct sets_stall *stall, __u64 now)
{
	step(stall);
	stall->until = now;
	stall->threads = stall->threads_moved = 0;
	step(stall);
}

static __always_inline void clear_places(__u64 now)
{
	struct run_queue *queue;
	struct sets_stall *stall;
	struct bpf_iter_num it;
	__u32 place;
	int *next;

	bpf_iter_num_new(&it, 0, cpus);
	while ((next = bpf_iter_num_next(&it))) {
		queue = run_queue_of(*next);
		if (queue)
			clear_run_queue(queue, now);
	}
	bpf_iter_num_destroy(&it);
	bpf_iter_num_new(&it, 0, cpus * SETS_MOST);
	while ((next = bpf_iter_num_next(&it))) {
		place = *next;
		stall = place % SETS_MOST < sets ? bpf_map_lookup_elem(&set_by_place, &place) : NULL;
		if (stall)
			clear_set(stall, now);
	}
	bpf_iter_num_destroy(&it);
}

/* Its share of its sets, which hold nobody any more. */
static __always_inline void count_again(struct task_struct *task, struct membership *member,
					const struct sight *sight)
{
	__u64 sets = sets_of(member), share;

	member->share = 0;
	member->counted = sets;
	member->counted_cpu = sight->cpu;
	if (!sets)
		return;
	share = sight->runs      ? share_of_running(member) :
		sight->is_asleep ? share_of_blocked(task) :
				   share_of_ready(task);
	member->share = share;
	change_from_afar(sets, sight->cpu, sight->now, share + (sight->runs ? HAS_CPU : 0));
}

static __noinline int go_on(struct task_struct *task, __s64 clock_ahead)
{
	__u64 now = bpf_ktime_get_boot_ns() + clock_ahead;
	struct thread *thread = bpf_task_storage_get(&thread_by_task, task, NULL, 0);
	struct sight sight = look_at(task, now);
	struct run_queue *queue = run_queue_of(sight.cpu);

	if (!queue)
		return 0;
	if (sight.runs) {
		count_until(queue, now);
		queue->tid = AS_FOUND | (__u32)task->pid;
		queue->holder = thread ? thread->part & (LEDGER_HOLDERS - 1) : LEDGER_REST;
		queue->sets = thread ? sets_of(&thread->member) : 0;
	}
	if (!thread || thread->state == ENDED)
		return 0;
	count_again(task, &thread->member, &sight);
	step(thread);
	if (thread->part == LEDGER_REST)
		go_on_with_other(task, thread, queue, &sight);
	else
		go_on_with(task, thread, queue, &sight, elapsed(paused_at, now));
	step(thread);
	return 0;
}

#endif
