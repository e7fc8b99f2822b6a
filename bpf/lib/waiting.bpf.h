/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How long a thread waits for a CPU, and the role of the thread that has it meanwhile. */
#ifndef STALLSCOPE_WAITING_BPF_H
#define STALLSCOPE_WAITING_BPF_H

#include "thread.bpf.h"

/* Ends a wait for a CPU: divides it by holder. The holders' times may add up to more than `waited`
 * when they were read from another CPU. */
static __always_inline void share_out(__u64 *queued_ns, __u64 waited, const __u64 *before,
				      const __u64 *after)
{
	__u64 role;
	int each;

	for (each = THREAD_TIME_BACKGROUND; each < THREAD_TIME_IDLE; each++) {
		role = elapsed(before[each], after[each]);
		role = role < waited ? role : waited;
		queued_ns[each] += role;
		waited -= role;
	}
	queued_ns[THREAD_TIME_IDLE] += waited;
}

/* Begins a wait; `queue` is locked. */
static __always_inline void start_waiting(struct thread *thread, struct run_queue *queue, __u32 cpu,
					  __u64 now)
{
	thread->cpu = cpu;
	thread->migrated = 0;
	holders_at(queue, now, thread->held_ns);
	if (thread->role == THREAD_TIME_TARGET) {
		thread->counted = 1;
		add_waiting(queue, now, 1);
	}
}

/* Continues a wait on another CPU, whose run queue is not locked; `copy` is a copy of it. */
static __always_inline void continue_waiting(struct thread *thread, struct run_queue *queue,
					  const struct run_queue *copy, __u32 cpu, __u64 now)
{
	thread->cpu = cpu;
	thread->migrated = 1;
	holders_at(copy, now, thread->held_ns);
	if (thread->role == THREAD_TIME_TARGET) {
		thread->counted = 1;
		add_waiting_unlocked(queue, now, 1);
	}
}

/* Removes the thread from `waiting` of the CPU on which it was counted; `queue`, of `cpu`, is
 * locked. */
static __always_inline void count_out(struct thread *thread, struct run_queue *queue, __u32 cpu, __u64 now)
{
	struct run_queue *other;

	if (!thread->counted)
		return;
	if (cpu == thread->cpu) {
		add_waiting(queue, now, -1);
	} else {
		other = run_queue_of(thread->cpu);
		if (other)
			add_waiting_unlocked(other, now, -1);
	}
	thread->counted = 0;
}

/* Ends a wait on `queue`, of `cpu`, which is locked. After a migration without an event the thread
 * is still counted on another CPU. */
static __always_inline void stop_waiting(struct thread *thread, struct run_queue *queue, __u32 cpu,
					 __u64 now)
{
	__u64 held_ns[THREAD_TIME_ROLES];

	holders_at(queue, now, held_ns);
	if (cpu == thread->cpu)
		share_out(thread->account.queued_ns, elapsed(thread->since, now), thread->held_ns,
			  held_ns);
	else
		thread->account.queued_ns[THREAD_TIME_BACKGROUND] += elapsed(thread->since, now);
	count_out(thread, queue, cpu, now);
	if (thread->unnoted)
		thread->miscounted_ns -= elapsed(thread->since, now);
	thread->unnoted = 0;
}

#endif
