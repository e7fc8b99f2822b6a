/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What `pressure.bpf.c` and its reader agree on. Times are ns.
 */
#ifndef STALLSCOPE_PRESSURE_H
#define STALLSCOPE_PRESSURE_H

/* Groups that are read CPU by CPU; the machine is the first. */
#define PRESSURE_MOST_MONITORED 64
/* Groups whose totals are read; as many as are measured at all. */
#define PRESSURE_MOST_GROUPS 10000

/* What a CPU's tasks of a group were kept from, by our numbers: the kernel's differ by configuration. */
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

/* Where a CPU's variables are, and its scheduler's clock. */
struct pressure_cpu {
	/* Added to a per-CPU address. */
	__u64 offset;
	/* sched_clock() less CLOCK_BOOTTIME. */
	__s64 clock_ahead_ns;
};
_Static_assert(sizeof(struct pressure_cpu) == 16, "as the reader has it");

/* One CPU of one watched group (kernel/sched/psi.c: times[] and the state it is in). */
struct pressure_stall {
	/* By enum pressure_state: time in it so far, modulo 2^32. */
	__u32 ns[PRESSURE_STATES];
	/* Counts the readings; stands still where one had to be given up. */
	__u64 readings;
};
_Static_assert(sizeof(struct pressure_stall) == 40, "as the reader has it");

/* One watched group. */
struct pressure_monitored {
	/* cgroup id; 0 for the machine. */
	__u64 id;
	/* 1 while it is there and its pressure is counted. */
	__u64 alive;
	/* sched_clock() when the kernel last ended one of its 2 s (avg_last_update); 0 where not known. */
	__u64 folded_at;
};
_Static_assert(sizeof(struct pressure_monitored) == 24, "as the reader has it");

/* What the kernel itself has folded (struct psi_group total[PSI_AVGS]). */
struct pressure_total {
	__u64 id;
	/* By enum pressure_state, up to PRESSURE_IRQ_FULL. */
	__u64 ns[PRESSURE_NONIDLE];
};
_Static_assert(sizeof(struct pressure_total) == 64, "as the reader has it");

#endif
