/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which statement of a database server is a process's time for?
 *
 * PostgreSQL keeps, for pg_stat_activity, an entry per process in memory: its state, the id of its
 * present or last statement, and when that began. It is read when the process leaves its CPU and at
 * samples while it runs; the entry's count of changes says whether anything happened since.
 *   A sleep belongs to the statement that went to sleep.
 *   Time on a CPU, and the wait for that CPU, belong to the statement that is found at the end: the
 *   message that begins a statement is read just before its id is known.
 *   While a statement is parsed it has no id; its time is held back until it has one.
 * A process between statements waits for its client: that time is counted for nobody.
 * Cost: three reads of user memory at each switch-out of such a process, one where nothing changed,
 * and an addition per kind of time.
 * Lost: time of statements for which the map has no room (`statement_drops`). Where several
 * statements follow each other on a CPU without a sleep, samples divide the time between them.
 */
#ifndef STALLSCOPE_STATEMENT_BPF_H
#define STALLSCOPE_STATEMENT_BPF_H

#include "run_queue.bpf.h"

/* Whether this question is asked. Set by user space. */
const volatile __u32 asks_statement = 1;

/* Where the entry has its fields, by layout; and by wait class the part of a statement's time (enum
 * statement_part), STATEMENT_PARTS or more for a sleep without work. Set by user space. */
const volatile struct statement_layout statement_layouts[STATEMENT_LAYOUTS];
const volatile __u8 part_by_class[THREAD_TIME_CLASSES];

/* Looks for which time is held back until the statement has an id: a process without statements (an
 * autovacuum worker) is active for long and never has one. */
#define MOST_HELD 64

/* The part of a thread's record that this file changes. */
struct statement_state {
	/* Where its process has the pointer to its entry, and which layout that has (struct
	 * thread_time_process). */
	__u64 pointer;
	__u64 layout;
	/* The entry's address, 0 until it is found. */
	__u64 entry;
	/* As of the last look: the entry's count of changes, whether a statement was under way, and
	 * the id of the present or last one. */
	__u32 changes;
	__u32 busy;
	__u64 id;
	/* When the last statement that was counted began. */
	__u64 counted_us;
	/* The thread's sums as of the last look, and that of the class in which it has slept
	 * since, THREAD_TIME_CLASSES for none. */
	__u64 on_cpu_ns;
	__u64 queued_ns[THREAD_TIME_ROLES];
	__u64 class_ns;
	__u32 class;
	/* Looks for which time has been held back, and that time. */
	__u32 looks_held;
	__u64 held_ns[STATEMENT_PARTS];
	/* How much of the present sleep readings have added already. */
	__u64 ahead_ns;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, THREAD_TIME_MOST_STATEMENTS);
	__type(key, struct statement_key);
	__type(value, struct statement_sum);
} sum_by_statement SEC(".maps");

/* Texts of statements that are new in `sum_by_statement`, for user space to read soon. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, STATEMENT_MOST_TEXTS);
	__type(key, __u64);
	__type(value, struct statement_text);
} text_by_statement SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct statement_text);
} statement_scratch SEC(".maps");

/* Additions that found no room. */
__u64 statement_drops;
/* Statements that ended without an id. */
__u64 statements_unnumbered;

/* Not on the stack, which is short of room. */
static const struct statement_sum no_time;

/* What the entry says. */
struct statement_look {
	__u64 id;
	__u64 started_us;
	__u32 changes;
	bool busy;
	bool is_new;
};

/* The beginning of PgBackendStatus, the same since PostgreSQL 14: st_changecount, st_procpid,
 * st_backendType, then from 16 on times in microseconds, of which st_activity_start_timestamp is
 * the third. */
struct entry_head {
	__u32 changes;
	__u32 pid;
	__u64 kind;
	__u64 process_started;
	__u64 transaction_started;
	__u64 activity_started;
};

/* The thread begins anew: its account is empty. */
static __always_inline void statement_begin(struct statement_state *state)
{
	int each;

	state->on_cpu_ns = state->class_ns = state->ahead_ns = 0;
	state->class = THREAD_TIME_CLASSES;
	state->looks_held = 0;
	for (each = 0; each < THREAD_TIME_ROLES; each++)
		state->queued_ns[each] = 0;
	for (each = 0; each < STATEMENT_PARTS; each++)
		state->held_ns[each] = 0;
}

static __always_inline void statement_on_assignment(struct statement_state *state,
						    const struct thread_time_process *process)
{
	if (state->pointer == process->statement)
		return;
	state->pointer = process->statement;
	state->layout = process->layout;
	state->entry = 0;
	state->changes = state->busy = 0;
	state->id = 0;
	state->class = THREAD_TIME_CLASSES;
}

static __always_inline void statement_on_fork(struct statement_state *state,
					      const struct statement_state *of_parent)
{
	state->pointer = of_parent->pointer;
	state->layout = of_parent->layout;
	state->class = THREAD_TIME_CLASSES;
}

static __always_inline void statement_on_exec(struct statement_state *state)
{
	state->pointer = state->entry = 0;
	state->busy = 0;
}

/* Reads the entry of the current task. Where it cannot be read, or is just being written, it is as
 * it was. */
static __always_inline void look_at_statement(struct statement_state *state, struct task_struct *task,
					      struct statement_look *look)
{
	const volatile struct statement_layout *layout = &statement_layouts[state->layout % STATEMENT_LAYOUTS];
	struct entry_head head = {};
	__u32 status = 0;
	__u64 id = 0;

	look->id = state->id;
	look->busy = state->busy;
	look->changes = state->changes;
	look->is_new = false;
	if (!task->mm)
		return;
	if (!state->entry &&
	    bpf_probe_read_user(&state->entry, sizeof(state->entry), (void *)state->pointer))
		state->entry = 0;
	if (!state->entry || bpf_probe_read_user(&head, sizeof(head), (void *)state->entry) ||
	    head.changes == state->changes || (head.changes & 1))
		return;
	/* A process begins with an entry that another one left, with its statement: without a pid, until it is
	 * filled in (pgstat_beshutdown_hook, pgstat_bestart). */
	if (!head.pid)
		return;
	if (bpf_probe_read_user(&status, sizeof(status), (void *)(state->entry + layout->state)) ||
	    bpf_probe_read_user(&id, sizeof(id), (void *)(state->entry + layout->id)))
		return;
	look->id = id;
	look->busy = status == layout->running || status == layout->fastpath;
	look->changes = head.changes;
	look->started_us = head.activity_started;
	look->is_new = true;
}

/* Notes the text of the statement that the entry shows now. */
static __noinline int note_text(struct statement_state *state, __u64 id)
{
	const volatile struct statement_layout *layout;
	struct statement_text *text;
	__u32 first = 0;
	__u64 at = 0;

	if (!state)
		return 0;
	text = bpf_map_lookup_elem(&statement_scratch, &first);
	layout = &statement_layouts[state->layout % STATEMENT_LAYOUTS];
	if (!text || bpf_probe_read_user(&at, sizeof(at), (void *)(state->entry + layout->text)) || !at)
		return 0;
	if (bpf_probe_read_user_str(text->bytes, sizeof(text->bytes), (void *)at) > 0)
		bpf_map_update_elem(&text_by_statement, &id, text, BPF_ANY);
	return 0;
}

/* The sums of a statement of a pool; 0 is the id of those without one. */
static __always_inline struct statement_sum *sum_of_statement(struct statement_state *state, __u64 pool,
							      __u64 id, bool shows_text)
{
	struct statement_key key = { .pool = pool, .id = id };
	struct statement_sum *sum;

	sum = pool ? bpf_map_lookup_elem(&sum_by_statement, &key) : NULL;
	if (!sum && pool) {
		/* Another CPU may have inserted the key first. */
		if (!bpf_map_update_elem(&sum_by_statement, &key, &no_time, BPF_NOEXIST) && id && shows_text)
			note_text(state, id);
		sum = bpf_map_lookup_elem(&sum_by_statement, &key);
	}
	if (!sum)
		__sync_fetch_and_add(&statement_drops, 1);
	return sum;
}

static __always_inline void add_part(struct statement_sum *sum, __u32 part, __u64 ns)
{
	if (ns && part < STATEMENT_PARTS)
		__sync_fetch_and_add(&sum->ns[part], ns);
}

static __always_inline void hold_part(struct statement_state *state, __u32 part, __u64 ns)
{
	if (part < STATEMENT_PARTS)
		state->held_ns[part] += ns;
}

/* The sleep since the last look is over, or goes on in another class: it was the statement's that
 * went to sleep. */
static __always_inline void end_sleep(struct statement_state *state, __u64 pool,
				      const struct thread_time_account *account)
{
	__u64 ahead = __sync_lock_test_and_set(&state->ahead_ns, 0), slept;
	__u32 class = state->class, part;
	struct statement_sum *sum;

	if (class >= THREAD_TIME_CLASSES)
		return;
	state->class = THREAD_TIME_CLASSES;
	slept = elapsed(state->class_ns + ahead, account->ns[class]);
	if (!state->busy || !slept)
		return;
	part = part_by_class[class];
	if (!state->id) {
		hold_part(state, part, slept);
		return;
	}
	sum = sum_of_statement(state, pool, state->id, false);
	if (sum)
		add_part(sum, part, slept);
}

/* Gives the time since the last look to a statement, and what has been held back for it. */
static __always_inline void give_run(struct statement_state *state, struct statement_sum *sum,
				     const struct thread_time_account *account, __u64 on_cpu_ns)
{
	int each;

	add_part(sum, STATEMENT_ON_CPU, elapsed(state->on_cpu_ns, on_cpu_ns));
	for (each = 0; each < THREAD_TIME_ROLES; each++)
		add_part(sum, STATEMENT_QUEUED + each,
			 elapsed(state->queued_ns[each], account->queued_ns[each]));
	if (!state->looks_held)
		return;
	state->looks_held = 0;
	for (each = 0; each < STATEMENT_PARTS; each++) {
		add_part(sum, each, state->held_ns[each]);
		state->held_ns[each] = 0;
	}
}

static __always_inline void hold_run(struct statement_state *state,
				     const struct thread_time_account *account, __u64 on_cpu_ns)
{
	int each;

	state->looks_held++;
	hold_part(state, STATEMENT_ON_CPU, elapsed(state->on_cpu_ns, on_cpu_ns));
	for (each = 0; each < THREAD_TIME_ROLES; each++)
		hold_part(state, STATEMENT_QUEUED + each,
			  elapsed(state->queued_ns[each], account->queued_ns[each]));
}

/* Whether a statement is found that was not counted. */
static __always_inline bool begins(struct statement_state *state, const struct statement_look *look)
{
	bool is_other = look->is_new && look->started_us != state->counted_us;

	if (is_other)
		state->counted_us = look->started_us;
	return is_other;
}

static __always_inline void count_statement(struct statement_state *state, struct statement_sum *sum,
					    const struct statement_look *look)
{
	if (!begins(state, look))
		return;
	__sync_fetch_and_add(&sum->calls, 1);
	*(volatile __u64 *)&sum->started_us = look->started_us;
}

/* Whose the time since the last look is. Returns false where that is nobody's, or not known yet:
 * `is_last` says that the process goes to sleep, so that nothing more comes of it. */
static __always_inline bool give_time(struct statement_state *state, __u64 pool,
				      const struct statement_look *look,
				      const struct thread_time_account *account, __u64 on_cpu_ns,
				      bool is_last)
{
	struct statement_sum *sum;

	if (!look->is_new && !look->busy)
		return is_last;
	if (!look->id && look->busy && state->looks_held < MOST_HELD) {
		hold_run(state, account, on_cpu_ns);
		return true;
	}
	if (!look->id && !look->busy && begins(state, look) && look->started_us)
		__sync_fetch_and_add(&statements_unnumbered, 1);
	sum = sum_of_statement(state, pool, look->id, true);
	if (!sum)
		return true;
	give_run(state, sum, account, on_cpu_ns);
	if (look->id)
		count_statement(state, sum, look);
	return true;
}

/* The current thread is looked at, up to now on a CPU for `on_cpu_ns`. */
static __always_inline void statement_on_look(struct statement_state *state, struct task_struct *task,
					      __u64 pool, const struct thread_time_account *account,
					      __u64 on_cpu_ns, bool is_last)
{
	struct statement_look look = {};
	int each;

	end_sleep(state, pool, account);
	look_at_statement(state, task, &look);
	if (!give_time(state, pool, &look, account, on_cpu_ns, is_last))
		return;
	state->id = look.id;
	state->busy = look.busy;
	state->changes = look.changes;
	state->on_cpu_ns = on_cpu_ns;
	for (each = 0; each < THREAD_TIME_ROLES; each++)
		state->queued_ns[each] = account->queued_ns[each];
}

/* The thread sleeps from now on, or is throttled, in this class. */
static __always_inline void statement_on_sleep(struct statement_state *state, __u32 class,
					       const struct thread_time_account *account)
{
	if (class >= THREAD_TIME_CLASSES)
		return;
	state->class = class;
	state->class_ns = account->ns[class];
}

/* A reading: a sleep of the statement `id` has lasted `passed` ns in this class and goes on, or has
 * just ended. */
static __always_inline void statement_on_reading(struct statement_state *state, __u64 pool, __u64 id,
						 __u32 class, __u64 passed)
{
	__u64 ahead = *(volatile __u64 *)&state->ahead_ns;
	__u64 more = elapsed(ahead, passed);
	struct statement_sum *sum;

	if (!more || class >= THREAD_TIME_CLASSES ||
	    __sync_val_compare_and_swap(&state->ahead_ns, ahead, passed) != ahead)
		return;
	sum = sum_of_statement(state, pool, id, false);
	if (sum)
		add_part(sum, part_by_class[class], more);
}

#endif
