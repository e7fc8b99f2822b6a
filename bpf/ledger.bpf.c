// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Where does the time of each thread go?
 *
 * Hooks: sched_switch, sched_wakeup, sched_wakeup_new, sched_migrate_task, sched_process_fork,
 * sched_process_exit. User space runs `read` as often as it likes.
 * Times are the scheduler's own (rq->clock), which it has just read whenever it tells us of an event:
 * one time for all that an event changes, at no cost, and the clock that run_delay and
 * sum_exec_runtime are counted with.
 * Cost: `make bench` (probes) tells; threads without a part in it cost two additions a switch.
 * Kernel: 6.7 for the walk over threads (bpf_iter_task), CONFIG_FAIR_GROUP_SCHED.
 * Lost: what happens to a thread of target or generator whose account finds no memory (`drops`); an account that was being
 * written at each of 16 looks is left for the next reading (`torn`). A switch or
 * wake-up that we are not told of (`missed`) is noticed at the next switch of the CPU or thread, and made
 * up for from the scheduler's own notes. When
 * a quota ends is not told: a thread counts as held by it until it runs.
 */
#include "lib/kernel.bpf.h"
#include <bpf/bpf_tracing.h>
#include "lib/reason.bpf.h"
#include "lib/run_queue.bpf.h"

/* include/linux/sched.h */
#define TASK_DEAD 0x80
/* BPF_TASK_ITER_ALL_THREADS */
#define ALL_THREADS 1

/* Of a thread that has ended; it is not shown. */
#define ENDED (LEDGER_HELD + 1)

/* One thread's page of the books. */
struct thread {
	/* Odd while it is being changed. */
	__u32 sequence;
	/* enum ledger_state, and the class where it is blocked or held. */
	__u32 state;
	__u32 class;
	/* Its part in this (enum ledger_holder), and as of which assignment. */
	__u32 part;
	__u32 assignment;
	/* The CPU that it has or waits for, and whether it is among those counted there. */
	__u32 cpu;
	__u32 counted;
	/* Whether it has ended, and its heir has what is in its account. */
	__u32 bequeathed;
	/* When the state began, and what then was: who had had the CPU how long; how long the CPU had been
	 * waited for; its own run time. */
	__u64 since;
	__u64 held_ns[LEDGER_HOLDERS];
	__u64 waited_ns;
	__u64 run_time_ns;
	/* When it last left a CPU: the scheduler's run-queue delay of it less ours. */
	__u64 wait_apart_ns;
	struct ledger_account account;
	/* Of the others: what those had who have ended, its process's threads and its children. */
	__u64 ended_on_cpu_ns;
	__u64 ended_held_up_ns;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread);
} thread_by_task SEC(".maps");

/* Parts that were given to processes; what they fork inherits. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, LEDGER_MOST_PROCESSES);
	__type(key, __u32);
	__type(value, __u32);
} part_by_tgid SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, LEDGER_MOST_THREADS);
	__type(key, __u32);
	__type(value, struct ledger_record);
} record_by_place SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, LEDGER_MOST_OTHERS);
	__type(key, __u32);
	__type(value, struct ledger_other);
} other_by_place SEC(".maps");

/* Counts the assignments, from 1; at its first event after one, a thread looks for its part. */
__u32 assignment;
/* Whether `read` is to tell of the others too. */
__u32 wants_others;
/* sched_clock() less CLOCK_BOOTTIME. */
__s64 clock_ahead_ns;
/* What `read` found, as of when, and what it could not. */
__u32 records;
__u32 others;
__u32 unplaced;
__u32 torn;
__u64 read_at_ns;

extern int bpf_iter_task_new(struct bpf_iter_task *it, struct task_struct *task,
			     unsigned int flags) __ksym;
extern struct task_struct *bpf_iter_task_next(struct bpf_iter_task *it) __ksym;
extern void bpf_iter_task_destroy(struct bpf_iter_task *it) __ksym;
extern void bpf_rcu_read_lock(void) __ksym;
extern void bpf_rcu_read_unlock(void) __ksym;

static __always_inline struct thread *thread_of(struct task_struct *task, struct run_queue *queue)
{
	struct thread *thread = bpf_task_storage_get(&thread_by_task, task, NULL,
						     BPF_LOCAL_STORAGE_GET_F_CREATE);
	__u32 tgid, *part, before;

	tgid = task->tgid;
	if (!thread) {
		/* What one of the others does before there is room for it is less than one of its slices. */
		if (queue && bpf_map_lookup_elem(&part_by_tgid, &tgid))
			queue->drops++;
		return NULL;
	}
	if (thread->assignment == assignment)
		return thread;
	thread->assignment = assignment;
	before = thread->part;
	part = bpf_map_lookup_elem(&part_by_tgid, &tgid);
	if (part)
		thread->part = *part;
	/* Its books begin anew: of the others less is counted. */
	if (before == LEDGER_REST && thread->part != LEDGER_REST && thread->state != ENDED) {
		step(thread);
		thread->state = LEDGER_UNSEEN;
		__builtin_memset(&thread->account, 0, sizeof(thread->account));
		step(thread);
	}
	return thread;
}

/* A wait for a CPU ends: whose it was meanwhile. Read from another CPU, that may be more than passed. */
static __always_inline void share_out(__u64 *queued_ns, __u64 waited, const __u64 *before,
				      const __u64 *after)
{
	__u64 part;
	int each;

	for (each = LEDGER_REST; each < LEDGER_NOBODY; each++) {
		part = elapsed(before[each], after[each]);
		part = part < waited ? part : waited;
		queued_ns[each] += part;
		waited -= part;
	}
	queued_ns[LEDGER_NOBODY] += waited;
}

/* As of `seen`, which is the run queue itself or a copy of it. */
static __always_inline void start_waiting(struct thread *thread, struct run_queue *queue,
					  const struct run_queue *seen, __u32 cpu, __u64 now)
{
	thread->cpu = cpu;
	holders_at(seen, now, thread->held_ns);
	if (thread->part == LEDGER_TARGET) {
		thread->counted = 1;
		add_waiting(queue, now, 1);
	}
}

/* On `queue`, of `cpu`. Where nobody told that it was moved there, it is still counted elsewhere. */
static __always_inline void stop_waiting(struct thread *thread, struct run_queue *queue, __u32 cpu,
					 __u64 now)
{
	struct run_queue *counted = cpu == thread->cpu ? queue : run_queue_of(thread->cpu);
	__u64 held_ns[LEDGER_HOLDERS];

	holders_at(queue, now, held_ns);
	if (cpu == thread->cpu)
		share_out(thread->account.queued_ns, elapsed(thread->since, now), thread->held_ns,
			  held_ns);
	else
		thread->account.queued_ns[LEDGER_REST] += elapsed(thread->since, now);
	if (thread->counted && counted) {
		thread->counted = 0;
		add_waiting(counted, now, -1);
	}
}

/* Adds the state that ends now to the account. */
static __always_inline void close(struct thread *thread, struct run_queue *queue, __u32 cpu, __u64 now,
				  __u64 run_time_ns)
{
	__u64 passed = elapsed(thread->since, now);
	struct ledger_account *account = &thread->account;

	switch (thread->state) {
	case LEDGER_UNSEEN:
		account->known_since_ns = now;
		break;
	case LEDGER_RUNNING:
		account->ns[LEDGER_ON_CPU] += passed;
		account->hidden_ns += passed - (run_time_ns - thread->run_time_ns);
		account->held_up_ns += queue->waited_ns - thread->waited_ns;
		break;
	case LEDGER_QUEUED:
		stop_waiting(thread, queue, cpu, now);
		break;
	default:
		if (thread->class < LEDGER_CLASSES)
			account->ns[thread->class] += passed;
	}
	thread->since = now;
}

/* The scheduler's run-queue delay of it less ours. */
static __always_inline __u64 wait_apart(const struct thread *thread, __u64 run_delay)
{
	const struct ledger_account *account = &thread->account;
	int each;

	for (each = 0; each < LEDGER_HOLDERS; each++)
		run_delay -= account->queued_ns[each];
	return run_delay - account->ns[LEDGER_THROTTLED];
}

/* What the scheduler has counted when it leaves its CPU; `make_up` goes from there. */
static __always_inline void remember(struct thread *thread, struct task_struct *task)
{
	thread->run_time_ns = task->se.sum_exec_runtime;
	thread->wait_apart_ns = wait_apart(thread, task->sched_info.run_delay);
}

static __always_inline void leave(struct task_struct *task, struct run_queue *queue, __u32 cpu,
				  __u64 now, __u32 blocked_in)
{
	struct thread *thread = thread_of(task, queue);

	if (!thread)
		return;
	step(thread);
	close(thread, queue, cpu, now, task->se.sum_exec_runtime);
	remember(thread, task);
	if (blocked_in & TASK_DEAD) {
		thread->state = ENDED;
	} else if (thread->part == LEDGER_REST) {
		thread->state = LEDGER_UNSEEN;
	} else if (blocked_in) {
		thread->state = LEDGER_BLOCKED;
		thread->class = reason(task, blocked_in);
	} else if (is_held_by_quota(task)) {
		thread->state = LEDGER_HELD;
		thread->class = LEDGER_THROTTLED;
	} else {
		thread->state = LEDGER_QUEUED;
		start_waiting(thread, queue, queue, cpu, now);
	}
	step(thread);
}

/* It has left its CPU and nobody told: it ran as long as its run time says, why it left is not known. */
static __always_inline void leave_unseen(struct thread *thread, struct run_queue *queue, __u64 now,
					 __u64 run_time_ns)
{
	__u64 left = thread->since + elapsed(thread->run_time_ns, run_time_ns);

	thread->waited_ns = queue->waited_ns;
	close(thread, queue, thread->cpu, left < now ? left : now, run_time_ns);
	thread->run_time_ns = run_time_ns;
	thread->state = LEDGER_BLOCKED;
	thread->class = LEDGER_UNKNOWN;
}

/* It ran or was woken meanwhile and nobody told; the scheduler has counted how long, if not when. Who had
 * the CPU that it waited for is not known: others, mostly. */
static __always_inline void make_up(struct thread *thread, __u64 now, __u64 ran, __u64 run_delay)
{
	__u64 left = elapsed(thread->since, now), waited;
	struct ledger_account *account = &thread->account;
	struct run_queue *counted = run_queue_of(thread->cpu);

	ran = ran < left ? ran : left;
	account->ns[LEDGER_ON_CPU] += ran;
	left -= ran;
	waited = elapsed(thread->wait_apart_ns, wait_apart(thread, run_delay));
	waited = waited < left ? waited : left;
	account->queued_ns[LEDGER_REST] += waited;
	left -= waited;
	if (thread->state != LEDGER_QUEUED && thread->class < LEDGER_CLASSES)
		account->ns[thread->class] += left;
	else
		account->ns[LEDGER_UNKNOWN] += left;
	if (thread->counted && counted) {
		thread->counted = 0;
		add_waiting(counted, now, -1);
	}
	thread->state = LEDGER_BLOCKED;
	thread->since = now;
}

/* With its run time and its run-queue delay as of then. */
static __always_inline __u32 enter(struct task_struct *task, struct run_queue *queue, __u32 cpu,
				   __u64 now, __u64 run_time_ns, __u64 run_delay)
{
	struct thread *thread = thread_of(task, queue);

	if (!thread)
		return LEDGER_REST;
	step(thread);
	if (thread->state == LEDGER_RUNNING)
		leave_unseen(thread, queue, now, run_time_ns);
	if (thread->state != LEDGER_UNSEEN && thread->part != LEDGER_REST &&
		 (thread->state == LEDGER_BLOCKED || run_time_ns > thread->run_time_ns)) {
		queue->missed++;
		make_up(thread, now, elapsed(thread->run_time_ns, run_time_ns), run_delay);
	}
	close(thread, queue, cpu, now, run_time_ns);
	thread->state = LEDGER_RUNNING;
	thread->cpu = cpu;
	thread->waited_ns = queue->waited_ns;
	thread->run_time_ns = run_time_ns;
	thread->account.slices++;
	step(thread);
	return thread->part;
}

/* Somebody else has the CPU than was put on it when we were last told. The scheduler's own note of when
 * that was is right to the ns. */
static __always_inline void enter_unseen(struct task_struct *task, struct run_queue *queue, __u32 cpu,
					 __u64 now)
{
	__u64 arrival = task->pid ? task->sched_info.last_arrival : queue->until;

	queue->missed++;
	if (arrival > now)
		arrival = now;
	/* Somebody may have been woken here since. */
	if (arrival > queue->until)
		count_until(queue, arrival);
	queue->holder = LEDGER_NOBODY;
	if (task->pid)
		queue->holder = enter(task, queue, cpu, arrival,
				      task->se.sum_exec_runtime - (now - arrival),
				      task->sched_info.run_delay);
}

/* Its run-queue delay, with the wait that ends now and that the kernel is about to count. */
static __always_inline __u64 delay_at(struct task_struct *task, __u64 now)
{
	__u64 queued = task->sched_info.last_queued;

	return task->sched_info.run_delay + (queued ? elapsed(queued, now) : 0);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct run_queue *queue = run_queue_of(cpu);
	__u64 now = rq_of(prev)->clock;

	if (!queue)
		return 0;
	step(queue);
	if (queue->until && queue->tid != (__u32)prev->pid)
		enter_unseen(prev, queue, cpu, now);
	count_until(queue, now);
	/* With a signal pending it does not block after all; kernels before 6.16 show the state that it was
	 * about to have (commit 8feb053d5319). */
	if (prev->pid)
		leave(prev, queue, cpu, now, preempt || !prev->__state ? 0 : prev_state);
	queue->tid = (__u32)next->pid;
	queue->holder = LEDGER_NOBODY;
	if (next->pid)
		queue->holder = enter(next, queue, cpu, now, next->se.sum_exec_runtime,
				      delay_at(next, now));
	step(queue);
	return 0;
}

/* A thread can be run: if it is blocked. Who is woken before it has left its CPU goes on running. */
static __always_inline void wake(struct task_struct *task)
{
	struct thread *thread = thread_of(task, run_queue_of(bpf_get_smp_processor_id()));
	struct run_queue *queue;
	struct rq *rq;
	__u64 now, waited = 0;

	if (!thread || thread->part == LEDGER_REST)
		return;
	if (thread->state != LEDGER_BLOCKED &&
	    (task->on_cpu || (thread->state != LEDGER_UNSEEN && thread->state != LEDGER_RUNNING)))
		return;
	rq = rq_of(task);
	now = rq->clock;
	queue = run_queue_of(rq->cpu);
	if (!queue)
		return;
	step(queue);
	count_until(queue, now);
	step(thread);
	if (thread->state == LEDGER_RUNNING)
		leave_unseen(thread, queue, now, task->se.sum_exec_runtime);
	if (thread->state == LEDGER_UNSEEN)
		remember(thread, task);
	/* It may be ready for longer, and woken once more: of the first time nobody told. */
	if (thread->state == LEDGER_BLOCKED)
		waited = elapsed(thread->wait_apart_ns, wait_apart(thread, delay_at(task, now)));
	waited = waited < elapsed(thread->since, now) ? waited : 0;
	close(thread, queue, rq->cpu, now - waited, 0);
	thread->state = LEDGER_QUEUED;
	start_waiting(thread, queue, queue, rq->cpu, now);
	step(thread);
	step(queue);
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

/* It goes on waiting for another CPU; before, the kernel has not yet noted the new one. */
SEC("tp_btf/sched_migrate_task")
int BPF_PROG(on_migrate, struct task_struct *task, int to)
{
	struct thread *thread = bpf_task_storage_get(&thread_by_task, task, NULL, 0);
	struct run_queue *old, *new, copy;
	__u64 now;

	if (!thread || thread->state != LEDGER_QUEUED)
		return 0;
	old = run_queue_of(thread->cpu);
	new = run_queue_of(to);
	if (!old || !new)
		return 0;
	now = rq_of(task)->clock;
	copy_run_queue(new, &copy);
	step(thread);
	close(thread, old, thread->cpu, now, 0);
	start_waiting(thread, new, &copy, to, now);
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
		thread->part = of_parent->part;
		thread->assignment = of_parent->assignment;
	} else if (of_parent && of_parent->part != LEDGER_REST && queue) {
		queue->drops++;
	}
	return 0;
}

/* What the books say of the present, as it was copied. */
struct present {
	__u32 class;
	__u32 cpu;
	__u64 since;
	__u64 held_ns[LEDGER_HOLDERS];
	__u64 waited_ns;
	__u64 run_time_ns;
};

/* Copies the account, and the kernel's own as it stood meanwhile. Whether it stood still. */
static __always_inline bool copy_thread(struct task_struct *task, const struct thread *thread,
					struct ledger_record *record, struct present *present)
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
		present->cpu = thread->cpu;
		present->since = thread->since;
		for (each = 0; each < LEDGER_HOLDERS; each++)
			present->held_ns[each] = thread->held_ns[each];
		present->waited_ns = thread->waited_ns;
		present->run_time_ns = thread->run_time_ns;
		record->run_apart_ns = task->se.sum_exec_runtime;
		record->wait_apart_ns = task->sched_info.run_delay;
		record->slices_apart = task->sched_info.pcount;
		barrier();
		if (!(before & 1) && *sequence == before)
			return true;
	}
	return false;
}

/* The kernel's own account less ours, both without the present. */
static __always_inline void compare(struct ledger_record *record, const struct present *present)
{
	const struct ledger_account *account = &record->account;
	int each;

	/* While it runs, its run time is as of the last tick. */
	if (record->state == LEDGER_RUNNING)
		record->run_apart_ns = present->run_time_ns;
	record->run_apart_ns += account->hidden_ns - account->ns[LEDGER_ON_CPU];
	for (each = 0; each < LEDGER_HOLDERS; each++)
		record->wait_apart_ns -= account->queued_ns[each];
	record->wait_apart_ns -= account->ns[LEDGER_THROTTLED];
	record->slices_apart -= account->slices;
	record->compared = record->state == LEDGER_RUNNING || record->state == LEDGER_BLOCKED;
}

/* Adds the present state up to now. */
static __always_inline void add_present(struct ledger_record *record, const struct present *present)
{
	__u64 now = read_at_ns, passed = elapsed(present->since, now), held_ns[LEDGER_HOLDERS];
	struct ledger_account *account = &record->account;
	struct run_queue *queue = run_queue_of(present->cpu), copy;

	record->until_ns = present->since + passed;
	if (record->state == LEDGER_RUNNING && queue) {
		copy_run_queue(queue, &copy);
		account->ns[LEDGER_ON_CPU] += passed;
		account->held_up_ns += elapsed(present->waited_ns, waited_at(&copy, now));
	} else if (record->state == LEDGER_QUEUED && queue) {
		copy_run_queue(queue, &copy);
		holders_at(&copy, now, held_ns);
		share_out(account->queued_ns, passed, present->held_ns, held_ns);
	} else if (present->class < LEDGER_CLASSES) {
		account->ns[present->class] += passed;
	}
}

static __noinline int read_thread(struct task_struct *task)
{
	struct thread *thread = bpf_task_storage_get(&thread_by_task, task, NULL, 0);
	__u32 place = records;
	struct ledger_record *record;
	struct present present;

	if (!thread || thread->state == LEDGER_UNSEEN || thread->state == ENDED)
		return 0;
	record = bpf_map_lookup_elem(&record_by_place, &place);
	if (!record) {
		unplaced++;
		return 0;
	}
	record->tid = task->pid;
	record->tgid = task->tgid;
	if (!copy_thread(task, thread, record, &present)) {
		torn++;
		return 0;
	}
	if (record->state == LEDGER_UNSEEN || record->state == ENDED)
		return 0;
	compare(record, &present);
	add_present(record, &present);
	records = place + 1;
	return 0;
}

/* The same of one of the others, of whom less is counted. */
static __always_inline bool copy_other(const struct thread *thread, struct ledger_other *other,
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
		other->on_cpu_ns = thread->account.ns[LEDGER_ON_CPU];
		other->held_up_ns = thread->account.held_up_ns;
		barrier();
		if (!(before & 1) && *sequence == before)
			return true;
	}
	return false;
}

/* How long one of the others had a CPU, and what it held up meanwhile, up to now. */
static __always_inline bool take_other(const struct thread *thread, struct ledger_other *other, __u64 now)
{
	struct run_queue *queue, copy;
	struct present present;

	if (!copy_other(thread, other, &present))
		return false;
	queue = run_queue_of(present.cpu);
	if (present.class == LEDGER_RUNNING && queue) {
		copy_run_queue(queue, &copy);
		other->on_cpu_ns += elapsed(present.since, now);
		other->held_up_ns += elapsed(present.waited_ns, waited_at(&copy, now));
	}
	return true;
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
static __always_inline struct thread *heir_of(struct task_struct *task)
{
	struct thread *first = task->pid == task->tgid ? NULL : page_of(task->group_leader);

	return first && !first->bequeathed ? first : page_of(task->real_parent);
}

/* A thread ends: what it had goes to its process, and a process's to its parent, as CPU time does
 * (times(2)). Otherwise those that live shorter than a reading would have held up nobody. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task)
{
	struct thread *thread = bpf_task_storage_get(&thread_by_task, task, NULL, 0), *heir;
	struct ledger_other last;

	if (!thread || thread->part != LEDGER_REST)
		return 0;
	heir = heir_of(task);
	if (!heir || !take_other(thread, &last, bpf_ktime_get_boot_ns() + clock_ahead_ns))
		return 0;
	thread->bequeathed = 1;
	__sync_fetch_and_add(&heir->ended_on_cpu_ns, last.on_cpu_ns + thread->ended_on_cpu_ns);
	__sync_fetch_and_add(&heir->ended_held_up_ns, last.held_up_ns + thread->ended_held_up_ns);
	return 0;
}

static __noinline int read_other(struct task_struct *task)
{
	struct thread *thread = bpf_task_storage_get(&thread_by_task, task, NULL, 0);
	struct ledger_other *other;
	__u32 place = others;

	if (!thread || thread->bequeathed)
		return 0;
	other = bpf_map_lookup_elem(&other_by_place, &place);
	if (!other) {
		unplaced++;
		return 0;
	}
	if (!take_other(thread, other, read_at_ns)) {
		torn++;
		return 0;
	}
	other->tid = task->pid;
	other->tgid = task->tgid;
	other->on_cpu_ns += thread->ended_on_cpu_ns;
	other->held_up_ns += thread->ended_held_up_ns;
	others = place + 1;
	return 0;
}

/* The threads of target and generator, and the others where that is wanted. */
SEC("syscall")
int read(void *ctx)
{
	struct bpf_iter_task it;
	struct task_struct *task;
	struct thread *thread;

	records = others = unplaced = torn = 0;
	read_at_ns = bpf_ktime_get_boot_ns() + clock_ahead_ns;
	bpf_rcu_read_lock();
	bpf_iter_task_new(&it, NULL, ALL_THREADS);
	while ((task = bpf_iter_task_next(&it))) {
		thread = bpf_task_storage_get(&thread_by_task, task, NULL, 0);
		if (!thread)
			continue;
		if (thread->part != LEDGER_REST)
			read_thread(task);
		else if (wants_others)
			read_other(task);
	}
	bpf_iter_task_destroy(&it);
	bpf_rcu_read_unlock();
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
