/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What `processes.bpf.c` and its reader agree on. Times are ns; instants are on CLOCK_BOOTTIME.
 */
#ifndef STALLSCOPE_PROCESSES_H
#define STALLSCOPE_PROCESSES_H

/* The ring of events between two readings: a power of two, and a multiple of a page. */
#define PROCESSES_RING_BYTES (2 * 1024 * 1024)
/* What is kept of a path and of the arguments behind it; powers of two. */
#define PROCESSES_PATH_BYTES 256
#define PROCESSES_ARGUMENTS_BYTES 512
#define PROCESSES_TEXT_BYTES (PROCESSES_PATH_BYTES + PROCESSES_ARGUMENTS_BYTES)

enum process_event_kind {
	PROCESS_NONE,
	/* A process began as a copy of its parent. */
	PROCESS_FORK,
	/* A process goes on as another program. */
	PROCESS_EXEC,
	/* Its last thread exits. */
	PROCESS_EXIT,
	/* The kernel has let it go: its parent has asked how it ended. */
	PROCESS_FREE
};

struct process_event {
	/* enum process_event_kind */
	__u32 kind;
	__u32 pid;
	/* When the process began: with the pid, its identity. */
	__u64 start_ns;
	__u64 at_ns;
	/* CPU time of all its threads so far. Of a FREE event whole; of others up to the last switch or tick, and without
	 * other threads that exit at the same moment. */
	__u64 cpu_ns;
	__u64 parent_start_ns;
	__u32 parent;
	/* As wait(2) has it; of an EXIT event. */
	__u32 status;
	char comm[16];
};
_Static_assert(sizeof(struct process_event) == 64, "as the reader has it");

/* An EXEC event with the texts that follow it: the path, without its zero byte, then the arguments, each with its own. */
struct process_exec {
	struct process_event event;
	__u32 path_bytes;
	/* 0 where their memory was not there. */
	__u32 arguments_bytes;
	/* Whether there are more arguments than these. */
	__u32 is_cut;
	__u32 padding;
	char text[PROCESSES_TEXT_BYTES];
};
_Static_assert(sizeof(struct process_exec) == 64 + 16 + PROCESSES_TEXT_BYTES, "as the reader has it");

#endif
