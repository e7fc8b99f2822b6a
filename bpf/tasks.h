/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What `tasks.bpf.c` and its reader agree on. Times are ns.
 */
#ifndef STALLSCOPE_TASKS_H
#define STALLSCOPE_TASKS_H

#define TASKS_NOT_COUNTED 0xffffffffffffffffULL

/* One process: what /proc/PID/stat and /proc/PID/io are made from. */
struct tasks_process {
	/* CLOCK_BOOTTIME as of which this is, to some us. */
	__u64 at_ns;
	/* When it was made, since boot (start_boottime): with its number, who it is. */
	__u64 start_ns;
	/* Its first thread's name (comm), as words: they change when it execs or names itself anew. */
	__u64 name[2];
	/* As in the first PID namespace. */
	__u32 pid;
	__u32 parent;
	/* Sums over its threads, ended ones included: user and system time by ticks, and the scheduler's
	 * exact time on a CPU. */
	__u64 user_ns;
	__u64 system_ns;
	__u64 run_ns;
	/* What /proc last made of these three (prev_cputime): it never shows less. */
	__u64 shown_user_ns;
	__u64 shown_system_ns;
	/* Of ended children that it waited for (cutime + cstime). */
	__u64 children_ns;
	/* From and to storage (task_io_accounting); TASKS_NOT_COUNTED where the kernel does not count them. */
	__u64 read_bytes;
	__u64 write_bytes;
	/* As the kernel's quick look has it (get_mm_rss): without what CPUs have not added up yet. */
	__u64 resident_pages;
	__u32 threads;
	/* Changed whenever a thread's part passes to its process (stats_lock), and whether that came between:
	 * then the sums are too small or too large. */
	__u32 sequence;
	__u32 torn;
	__u32 unused;
};
_Static_assert(sizeof(struct tasks_process) == 128, "as the reader has it");

/* One thread: what /proc/PID/task/TID/schedstat and stat are made from. */
struct tasks_thread {
	__u64 at_ns;
	__u64 start_ns;
	__u32 pid;
	__u32 tid;
	/* The scheduler's own: on a CPU, ready to run, and how often it was put on one. */
	__u64 run_ns;
	__u64 wait_ns;
	__u64 slices;
	/* By ticks, and what /proc last made of them. */
	__u64 user_ns;
	__u64 system_ns;
	__u64 shown_user_ns;
	__u64 shown_system_ns;
	__u64 minor_faults;
	__u64 major_faults;
	/* __state and exit_state. */
	__u32 state;
	__u32 exit_state;
	__u32 cpu;
	__u32 unused;
};
_Static_assert(sizeof(struct tasks_thread) == 112, "as the reader has it");

#endif
