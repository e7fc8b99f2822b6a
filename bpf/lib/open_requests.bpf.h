/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How many requests wait for their reply at a moment, and for how long, and which processes peers are: found by a
 * walk over all sockets, which user space starts.
 */
#ifndef STALLSCOPE_OPEN_REQUESTS_BPF_H
#define STALLSCOPE_OPEN_REQUESTS_BPF_H

#include "connection.bpf.h"
#include "peers.bpf.h"
#include "socket.bpf.h"

/* The number of the walk; user space raises it before each. */
__u32 walk_number = 1;

/* Requests under way, by account. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, REQUESTS_MOST_ACCOUNTS);
	__type(key, __u32);
	__type(value, struct requests_open);
} open_by_place SEC(".maps");

/* Since when a request waits for its reply on this connection, jiffies; 0 where none does. */
static __always_inline __u32 open_since(struct sock *sk, const struct connection *connection)
{
	bool is_unix = sk->__sk_common.skc_family == AF_UNIX, is_waiting;
	struct tcp_sock *tcp;
	__u32 received;

	if (is_unix && connection->side == REQUESTS_SERVER)
		return connection->began_ns && !connection->answers ? connection->began_jiffies : 0;
	if (is_unix)
		return connection->call == CALL_OPEN && connection->input != INPUT_GIVEN ? connection->began_jiffies : 0;
	tcp = bpf_core_cast(sk, struct tcp_sock);
	is_waiting = tcp->rcv_nxt != connection->copied_seq;
	received = received_jiffies(sk);
	/* Else the compiler reads it and the connection's value by one instruction, which the verifier refuses. */
	barrier_var(received);
	if (connection->side == REQUESTS_CLIENT)
		return connection->call == CALL_OPEN && !is_waiting ? connection->began_jiffies : 0;
	return is_waiting && sk->__sk_common.skc_state == TCP_ESTABLISHED ? received : 0;
}

/* Counts a connection to a peer. */
static __always_inline void count_connection(struct sock *sk, const struct connection *connection)
{
	__u32 place = connection->service - REQUESTS_MOST_SERVICES;
	struct requests_peer *peer = bpf_map_lookup_elem(&peer_by_place, &place);

	if (!peer || connection->side != REQUESTS_CLIENT || sk->__sk_common.skc_state != TCP_ESTABLISHED)
		return;
	if (peer->walk != walk_number) {
		peer->walk = walk_number;
		peer->connections = 0;
	}
	peer->connections++;
}

/* Whether a request is under way on a connection, and how old it is. */
static __always_inline void look_for_open(struct sock *sk)
{
	struct connection *connection = bpf_sk_storage_get(&connection_by_socket, sk, NULL, 0);
	struct requests_open *open;
	__u32 since, place;
	__s32 ticks;
	__u64 age;

	if (!connection || connection->side == REQUESTS_NEITHER || connection->walk == walk_number ||
	    sk->sk_type != SOCK_STREAM)
		return;
	/* Several processes may hold it. */
	connection->walk = walk_number;
	note_round_trip(sk, connection);
	count_connection(sk, connection);
	place = place_of(connection);
	open = bpf_map_lookup_elem(&open_by_place, &place);
	since = open ? open_since(sk, connection) : 0;
	if (!since)
		return;
	ticks = jiffies_now() - since;
	age = ticks > 0 ? ticks * ns_per_jiffy : 0;
	if (open->walk != walk_number) {
		open->walk = walk_number;
		open->requests = 0;
		open->longs = 0;
		open->long_ns = 0;
	}
	open->requests++;
	if (age >= REQUESTS_LONG_NS) {
		open->longs++;
		open->long_ns += age;
	}
}

/*
 * Walks over the open files of all processes. Not over the sockets themselves: iter/tcp locks each one
 * (bpf_iter_tcp_seq_show in net/ipv4/tcp_ipv4.c), and on a busy connection of a saturated machine the walk got
 * no turn for 6.7 s. The iterator over a map of sockets is missing on some kernels.
 */
SEC("iter/task_file")
int walk_files(struct bpf_iter__task_file *walk)
{
	struct task_struct *task = walk->task;
	struct file *file = walk->file;
	struct socket *socket;
	struct sock *sk;

	if (!file || !task)
		return 0;
	socket = bpf_sock_from_file(file);
	sk = socket ? socket->sk : NULL;
	if (!sk)
		return 0;
	look_for_open(sk);
	if (peers_met)
		look_for_peer(sk, task->tgid);
	return 0;
}

#endif
