// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Which programs are started, by whom, and how do they end?
 *
 * Hooks: sched_process_fork, sched_process_exec, sched_process_exit, sched_process_free. The exit says when and how a
 * process ended; the CPU time of all its threads is whole only once the kernel has let the last of them go.
 * Cost: `make bench` (probes) tells.
 * Kernel: 5.8 (ring buffers, and the boot clock). Since 6.16 the exit says whether it is the process's last thread's.
 * Memory: 2 MiB for the events between two readings.
 * Lost: events for which there is no room in the ring (`lost`). Of sched_process_free up to three in a thousand are
 * missed where processes end by the thousand, though the tracepoint fires; the row then has the CPU time of the exit.
 * Not seen: threads, and the kernel's own.
 */
#include "lib/kernel.bpf.h"
#include <bpf/bpf_tracing.h>
#include "processes.h"

#define PF_KTHREAD 0x00200000
#define SIGNAL_GROUP_EXIT 4

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct mm_struct___arguments {
	unsigned long arg_start;
	unsigned long arg_end;
};

struct signal_struct___end {
	/* Threads that have not begun to exit. */
	struct {
		int counter;
	} live;
	unsigned int flags;
	int group_exit_code;
};

struct task_struct___end {
	int exit_code;
};

struct linux_binprm {
	const char *filename;
};

#pragma clang attribute pop

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, PROCESSES_RING_BYTES);
} events SEC(".maps");

/* Where an exec's texts are put together; on_exec runs in no interrupt, and so once at a time on a CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct process_exec);
} scratch SEC(".maps");

__u64 lost;

static __always_inline void count_lost(void)
{
	__sync_fetch_and_add(&lost, 1);
}

/* A bound that the verifier sees: the compiler would move a comparison away from where it counts. */
static __always_inline __u32 at_most(__u32 bytes, __u32 most)
{
	asm volatile("if %0 <= %1 goto +1; %0 = %1;" : "+r"(bytes) : "r"(most));
	return bytes;
}

/* What all events have in common. */
static __always_inline void fill(struct process_event *event, __u32 kind, struct task_struct *task)
{
	struct task_struct *leader = BPF_CORE_READ(task, group_leader);

	event->kind = kind;
	event->pid = BPF_CORE_READ(task, tgid);
	event->start_ns = BPF_CORE_READ(leader, start_boottime);
	event->at_ns = bpf_ktime_get_boot_ns();
	event->parent = BPF_CORE_READ(leader, real_parent, tgid);
	event->parent_start_ns = BPF_CORE_READ(leader, real_parent, group_leader, start_boottime);
	event->status = 0;
	bpf_probe_read_kernel_str(event->comm, sizeof(event->comm), task->comm);
}

/* Of exited threads and this one: its time up to the last switch or tick. */
static __always_inline __u64 cpu_so_far(struct task_struct *task)
{
	return BPF_CORE_READ(task, signal, sum_sched_runtime) + BPF_CORE_READ(task, se.sum_exec_runtime);
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	struct process_event *event;

	if (child->pid != child->tgid || child->flags & PF_KTHREAD)
		return 0;
	event = bpf_ringbuf_reserve(&events, sizeof(*event), 0);
	if (!event) {
		count_lost();
		return 0;
	}
	fill(event, PROCESS_FORK, child);
	event->cpu_ns = 0;
	bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
	return 0;
}

/* The arguments of a program that has just been given its memory, behind its path; how many bytes. */
static __always_inline __u32 read_arguments(struct process_exec *exec, struct task_struct *task, __u32 path_bytes)
{
	struct mm_struct___arguments *mm = (void *)BPF_CORE_READ(task, mm);
	__u64 start = BPF_CORE_READ(mm, arg_start), end = BPF_CORE_READ(mm, arg_end);
	__u32 bytes = PROCESSES_ARGUMENTS_BYTES;

	exec->is_cut = end - start > PROCESSES_ARGUMENTS_BYTES;
	if (!exec->is_cut)
		bytes = end - start;
	/* The kernel has just written them, so they are in memory. */
	if (bpf_probe_read_user(exec->text + (path_bytes & (PROCESSES_PATH_BYTES - 1)),
				at_most(bytes, PROCESSES_ARGUMENTS_BYTES), (void *)start))
		return 0;
	return bytes;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task, int old_pid, struct linux_binprm *bprm)
{
	__u32 zero = 0, path_bytes = 0;
	struct process_exec *exec;
	__u32 bytes;
	long path;

	exec = bpf_map_lookup_elem(&scratch, &zero);
	if (!exec)
		return 0;
	fill(&exec->event, PROCESS_EXEC, task);
	exec->event.cpu_ns = cpu_so_far(task);
	path = bpf_probe_read_kernel_str(exec->text, PROCESSES_PATH_BYTES, BPF_CORE_READ(bprm, filename));
	/* Without the zero byte, which it counts. */
	if (path > 0)
		path_bytes = path - 1;
	exec->path_bytes = path_bytes;
	exec->arguments_bytes = read_arguments(exec, task, path_bytes);
	bytes = __builtin_offsetof(struct process_exec, text) + path_bytes + exec->arguments_bytes;
	if (bpf_ringbuf_output(&events, exec, at_most(bytes, sizeof(*exec)), BPF_RB_NO_WAKEUP))
		count_lost();
	return 0;
}

/* How the process ended, as its parent will be told (wait_task_zombie in kernel/exit.c). */
static __always_inline __u32 status_of(struct task_struct *task)
{
	struct signal_struct___end *signal = (void *)BPF_CORE_READ(task, signal);
	struct task_struct___end *leader = (void *)BPF_CORE_READ(task, group_leader);

	if (BPF_CORE_READ(signal, flags) & SIGNAL_GROUP_EXIT)
		return BPF_CORE_READ(signal, group_exit_code);
	return BPF_CORE_READ(leader, exit_code);
}

static __always_inline int report_exit(struct task_struct *task)
{
	struct process_event *event;

	if (task->flags & PF_KTHREAD)
		return 0;
	event = bpf_ringbuf_reserve(&events, sizeof(*event), 0);
	if (!event) {
		count_lost();
		return 0;
	}
	fill(event, PROCESS_EXIT, task);
	event->status = status_of(task);
	event->cpu_ns = cpu_so_far(task);
	bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task, bool group_dead)
{
	return group_dead ? report_exit(task) : 0;
}

/* Before 6.16. Two threads that exit at the same time may both be taken for the last; user space ignores the second. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_thread_exit, struct task_struct *task)
{
	struct signal_struct___end *signal = (void *)BPF_CORE_READ(task, signal);

	return BPF_CORE_READ(signal, live.counter) == 0 ? report_exit(task) : 0;
}

/* The first thread of a process is let go after all others, whose times are in `sum_sched_runtime` with its own. */
SEC("tp_btf/sched_process_free")
int BPF_PROG(on_free, struct task_struct *task)
{
	struct process_event *event;

	if (task->pid != task->tgid || task->flags & PF_KTHREAD)
		return 0;
	event = bpf_ringbuf_reserve(&events, sizeof(*event), 0);
	if (!event) {
		count_lost();
		return 0;
	}
	fill(event, PROCESS_FREE, task);
	event->cpu_ns = BPF_CORE_READ(task, signal, sum_sched_runtime);
	bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
