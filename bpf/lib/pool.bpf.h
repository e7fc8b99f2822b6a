/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Pools: threads of the same name, in one process and its ancestors of the same name. */
#ifndef STALLSCOPE_POOL_BPF_H
#define STALLSCOPE_POOL_BPF_H

#include "kernel.bpf.h"
#include "../wakeup.h"

/* Ancestors of the same name that count as one program: a server, its workers, their children. */
#define MOST_ABOVE 4
#define FNV_START 0xcbf29ce484222325ULL
#define FNV_PRIME 0x100000001b3ULL

/* A pool's number is a hash of its contents, so no list of numbers has to be agreed on. User space
 * looks a number up once, soon after its first use; the map evicts pools that were not used for
 * long. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, WAKEUP_MOST_POOLS);
	__type(key, __u64);
	__type(value, struct wakeup_pool);
} pool_by_number SEC(".maps");

/* Copies the name with each digit as `#`, and hashes it. Only the reader collapses runs of `#`:
 * here the verifier would follow every position, which takes seconds at load time. */
static __always_inline __u64 mask_digits(const char *comm, struct wakeup_pool *pool)
{
	__u64 number = (FNV_START ^ pool->tgid) * FNV_PRIME;
	int each;
	char c;

	for (each = 0; each < WAKEUP_NAME; each++) {
		c = comm[each];
		/* Behind the terminator are leftovers of earlier names. */
		if (!c)
			break;
		c = c >= '0' && c <= '9' ? '#' : c;
		pool->name[each] = c;
		number = (number ^ (__u8)c) * FNV_PRIME;
	}
	return number;
}

static __noinline __u64 find_pool(struct task_struct *task)
{
	/* Untrusted: of each pointer read from a trusted one the verifier searches all names of the kernel's types, at
	 * every turn of the loop. */
	struct task_struct *leader = bpf_core_cast(task, struct task_struct)->group_leader, *above;
	char comm[WAKEUP_NAME], name[WAKEUP_NAME], other[WAKEUP_NAME];
	struct wakeup_pool pool = {};
	__u64 number;
	int steps;

	bpf_probe_read_kernel(comm, sizeof(comm), task->comm);
	bpf_probe_read_kernel(name, sizeof(name), leader->comm);
	for (steps = 0; steps < MOST_ABOVE; steps++) {
		above = leader->real_parent->group_leader;
		bpf_probe_read_kernel(other, sizeof(other), above->comm);
		if (above->pid <= 1 || *(__u64 *)name != *(__u64 *)other ||
		    *(__u64 *)(name + 8) != *(__u64 *)(other + 8))
			break;
		leader = above;
	}
	pool.tgid = leader->pid;
	number = mask_digits(comm, &pool);
	if (!bpf_map_lookup_elem(&pool_by_number, &number) &&
	    bpf_map_update_elem(&pool_by_number, &number, &pool, BPF_ANY))
		return 0;
	return number;
}

/* A thread's pool; `number` is where its record keeps it, 0 until it is computed. */
static __always_inline __u64 pool_of(struct task_struct *task, __u64 *number)
{
	if (!*number)
		*number = find_pool(task);
	return *number;
}

#endif
