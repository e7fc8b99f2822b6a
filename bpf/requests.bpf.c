// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * How long do requests take, and how many are there?
 *
 * Of any server that talks by TCP or unix stream sockets, whatever the protocol: a request begins when
 * data arrive at a connection that owes no answer, and ends with the last send before the server reads
 * again or more data arrive. At the generator's end it lasts from the first send to the last receive
 * before the next send.
 *
 * Hooks: sk_data_ready, sock_recv_length, sock_send_length, inet_sock_set_state; sched_process_fork,
 * sched_process_exit for who has a part in this.
 * Cost: `make bench` (probes) tells. The clock is the dearest part of it: where requests are many, only as
 * many are timed as user space asks for, drawn by lot, and all are counted. Where they are too many for that,
 * user space makes pauses, in which the first three are off their hooks: `spell` counts the times between.
 * Kernel: 6.3 (the hooks of sockets).
 * Memory: 98 KB for the accounts, some 200 bytes for each connection of target and generator and some
 * 80 for each of their processes, at most 16,384.
 * Lost: events of a connection or process for which there is no memory (`drops`). The first request of a
 * connection counts from when it is read, unless another of its port was read before. What is read by
 * splice is not told of. The last request of a unix socket, where its server closes it right away.
 * Not seen: that several requests came in one piece and were answered in one, which is one request here,
 * unless they are commands of Redis's protocol, where that is told (lib/resp.bpf.h); and that what a
 * client says wants no answer: it lasts until the server sends something.
 */
#include "lib/kernel.bpf.h"
#include <bpf/bpf_endian.h>
#include <bpf/bpf_tracing.h>
#include "lib/histogram.bpf.h"
#include "lib/resp.bpf.h"
#include "requests.h"

/* include/linux/socket.h */
#define AF_UNIX 1
#define AF_INET 2
#define AF_INET6 10
#define SOCK_STREAM 1
#define MSG_PEEK 0x2
#define MSG_TRUNC 0x20
#define MSG_ERRQUEUE 0x2000
/* include/net/tcp_states.h */
#define TCP_ESTABLISHED 1
#define TCP_SYN_RECV 3

/* In place of a time: it is so, and when is not asked. */
#define UNTIMED 1
/* Without an account, of a service or of its own. */
#define NO_ACCOUNT 0xffffffff
/* A connection gets an account of its own with its so-many-th request: short ones would use them up. */
#define REQUESTS_TO_OWN 32
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

/* Parts that were given to processes; what they fork inherits. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, REQUESTS_MOST_PROCESSES);
	__type(key, __u32);
	__type(value, struct requests_part);
} part_by_tgid SEC(".maps");

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

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, REQUESTS_MOST_CONNECTIONS);
	__type(key, __u32);
	__type(value, struct requests_owner);
} owner_by_place SEC(".maps");

/* Ports that a server's connection was met at: a bit each. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 65536 / 64);
	__type(key, __u32);
	__type(value, __u64);
} served_by_port SEC(".maps");

/* Requests whose lot is not above it are timed. */
__u32 timed_up_to = 0xffffffff;
/* Goes up when a process is given a part: whoever has another number looks anew. */
__u32 parts = 1;
/* Counts the spells in which sends and receives are counted; between them is a pause. */
__u32 spell;
__u32 paused;
/* Connections and processes for which there was no memory. */
__u64 drops;

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

/* Which end of a connection a socket is. TCP: whoever was accepted has the backlog of the socket that
 * listened. Unix: it has its address, and whoever connects has none as a rule. */
static __always_inline __u32 side_of(struct sock *sk)
{
	__u16 family = sk->__sk_common.skc_family;
	struct unix_sock *own = (void *)sk, *peer;

	if (sk->sk_type != SOCK_STREAM)
		return REQUESTS_NEITHER;
	if (family == AF_INET || family == AF_INET6)
		return sk->sk_max_ack_backlog ? REQUESTS_SERVER : REQUESTS_CLIENT;
	if (family != AF_UNIX)
		return REQUESTS_NEITHER;
	peer = (void *)BPF_CORE_READ(own, peer);
	if (BPF_CORE_READ(own, addr))
		return !peer || !BPF_CORE_READ(peer, addr) ? REQUESTS_SERVER : REQUESTS_NEITHER;
	return peer && BPF_CORE_READ(peer, addr) ? REQUESTS_CLIENT : REQUESTS_NEITHER;
}

static __always_inline struct connection *create(struct sock *sk, __u32 side)
{
	struct connection first = {
		.side = side, .service = NO_ACCOUNT, .own = NO_ACCOUNT, .lot = bpf_get_prandom_u32(),
		.spell = spell
	}, *connection;

	connection = bpf_sk_storage_get(&connection_by_socket, sk, &first,
					BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!connection)
		__sync_fetch_and_add(&drops, 1);
	return connection;
}

static __always_inline void note_port(struct sock *sk)
{
	__u32 port = sk->__sk_common.skc_num, word = port / 64;
	__u64 *served;

	if (sk->__sk_common.skc_family == AF_UNIX)
		return;
	served = bpf_map_lookup_elem(&served_by_port, &word);
	if (served)
		__sync_fetch_and_or(served, 1ULL << (port % 64));
}

/* The connection that the current process reads or writes, if it has a part in this. */
static __always_inline struct connection *meet(struct sock *sk)
{
	struct connection *connection = bpf_sk_storage_get(&connection_by_socket, sk, NULL, 0);
	__u32 tgid, in_force = parts;
	struct requests_part *part;

	if (connection)
		begin_spell(connection);
	if (connection && connection->parts == in_force)
		return connection;
	tgid = bpf_get_current_pid_tgid() >> 32;
	part = bpf_map_lookup_elem(&part_by_tgid, &tgid);
	if (!connection) {
		if (!part)
			return NULL;
		connection = create(sk, side_of(sk));
		if (!connection)
			return NULL;
		if (connection->side == REQUESTS_SERVER && part->side == REQUESTS_SERVER)
			note_port(sk);
	}
	connection->parts = in_force;
	if (part && part->side == connection->side)
		connection->service = part->account;
	else
		connection->side = REQUESTS_NEITHER;
	return connection;
}

static __always_inline void describe(struct sock *sk, struct requests_owner *owner)
{
	struct sock_common *ends = &sk->__sk_common;

	owner->tgid = bpf_get_current_pid_tgid() >> 32;
	owner->family = ends->skc_family;
	owner->local_port = ends->skc_num;
	owner->peer_port = bpf_ntohs(ends->skc_dport);
	if (owner->family == AF_INET) {
		__builtin_memcpy(owner->local, &ends->skc_rcv_saddr, 4);
		__builtin_memcpy(owner->peer, &ends->skc_daddr, 4);
	} else if (owner->family == AF_INET6) {
		BPF_CORE_READ_INTO(&owner->local, ends, skc_v6_rcv_saddr);
		BPF_CORE_READ_INTO(&owner->peer, ends, skc_v6_daddr);
	} else {
		owner->local_port = 0;
		owner->peer_port = BPF_CORE_READ(sk, sk_peer_pid, numbers[0].nr);
	}
}

/* Looks for an account that nobody has. */
static __noinline int take_account(struct sock *sk)
{
	struct connection *connection = bpf_sk_storage_get(&connection_by_socket, sk, NULL, 0);
	struct requests_owner *owner;
	__u64 *cookie;
	__u32 place;

	if (!connection)
		return 0;
	connection->cookie = bpf_get_socket_cookie(sk);
	for (place = 0; place < REQUESTS_MOST_CONNECTIONS; place++) {
		__u32 key = place;

		cookie = bpf_map_lookup_elem(&cookie_by_place, &key);
		if (!cookie || *cookie ||
		    __sync_val_compare_and_swap(cookie, 0, connection->cookie))
			continue;
		owner = bpf_map_lookup_elem(&owner_by_place, &key);
		if (owner) {
			describe(sk, owner);
			owner->cookie = connection->cookie;
			connection->own = key;
		}
		break;
	}
	return 0;
}

/* Data arrive; this is not its process, as a rule. */
SEC("tp_btf/sk_data_ready")
int BPF_PROG(on_ready, struct sock *sk)
{
	struct connection *connection;

	if (paused)
		return 0;
	/* Most that data arrive for are no server's. */
	if (sk->__sk_common.skc_family != AF_UNIX && !sk->sk_max_ack_backlog)
		return 0;
	connection = bpf_sk_storage_get(&connection_by_socket, sk, NULL, 0);
	if (!connection || connection->side != REQUESTS_SERVER)
		return 0;
	begin_spell(connection);
	settle(connection);
	if (!connection->asked) {
		if (!connection->arrived_ns)
			connection->arrived_ns = stamp(connection);
	} else if (!connection->next_ns) {
		connection->next_ns = stamp(connection);
	}
	return 0;
}

SEC("tp_btf/sock_recv_length")
int BPF_PROG(on_receive, struct sock *sk, int ret, int flags)
{
	struct connection *connection;

	if (paused || flags & (MSG_PEEK | MSG_ERRQUEUE))
		return 0;
	connection = meet(sk);
	if (!connection)
		return 0;
	if (connection->side == REQUESTS_CLIENT) {
		if (ret > 0 && connection->asked)
			answer(connection, ret);
	} else if (connection->side == REQUESTS_SERVER) {
		settle(connection);
		if (ret <= 0)
			return 0;
		if (connection->asked) {
			/* It belonged to the request after all. */
			connection->next_ns = 0;
			return 0;
		}
		connection->asked = 1;
		look_at(connection, ret, flags);
		if (!connection->arrived_ns)
			connection->arrived_ns = stamp(connection);
		if (connection->requests % REQUESTS_TO_OWN == REQUESTS_TO_OWN - 1 &&
		    (connection->own == NO_ACCOUNT || !is_own(connection, connection->own)))
			take_account(sk);
	}
	return 0;
}

SEC("tp_btf/sock_send_length")
int BPF_PROG(on_send, struct sock *sk, int ret, int flags)
{
	struct connection *connection;
	struct requests_account *account;

	if (paused || ret <= 0)
		return 0;
	connection = meet(sk);
	if (!connection)
		return 0;
	if (connection->side == REQUESTS_CLIENT) {
		settle(connection);
		if (connection->asked)
			return 0;
		connection->asked = 1;
		connection->arrived_ns = stamp(connection);
	} else if (connection->side == REQUESTS_SERVER) {
		if (connection->asked) {
			answer(connection, ret);
		} else if (!connection->arrived_ns) {
			account = account_of(connection);
			if (account)
				__sync_fetch_and_add(&account->unasked, 1);
		}
	}
	return 0;
}

/* A connection ends, and with it its last request; or one is about to be accepted. */
SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(on_state, struct sock *sk, int from, int to)
{
	struct connection *connection;
	__u32 port, word;
	__u64 *served;

	if (from == TCP_SYN_RECV && to == TCP_ESTABLISHED) {
		port = sk->__sk_common.skc_num;
		word = port / 64;
		served = bpf_map_lookup_elem(&served_by_port, &word);
		if (served && (*served >> (port % 64)) & 1)
			create(sk, REQUESTS_SERVER);
		return 0;
	}
	connection = bpf_sk_storage_get(&connection_by_socket, sk, NULL, 0);
	if (connection)
		settle(connection);
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	__u32 from = parent->tgid, to = child->tgid;
	struct requests_part *part;

	if (from == to)
		return 0;
	part = bpf_map_lookup_elem(&part_by_tgid, &from);
	if (part && bpf_map_update_elem(&part_by_tgid, &to, part, BPF_ANY))
		__sync_fetch_and_add(&drops, 1);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task)
{
	__u32 tgid = task->tgid;

	if (task->pid == task->tgid)
		bpf_map_delete_elem(&part_by_tgid, &tgid);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
