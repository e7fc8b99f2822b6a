/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What `requests.bpf.c` and its reader agree on. Times are ns.
 */
#ifndef STALLSCOPE_REQUESTS_H
#define STALLSCOPE_REQUESTS_H

/* Processes that a role was given to, with those that they fork. */
#define REQUESTS_MOST_PROCESSES 16384
/* Accounts of whole services, then of what a service asks one peer, then of single connections: what has none of its
 * own is in its service's. Shared ones are several side by side, by CPU: one that all CPUs write to would cost each of
 * them more. */
#define REQUESTS_MOST_SERVICES 16
#define REQUESTS_MOST_PEERS 32
#define REQUESTS_MOST_SHARED (REQUESTS_MOST_SERVICES + REQUESTS_MOST_PEERS)
#define REQUESTS_SIDE_BY_SIDE 4
#define REQUESTS_OF_SHARED (REQUESTS_MOST_SHARED * REQUESTS_SIDE_BY_SIDE)
#define REQUESTS_MOST_CONNECTIONS 64
#define REQUESTS_MOST_ACCOUNTS (REQUESTS_OF_SHARED + REQUESTS_MOST_CONNECTIONS)

/* Addresses that they connect to, as far as they are noted. */
#define REQUESTS_MOST_CONTACTS 64

/* Times are put into four buckets per octave, from 2^13 ns (8.2 us) to 2^35 ns (34 s); the first is for
 * what is shorter, the last for what is longer. */
#define REQUESTS_FIRST_OCTAVE 13
#define REQUESTS_OCTAVES 22
#define REQUESTS_BUCKETS (1 + 4 * REQUESTS_OCTAVES + 1)
/* Requests of this length and more are all timed, by the kernel's tick: 33.6 ms, a bound of buckets and some
 * ticks of 1 to 10 ms. A random sample would miss most stalls. */
#define REQUESTS_LONG_NS (1ULL << 25)

/* Bins in which answers are counted, ns, and how many of the last ones are kept: the reader comes each 100 ms, and may
 * be late. */
#define REQUESTS_BIN_NS 20000000ULL
#define REQUESTS_BINS 64

/* Which ends of connections are measured of a process. */
enum requests_side {
	/* Neither: of a process whose role is another, or that sends a replica its log. */
	REQUESTS_NEITHER,
	/* Connections that it accepted: from a request's arrival to the last byte of the reply. Those that it made
	 * are calls to its peers. */
	REQUESTS_SERVER,
	/* Connections that it made: from the request's sending to the last byte of the reply. */
	REQUESTS_CLIENT
};

/* A process's role. */
struct requests_role {
	/* enum requests_side */
	__u32 side;
	/* Its service's account. */
	__u32 account;
};
_Static_assert(sizeof(struct requests_role) == 8, "as the reader has it");

/* An address that processes of a service connected to. */
struct requests_contact {
	/* The service's. */
	__u32 account;
	/* AF_INET or AF_INET6; of peers also AF_UNIX. */
	__u16 family;
	__u16 port;
	/* The first four bytes of IPv4; of a unix socket the pid of who listens there. */
	__u8 address[16];
};
_Static_assert(sizeof(struct requests_contact) == 24, "as the reader has it");

/* A peer: whom a service that is measured itself asks. */
struct requests_peer {
	struct requests_contact contact;
	/* Processes on this machine that hold its end of a connection, and that listen at its address, as far as the
	 * last walk found them; 0 for none. */
	__u32 holder;
	__u32 listener;
	/* The caller's network namespace, where the address is one of the caller's own host; else 0. */
	__u64 near;
	/* The least round trip of TCP connections that have ended, or that the last walk met, us; 0 for none. */
	__u32 rtt_us;
	/* Whether it is asked by datagrams. */
	__u32 by_datagrams;
	/* Written last. */
	__u32 is_known;
	/* Connections to it, as the walk of that number met them; of walk 0 they are not known. */
	__u32 walk;
	__u32 connections;
	__u32 padding;
};
_Static_assert(sizeof(struct requests_peer) == 64, "as the reader has it");

/* What is counted of a connection or a service; it only grows. */
struct requests_account {
	/* At a server: requests whose reply has begun. At a client: requests whose answer was read. All of them. */
	__u64 requests;
	/* Replies that may be to more than one request. */
	__u64 pipelined;
	/* Sends that no request asked for. */
	__u64 unsolicited;
	/* Of a client: time between the arrival of a reply and the next request on its connection, by the kernel's
	 * tick. Of all: a tick more or less of each evens out. */
	__u64 between_ns;
	/* Time of the requests that were drawn for timing and took less than REQUESTS_LONG_NS, and of all that took
	 * that long or longer. Apart, since a reader may come between two additions: one long request in the one sum
	 * and not yet in the other would outweigh thousands of short ones. */
	__u64 ns;
	__u64 long_ns;
	/* Of a client: of `ns`, the time for which the whole reply lay at the socket (TCP) before the last of it was read. */
	__u64 unread_ns;
	/* How many of both took how long. */
	__u64 timed_by_bucket[REQUESTS_BUCKETS];
};
_Static_assert(sizeof(struct requests_account) == 8 * (7 + REQUESTS_BUCKETS), "as the reader has it");

/* Requests of an account that were under way in the walk of that number: all, those that have lasted for
 * REQUESTS_LONG_NS or more, and how old the latter were together. */
struct requests_open {
	__u64 walk;
	__u64 requests;
	__u64 longs;
	__u64 long_ns;
};
_Static_assert(sizeof(struct requests_open) == 32, "as the reader has it");

/* Whose an account is, of those of single connections. */
struct requests_owner {
	/* The socket's cookie, which tells it from every other since boot; written last. */
	__u64 cookie;
	/* Its process. */
	__u32 tgid;
	/* AF_UNIX, AF_INET or AF_INET6. */
	__u32 family;
	__u32 local_port;
	/* Of a unix socket the process at the other end. */
	__u32 peer_port;
	/* The first four bytes of IPv4. */
	__u8 local[16];
	__u8 peer[16];
};
_Static_assert(sizeof(struct requests_owner) == 56, "as the reader has it");

#endif
