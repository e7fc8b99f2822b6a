/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What `ledger.bpf.c` and its reader agree on. Times are ns of the scheduler's clock.
 */
#ifndef STALLSCOPE_LEDGER_H
#define STALLSCOPE_LEDGER_H

/* Threads of target and generator that one reading can hold. */
#define LEDGER_MOST_THREADS 16384
/* Threads of all others. */
#define LEDGER_MOST_OTHERS 65536
/* Processes that a part was given to. */
#define LEDGER_MOST_PROCESSES 16384
/* The highest byte of a word is below this. */
#define LEDGER_WORD_CLASSES 16
/* System calls are numbered below this on x86-64 and where the generic table is used. */
#define LEDGER_CALLS 512
/* Return addresses in the kernel that threads were kept at. */
#define LEDGER_MOST_PLACES 4096
/* Room for the name of one. */
#define LEDGER_PLACE_NAME 128

/* Who a process is to the measurement, and who has a CPU. */
enum ledger_holder {
	LEDGER_REST,
	LEDGER_TARGET,
	LEDGER_GENERATOR,
	/* Only of a CPU: it idles. */
	LEDGER_NOBODY,
	LEDGER_HOLDERS
};

/* What a thread that is kept from running by the kernel asked for, by its system call. */
enum ledger_call {
	/* Neither of the others. */
	LEDGER_CALL_OTHER,
	/* fsync and its family. */
	LEDGER_CALL_SYNC,
	/* read, write and theirs. */
	LEDGER_CALL_READ_WRITE,
	/* None: a page fault. */
	LEDGER_CALL_NONE,
	LEDGER_CALL_KINDS
};

/* Where all of a thread's time is, but for its wait for a CPU: each ns in one. */
enum ledger_class {
	LEDGER_ON_CPU,
	/* Off its CPU by a quota, until it is on one again. */
	LEDGER_THROTTLED,
	/* Kept from running for memory (in_memstall); LEDGER_CALL_KINDS of them. */
	LEDGER_MEMORY,
	/* For a disk (in_iowait). */
	LEDGER_IO = LEDGER_MEMORY + LEDGER_CALL_KINDS,
	/* Uninterruptibly for something else of the kernel's: its journal, its locks. */
	LEDGER_KERNEL = LEDGER_IO + LEDGER_CALL_KINDS,
	/* Asleep, by the system call. */
	LEDGER_FUTEX = LEDGER_KERNEL + LEDGER_CALL_KINDS,
	LEDGER_OUTPUT,
	LEDGER_INPUT,
	LEDGER_SLEEP,
	LEDGER_OTHER_CALL,
	LEDGER_UNKNOWN,
	/* Asleep, by the application's own word (PostgreSQL's classes of wait events). */
	LEDGER_WORD_LWLOCK,
	/* One of those before it: what is written of the log waits for who writes it. */
	LEDGER_WORD_LOG,
	LEDGER_WORD_LOCK,
	LEDGER_WORD_BUFFER,
	LEDGER_WORD_ACTIVITY,
	LEDGER_WORD_CLIENT,
	LEDGER_WORD_EXTENSION,
	LEDGER_WORD_IPC,
	LEDGER_WORD_TIMEOUT,
	LEDGER_WORD_IO,
	LEDGER_CLASSES
};

/* What is known of a process. */
struct ledger_process {
	/* enum ledger_holder */
	__u32 part;
	/* Its word as it was when this was written. */
	__u32 said;
	/* Where a pointer is, and how far behind what that points to its word is; 0 for none. */
	__u64 pointer;
	__u64 offset;
	/* The sets that its threads are in (sets.h), without those of their pools. */
	__u64 sets;
};
_Static_assert(sizeof(struct ledger_process) == 32, "as the reader has it");

/* What keeps a thread in LEDGER_MEMORY, LEDGER_IO or LEDGER_KERNEL, by the functions of the kernel that it
 * waits in. The first few are what anything may wait in: who called counts first. */
enum ledger_channel {
	/* In none that is known. */
	LEDGER_CHANNEL_OTHER,
	/* A page of a file, or a buffer. */
	LEDGER_CHANNEL_PAGE,
	/* A request to a disk. */
	LEDGER_CHANNEL_BLOCK,
	LEDGER_CHANNEL_KERNEL_LOCK,
	/* From here on it is told what for. */
	LEDGER_CHANNEL_THROTTLE,
	LEDGER_CHANNEL_JOURNAL,
	LEDGER_CHANNEL_DIRTY_THROTTLE,
	LEDGER_CHANNEL_RECLAIM,
	LEDGER_CHANNEL_SWAP,
	LEDGER_CHANNEL_NETWORK_FILE,
	LEDGER_CHANNEL_USER_FILE,
	LEDGER_CHANNELS
};

/* What a return address in the kernel tells; 0 for nothing. From user space. */
struct ledger_place {
	/* enum ledger_channel */
	__u32 channel;
	/* enum ledger_call */
	__u32 kind;
};
_Static_assert(sizeof(struct ledger_place) == 8, "as the reader has it");

/* Pairs of a pool and a word that can be counted. */
#define LEDGER_MOST_SAID 2048

/* What threads of a pool (wakeup.h) said that they wait for. */
struct ledger_said {
	__u64 pool;
	__u32 word;
	__u32 unused;
};
_Static_assert(sizeof(struct ledger_said) == 16, "as the reader has it");

/* How often they have done so to the end, and how long, those who still do included. */
struct ledger_said_sum {
	__u64 waits;
	__u64 ns;
};
_Static_assert(sizeof(struct ledger_said_sum) == 16, "as the reader has it");

/* How a thread stands in the books. */
enum ledger_state {
	/* No event of it was seen since it has a part in this. */
	LEDGER_UNSEEN,
	LEDGER_RUNNING,
	LEDGER_QUEUED,
	LEDGER_BLOCKED,
	/* By a quota. */
	LEDGER_HELD
};

/* What is counted of a thread. */
struct ledger_account {
	/* Since when it is. */
	__u64 known_since_ns;
	/* By enum ledger_class. */
	__u64 ns[LEDGER_CLASSES];
	/* What of it is in LEDGER_MEMORY, LEDGER_IO and LEDGER_KERNEL, by enum ledger_channel. */
	__u64 kept_ns[LEDGER_CHANNELS];
	/* Ready and not running, by who had its CPU (enum ledger_holder). */
	__u64 queued_ns[LEDGER_HOLDERS];
	/* Waiting of the target's threads for the CPUs that this one had meanwhile: thread x ns. */
	__u64 held_up_ns;
	/* On a CPU and not counted as its run time, up to when it last left one: what this kernel subtracts
	 * of interrupts and steal. */
	__s64 hidden_ns;
	/* Times it was put on a CPU. */
	__u64 slices;
};

/* One thread of target or generator as of a reading. */
struct ledger_record {
	__u32 tid;
	__u32 tgid;
	/* Up to when it is counted. */
	__u64 until_ns;
	struct ledger_account account;
	/* The kernel's own account beside it: se.sum_exec_runtime and sched_info.run_delay less ours, as of
	 * when both last stood still. */
	__s64 run_apart_ns;
	__s64 wait_apart_ns;
	/* sched_info.pcount, with the slices that it is known to leave out, less ours; where it moves, events were
	 * missed. */
	__s64 slices_apart;
	/* enum ledger_state */
	__u32 state;
	/* Whether run_apart_ns and wait_apart_ns could be told this time. */
	__u32 compared;
	/* Its pool's number (wakeup.h); 0 until it is asked for. */
	__u64 pool;
};
_Static_assert(sizeof(struct ledger_record) ==
		       16 + 8 * (1 + LEDGER_CLASSES + LEDGER_CHANNELS + LEDGER_HOLDERS + 3) + 40,
	       "as the reader has it");

/* One thread of target or generator that has ended. */
struct ledger_ended {
	/* How many had ended on its CPU, with it; written last. */
	__u64 turn;
	__u32 tid;
	__u32 tgid;
	/* The process of its parent. */
	__u32 parent_tgid;
	__u32 unused;
	__u64 until_ns;
	struct ledger_account account;
};
_Static_assert(sizeof(struct ledger_ended) ==
		       32 + 8 * (1 + LEDGER_CLASSES + LEDGER_CHANNELS + LEDGER_HOLDERS + 3),
	       "as the reader has it");

/* One thread of all others. */
struct ledger_other {
	__u32 tgid;
	__u32 tid;
	__u64 on_cpu_ns;
	__u64 held_up_ns;
};
_Static_assert(sizeof(struct ledger_other) == 24, "as the reader has it");

#endif
