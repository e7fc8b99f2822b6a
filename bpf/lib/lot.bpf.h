/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which waits are looked at more closely: who ended them, and what the application called them.
 *
 * All that are long. Of the short ones, where they are many, one in so many, drawn by lot as it ends; it
 * counts for so many, so sums are right on average, whoever waits for whom and for what (Horvitz and Thompson,
 * 1952). States, classes and their times are not drawn: those are counted of each wait.
 */
#ifndef STALLSCOPE_LOT_BPF_H
#define STALLSCOPE_LOT_BPF_H

#include "types.bpf.h"

/* A wait of so many ns is long; as told by the clock of the waker's run queue, which may be a tick behind. */
#define LONG_WAIT 1000000

/* One in so many short waits is looked at; all where it is 0 or 1. From user space. */
__u32 one_in;

/* For how many waits this one counts: 0 where it is not looked at. `state` is the lot's. */
static __always_inline __u32 draw(__u32 *state, __u32 seed, __u64 waited)
{
	__u32 of = one_in;

	if (of <= 1 || waited >= LONG_WAIT)
		return 1;
	/* Numerical Recipes' generator; its high bits decide. */
	*state = (*state ? *state : seed) * 1664525 + 1013904223;
	return (__u64)*state * of >> 32 ? 0 : of;
}

#endif
