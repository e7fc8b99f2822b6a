// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What has each process used so far?
 *
 * Hooks: none. User space runs `read` when it wants to know.
 * Cost: `make bench` (tasks) tells: about 0.1 us for a process and as much for a thread.
 * Kernel: 6.7 for the walk over threads (bpf_iter_task).
 * The walk is one RCU reader: on a kernel that does not preempt itself, nobody else has this CPU
 * meanwhile.
 * Lost: processes beyond the most that there is room for (`unplaced`). One of whose threads ended just
 * then is marked, and left for the next reading (`torn`).
 */
#include "lib/kernel.bpf.h"
#include "tasks.h"

/* BPF_TASK_ITER_ALL_THREADS: process by process, each one's first thread first. */
#define ALL_THREADS 1
/* include/linux/sched.h; what memory such a thread has is borrowed. */
#define PF_KTHREAD 0x00200000
/* MM_FILEPAGES, MM_ANONPAGES, MM_SHMEMPAGES in include/linux/mm_types_task.h. */
#define FILE_PAGES 0
#define ANONYMOUS_PAGES 1
#define SHARED_PAGES 3
/* A reading of the clock serves so many processes: it costs as much as they do. */
#define PER_CLOCK 32

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, TASKS_MOST_PROCESSES);
	__type(key, __u32);
	__type(value, struct tasks_process);
} process_by_place SEC(".maps");

/* What `read` found, and what it had no room for. */
__u32 processes;
__u32 unplaced;

extern int bpf_iter_task_new(struct bpf_iter_task *it, struct task_struct *task,
			     unsigned int flags) __ksym;
extern struct task_struct *bpf_iter_task_next(struct bpf_iter_task *it) __ksym;
extern void bpf_iter_task_destroy(struct bpf_iter_task *it) __ksym;
extern void bpf_rcu_read_lock(void) __ksym;
extern void bpf_rcu_read_unlock(void) __ksym;

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
	/* How far apart they are is only known at load time, and only by numbers that stand here. */
	sum = at_least_none(mm->rss_stat[FILE_PAGES].count) +
	      at_least_none(mm->rss_stat[ANONYMOUS_PAGES].count) +
	      at_least_none(mm->rss_stat[SHARED_PAGES].count);
	/* It ends just now, and its memory may be another's. */
	return leader->mm == mm ? sum : 0;
}

/* What there is of the process itself, to which its threads' parts are added. */
static __always_inline struct tasks_process *begin(struct task_struct *leader, __u64 now)
{
	struct signal_struct *signal = leader->signal;
	__u32 place = processes;
	struct tasks_process *process = bpf_map_lookup_elem(&process_by_place, &place);

	if (!process) {
		unplaced++;
		return NULL;
	}
	processes = place + 1;
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
		/* The idle task, which is no process (0), is the first. */
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

char LICENSE[] SEC("license") = "Dual BSD/GPL";
