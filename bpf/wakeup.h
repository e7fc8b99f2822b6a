/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shared by `lib/wakeup.bpf.h` and its reader: which waits were ended by which waker, and what the
 * waker did meanwhile. Times are ns of the scheduler's clock.
 */
#ifndef STALLSCOPE_WAKEUP_H
#define STALLSCOPE_WAKEUP_H

#include "thread_time.h"

/* Entries of one period: pairs of pools, by wait class and by the waker's previous wait. */
#define WAKEUP_MOST 8192
/* Pools of threads. */
#define WAKEUP_MOST_POOLS 4096
/* TASK_COMM_LEN of include/linux/sched.h */
#define WAKEUP_NAME 16

/* A pool: threads of the same name, in one process and its ancestors of the same name. */
struct wakeup_pool {
	/* The topmost of those processes. */
	__u32 tgid;
	/* The thread name with each digit as `#`. */
	char name[WAKEUP_NAME];
};
_Static_assert(sizeof(struct wakeup_pool) == 20, "as the reader has it");

/* Key: waits that are added up together. */
struct wakeup_pair {
	/* Pool numbers; for `waker` see enum wakeup_by. */
	__u64 woken;
	__u64 waker;
	/* enum wakeup_by */
	__u8 by;
	/* enum thread_time_class: of the wait, and of the waker's previous wait, if it had one. */
	__u8 class;
	__u8 before;
	/* 0 or 1; user space reads one while the other is written. */
	__u8 period;
	/* enum serving_state of the woken thread. */
	__u8 serving;
	__u8 unused[3];
};
_Static_assert(sizeof(struct wakeup_pair) == 24, "as the reader has it");

/* Number and total duration of the waits; of the duration, the waker's time blocked in its last
 * wait, and since then on CPU and ready. The remainder was before that wait. */
struct wakeup_sum {
	__u64 waits;
	__u64 ns;
	__u64 blocked_ns;
	__u64 on_cpu_ns;
	__u64 ready_ns;
};
_Static_assert(sizeof(struct wakeup_sum) == 40, "as the reader has it");

#endif
