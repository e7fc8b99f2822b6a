// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * How far is a CPU's scheduler clock ahead of CLOCK_BOOTTIME?
 *
 * Hooks: none. User space runs `tick` on each CPU in turn. The kernel stamps a perf event without a
 * clock of its own with local_clock() (kernel/events/core.c: perf_event_clock); `tick` reads the
 * payload just before.
 * Cost: some us per run. Kernel: 5.10 (test runs of raw tracepoints on a CPU).
 * Lost: nothing; of several runs the smallest difference counts.
 */
#include "lib/kernel.bpf.h"
#include "clock.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
} event_by_cpu SEC(".maps");

SEC("raw_tp/sched_process_exit")
int tick(void *ctx)
{
	struct clock_reading reading = { .boottime_ns = bpf_ktime_get_boot_ns() };

	return bpf_perf_event_output(ctx, &event_by_cpu, BPF_F_CURRENT_CPU, &reading,
				     sizeof(reading));
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
