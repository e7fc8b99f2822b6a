/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One end of a connection: which request it is in, and the accounts that this one counts in.
 */
#ifndef STALLSCOPE_CONNECTION_BPF_H
#define STALLSCOPE_CONNECTION_BPF_H

#include "kernel.bpf.h"
#include "histogram.bpf.h"
#include "resp.bpf.h"
#include "../requests.h"

/* include/linux/socket.h */
#define MSG_TRUNC 0x20

/* In place of a time: it is so, and when is not asked. */
#define UNTIMED 1
/* Without an account, of a service or of its own. */
#define NO_ACCOUNT 0xffffffff
/* So many sends for one request, of so few bytes each, are replies to several or a stream. */
#define MANY_SENDS 4
#define SMALL_SEND 512

/* One end of a connection. A server's is changed by its process and, when data arrive, by another CPU. */
struct connection {
	/* When the request began, and what comes after it: 0 where nothing did, UNTIMED. */
	__u64 arrived_ns;
	__u64 next_ns;
	/* The last send of the reply; for a client its last receive. */
	__u64 answered_ns;
	__u64 cookie;
	/* enum requests_side */
	__u32 side;
	/* Its service's account, and its own. */
	__u32 service;
	__u32 own;
	/* Whether any of the request was read; for a client: sent. */
	__u32 asked;
	/* Sends of the reply, and their bytes; for a client its receives. */
	__u32 answers;
	__u32 bytes;
	__u32 requests;
	/* The state of the lot. */
	__u32 lot;
	/* The parts that were in force when its process was last asked for its own; 0 for never. */
	__u32 parts;
	/* The spell in which it was last heard of. */
	__u32 spell;
	/* enum protocol */
	__u16 protocol;
	/* Whether more than one request was read at once. */
	__u16 several;
};

/* What a connection's first request was in. */
enum protocol {
	PROTOCOL_UNKNOWN,
	PROTOCOL_RESP,
	PROTOCOL_OTHER
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct connection);
} connection_by_socket SEC(".maps");

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

/* Requests whose lot is not above it are timed. */
__u32 timed_up_to = 0xffffffff;
/* Counts the spells in which sends and receives are counted; between them is a pause. */
__u32 spell;

/* The time, if it is this one's lot to be timed. */
static __always_inline __u64 stamp(struct connection *connection)
{
	/* Numerical Recipes' generator; its high bits decide. */
	connection->lot = connection->lot * 1664525 + 1013904223;
	return connection->lot <= timed_up_to ? bpf_ktime_get_ns() : UNTIMED;
}

static __always_inline bool is_own(const struct connection *connection, __u32 place)
{
	__u64 *cookie = bpf_map_lookup_elem(&cookie_by_place, &place);

	return cookie && *cookie == connection->cookie;
}

static __always_inline struct requests_account *account_of(const struct connection *connection)
{
	__u32 place = connection->own;

	if (place != NO_ACCOUNT && is_own(connection, place))
		place += REQUESTS_OF_SERVICES;
	else if (connection->service < REQUESTS_MOST_SERVICES)
		place = connection->service * REQUESTS_SIDE_BY_SIDE +
			bpf_get_smp_processor_id() % REQUESTS_SIDE_BY_SIDE;
	else
		return NULL;
	return bpf_map_lookup_elem(&account_by_place, &place);
}

/* A request is over if it was answered. Two CPUs may find that at a time: one of them counts it. */
static __always_inline void settle(struct connection *connection)
{
	__u32 answers = connection->answers;
	struct requests_account *account;
	__u64 ns;

	if (!answers || __sync_val_compare_and_swap(&connection->answers, answers, 0) != answers)
		return;
	account = account_of(connection);
	if (account) {
		__sync_fetch_and_add(&account->requests, 1);
		/* What came before the reply and was not read for it asks for another one. */
		if (connection->next_ns || connection->several ||
		    (connection->side == REQUESTS_SERVER && answers >= MANY_SENDS &&
		     connection->bytes < answers * SMALL_SEND))
			__sync_fetch_and_add(&account->merged, 1);
		if (connection->arrived_ns > UNTIMED &&
		    connection->answered_ns >= connection->arrived_ns) {
			ns = connection->answered_ns - connection->arrived_ns;
			__sync_fetch_and_add(&account->ns, ns);
			__sync_fetch_and_add(&account->timed_by_bucket[bucket_of(ns)], 1);
		}
	}
	connection->requests++;
	connection->bytes = 0;
	connection->asked = 0;
	connection->several = 0;
	connection->arrived_ns = connection->next_ns;
	connection->next_ns = 0;
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
	if (connection->arrived_ns > UNTIMED)
		connection->answered_ns = bpf_ktime_get_ns();
	connection->bytes += bytes;
	connection->answers++;
}

/* Its first event after a pause. What it was in the middle of then is counted and not timed, as is what it does
 * first if it was in none; what the pause before cut off is not: on average that is right. */
static __always_inline void begin_spell(struct connection *connection)
{
	if (connection->spell == spell)
		return;
	settle(connection);
	connection->spell = spell;
	connection->arrived_ns = UNTIMED;
	connection->next_ns = 0;
	connection->asked = 1;
	connection->several = 0;
	connection->bytes = 0;
}

#endif
