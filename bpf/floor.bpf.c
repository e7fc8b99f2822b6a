// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What does an empty program at a switch cost, and one that only reads the clock?
 *
 * Hooks: sched_switch. For `make bench` only, which subtracts this cost from that of other
 * programs.
 * Cost: what it measures. Kernel: 5.5 (tp_btf). Lost: nothing.
 */
#include "lib/kernel.bpf.h"
#include <bpf/bpf_tracing.h>

__u64 last_ns;

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

char LICENSE[] SEC("license") = "Dual BSD/GPL";
