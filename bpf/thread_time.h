/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What `thread_time.bpf.c` and its reader agree on. Times are ns of the scheduler's clock.
 */
#ifndef STALLSCOPE_THREAD_TIME_H
#define STALLSCOPE_THREAD_TIME_H

/* Threads of target and generator that one reading can hold. */
#define THREAD_TIME_MOST_THREADS 16384
/* Threads of all others. */
#define THREAD_TIME_MOST_OTHERS 65536
/* Processes that a part was given to. */
#define THREAD_TIME_MOST_PROCESSES 16384
/* The highest byte of a word is below this. */
#define THREAD_TIME_EVENT_CLASSES 16
/* System calls are numbered below this on x86-64 and where the generic table is used. */
#define THREAD_TIME_CALLS 512
/* Return addresses in the kernel that threads were kept at. */
#define THREAD_TIME_MOST_PLACES 4096
/* Room for the name of one. */
#define THREAD_TIME_PLACE_NAME 128

/* Who a process is to the measurement, and who has a CPU. */
enum thread_time_holder {
	THREAD_TIME_BACKGROUND,
	THREAD_TIME_TARGET,
	THREAD_TIME_GENERATOR,
	/* Only of a CPU: it idles. */
	THREAD_TIME_NOBODY,
	THREAD_TIME_HOLDERS
};

/* What a thread that is waiting by the kernel asked for, by its system call. */
enum thread_time_call {
	/* Neither of the others. */
	THREAD_TIME_CALL_OTHER,
	/* fsync and its family. */
	THREAD_TIME_CALL_SYNC,
	/* read, write and theirs. */
	THREAD_TIME_CALL_READ_WRITE,
	/* None: a page fault. */
	THREAD_TIME_CALL_NONE,
	THREAD_TIME_CALL_KINDS
};

/* Where all of a thread's time is, but for its wait for a CPU: each ns in one. */
enum thread_time_class {
	THREAD_TIME_ON_CPU,
	/* Off its CPU by a quota, until it is on one again. */
	THREAD_TIME_THROTTLED,
	/* Waiting for memory (in_memstall); THREAD_TIME_CALL_KINDS of them. */
	THREAD_TIME_MEMORY,
	/* For a disk (in_iowait). */
	THREAD_TIME_IO = THREAD_TIME_MEMORY + THREAD_TIME_CALL_KINDS,
	/* Uninterruptibly for something else of the kernel's: its journal, its locks. */
	THREAD_TIME_KERNEL = THREAD_TIME_IO + THREAD_TIME_CALL_KINDS,
	/* Asleep, by the system call. */
	THREAD_TIME_FUTEX = THREAD_TIME_KERNEL + THREAD_TIME_CALL_KINDS,
	THREAD_TIME_OUTPUT,
	THREAD_TIME_INPUT,
	THREAD_TIME_SLEEP,
	THREAD_TIME_OTHER_CALL,
	THREAD_TIME_UNKNOWN,
	/* Asleep, by the application's own word (PostgreSQL's classes of wait events). */
	THREAD_TIME_EVENT_LWLOCK,
	/* One of those before it: what is written of the log waits for who writes it. */
	THREAD_TIME_EVENT_LOG,
	THREAD_TIME_EVENT_LOCK,
	THREAD_TIME_EVENT_BUFFER,
	THREAD_TIME_EVENT_ACTIVITY,
	THREAD_TIME_EVENT_CLIENT,
	THREAD_TIME_EVENT_EXTENSION,
	THREAD_TIME_EVENT_IPC,
	THREAD_TIME_EVENT_TIMEOUT,
	THREAD_TIME_EVENT_IO,
	THREAD_TIME_CLASSES
};

/* What is known of a process. */
struct thread_time_process {
	/* enum thread_time_holder */
	__u32 role;
	/* Its word as it was when this was written. */
	__u32 wait_event;
	/* Where a pointer is, and how far behind what that points to its wait event is; 0 for none. */
	__u64 pointer;
	__u64 offset;
	/* The sets that its threads are in (psi_group.h), without those of their pools. */
	__u64 groups;
};
_Static_assert(sizeof(struct thread_time_process) == 32, "as the reader has it");

/* What a thread waits for in THREAD_TIME_MEMORY, THREAD_TIME_IO or THREAD_TIME_KERNEL, by the functions of the kernel that it
 * waits in. The first few are what anything may wait in: who called counts first. */
enum wait_site {
	/* In none that is known. */
	WAIT_SITE_OTHER,
	/* A page of a file, or a buffer. */
	WAIT_SITE_PAGE,
	/* A request to a disk. */
	WAIT_SITE_BLOCK,
	WAIT_SITE_KERNEL_LOCK,
	/* From here on it is told what for. */
	WAIT_SITE_THROTTLE,
	WAIT_SITE_JOURNAL,
	WAIT_SITE_DIRTY_THROTTLE,
	WAIT_SITE_RECLAIM,
	WAIT_SITE_SWAP,
	WAIT_SITE_NETWORK_FILE,
	WAIT_SITE_USER_FILE,
	WAIT_SITES
};

/* What a return address in the kernel tells; 0 for nothing. From user space. */
struct kernel_symbol {
	/* enum wait_site */
	__u32 channel;
	/* enum thread_time_call */
	__u32 kind;
};
_Static_assert(sizeof(struct kernel_symbol) == 8, "as the reader has it");

/* Pairs of a pool and a word that can be counted. */
#define THREAD_TIME_MOST_EVENTS 2048

/* What threads of a pool (wakeup.h) said that they wait for. */
struct thread_time_event {
	__u64 pool;
	__u32 wait_event;
	__u32 unused;
};
_Static_assert(sizeof(struct thread_time_event) == 16, "as the reader has it");

/* How often they have done so to the end, and how long, those who still do included. */
struct thread_time_event_sum {
	__u64 waits;
	__u64 ns;
};
_Static_assert(sizeof(struct thread_time_event_sum) == 16, "as the reader has it");

/* How a thread stands in the accounts. */
enum thread_time_state {
	/* No event of it was seen since it has a part in this. */
	THREAD_TIME_UNSEEN,
	THREAD_TIME_RUNNING,
	THREAD_TIME_QUEUED,
	THREAD_TIME_BLOCKED,
	/* By a quota. */
	THREAD_TIME_HELD
};

/* What is counted of a thread. */
struct thread_time_account {
	/* Since when it is. */
	__u64 known_since_ns;
	/* By enum thread_time_class. */
	__u64 ns[THREAD_TIME_CLASSES];
	/* What of it is in THREAD_TIME_MEMORY, THREAD_TIME_IO and THREAD_TIME_KERNEL, by enum wait_site. */
	__u64 kernel_wait_ns[WAIT_SITES];
	/* Ready and not running, by who had its CPU (enum thread_time_holder). */
	__u64 queued_ns[THREAD_TIME_HOLDERS];
	/* Waiting of the target's threads for the CPUs that this one had meanwhile: thread x ns. */
	__u64 delay_caused_ns;
	/* On a CPU and not counted as its run time, up to when it last left one: what this kernel subtracts
	 * of interrupts and steal. */
	__s64 hidden_ns;
	/* Times it was put on a CPU. */
	__u64 slices;
};

/* One thread of target or generator as of a reading. */
struct thread_time_record {
	__u32 tid;
	__u32 tgid;
	/* Up to when it is counted. */
	__u64 until_ns;
	struct thread_time_account account;
	/* The kernel's own account beside it: se.sum_exec_runtime and sched_info.run_delay less ours, as of
	 * when both last stood still. */
	__s64 run_diff_ns;
	__s64 wait_diff_ns;
	/* sched_info.pcount, with the slices that it is known to leave out, less ours; where it moves, events were
	 * missed. */
	__s64 slices_diff;
	/* enum thread_time_state */
	__u32 state;
	/* Whether run_diff_ns and wait_diff_ns could be told this time. */
	__u32 compared;
	/* Its pool's number (wakeup.h); 0 until it is asked for. */
	__u64 pool;
};
_Static_assert(sizeof(struct thread_time_record) ==
		       16 + 8 * (1 + THREAD_TIME_CLASSES + WAIT_SITES + THREAD_TIME_HOLDERS + 3) + 40,
	       "as the reader has it");

/* One thread of target or generator that has ended. */
struct thread_time_ended {
	/* How many had ended on its CPU, with it; written last. */
	__u64 turn;
	__u32 tid;
	__u32 tgid;
	/* The process of its parent. */
	__u32 parent_tgid;
	__u32 unused;
	__u64 until_ns;
	struct thread_time_account account;
};
_Static_assert(sizeof(struct thread_time_ended) ==
		       32 + 8 * (1 + THREAD_TIME_CLASSES + WAIT_SITES + THREAD_TIME_HOLDERS + 3),
	       "as the reader has it");

/* One thread of all others. */
struct thread_time_other {
	__u32 tgid;
	__u32 tid;
	__u64 on_cpu_ns;
	__u64 delay_caused_ns;
};
_Static_assert(sizeof(struct thread_time_other) == 24, "as the reader has it");

#endif
