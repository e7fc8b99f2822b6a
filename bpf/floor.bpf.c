// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What does a program at a switch cost that does nothing, one that only reads the clock, and one
 * that only finds the records of the two threads and of the CPU?
 *
 * Hooks: sched_switch. For `make bench` only, which subtracts the first cost from that of other
 * programs, and attaches the first and the last several times (`attachments`).
 * Cost: what it measures. Kernel: 5.11 (task storage in tracing programs). Lost: nothing.
 */
#include "lib/kernel.bpf.h"
#include <bpf/bpf_tracing.h>

/* Not tested on machines with more CPUs. */
#define MOST_CPUS 512

__u64 last_ns;

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, __u64);
} switches_by_task SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MOST_CPUS);
	__type(key, __u32);
	__type(value, __u64);
} switches_by_cpu SEC(".maps");

SEC("tp_btf/sched_switch")
int BPF_PROG(nothing, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(clock, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	last_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(records, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	__u32 cpu = bpf_get_smp_processor_id();
	__u64 *of_cpu = bpf_map_lookup_elem(&switches_by_cpu, &cpu);
	__u64 *of_prev = bpf_task_storage_get(&switches_by_task, prev, NULL,
					      BPF_LOCAL_STORAGE_GET_F_CREATE);
	__u64 *of_next = bpf_task_storage_get(&switches_by_task, next, NULL,
					      BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!of_cpu || !of_prev || !of_next)
		return 0;
	++*of_cpu;
	++*of_prev;
	++*of_next;
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
