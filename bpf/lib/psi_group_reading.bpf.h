/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One reading of the PSI groups: each CPU's times as they stood at one moment, with the present
 * state added up to now.
 */
#ifndef STALLSCOPE_SET_READING_BPF_H
#define STALLSCOPE_SET_READING_BPF_H

#include "kfunc.bpf.h"
#include "psi_group.bpf.h"

/* As many entries as `set_by_place`. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, SETS_MOST);
	__type(key, __u32);
	__type(value, struct sets_reading);
} stall_by_place SEC(".maps");

/* Set by user space: the highest group number in use, and the number of CPUs. */
__u32 groups;
__u32 cpus;
/* Whether this kernel marks tasks that stall for memory (in_memstall). */
__u32 knows_memory;

/* Returns whether no writer changed the group during the copy. */
static __always_inline bool copy_stall(const struct sets_stall *stall, struct sets_stall *copy)
{
	return copy_whole(&stall->sequence, &copy->sequence, sizeof(*copy));
}

static __always_inline void read_set(__u32 place, __u64 now)
{
	struct sets_stall *stall = bpf_map_lookup_elem(&set_by_place, &place), copy;
	struct sets_reading *record = bpf_map_lookup_elem(&stall_by_place, &place);
	__u64 passed, states;
	__u32 each;

	if (!stall || !record || !copy_stall(stall, &copy))
		return;
	passed = elapsed(copy.until, now);
	states = states_of(copy.threads + copy.threads_moved);
	for (each = 0; each < PRESSURE_STATES; each++)
		record->ns[each] = copy.ns[each] + copy.ns_moved[each] + in_state(states, each, passed);
	record->readings++;
}

static __always_inline void read_sets(__u64 now)
{
	struct bpf_iter_num it;
	__u32 place;
	int *next;

	knows_memory = bpf_core_field_exists(((struct task_struct *)0)->in_memstall);
	bpf_iter_num_new(&it, 0, cpus * SETS_MOST);
	while ((next = bpf_iter_num_next(&it))) {
		place = *next;
		if (place % SETS_MOST < groups)
			read_set(place, now);
	}
	bpf_iter_num_destroy(&it);
}

#endif
