/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * PSI groups: sets of threads for which thread-time accounting counts pressure as the kernel does
 * for a control group. Shared with user space. The states are those of pressure.h.
 */
#ifndef STALLSCOPE_PSI_GROUP_H
#define STALLSCOPE_PSI_GROUP_H

#include "pressure.h"

/* Groups at one time, numbered from 1; 0 is none. */
#define PSI_GROUP_MOST 128

/* Groups that a thread can be in, by its process; they need not be nested. Their numbers are packed
 * into one word, each kind of group at its own place. */
#define PSI_GROUP_PER_THREAD 3
#define PSI_GROUP_BITS 16

/* One CPU of one group. Times are ns of the scheduler's clock. */
struct psi_group_stall {
	/* Odd while a writer changes the entry. */
	__u64 sequence;
	/* End of the time that `ns` covers. */
	__u64 until;
	/* Threads by what they do (lib/psi_group.bpf.h): counted under the run queue's lock, and
	 * changes made without it. */
	__u64 threads;
	__u64 threads_unlocked;
	/* By enum pressure_state: time in the state so far, and changes made without the lock. */
	__u64 ns[PRESSURE_STATES];
	__u64 ns_unlocked[PRESSURE_STATES];
	/* Pads to whole cache lines, so that CPUs share none. */
	__u64 unused[4];
};
_Static_assert(sizeof(struct psi_group_stall) == 192, "whole cache lines");

/* One CPU of one group as of a reading. */
struct psi_group_reading {
	/* By enum pressure_state: time in the state so far. */
	__u64 ns[PRESSURE_STATES];
	/* Number of successful readings. */
	__u64 readings;
};
_Static_assert(sizeof(struct psi_group_reading) == 72, "as the reader has it");

#endif
