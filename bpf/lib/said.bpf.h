/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What applications themselves say that they wait for, each word by itself, and for how long.
 *
 * Counted for a thread's pool at the end of each wait, and by each reading of those that go on: a wait for a
 * lock may last for as long as anybody looks. Who counts first takes that part for itself.
 */
#ifndef STALLSCOPE_SAID_BPF_H
#define STALLSCOPE_SAID_BPF_H

#include "wakeup.bpf.h"

/* The wait is over and counted. */
#define ALL_COUNTED (~0ULL)

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, LEDGER_MOST_SAID);
	__type(key, struct ledger_said);
	__type(value, struct ledger_said_sum);
} sum_by_said SEC(".maps");

/* Waits, or parts of them, that there was no room to count. */
__u64 said_drops;

/* So many more waits, where they are over, and so long. */
static __always_inline void add_said(struct task_struct *task, struct thread *thread, __u32 word,
				     __u64 waits, __u64 ns)
{
	struct ledger_said said = { .pool = pool_of(task, thread), .word = word };
	struct ledger_said_sum none = {}, *sum;

	sum = said.pool ? bpf_map_lookup_elem(&sum_by_said, &said) : NULL;
	if (!sum && said.pool) {
		/* Another CPU may have been faster. */
		bpf_map_update_elem(&sum_by_said, &said, &none, BPF_NOEXIST);
		sum = bpf_map_lookup_elem(&sum_by_said, &said);
	}
	if (!sum) {
		__sync_fetch_and_add(&said_drops, 1);
		return;
	}
	if (waits)
		__sync_fetch_and_add(&sum->waits, waits);
	__sync_fetch_and_add(&sum->ns, ns);
}

/* A wait with a word ends that lasted so long. */
static __always_inline void end_said(struct task_struct *task, struct thread *thread, __u32 word,
				     __u64 passed)
{
	__u64 counted = __sync_lock_test_and_set(&thread->word_ns, ALL_COUNTED);

	if (counted != ALL_COUNTED)
		add_said(task, thread, word, 1, elapsed(counted, passed));
}

/* One goes on for so long; from a reading, which may be late. */
static __always_inline void go_on_saying(struct task_struct *task, struct thread *thread, __u32 word,
					 __u64 passed)
{
	__u64 counted = *(volatile __u64 *)&thread->word_ns;
	__u64 more = elapsed(counted, passed);

	if (more && __sync_val_compare_and_swap(&thread->word_ns, counted, passed) == counted)
		add_said(task, thread, word, 0, more);
}

#endif
