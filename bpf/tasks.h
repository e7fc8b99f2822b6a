/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by `tasks.bpf.c` and its reader. Times are ns. */
#ifndef STALLSCOPE_TASKS_H
#define STALLSCOPE_TASKS_H

#define TASKS_NOT_COUNTED 0xffffffffffffffffULL

/* One process: the values behind /proc/PID/stat and /proc/PID/io. */
struct tasks_process {
	/* CLOCK_BOOTTIME of this entry, to some us. */
	__u64 at_ns;
	/* Start time since boot (start_boottime): with the pid, it identifies the process. */
	__u64 start_ns;
	/* Name of its first thread (comm), as two words; changes at an exec or a rename. */
	__u64 name[2];
	/* In the initial PID namespace. */
	__u32 pid;
	__u32 parent;
	/* Sums over its threads, exited ones included: user and system time by ticks, and the
	 * scheduler's exact time on CPU. */
	__u64 user_ns;
	__u64 system_ns;
	__u64 run_ns;
	/* What /proc last showed for user and system time (prev_cputime): it never shows less. */
	__u64 shown_user_ns;
	__u64 shown_system_ns;
	/* CPU time of exited children that it waited for (cutime + cstime). */
	__u64 children_ns;
	/* Bytes from and to storage (task_io_accounting); TASKS_NOT_COUNTED if the kernel does not
	 * count them. */
	__u64 read_bytes;
	__u64 write_bytes;
	/* As get_mm_rss has it: without what the CPUs have not added to the shared counter yet. */
	__u64 resident_pages;
	__u32 threads;
	/* stats_lock's count, which changes when an exiting thread's times pass to its process, and
	 * whether that happened during the walk: then the sums are too small or too large. */
	__u32 sequence;
	__u32 torn;
	__u32 unused;
};
_Static_assert(sizeof(struct tasks_process) == 128, "as the reader has it");

/* One thread: the values behind /proc/PID/task/TID/schedstat and stat. */
struct tasks_thread {
	__u64 at_ns;
	__u64 start_ns;
	__u32 pid;
	__u32 tid;
	/* The scheduler's counters: time on CPU, time ready to run, timeslices. */
	__u64 run_ns;
	__u64 wait_ns;
	__u64 slices;
	/* User and system time by ticks, and what /proc last showed for them. */
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
