/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One reading of the PSI groups: each CPU's times as they stood at one moment, with the present
 * state added up to now. And the edges of an on-window (on_window.bpf.h).
 */
#ifndef STALLSCOPE_PSI_GROUP_READING_BPF_H
#define STALLSCOPE_PSI_GROUP_READING_BPF_H

#include "kfunc.bpf.h"
#include "psi_group.bpf.h"

/* As many entries as `psi_group_by_index`. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, PSI_GROUP_MOST);
	__type(key, __u32);
	__type(value, struct psi_group_reading);
} stall_by_index SEC(".maps");

/* Set by user space: the highest group number in use, and the number of CPUs. */
__u32 groups;
__u32 cpus;
/* Whether this kernel marks tasks that stall for memory (in_memstall). */
__u32 knows_memory;

/* Returns whether no writer changed the group during the copy. */
static __always_inline bool copy_stall(const struct psi_group_stall *stall,
				       struct psi_group_stall *copy)
{
	return copy_whole(&stall->sequence, &copy->sequence, sizeof(*copy));
}

/* Global, as what follows below: the verifier looks at such a function by itself, and not once for each state of the
 * loop that calls it. Kernels before 6.17 need that to reach an end. */
__noinline int read_psi_group(__u32 index, __u64 now)
{
	struct psi_group_stall *stall = bpf_map_lookup_elem(&psi_group_by_index, &index), copy;
	struct psi_group_reading *record = bpf_map_lookup_elem(&stall_by_index, &index);
	__u64 passed, states;
	__u32 each;

	if (!stall || !record || !copy_stall(stall, &copy))
		return 0;
	passed = elapsed(copy.until, now);
	states = states_of(copy.threads + copy.threads_unlocked);
	for (each = 0; each < PSI_GROUP_STATES; each++)
		record->ns[each] = copy.ns[each] + copy.ns_unlocked[each] + in_state(states, each, passed);
	record->readings++;
	return 0;
}

static __always_inline void read_psi_groups(__u64 now)
{
	struct bpf_iter_num it;
	__u32 index;
	int *next;

	if (!asks_psi_group)
		return;
	knows_memory = bpf_core_field_exists(((struct task_struct *)0)->in_memstall);
	bpf_iter_num_new(&it, 0, cpus * PSI_GROUP_MOST);
	while ((next = bpf_iter_num_next(&it))) {
		index = *next;
		if (index % PSI_GROUP_MOST < groups)
			read_psi_group(index, now);
	}
	bpf_iter_num_destroy(&it);
}

/* Ends the on-window for one CPU of a group, and begins the next without any thread. */
static __always_inline void clear_psi_group(struct psi_group_stall *stall, __u64 now)
{
	__u64 passed = elapsed(stall->until, off_window_since), states;
	__u32 each;

	step(stall);
	states = states_of(stall->threads + stall->threads_unlocked);
	for (each = 0; each < PSI_GROUP_STATES; each++)
		stall->ns[each] += in_state(states, each, passed);
	stall->until = now;
	stall->threads = stall->threads_unlocked = 0;
	step(stall);
}

/* Ends the on-window for all groups; `psi_group_on_resume` then adds each thread. */
static __always_inline void clear_psi_groups(__u64 now)
{
	struct psi_group_cpu_holder *holder;
	struct psi_group_stall *stall;
	struct bpf_iter_num it;
	__u32 index;
	int *next;

	if (!asks_psi_group)
		return;
	bpf_iter_num_new(&it, 0, cpus * PSI_GROUP_MOST);
	while ((next = bpf_iter_num_next(&it))) {
		index = *next;
		stall = index % PSI_GROUP_MOST < groups ? bpf_map_lookup_elem(&psi_group_by_index, &index) : NULL;
		if (stall)
			clear_psi_group(stall, now);
		holder = index < cpus ? bpf_map_lookup_elem(&psi_group_holder_by_cpu, &index) : NULL;
		if (holder)
			holder->groups = 0;
	}
	bpf_iter_num_destroy(&it);
}

/* The on-window begins for a thread, which is found on this CPU at `now`. */
static __always_inline void psi_group_on_resume(struct membership *member, struct task_struct *task,
						__u32 cpu, __u64 now, bool runs, bool is_asleep)
{
	struct psi_group_cpu_holder *holder = bpf_map_lookup_elem(&psi_group_holder_by_cpu, &cpu);
	__u64 groups = member->groups, share;

	member->share = 0;
	member->counted = groups;
	member->counted_cpu = cpu;
	if (!asks_psi_group || !groups)
		return;
	share = runs	  ? share_of_running(member) :
		is_asleep ? share_of_blocked(task) :
			    share_of_ready(task);
	member->share = share;
	if (runs && holder)
		holder->groups = groups;
	change_unlocked(groups, cpu, now, share + (runs ? HAS_CPU : 0));
}

#endif
