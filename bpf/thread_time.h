/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shared by `thread_time.bpf.c` and its reader in user space. Times are ns of the scheduler's
 * clock.
 */
#ifndef STALLSCOPE_THREAD_TIME_H
#define STALLSCOPE_THREAD_TIME_H

#include "wait_classes.gen.h"

/* Target and generator threads that one reading can hold. */
#define THREAD_TIME_MOST_THREADS 16384
/* Background threads that one reading can hold. */
#define THREAD_TIME_MOST_BACKGROUND 65536
/* Bins of the CPUs' time, ns, and how many edges between them a CPU's ring holds: the reader comes each 100 ms, and may
 * be late. */
#define CPU_BIN_NS 20000000ULL
#define CPU_EDGES 64
/* Processes that have a role. */
#define THREAD_TIME_MOST_PROCESSES 16384
/* Bound of the highest byte of a wait event, which is its class. */
#define THREAD_TIME_EVENT_CLASSES 16
/* Bound of system call numbers on x86-64, and where the kernel uses the generic table. */
#define THREAD_TIME_CALLS 512
/* Return addresses in the kernel at which threads were seen in a kernel wait. */
#define THREAD_TIME_MOST_SYMBOLS 4096
/* Room for the name of one such function. */
#define THREAD_TIME_SYMBOL_NAME 128

/* The first of the classes of each kernel wait; one follows per I/O intent, as `reason` adds them
 * (lib/reason.bpf.h). */
enum {
	THREAD_TIME_MEMORY = THREAD_TIME_MEMORY_OTHER,
	THREAD_TIME_IO = THREAD_TIME_IO_OTHER,
	THREAD_TIME_KERNEL = THREAD_TIME_KERNEL_OTHER,
};
_Static_assert(THREAD_TIME_MEMORY_FAULT == THREAD_TIME_MEMORY + THREAD_TIME_CALL_FAULT &&
		       THREAD_TIME_IO_FAULT == THREAD_TIME_IO + THREAD_TIME_CALL_FAULT &&
		       THREAD_TIME_KERNEL_FAULT == THREAD_TIME_KERNEL + THREAD_TIME_CALL_FAULT,
	       "as many classes of each as I/O intents");
/* Kernel waits stand before the sleeps in system calls, wait events behind them. */
_Static_assert(THREAD_TIME_KERNEL_FAULT < THREAD_TIME_FUTEX &&
		       THREAD_TIME_UNKNOWN < THREAD_TIME_EVENT_LWLOCK,
	       "as comparisons have it");

/* What user space sets for a process. */
struct thread_time_process {
	/* enum thread_time_role */
	__u32 role;
	/* Its wait event at the moment when user space wrote this entry. */
	__u32 wait_event;
	/* Address of a pointer in the process's memory, and offset of the wait event in what that
	 * points to; 0 for none. */
	__u64 pointer;
	__u64 offset;
	/* PSI groups of its threads (psi_group.h). */
	__u64 groups;
	/* Address of the pointer to the process's entry in pg_stat_activity's memory, 0 for none, and
	 * the layout of that entry. */
	__u64 statement;
	__u64 layout;
};
_Static_assert(sizeof(struct thread_time_process) == 48, "as the reader has it");

/* What a return address in the kernel means; all 0 for nothing. Written by user space. */
struct kernel_symbol {
	/* enum wait_site */
	__u32 wait_site;
	/* enum thread_time_call */
	__u32 io_intent;
};
_Static_assert(sizeof(struct kernel_symbol) == 8, "as the reader has it");

/* Pairs of pool and wait event that can be counted. */
#define THREAD_TIME_MOST_EVENTS 2048

/* Key: threads of one pool (wakeup.h) in one wait event. */
struct thread_time_event {
	__u64 pool;
	__u32 wait_event;
	__u32 unused;
};
_Static_assert(sizeof(struct thread_time_event) == 16, "as the reader has it");

/* Number of waits that have ended, and total duration, which includes waits in progress. */
struct thread_time_event_sum {
	__u64 waits;
	__u64 ns;
};
_Static_assert(sizeof(struct thread_time_event_sum) == 16, "as the reader has it");

/* Pairs of pool and statement that can be counted. */
#define THREAD_TIME_MOST_STATEMENTS 4096
/* Texts of statements that wait for user space, and the longest one with its final 0. */
#define STATEMENT_MOST_TEXTS 512
#define STATEMENT_TEXT 512
/* Layouts of the entries that are told apart. */
#define STATEMENT_LAYOUTS 8

/* Where an entry has its state, the id of its statement and the pointer to its text, bytes; and the
 * values of the state while a statement is under way. */
struct statement_layout {
	__u32 state;
	__u32 id;
	__u32 text;
	__u32 running;
	__u32 fastpath;
	__u32 unused;
};
_Static_assert(sizeof(struct statement_layout) == 24, "as the reader has it");

/* Parts of a statement's time. The waits for a CPU are by the role of who had it. */
enum statement_part {
	STATEMENT_ON_CPU,
	STATEMENT_QUEUED,
	STATEMENT_MEMORY = STATEMENT_QUEUED + THREAD_TIME_ROLES,
	STATEMENT_DISK,
	STATEMENT_SYNC,
	STATEMENT_LOCK,
	STATEMENT_INTERNAL_LOCK,
	STATEMENT_CLIENT,
	STATEMENT_OTHER,
	STATEMENT_PARTS
};

/* Key: a statement of the processes of one pool (wakeup.h); 0 is the id of time without one. */
struct statement_key {
	__u64 pool;
	__u64 id;
};
_Static_assert(sizeof(struct statement_key) == 16, "as the reader has it");

struct statement_sum {
	/* By enum statement_part. */
	__u64 ns[STATEMENT_PARTS];
	/* How often it was seen to begin, and when that was last, microseconds since 2000-01-01. */
	__u64 calls;
	__u64 started_us;
};
_Static_assert(sizeof(struct statement_sum) == 8 * (STATEMENT_PARTS + 2), "as the reader has it");

struct statement_text {
	char bytes[STATEMENT_TEXT];
};

/* A thread's state in its account. */
enum thread_time_state {
	/* No event since the thread got a role. */
	THREAD_TIME_UNSEEN,
	THREAD_TIME_RUNNING,
	THREAD_TIME_QUEUED,
	THREAD_TIME_BLOCKED,
	/* Throttled by a CPU quota. */
	THREAD_TIME_THROTTLED_STATE
};

/* Whether a thread slept inside a request that it had read and not answered (lib/serving.bpf.h). */
enum serving_state {
	SERVING_UNKNOWN,
	SERVING_INSIDE,
	SERVING_OUTSIDE
};

/* The sleeps of which that is told. */
enum serving_sleep {
	SERVING_FUTEX,
	SERVING_INPUT,
	SERVING_SLEEP,
	SERVING_SLEEPS
};

/* One thread's times. */
struct thread_time_account {
	/* When the account begins. */
	__u64 known_since_ns;
	/* By enum thread_time_class. */
	__u64 ns[THREAD_TIME_CLASSES];
	/* By enum wait_site: divides the sum of the THREAD_TIME_MEMORY, THREAD_TIME_IO and
	 * THREAD_TIME_KERNEL classes. */
	__u64 kernel_wait_ns[WAIT_SITES];
	/* Waiting for a CPU, by the role of the thread that had it (enum thread_time_role). */
	__u64 queued_ns[THREAD_TIME_ROLES];
	/* Time that target threads waited for the CPUs while this thread had them: threads x ns. */
	__u64 delay_caused_ns;
	/* Time on a CPU that the kernel did not count as run time, up to the last switch-out:
	 * interrupts and steal, as far as this kernel subtracts them. Signed. */
	__s64 hidden_ns;
	/* Number of times the thread was switched in. */
	__u64 slices;
	/* By enum serving_sleep: of a target thread's THREAD_TIME_FUTEX, THREAD_TIME_INPUT and
	 * THREAD_TIME_SLEEP, what it slept inside requests and outside; what is in neither is
	 * not known. */
	__u64 inside_ns[SERVING_SLEEPS];
	__u64 outside_ns[SERVING_SLEEPS];
	/* Requests that it answered up to its last such sleep: those that it had read, and those
	 * that another thread had, or itself before it read a further one. */
	__u64 answered;
	__u64 answered_for_others;
};
#define THREAD_TIME_ACCOUNT_WORDS                                                                  \
	(1 + THREAD_TIME_CLASSES + WAIT_SITES + THREAD_TIME_ROLES + 3 + 2 * SERVING_SLEEPS + 2)

/* One target or generator thread as of a reading. */
struct thread_time_record {
	__u32 tid;
	__u32 tgid;
	/* End of the time that is counted here. */
	__u64 until_ns;
	struct thread_time_account account;
	/* Cross-check: se.sum_exec_runtime and sched_info.run_delay less our sums, as of the last
	 * time at which neither was in progress. */
	__s64 run_diff_ns;
	__s64 wait_diff_ns;
	/* sched_info.pcount, plus the slices that the kernel is known to leave out, less ours. If
	 * it changes, events were missed. */
	__s64 slices_diff;
	/* enum thread_time_state */
	__u32 state;
	/* Whether run_diff_ns and wait_diff_ns could be computed in this reading. */
	__u32 compared;
	/* Its pool's number (wakeup.h); 0 until one is computed. */
	__u64 pool;
};
_Static_assert(sizeof(struct thread_time_record) ==
		       16 + 8 * THREAD_TIME_ACCOUNT_WORDS + 40,
	       "as the reader has it");

/* One target or generator thread that has exited. */
struct thread_time_exited {
	/* Number of threads exited on this CPU so far, this one included; written last, so that a
	 * reader can tell a complete entry. */
	__u64 number;
	__u32 tid;
	__u32 tgid;
	__u32 parent_tgid;
	__u32 unused;
	__u64 until_ns;
	struct thread_time_account account;
};
_Static_assert(sizeof(struct thread_time_exited) ==
		       32 + 8 * THREAD_TIME_ACCOUNT_WORDS,
	       "as the reader has it");

/* One background thread. */
struct thread_time_background {
	__u32 tgid;
	__u32 tid;
	__u64 on_cpu_ns;
	__u64 delay_caused_ns;
};
_Static_assert(sizeof(struct thread_time_background) == 24, "as the reader has it");

#endif
