/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * PSI groups: sets of threads whose stalled times are read CPU by CPU. The kernel counts those of its
 * control groups (pressure.bpf.c reads them), thread-time accounting those of services and of control
 * groups for which the kernel counts none. Shared with user space.
 */
#ifndef STALLSCOPE_PSI_GROUP_H
#define STALLSCOPE_PSI_GROUP_H

#include "lib/types.bpf.h"

/* Pressure states of a CPU in a group, by our own numbers: the kernel's depend on its
 * configuration. */
enum psi_group_state {
	PSI_GROUP_CPU_SOME,
	PSI_GROUP_CPU_FULL,
	PSI_GROUP_MEMORY_SOME,
	PSI_GROUP_MEMORY_FULL,
	PSI_GROUP_IO_SOME,
	PSI_GROUP_IO_FULL,
	PSI_GROUP_IRQ_FULL,
	PSI_GROUP_NONIDLE,
	PSI_GROUP_STATES
};

/* One CPU of one group as of a reading, whoever counts its times. */
struct psi_group_reading {
	/* By enum psi_group_state: time in the state so far, ns of the scheduler's clock; modulo
	 * 2^32 where the kernel counts (struct psi_group_cpu in kernel/sched/psi.c: times[] and the
	 * present state). */
	__u64 ns[PSI_GROUP_STATES];
	/* Number of successful readings. */
	__u64 readings;
};
_Static_assert(sizeof(struct psi_group_reading) == 72, "as the reader has it");

/* Groups that are counted at one time, numbered from 1; 0 is none. */
#define PSI_GROUP_MOST 128

/* Counted groups that a thread can be in, by its process; they need not be nested. Their numbers are
 * packed into one word, each kind of group at its own place. */
#define PSI_GROUP_PER_THREAD 3
#define PSI_GROUP_BITS 16

/* One CPU of one counted group. Times are ns of the scheduler's clock. */
struct psi_group_stall {
	/* Odd while a writer changes the entry. */
	__u64 sequence;
	/* End of the time that `ns` covers. */
	__u64 until;
	/* Threads by what they do (lib/psi_group.bpf.h): counted under the run queue's lock, and
	 * changes made without it. */
	__u64 threads;
	__u64 threads_unlocked;
	/* By enum psi_group_state: time in the state so far, and changes made without the lock. */
	__u64 ns[PSI_GROUP_STATES];
	__u64 ns_unlocked[PSI_GROUP_STATES];
	/* Pads to whole cache lines, so that CPUs share none. */
	__u64 unused[4];
};
_Static_assert(sizeof(struct psi_group_stall) == 192, "whole cache lines");

#endif
