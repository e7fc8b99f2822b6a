/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by `clock.bpf.c` and its reader. */
#ifndef STALLSCOPE_CLOCK_H
#define STALLSCOPE_CLOCK_H

/* Payload of one perf sample; the sample's own timestamp is sched_clock(), ns. */
struct clock_reading {
	/* CLOCK_BOOTTIME, ns. */
	__u64 boottime_ns;
};
_Static_assert(sizeof(struct clock_reading) == 8, "as the reader has it");

#endif
