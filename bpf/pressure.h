/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by `pressure.bpf.c` and its reader. Times are ns. */
#ifndef STALLSCOPE_PRESSURE_H
#define STALLSCOPE_PRESSURE_H

/* Groups that are read CPU by CPU; slot 0 is the machine. */
#define PRESSURE_MOST_MONITORED 64
/* Groups whose totals are read; no more are measured at all. */
#define PRESSURE_MOST_GROUPS 10000

/* Pressure states of a CPU in a group, by our own numbers: the kernel's depend on its
 * configuration. */
enum pressure_state {
	PRESSURE_CPU_SOME,
	PRESSURE_CPU_FULL,
	PRESSURE_MEMORY_SOME,
	PRESSURE_MEMORY_FULL,
	PRESSURE_IO_SOME,
	PRESSURE_IO_FULL,
	PRESSURE_IRQ_FULL,
	PRESSURE_NONIDLE,
	PRESSURE_STATES
};

/* Where a CPU's per-CPU variables are, and its scheduler's clock. */
struct pressure_cpu {
	/* To be added to a per-CPU address. */
	__u64 offset;
	/* sched_clock() less CLOCK_BOOTTIME. */
	__s64 clock_ahead_ns;
};
_Static_assert(sizeof(struct pressure_cpu) == 16, "as the reader has it");

/* One CPU of one monitored group (struct psi_group_cpu in kernel/sched/psi.c: times[] and the
 * present state). */
struct pressure_stall {
	/* By enum pressure_state: time in the state so far, modulo 2^32. */
	__u32 ns[PRESSURE_STATES];
	/* Number of successful readings. */
	__u64 readings;
};
_Static_assert(sizeof(struct pressure_stall) == 40, "as the reader has it");

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
	/* By enum pressure_state, up to PRESSURE_IRQ_FULL. */
	__u64 ns[PRESSURE_NONIDLE];
};
_Static_assert(sizeof(struct pressure_total) == 64, "as the reader has it");

#endif
