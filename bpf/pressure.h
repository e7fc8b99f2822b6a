/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by `pressure.bpf.c` and its reader. Times are ns. */
#ifndef STALLSCOPE_PRESSURE_H
#define STALLSCOPE_PRESSURE_H

#include "psi_group.h"

/* Groups that are read CPU by CPU; slot 0 is the machine. */
#define PRESSURE_MOST_MONITORED 64
/* Groups whose totals are read; no more are measured at all. */
#define PRESSURE_MOST_GROUPS 10000

/* Where a CPU's per-CPU variables are, and its scheduler's clock. */
struct pressure_cpu {
	/* To be added to a per-CPU address. */
	__u64 offset;
	/* sched_clock() less CLOCK_BOOTTIME. */
	__s64 clock_ahead_ns;
};
_Static_assert(sizeof(struct pressure_cpu) == 16, "as the reader has it");

/* One monitored group. */
struct pressure_monitored {
	/* cgroup id; 0 for the machine. */
	__u64 id;
	/* 1 while the group exists and its pressure is counted. */
	__u64 alive;
	/* sched_clock() when the kernel last ended one of its 2 s averaging periods
	 * (avg_last_update); 0 if unknown. */
	__u64 folded_at;
};
_Static_assert(sizeof(struct pressure_monitored) == 24, "as the reader has it");

/* The kernel's folded totals of one group (struct psi_group total[PSI_AVGS]). */
struct pressure_total {
	__u64 id;
	/* By enum psi_group_state, up to PSI_GROUP_IRQ_FULL. */
	__u64 ns[PSI_GROUP_NONIDLE];
};
_Static_assert(sizeof(struct pressure_total) == 64, "as the reader has it");

#endif
