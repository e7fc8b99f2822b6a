/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel types that the programs use, with only the fields that they read.
 *
 * CO-RE finds fields at load time, so neither order nor offsets here mean anything. No vmlinux.h,
 * which is a hundred thousand lines of one kernel's types. Read a bit field with
 * BPF_CORE_READ_BITFIELD: with definitions like these a plain read is silently wrong.
 */
#ifndef STALLSCOPE_KERNEL_BPF_H
#define STALLSCOPE_KERNEL_BPF_H

#include "types.bpf.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct task_struct;

struct rq {
	int cpu;
	/* sched_clock() at the last update of the run queue's clock, which follows its locking. */
	unsigned long long clock;
	/* The same clock without interrupts and steal, as far as the kernel subtracts them. */
	unsigned long long clock_task;
	struct task_struct *curr;
};

struct cfs_rq {
	struct rq *rq;
};

struct sched_entity {
	struct cfs_rq *cfs_rq;
	unsigned long long exec_start; /* of clock_task */
	unsigned long long sum_exec_runtime;
	unsigned char sched_delayed; /* since 6.12 */
};

struct sched_info {
	unsigned long pcount;
	unsigned long long run_delay;
	unsigned long long last_arrival;
	unsigned long long last_queued;
};

struct mm_struct;

struct thread_info {
	unsigned int status; /* x86 */
	unsigned int cpu; /* since 5.16 */
	struct {
		unsigned int count;
	} preempt; /* arm64 */
};

/* x86, from 6.2 to 6.14 */
struct pcpu_hot {
	int preempt_count;
};

struct seqcount {
	unsigned int sequence;
};

struct seqcount_spinlock {
	struct seqcount seqcount;
};

struct seqlock {
	struct seqcount_spinlock seqcount;
};

struct prev_cputime {
	unsigned long long utime;
	unsigned long long stime;
};

/* Empty without CONFIG_TASK_IO_ACCOUNTING. */
struct task_io_accounting {
	unsigned long long read_bytes;
	unsigned long long write_bytes;
};

struct percpu_counter {
	long long count;
};

struct mm_struct {
	struct percpu_counter rss_stat[4]; /* since 6.2 */
	unsigned long start_stack;
};

/* What the threads of a process share; its times are those of exited threads. */
struct signal_struct {
	int nr_threads;
	struct seqlock stats_lock;
	unsigned long long utime;
	unsigned long long stime;
	unsigned long long cutime;
	unsigned long long cstime;
	unsigned long long sum_sched_runtime;
	struct prev_cputime prev_cputime;
	struct task_io_accounting ioac;
};

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state;
	unsigned int flags;
	int on_cpu;
	int on_rq;
	int pid;
	int tgid;
	struct sched_entity se;
	struct sched_info sched_info;
	bool throttled; /* since 6.18 */
	unsigned in_iowait : 1;
	unsigned in_memstall : 1;
	struct mm_struct *mm;
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	struct signal_struct *signal;
	char comm[16];
	unsigned long long start_boottime;
	unsigned long long utime;
	unsigned long long stime;
	struct task_io_accounting ioac;
	struct prev_cputime prev_cputime;
	int exit_state;
	unsigned long min_flt;
	unsigned long maj_flt;
};

/* A thread's registers at its entry into the kernel, by architecture. */
struct pt_regs___x86 {
	unsigned long bp;
	unsigned long si;
	unsigned long di;
	unsigned long orig_ax;
	unsigned long ip;
	unsigned long sp;
};

struct pt_regs___arm64 {
	unsigned long long regs[31];
	unsigned long long sp;
	unsigned long long pc;
	unsigned long long orig_x0;
	int syscallno;
};

struct task_struct___x86 {
	struct {
		unsigned long fsbase;
	} thread;
};

struct bpf_iter_task {
	unsigned long long __opaque[3];
} __attribute__((aligned(8)));

/* A per-CPU map has a pointer that differs from its elements' addresses by the CPU's offset. */
struct bpf_array {
	void *pptrs[1];
};

struct psi_group_cpu {
	unsigned int state_mask;
	unsigned int times[7];
	unsigned long long state_start;
};

/* Up to 6.16 each group has its own sequence count; since 6.17 there is one per CPU for all groups
 * (commit 570c8efd5eb7). */
struct psi_group_cpu___own_sequence {
	struct seqcount seq;
};

struct psi_group {
	struct psi_group *parent; /* since 6.2 */
	bool enabled; /* since 6.1 */
	unsigned long long avg_last_update;
	struct psi_group_cpu *pcpu;
	/* [2][NR_PSI_STATES - 1]: BTF flattens arrays of arrays. */
	unsigned long long total[14];
};

struct kernfs_node {
	unsigned long long id;
};

struct in6_addr {
	union {
		unsigned char u6_addr8[16];
	} in6_u;
};

struct net {
	struct {
		unsigned int inum;
	} ns;
};

struct sock_common {
	unsigned int skc_daddr;
	unsigned int skc_rcv_saddr;
	unsigned short skc_dport; /* big endian; skc_num: host order */
	unsigned short skc_num;
	unsigned short skc_family;
	volatile unsigned char skc_state;
	unsigned long skc_flags;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
	struct {
		struct net *net;
	} skc_net;
};

struct upid {
	int nr;
};

struct pid {
	struct upid numbers[1];
};

struct sk_buff_head {
	unsigned int qlen;
};

struct sock {
	struct sock_common __sk_common;
	struct sk_buff_head sk_receive_queue;
	unsigned int sk_max_ack_backlog;
	unsigned short sk_type;
	unsigned short sk_protocol; /* since 5.6 */
	unsigned char sk_userlocks : 4;
	int sk_err;
	struct pid *sk_peer_pid;
};

struct minmax_sample {
	unsigned int v;
};

struct minmax {
	struct minmax_sample s[1];
};

struct tcp_sock {
	/* Sequence numbers: received in order so far, and read by the application so far. */
	unsigned int rcv_nxt;
	unsigned int copied_seq;
	/* When the last segment with data was sent, jiffies. */
	unsigned int lsndtime;
	/* Of the last five minutes, us; all ones before the first. */
	struct minmax rtt_min;
	/* Smoothed round-trip time, us << 3; 0 before the first. */
	unsigned int srtt_us;
	/* Sequence numbers: the first that is not acknowledged, the next to be sent, the next to be written. */
	unsigned int snd_una;
	unsigned int snd_nxt;
	unsigned int write_seq;
	/* What has been acknowledged, a connection's beginning (where it was made from here) and end count as one each. */
	unsigned long long bytes_acked;
	/* With the end of the stream, which counts as one. */
	unsigned long long bytes_received;
	/* Segments sent again, those that open a connection too; segments with data. */
	unsigned int total_retrans;
	unsigned int data_segs_in;
	unsigned int data_segs_out;
};

struct inet_connection_sock {
	struct {
		/* When the last segment with data arrived, jiffies. */
		__u32 lrcvtime;
	} icsk_ack;
};

struct sockaddr_un {
	char sun_path[108];
};

struct unix_address {
	int len;
	struct sockaddr_un name[0];
};

struct unix_sock {
	struct unix_address *addr;
	struct sock *peer;
};

struct cgroup;

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	unsigned int flags;
};

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
	struct psi_group *psi;
};

struct socket {
	struct sock *sk;
};

struct bpf_iter__bpf_sk_storage_map {
	struct sock *sk;
	void *value;
};

struct bpf_iter__task_file {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	__u32 fd;
	struct file *file;
};

struct bpf_iter_num {
	unsigned long long __opaque[1];
} __attribute__((aligned(8)));

struct bpf_iter_css {
	unsigned long long __opaque[3];
} __attribute__((aligned(8)));

#pragma clang attribute pop

#endif
