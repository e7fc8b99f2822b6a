// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What resources has each process used, and each thread of the tracked processes?
 *
 * Hooks: none. User space runs `read` and `threads` for each reading.
 * Cost: `make bench` (tasks) measures it: about 0.1 us per process and as much per thread.
 * Kernel: 6.7 for the walk over threads (bpf_iter_task).
 * The walk is one RCU read-side section: on a kernel without preemption nothing else runs on this
 * CPU meanwhile.
 * Lost: processes for which the maps have no room (`unplaced`). A process of which a thread exits
 * during the walk is marked (`torn`), and the next reading gets it.
 */
#include "lib/kernel.bpf.h"
#include "lib/kfunc.bpf.h"
#include "tasks.h"

/* include/linux/sched.h; a kernel thread only borrows its memory. */
#define PF_KTHREAD 0x00200000
/* MM_FILEPAGES, MM_ANONPAGES, MM_SHMEMPAGES in include/linux/mm_types_task.h. */
#define FILE_PAGES 0
#define ANONYMOUS_PAGES 1
#define SHARED_PAGES 3
/* Processes per reading of the clock, which costs as much as they do. */
#define PER_CLOCK 32

/* User space sets the number of entries of the maps at load time. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tasks_process);
} process_by_index SEC(".maps");

/* Processes whose threads `threads` reads; 0 for a free slot. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} tracked_by_slot SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tasks_thread);
} thread_by_index SEC(".maps");

/* Slots that were ever in use. */
__u32 slots;
/* Entries that `read` and `threads` have filled, and entries for which there was no room. */
__u32 processes;
__u32 unplaced;
__u32 threads_found;
__u32 threads_unplaced;

static __always_inline __u64 at_least_none(__s64 count)
{
	return count > 0 ? count : 0;
}

static __always_inline __u64 resident_pages(struct task_struct *leader)
{
	struct mm_struct *mm = leader->mm;
	__u64 sum;

	if (!mm || leader->flags & PF_KTHREAD)
		return 0;
	/* Constant indices, because CO-RE resolves the array's stride only at load time. */
	sum = at_least_none(mm->rss_stat[FILE_PAGES].count) +
	      at_least_none(mm->rss_stat[ANONYMOUS_PAGES].count) +
	      at_least_none(mm->rss_stat[SHARED_PAGES].count);
	/* If the task exits just now, the memory may belong to another process already. */
	return leader->mm == mm ? sum : 0;
}

/* Begins an entry with the process's own values; `add` adds those of each live thread. */
static __always_inline struct tasks_process *begin(struct task_struct *leader, __u64 now)
{
	struct signal_struct *signal = leader->signal;
	__u32 index = processes;
	struct tasks_process *process = bpf_map_lookup_elem(&process_by_index, &index);

	if (!process) {
		unplaced++;
		return NULL;
	}
	processes = index + 1;
	process->at_ns = now;
	process->start_ns = leader->start_boottime;
	process->name[0] = *(__u64 *)leader->comm;
	process->name[1] = *(__u64 *)(leader->comm + sizeof(__u64));
	process->pid = leader->tgid;
	process->parent = leader->real_parent->tgid;
	process->sequence = signal->stats_lock.seqcount.seqcount.sequence;
	process->torn = process->sequence & 1;
	barrier();
	process->user_ns = signal->utime;
	process->system_ns = signal->stime;
	process->run_ns = signal->sum_sched_runtime;
	process->shown_user_ns = signal->prev_cputime.utime;
	process->shown_system_ns = signal->prev_cputime.stime;
	process->children_ns = signal->cutime + signal->cstime;
	process->threads = signal->nr_threads;
	process->resident_pages = resident_pages(leader);
	process->read_bytes = process->write_bytes = TASKS_NOT_COUNTED;
	if (bpf_core_field_exists(struct task_io_accounting, read_bytes)) {
		process->read_bytes = signal->ioac.read_bytes;
		process->write_bytes = signal->ioac.write_bytes;
	}
	return process;
}

static __always_inline void add(struct tasks_process *process, struct task_struct *task)
{
	process->user_ns += task->utime;
	process->system_ns += task->stime;
	process->run_ns += task->se.sum_exec_runtime;
	if (bpf_core_field_exists(struct task_io_accounting, read_bytes)) {
		process->read_bytes += task->ioac.read_bytes;
		process->write_bytes += task->ioac.write_bytes;
	}
	barrier();
	process->torn |= task->signal->stats_lock.seqcount.seqcount.sequence != process->sequence;
}

SEC("syscall")
int read(void *ctx)
{
	struct tasks_process *process = NULL;
	struct task_struct *task;
	struct bpf_iter_task it;
	__u32 tgid = 0;
	__u64 now = 0;

	processes = unplaced = 0;
	bpf_rcu_read_lock();
	bpf_iter_task_new(&it, NULL, ALL_THREADS);
	while ((task = bpf_iter_task_next(&it))) {
		/* The walk begins with the idle task (tgid 0), which is no process. */
		if ((__u32)task->tgid != tgid) {
			tgid = task->tgid;
			if (processes % PER_CLOCK == 0)
				now = bpf_ktime_get_boot_ns();
			process = begin(task, now);
		}
		if (process)
			add(process, task);
	}
	bpf_iter_task_destroy(&it);
	bpf_rcu_read_unlock();
	return 0;
}

static __always_inline void take(struct task_struct *task, __u64 now)
{
	__u32 index = threads_found;
	struct tasks_thread *thread = bpf_map_lookup_elem(&thread_by_index, &index);

	if (!thread) {
		threads_unplaced++;
		return;
	}
	threads_found = index + 1;
	thread->at_ns = now;
	thread->start_ns = task->start_boottime;
	thread->pid = task->tgid;
	thread->tid = task->pid;
	thread->run_ns = task->se.sum_exec_runtime;
	thread->wait_ns = task->sched_info.run_delay;
	thread->slices = task->sched_info.pcount;
	thread->user_ns = task->utime;
	thread->system_ns = task->stime;
	thread->shown_user_ns = task->prev_cputime.utime;
	thread->shown_system_ns = task->prev_cputime.stime;
	thread->minor_faults = task->min_flt;
	thread->major_faults = task->maj_flt;
	thread->state = task->__state;
	thread->exit_state = task->exit_state;
	thread->cpu = task->thread_info.cpu;
}

static long take_threads(__u32 slot, void *ctx)
{
	__u32 *pid = bpf_map_lookup_elem(&tracked_by_slot, &slot);
	struct task_struct *first, *task;
	struct bpf_iter_task it;
	__u64 now;

	first = pid && *pid ? bpf_task_from_pid(*pid) : NULL;
	if (!first)
		return 0;
	now = bpf_ktime_get_boot_ns();
	bpf_rcu_read_lock();
	bpf_iter_task_new(&it, first, THREADS_OF_PROCESS);
	while ((task = bpf_iter_task_next(&it)))
		take(task, now);
	bpf_iter_task_destroy(&it);
	bpf_rcu_read_unlock();
	bpf_task_release(first);
	return 0;
}

SEC("syscall")
int threads(void *ctx)
{
	threads_found = threads_unplaced = 0;
	bpf_loop(slots, take_threads, NULL, 0);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
