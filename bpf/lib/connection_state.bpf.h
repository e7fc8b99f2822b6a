/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is kept of one end of a connection whose requests are counted. `requests.bpf.c` changes it; `flow.bpf.c` reads
 * how many requests there were.
 */
#ifndef STALLSCOPE_CONNECTION_STATE_BPF_H
#define STALLSCOPE_CONNECTION_STATE_BPF_H

#include "kernel.bpf.h"

/* One end of a connection. A server's is changed by its process and, when data arrive, by another CPU. */
struct connection {
	/* When the request began (it arrived at the server, left the client), and the one after it: 0 for no
	 * request, UNTIMED. */
	__u64 began_ns;
	__u64 next_ns;
	/* The last send of the reply; for a client its last receive. */
	__u64 answered_ns;
	__u64 cookie;
	/* enum requests_side */
	__u32 side;
	/* Its service's account, or of what its service asks this peer, and its own. */
	__u32 service;
	__u32 own;
	/* What of the stream the application had read at its last send (TCP). */
	__u32 copied_seq;
	/* Sends of the reply, and their bytes; for a client its receives. */
	__u32 answers;
	__u32 bytes;
	__u32 requests;
	/* The state of the random numbers. */
	__u32 random;
	/* When the request began and when the last of its reply was sent (at a client: came), jiffies: of every
	 * request, drawn for timing or not. 0 for not known. */
	__u32 began_jiffies;
	__u32 ended_jiffies;
	/* The last walk that came by. */
	__u32 walk;
	/* The roles that were in force when its process was last asked for its own; 0 for never. */
	__u32 roles;
	/* Of a client: when the last data came, ns, the lower half; told from others by lying inside of the request. */
	__u32 came;
	/* enum input, of a unix socket. */
	__u32 input;
	/* enum call, of a client; a word, to be taken by one of two CPUs. */
	__u32 call;
	/* enum protocol */
	__u8 protocol;
	/* Whether the last read that was looked at held more than one request. */
	__u8 several;
	/* Whether more had arrived when the reply was sent. */
	__u8 unread;
	/* Whether any of the request was seen to be read. */
	__u8 asked;
	/* Whether the other end is on this machine too, so that its sends tell when requests arrive. */
	__u8 is_local;
	/* Of a client that asks by datagrams: questions without an answer. */
	__u8 unanswered;
};

/* What an end of a unix socket has to read, as far as sends were noticed. */
enum input {
	/* Nothing since its last send. */
	INPUT_NONE,
	/* The other end has sent since then. */
	INPUT_GIVEN,
	/* Nothing, and it has sent all the same: more of the same, or before the other end's send was noticed. */
	INPUT_MISSED
};

/* A client's last request. */
enum call {
	/* None, or it was answered. */
	CALL_NONE,
	/* It was sent, and is not counted yet. */
	CALL_OPEN,
	/* Its answer has begun to come, and it is counted. */
	CALL_COUNTED
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

#endif
