/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One reading of the accounts: each is copied as it stood at one moment, the present state is added
 * up to now, and the kernel's own counters of the same thread are taken beside it.
 */
#ifndef STALLSCOPE_READING_BPF_H
#define STALLSCOPE_READING_BPF_H

#include "first_look.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, THREAD_TIME_MOST_THREADS);
	__type(key, __u32);
	__type(value, struct thread_time_record);
} record_by_index SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, THREAD_TIME_MOST_BACKGROUND);
	__type(key, __u32);
	__type(value, struct thread_time_background);
} background_by_index SEC(".maps");

/* Entries that `read` has filled, entries for which there was no room, and accounts that changed at
 * each attempt. */
__u32 records;
__u32 background_threads;
__u32 unplaced;
__u32 torn;

/* A thread's present state, copied with its account. */
struct present {
	__u32 class;
	__u32 wait_site;
	__u32 serving;
	__u32 cpu;
	/* 0 for none. */
	__u32 wait_event;
	/* The id of the statement that sleeps; 0 for none. */
	__u64 statement;
	__u64 since;
	__u64 held_ns[THREAD_TIME_ROLES];
	__u64 waited_ns;
	__u64 run_time_ns;
};

/* Copies the account and, in the same attempt, the kernel's own counters. Returns whether neither
 * changed meanwhile. */
static __always_inline bool copy_thread(struct task_struct *task, const struct thread *thread,
					struct thread_time_record *record, struct present *present)
{
	const volatile __u32 *sequence = &thread->sequence;
	__u32 before;
	int tries, each;

	for (tries = 0; tries < MOST_TRIES; tries++) {
		before = *sequence;
		barrier();
		record->state = thread->state;
		record->account = thread->account;
		present->class = thread->class;
		present->wait_site = thread->wait_site;
		present->serving = thread->serving;
		present->wait_event = thread->state == THREAD_TIME_BLOCKED ? thread->event.wait_event : 0;
		present->statement = thread->state == THREAD_TIME_BLOCKED && thread->statement.busy ?
					     thread->statement.id :
					     0;
		present->cpu = thread->cpu;
		present->since = thread->since;
		for (each = 0; each < THREAD_TIME_ROLES; each++)
			present->held_ns[each] = thread->held_ns[each];
		present->waited_ns = thread->waited_ns;
		present->run_time_ns = thread->run_time_ns;
		record->run_diff_ns = task->se.sum_exec_runtime;
		record->wait_diff_ns = task->sched_info.run_delay - thread->miscounted_ns;
		record->slices_diff = task->sched_info.pcount + thread->unnoted_slices;
		barrier();
		if (!(before & 1) && *sequence == before)
			return true;
	}
	return false;
}

/* Whether the thread got a CPU or began to wait for one since the present off-window began: then
 * the kernel's counters include time that ours do not. */
static __always_inline bool has_run_since(struct task_struct *task)
{
	return off_window_since && (task->sched_info.last_arrival > off_window_since || task->sched_info.last_queued);
}

/* Fills in the differences: the kernel's counters less ours, both without the present state. */
static __always_inline void compare(struct task_struct *task, struct thread_time_record *record,
				    const struct present *present)
{
	const struct thread_time_account *account = &record->account;
	int each;

	/* While a thread runs, sum_exec_runtime is as of the last tick. */
	if (record->state == THREAD_TIME_RUNNING)
		record->run_diff_ns = present->run_time_ns;
	record->run_diff_ns += account->hidden_ns - account->ns[THREAD_TIME_ON_CPU];
	for (each = 0; each < THREAD_TIME_ROLES; each++)
		record->wait_diff_ns -= account->queued_ns[each];
	record->wait_diff_ns -= account->ns[THREAD_TIME_THROTTLED];
	record->slices_diff -= account->slices;
	record->compared = (record->state == THREAD_TIME_RUNNING || record->state == THREAD_TIME_BLOCKED) &&
			   !has_run_since(task);
}

/* Adds the present state up to `read_at_ns`. */
static __always_inline void add_present(struct thread_time_record *record, const struct present *present)
{
	__u64 now = read_at_ns, passed = elapsed(present->since, now), held_ns[THREAD_TIME_ROLES];
	struct thread_time_account *account = &record->account;
	struct run_queue *queue = run_queue_of(present->cpu), copy;

	record->until_ns = present->since + passed;
	if (record->state == THREAD_TIME_RUNNING && queue) {
		copy_run_queue(queue, &copy);
		account->ns[THREAD_TIME_ON_CPU] += passed;
		account->delay_caused_ns += elapsed(present->waited_ns, waited_at(queue, &copy, now));
	} else if (record->state == THREAD_TIME_QUEUED && queue) {
		copy_run_queue(queue, &copy);
		holders_at(&copy, now, held_ns);
		share_out(account->queued_ns, passed, present->held_ns, held_ns);
	} else {
		add_class(account, present->class, present->wait_site, present->serving, passed);
	}
}

/* Of a thread without events the account is what the first reading found it in. Returns whether
 * that is known. */
static __always_inline bool copy_found(struct task_struct *task, struct thread *thread,
				       struct thread_time_record *record, struct present *present)
{
	const struct found *found = &thread->found;
	const volatile __u32 *state = &thread->state;
	int each;

	if (!find(task, thread) || (*state != THREAD_TIME_UNSEEN && thread->role != THREAD_TIME_BACKGROUND))
		return false;
	__builtin_memset(&record->account, 0, sizeof(record->account));
	record->account.known_since_ns = found->at;
	record->state = found->state;
	record->run_diff_ns = record->wait_diff_ns = record->slices_diff = record->compared = 0;
	present->class = found->class;
	present->wait_site = WAIT_SITE_OTHER;
	present->serving = SERVING_UNKNOWN;
	present->wait_event = found->wait_event;
	present->statement = 0;
	present->cpu = found->cpu;
	present->since = found->at;
	for (each = 0; each < THREAD_TIME_ROLES; each++)
		present->held_ns[each] = found->held_ns[each];
	/* The delay that it caused is not known. */
	present->waited_ns = ~0ULL;
	return true;
}

__noinline int read_thread(struct task_struct *task __arg_trusted)
{
	struct thread *thread = bpf_task_storage_get(&thread_by_task, task, NULL,
						     BPF_LOCAL_STORAGE_GET_F_CREATE);
	__u32 index = records;
	struct thread_time_record *record;
	struct present present;

	if (!thread) {
		looks_again = 1;
		return 0;
	}
	if (thread->state == EXITED)
		return 0;
	record = bpf_map_lookup_elem(&record_by_index, &index);
	if (!record) {
		unplaced++;
		looks_again = 1;
		return 0;
	}
	record->tid = task->pid;
	record->tgid = task->tgid;
	record->pool = thread->pool;
	if (has_events(thread)) {
		if (!copy_thread(task, thread, record, &present)) {
			torn++;
			return 0;
		}
		if (record->state == EXITED)
			return 0;
		compare(task, record, &present);
	} else if (!copy_found(task, thread, record, &present)) {
		looks_again = 1;
		return 0;
	}
	add_present(record, &present);
	if (present.wait_event)
		wait_event_on_reading(&thread->event, pool_of(task, &thread->pool), present.wait_event,
				      elapsed(present.since, read_at_ns));
	if (present.statement && has_statements(thread, task))
		statement_on_reading(&thread->statement, pool_of(task, &thread->pool), present.statement,
				     present.class, elapsed(present.since, read_at_ns));
	records = index + 1;
	return 0;
}

/* As `copy_thread`, for a background thread, of which less is counted. */
static __always_inline bool copy_background(const struct thread *thread,
					    struct thread_time_background *background,
					    struct present *present)
{
	const volatile __u32 *sequence = &thread->sequence;
	__u32 before;
	int tries;

	for (tries = 0; tries < MOST_TRIES; tries++) {
		before = *sequence;
		barrier();
		present->class = thread->state;
		present->cpu = thread->cpu;
		present->since = thread->since;
		present->waited_ns = thread->waited_ns;
		background->on_cpu_ns = thread->account.ns[THREAD_TIME_ON_CPU];
		background->delay_caused_ns = thread->account.delay_caused_ns;
		barrier();
		if (!(before & 1) && *sequence == before)
			return true;
	}
	return false;
}

/* A background thread's time on CPU and the delay it caused, up to `now`. */
static __always_inline bool take_background(const struct thread *thread,
					    struct thread_time_background *background, __u64 now)
{
	struct run_queue *queue, copy;
	struct present present;

	if (!copy_background(thread, background, &present))
		return false;
	queue = run_queue_of(present.cpu);
	if (present.class == THREAD_TIME_RUNNING && queue) {
		copy_run_queue(queue, &copy);
		background->on_cpu_ns += elapsed(present.since, now);
		background->delay_caused_ns += elapsed(present.waited_ns, waited_at(queue, &copy, now));
	}
	return true;
}

__noinline int read_background(struct task_struct *task __arg_trusted)
{
	struct thread *thread = bpf_task_storage_get(&thread_by_task, task, NULL, 0);
	struct thread_time_background *background;
	__u32 index = background_threads;

	if (!thread || thread->reaped)
		return 0;
	background = bpf_map_lookup_elem(&background_by_index, &index);
	if (!background) {
		unplaced++;
		return 0;
	}
	if (!take_background(thread, background, read_at_ns)) {
		torn++;
		return 0;
	}
	background->tid = task->pid;
	background->tgid = task->tgid;
	background->on_cpu_ns += thread->inherited_on_cpu_ns;
	background->delay_caused_ns += thread->inherited_delay_caused_ns;
	background_threads = index + 1;
	return 0;
}

#endif
