/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which threads are inside a request: they have read one from a client's socket and not answered it yet.
 *
 * The map has two owners: requests.bpf.c knows sockets and writes it, thread_time.bpf.c asks it as a thread
 * falls asleep. Only programs at sock_recv_length see reads, so while those are detached nothing is known,
 * and each time they are attached everything is forgotten (`reads_seen`): what a thread that has served is in then is
 * known from the next request on that it reads or answers. A thread that has never served is in none.
 * Cost: a look-up in task storage for each read that begins a request, each reply, and each sleep of a
 * target thread in futex, for input or on a timer.
 */
#ifndef STALLSCOPE_SERVING_BPF_H
#define STALLSCOPE_SERVING_BPF_H

#include "kernel.bpf.h"
#include "../thread_time.h"

/* Whether this question is asked. Set by user space. */
const volatile __u32 asks_serving = 1;

struct serving {
	/* The socket whose request the thread is inside, compared and never followed. */
	__u64 socket;
	/* `reads_seen` when it last read or answered a request. While that is another, it may have read one unseen. */
	__u32 seen_in;
	/* Whether it was inside a request from then on. */
	__u32 is_inside;
	/* Requests that it answered: read by itself and by others. */
	__u64 answered;
	__u64 answered_for_others;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct serving);
} serving_by_task SEC(".maps");

/* How many times the programs that see reads have been attached; 0 while they are not. Set by user space
 * for both owners. */
__u32 reads_seen;

/* The current thread's; NULL while reads are not seen. */
static __always_inline struct serving *serving_of_current(void)
{
	if (!reads_seen)
		return NULL;
	return bpf_task_storage_get(&serving_by_task, bpf_get_current_task_btf(), NULL,
				    BPF_LOCAL_STORAGE_GET_F_CREATE);
}

/* The current thread reads a client's request. */
static __always_inline void serving_on_request(struct sock *sk)
{
	struct serving *serving = serving_of_current();

	if (!serving)
		return;
	serving->socket = (__u64)sk;
	serving->seen_in = reads_seen;
	serving->is_inside = 1;
}

static __noinline void serving_reply(struct sock *sk)
{
	struct serving *serving = serving_of_current();

	if (!serving)
		return;
	if (serving->seen_in == reads_seen && (!serving->is_inside || serving->socket != (__u64)sk)) {
		serving->answered_for_others++;
		return;
	}
	/* Of another on-window's it is not known who read it. */
	if (serving->seen_in == reads_seen)
		serving->answered++;
	serving->seen_in = reads_seen;
	serving->is_inside = 0;
}

/* The current thread begins to answer a request. */
static __always_inline void serving_on_reply(struct sock *sk)
{
	if (unlikely(reads_seen))
		serving_reply(sk);
}

/* This end of a connection closes: a request that was read from it and not answered is over. What says good-bye, like
 * MariaDB's COM_QUIT, gets no answer. */
static __always_inline void serving_on_close(struct sock *sk)
{
	struct serving *serving = serving_of_current();

	if (serving && serving->is_inside && serving->socket == (__u64)sk && serving->seen_in == reads_seen)
		serving->is_inside = 0;
}

/* Place of a class among the sleeps of which it is told whether they are inside a request; SERVING_SLEEPS
 * for the others. */
static __always_inline __u32 serving_sleep(__u32 class)
{
	switch (class) {
	case THREAD_TIME_FUTEX:
		return SERVING_FUTEX;
	case THREAD_TIME_INPUT:
		return SERVING_INPUT;
	case THREAD_TIME_SLEEP:
		return SERVING_SLEEP;
	default:
		return SERVING_SLEEPS;
	}
}

/* A target thread falls asleep in this class. Returns enum serving_state, and takes the thread's counts of
 * requests into its account. */
static __always_inline __u32 serving_on_sleep(struct task_struct *task, __u32 class,
					      struct thread_time_account *account)
{
	struct serving *serving;

	if (!asks_serving || !reads_seen || serving_sleep(class) == SERVING_SLEEPS)
		return SERVING_UNKNOWN;
	serving = bpf_task_storage_get(&serving_by_task, task, NULL, 0);
	if (!serving)
		return SERVING_OUTSIDE;
	account->answered = serving->answered;
	account->answered_for_others = serving->answered_for_others;
	if (serving->seen_in != reads_seen)
		return SERVING_UNKNOWN;
	return serving->is_inside ? SERVING_INSIDE : SERVING_OUTSIDE;
}

/* Adds a sleep to the account. */
static __always_inline void serving_add(struct thread_time_account *account, __u32 state, __u32 class,
					__u64 ns)
{
	__u32 sleep = serving_sleep(class);

	if (sleep >= SERVING_SLEEPS)
		return;
	if (state == SERVING_INSIDE)
		account->inside_ns[sleep] += ns;
	else if (state == SERVING_OUTSIDE)
		account->outside_ns[sleep] += ns;
}

#endif
