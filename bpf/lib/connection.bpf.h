/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One end of a connection: how many requests passed it, and how long those took that were drawn for timing.
 *
 * Requests are counted at sends alone, which costs least: a send by an end that has read something since its
 * last one begins a reply (at the server) or a request (at the client). Of TCP the socket itself knows what was
 * read (copied_seq); an end of a unix socket has something to read since the other end's last send.
 */
#ifndef STALLSCOPE_CONNECTION_BPF_H
#define STALLSCOPE_CONNECTION_BPF_H

#include "kernel.bpf.h"
#include "connection_state.bpf.h"
#include "histogram.bpf.h"
#include "resp.bpf.h"
#include "../requests.h"

/* include/linux/socket.h */
#define MSG_TRUNC 0x20

/* In place of a time: there is a request, and it was not drawn for timing. */
#define UNTIMED 1
/* Without an account, of a service or of its own. */
#define NO_ACCOUNT 0xffffffff
/* As many sends for one request, of this few bytes each, are replies to several or a stream. */
#define MANY_SENDS 4
#define SMALL_SEND 512

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, REQUESTS_MOST_ACCOUNTS);
	__type(key, __u32);
	__type(value, struct requests_account);
} account_by_place SEC(".maps");

/* Of connections; user space takes an account back by clearing the cookie. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, REQUESTS_MOST_CONNECTIONS);
	__type(key, __u32);
	__type(value, __u64);
} cookie_by_place SEC(".maps");

/* Requests that servers answered, ever, in bins of the scheduler's clock whose number leaves this remainder: the reader knows
 * the sum of the bins before. Several such rings side by side, by CPU: one that all CPUs write to took a quarter of the
 * time of a send. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, REQUESTS_BINS * REQUESTS_SIDE_BY_SIDE);
	__type(key, __u32);
	__type(value, __u64);
} answered_by_bin SEC(".maps");

/* Requests whose random number is not above it are timed. */
__u32 timed_up_to = 0xffffffff;

/* The kernel's tick, set before loading. */
const volatile __u64 ns_per_jiffy = 10000000;

static __always_inline __u32 jiffies_now(void)
{
	__u32 now = bpf_jiffies64();

	return now ? now : 1;
}

/* How long the request was by the kernel's tick: exact to one tick more or less. */
static __always_inline __u64 ticks_ns(const struct connection *connection)
{
	__s32 ticks = connection->ended_jiffies - connection->began_jiffies;

	return connection->began_jiffies && ticks > 0 ? ticks * ns_per_jiffy : 0;
}

static __always_inline bool is_drawn(__u32 random)
{
	return random <= timed_up_to;
}

/* The time, if this request is drawn for timing. */
static __always_inline __u64 stamp(struct connection *connection)
{
	/* Numerical Recipes' generator; its high bits decide. */
	connection->random = connection->random * 1664525 + 1013904223;
	return is_drawn(connection->random) ? bpf_ktime_get_ns() : UNTIMED;
}

static __always_inline bool is_own(const struct connection *connection, __u32 place)
{
	__u64 *cookie = bpf_map_lookup_elem(&cookie_by_place, &place);

	return cookie && *cookie == connection->cookie;
}

/* Where the connection's account is, its own or its service's; NO_ACCOUNT for none. */
static __always_inline __u32 place_of(const struct connection *connection)
{
	__u32 place = connection->own;

	if (place != NO_ACCOUNT && is_own(connection, place))
		return place + REQUESTS_OF_SHARED;
	if (connection->service >= REQUESTS_MOST_SHARED)
		return NO_ACCOUNT;
	return connection->service * REQUESTS_SIDE_BY_SIDE +
	       bpf_get_smp_processor_id() % REQUESTS_SIDE_BY_SIDE;
}

static __always_inline struct requests_account *account_of(const struct connection *connection)
{
	__u32 place = place_of(connection);

	return bpf_map_lookup_elem(&account_by_place, &place);
}

/* Returns the account in which it counts, if there is one. */
static __always_inline struct requests_account *count_request(struct connection *connection)
{
	struct requests_account *account = account_of(connection);

	connection->requests++;
	if (account)
		__sync_fetch_and_add(&account->requests, 1);
	return account;
}

/* Counts it by when its reply began. */
static __always_inline void count_answer(void)
{
	/* The scheduler's clock of this CPU as of its last event or tick: to read a clock would cost half as much as all
	 * else that is counted of a request. */
	__u64 now = bpf_get_current_task_btf()->se.cfs_rq->rq->clock;
	__u32 bin = now / REQUESTS_BIN_NS % REQUESTS_BINS;
	__u32 place = bpf_get_smp_processor_id() % REQUESTS_SIDE_BY_SIDE * REQUESTS_BINS + bin;
	__u64 *answered = bpf_map_lookup_elem(&answered_by_bin, &place);

	if (answered)
		__sync_fetch_and_add(answered, 1);
}

/*
 * Of a busy server's sends nearly all are of requests that are neither timed nor long. What such a send does not come to
 * is in functions of their own: the CPU's caches are full of the server's work, and what lies in the way of each send
 * has to be fetched anew each time.
 */
static __noinline void add_short(struct requests_account *account, __u64 ns)
{
	__sync_fetch_and_add(&account->ns, ns);
	__sync_fetch_and_add(&account->timed_by_bucket[bucket_of(ns)], 1);
}

/* A request is over that took long; `ns` is its exact time, if it was drawn. */
static __noinline void add_long(struct requests_account *account, __u64 ticks, __u64 ns)
{
	if (ns < REQUESTS_LONG_NS)
		ns = ticks;
	__sync_fetch_and_add(&account->long_ns, ns);
	__sync_fetch_and_add(&account->timed_by_bucket[bucket_of(ns)], 1);
}

/* What the request took that is over, where it was drawn for timing and both its ends were seen; else 0. */
static __always_inline __u64 exact_ns(const struct connection *connection)
{
	if (connection->began_ns <= UNTIMED || connection->answered_ns < connection->began_ns)
		return 0;
	return connection->answered_ns - connection->began_ns;
}

/* How long the last of a reply had lain at the client's socket when it was read, of a request that took `ns`; 0 where
 * nobody saw it come. */
static __always_inline __u32 unread_ns(const struct connection *connection, __u64 ns)
{
	__u32 lay = (__u32)connection->answered_ns - connection->came;

	return connection->came && lay < ns ? lay : 0;
}

/* Adds up a request that is over, where that is more than to count it. */
static __noinline void add_up(struct connection *connection, bool is_pipelined, __u64 ticks, __u64 ns)
{
	struct requests_account *account = account_of(connection);
	__u32 lay;

	if (!account)
		return;
	if (is_pipelined)
		__sync_fetch_and_add(&account->pipelined, 1);
	/* A client's long requests are added up as they are counted, whether their reply was seen or not. */
	if (ticks >= REQUESTS_LONG_NS && connection->side == REQUESTS_SERVER)
		add_long(account, ticks, ns);
	else if (ticks < REQUESTS_LONG_NS && ns >= REQUESTS_LONG_NS) {
		/* It came in pieces, the last of them a short time ago. */
		add_long(account, ticks, ns);
	} else if (ticks < REQUESTS_LONG_NS && ns) {
		add_short(account, ns);
		lay = unread_ns(connection, ns);
		if (lay)
			__sync_fetch_and_add(&account->unread_ns, lay);
	}
}

/* An answered request is over. Two CPUs may find that at a time: one of them adds it up. */
static __always_inline void reconcile(struct connection *connection)
{
	__u32 answers = connection->answers;
	__u64 ns, ticks;
	bool is_pipelined;

	if (!answers || __sync_val_compare_and_swap(&connection->answers, answers, 0) != answers)
		return;
	/* What came before the reply and was not read for it asks for another one. */
	is_pipelined = connection->next_ns || connection->several || connection->unread ||
		       (connection->side == REQUESTS_SERVER && answers >= MANY_SENDS &&
			connection->bytes < answers * SMALL_SEND);
	ns = exact_ns(connection);
	ticks = ticks_ns(connection);
	if (unlikely(is_pipelined || ns || ticks >= REQUESTS_LONG_NS))
		add_up(connection, is_pipelined, ticks, ns);
	connection->began_jiffies = 0;
	connection->bytes = 0;
	connection->asked = 0;
	connection->unread = 0;
	connection->began_ns = connection->next_ns;
	connection->next_ns = 0;
}

/* An end of a unix socket sends: whether it was given something since its last send. Both ends' hooks may run at a
 * time: one send must neither count twice nor be lost. */
static __always_inline bool take_input(struct connection *connection)
{
	if (__sync_val_compare_and_swap(&connection->input, INPUT_GIVEN, INPUT_NONE) == INPUT_GIVEN)
		return true;
	if (__sync_val_compare_and_swap(&connection->input, INPUT_NONE, INPUT_MISSED) != INPUT_GIVEN)
		return false;
	/* Just now. Nobody else takes it. */
	connection->input = INPUT_NONE;
	return true;
}

/* The other end of a unix socket has sent to this one: whether this one has answered that already, where that is
 * possible; else it is something to answer. */
static __always_inline bool give_input(struct connection *connection, bool may_have_answered)
{
	__u32 before = __sync_lock_test_and_set(&connection->input, INPUT_GIVEN);

	if (before != INPUT_MISSED || !may_have_answered)
		return false;
	return __sync_val_compare_and_swap(&connection->input, INPUT_GIVEN, INPUT_NONE) == INPUT_GIVEN;
}

/* Looks at the beginning of a request, unless its connection's first was in another protocol. */
static __always_inline void look_at(struct connection *connection, int bytes, int flags)
{
	enum resp_commands commands;

	/* What was cut off was not given. */
	if (connection->protocol == PROTOCOL_OTHER || (flags & MSG_TRUNC))
		return;
	commands = resp_commands(bytes);
	connection->several = commands == RESP_SEVERAL;
	if (connection->protocol == PROTOCOL_UNKNOWN)
		connection->protocol = commands == RESP_NONE ? PROTOCOL_OTHER : PROTOCOL_RESP;
}

static __always_inline void answer(struct connection *connection, int bytes)
{
	if (connection->began_ns > UNTIMED)
		connection->answered_ns = bpf_ktime_get_ns();
	connection->ended_jiffies = jiffies_now();
	connection->bytes += bytes;
	connection->answers++;
}

#endif
