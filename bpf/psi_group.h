/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sets of threads whose waiting thread-time accounting counts as the kernel counts that of a control group: what user
 * space gives and gets. The states are those of pressure.h.
 */
#ifndef STALLSCOPE_SETS_H
#define STALLSCOPE_SETS_H

#include "pressure.h"

/* Sets at one time, numbered from 1; 0 is none. */
#define SETS_MOST 128
/* Numbers of pools (wakeup.h) whose threads are a set; several may be of one. */
#define SETS_MOST_POOLS 1024

/* A thread is in up to so many sets, of which none need lie within another. They stand side by side in a word,
 * each kind at its own place: the lowest is that of its pool, the others are its process's. */
#define SETS_AT_ONCE 4
#define SETS_BITS 16

/* One CPU of one set. Times are ns of the scheduler's clock. */
struct sets_stall {
	/* Odd while it is being changed. */
	__u64 sequence;
	/* Up to when `ns` is counted. */
	__u64 until;
	/* How many of its threads do what (lib/psi_group.bpf.h): as counted under the run queue's lock, and what
	 * others have changed of it without. */
	__u64 threads;
	__u64 threads_moved;
	/* By enum pressure_state: time in it so far, and what others have changed of it. */
	__u64 ns[PRESSURE_STATES];
	__u64 ns_moved[PRESSURE_STATES];
	/* Each CPU has cache lines of its own. */
	__u64 unused[4];
};
_Static_assert(sizeof(struct sets_stall) == 192, "whole cache lines");

/* What was read of it. */
struct sets_reading {
	/* By enum pressure_state: time in it so far. */
	__u64 ns[PRESSURE_STATES];
	/* Counts the readings; stands still where one had to be given up. */
	__u64 readings;
};
_Static_assert(sizeof(struct sets_reading) == 72, "as the reader has it");

#endif
