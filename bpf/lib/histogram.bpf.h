/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The histogram bucket of a duration: four linear buckets per octave. */
#ifndef STALLSCOPE_HISTOGRAM_BPF_H
#define STALLSCOPE_HISTOGRAM_BPF_H

#include "types.bpf.h"
#include "../requests.h"

static __always_inline __u32 log2_of(__u64 value)
{
	__u32 log = 0;

#define HALVE(bits)                    \
	if (value >> (bits)) {         \
		value >>= (bits);      \
		log += (bits);         \
	}
	HALVE(32)
	HALVE(16)
	HALVE(8)
	HALVE(4)
	HALVE(2)
	HALVE(1)
	return log;
}

static __always_inline __u32 bucket_of(__u64 ns)
{
	__u32 octave = log2_of(ns);

	if (octave < REQUESTS_FIRST_OCTAVE)
		return 0;
	if (octave >= REQUESTS_FIRST_OCTAVE + REQUESTS_OCTAVES)
		return REQUESTS_BUCKETS - 1;
	return 1 + 4 * (octave - REQUESTS_FIRST_OCTAVE) + ((ns >> (octave - 2)) & 3);
}

#endif
