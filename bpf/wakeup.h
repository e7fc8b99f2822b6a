/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What `lib/wakeup.bpf.h` and its reader agree on: which waits of whom were ended by whom, and what that one
 * did meanwhile. Times are ns of the scheduler's clock.
 */
#ifndef STALLSCOPE_WAKEUP_H
#define STALLSCOPE_WAKEUP_H

#include "thread_time.h"

/* Pairs of pools, by class and by what the waker did before, that one period can hold. */
#define WAKEUP_MOST 8192
/* Pools of threads. */
#define WAKEUP_MOST_POOLS 4096
/* TASK_COMM_LEN of include/linux/sched.h */
#define WAKEUP_NAME 16

/* Who ended a wait. */
enum wakeup_by {
	/* Not told. */
	WAKEUP_BY_UNKNOWN,
	/* A thread of a pool of target or generator; `waker` is the pool. */
	WAKEUP_BY_POOL,
	/* A process that is neither; `waker` is its number. */
	WAKEUP_BY_OTHER,
	/* An interrupt, or what it left to be done: a timer, a packet, a disk. */
	WAKEUP_BY_INTERRUPT,
	/* A kernel thread. */
	WAKEUP_BY_KERNEL,
	WAKEUP_BYS
};

/* Threads of one process, and of those above it that go by its name, which are called alike. */
struct wakeup_pool {
	/* The highest of those processes. */
	__u32 tgid;
	/* A thread's name with each digit as `#`. */
	char name[WAKEUP_NAME];
};
_Static_assert(sizeof(struct wakeup_pool) == 20, "as the reader has it");

/* The waits that are counted as one. */
struct wakeup_pair {
	/* Pools by their numbers; see enum wakeup_by. */
	__u64 woken;
	__u64 waker;
	/* enum wakeup_by */
	__u8 by;
	/* enum thread_time_class: what was waited in, and in what the waker was blocked before, if it was. */
	__u8 class;
	__u8 before;
	/* Which of two periods; the other is read meanwhile. */
	__u8 period;
	__u32 unused;
};
_Static_assert(sizeof(struct wakeup_pair) == 24, "as the reader has it");

/* How often and how long; of that, while the waker was blocked for the last time before, and since on a CPU,
 * and ready for one. What is left was before. */
struct wakeup_sum {
	__u64 waits;
	__u64 ns;
	__u64 blocked_ns;
	__u64 on_cpu_ns;
	__u64 ready_ns;
};
_Static_assert(sizeof(struct wakeup_sum) == 40, "as the reader has it");

#endif
