/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What `flow.bpf.c` and its reader agree on. Times are ns.
 */
#ifndef STALLSCOPE_FLOW_H
#define STALLSCOPE_FLOW_H

/* Flows at a time, and flows that take together what a process exchanges with peers beyond those. Place 0 is
 * nobody's. User space takes those back that are idle when they become few. */
#define FLOW_MOST_FLOWS 2048
#define FLOW_MOST_REST 256
#define FLOW_MOST_ACCOUNTS (FLOW_MOST_FLOWS + FLOW_MOST_REST)
/* All ones, and no less than the last place: the verifier wants to see that an index is inside. */
#define FLOW_PLACE_MASK 4095

/* A connection that ends sooner is short-lived. */
#define FLOW_SHORT_NS 1000000000ULL

enum flow_protocol {
	FLOW_NOTHING,
	FLOW_TCP,
	FLOW_UDP,
	FLOW_UNIX
};

/* Which end the process has. */
enum flow_side {
	FLOW_NEITHER,
	FLOW_SERVER,
	FLOW_CLIENT
};

/* A flow: what a process exchanges with one peer at one port of the service, by however many connections. */
struct flow_key {
	/* When the process started. */
	__u64 started_ns;
	/* 0 for connections that nobody accepted. */
	__u32 tgid;
	/* The network namespace, by its inode. */
	__u32 net;
	/* The other end's address, of which IPv4 takes the first four bytes; of unix sockets a hash of the path. */
	__u8 peer[16];
	/* The service's, whichever end that is. */
	__u16 port;
	/* AF_INET, AF_INET6; 0 where the peer is not known, and of unix sockets. */
	__u16 family;
	/* enum flow_protocol; written last. */
	__u8 protocol;
	/* enum flow_side */
	__u8 side;
	/* Whether these are all peers that have no flow of their own. */
	__u8 is_rest;
	__u8 padding;
};
_Static_assert(sizeof(struct flow_key) == 40, "as the reader has it");

/* What its process and unix socket are called. */
struct flow_name {
	char comm[16];
	/* A first byte of 0 stands for an abstract name, as in the kernel; all 0 for none. */
	char path[112];
};
_Static_assert(sizeof(struct flow_name) == 128, "as the reader has it");

/* Counts of a flow; they only grow, but for the last ones. */
struct flow_account {
	struct flow_key key;
	/* Of TCP the kernel's own: what was sent, without what was sent again; what was received in order. */
	__u64 sent_bytes;
	__u64 received_bytes;
	/* Of TCP segments with data, of UDP datagrams, of unix sockets calls. */
	__u64 sends;
	__u64 receives;
	/* As `requests.bpf.c` counts them, where it does. */
	__u64 requests;
	/* Of TCP connections established, of others sockets first used. */
	__u64 opened;
	/* TCP only, as all up to `connects`: connections over, and those of them that were short. */
	__u64 closed;
	__u64 short_lived;
	/* Connections that were refused, that were reset, that timed out (before they were established or later), and
	 * that came to nothing otherwise. */
	__u64 refused;
	__u64 reset;
	__u64 timed_out;
	__u64 failed;
	/* Connections that this end opened and that ended before it had sent anything, while the other end had. */
	__u64 turned_away;
	/* Segments sent again. */
	__u64 retransmitted;
	/* The kernel's smoothed round-trip times, as they were met at readings and at connections' ends, added up. */
	__u64 rtt_ns;
	__u64 rtts;
	/* Time from the first SYN to the established connection. */
	__u64 connect_ns;
	__u64 connects;
	/* Of DNS: from a query to the next reply on its socket. */
	__u64 answer_ns;
	__u64 answers;
	/* When the first was opened since the reading of the number `opened_in`, on CLOCK_BOOTTIME. */
	__u64 opened_ns;
	/* Sockets that count here, and of these connections that are open, by the walk of that number. */
	__u32 walk;
	__u32 sockets;
	__u32 open;
	__u32 opened_in;
};
_Static_assert(sizeof(struct flow_account) == 40 + 8 * 21 + 16, "as the reader has it");

#endif
