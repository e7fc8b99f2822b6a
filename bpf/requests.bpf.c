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
#include "lib/connection.bpf.h"
#include "requests.h"

/* include/linux/socket.h */
#define AF_UNIX 1
#define AF_INET 2
#define AF_INET6 10
#define SOCK_STREAM 1
#define MSG_PEEK 0x2
#define MSG_ERRQUEUE 0x2000
/* include/net/tcp_states.h */
#define TCP_ESTABLISHED 1
#define TCP_SYN_RECV 3

/* A connection gets an account of its own with its so-many-th request: short ones would use them up. */
#define REQUESTS_TO_OWN 32

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

/* Goes up when a process is given a part: whoever has another number looks anew. */
__u32 parts = 1;
__u32 paused;
/* Connections and processes for which there was no memory. */
__u64 drops;

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
