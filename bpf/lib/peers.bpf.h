/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Peers: whom services that are measured themselves ask. Each has an account, of what one service asks it.
 *
 * Which process on this machine a peer is, no hook tells: the walk over open files finds it.
 */
#ifndef STALLSCOPE_PEERS_BPF_H
#define STALLSCOPE_PEERS_BPF_H

#include "connection.bpf.h"
#include "socket.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, REQUESTS_MOST_PEERS);
	__type(key, struct requests_contact);
	__type(value, __u32);
} account_by_peer SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, REQUESTS_MOST_PEERS);
	__type(key, __u32);
	__type(value, struct requests_peer);
} peer_by_place SEC(".maps");

/* Peers so far; above REQUESTS_MOST_PEERS every further connection to one that has no account. */
__u32 peers_met;

/* This end's address, as `far_end` has the other's. */
static __always_inline void near_end(struct sock_common *ends, __u16 *family, __u8 *address)
{
	*family = ends->skc_family;
	if (*family == AF_INET)
		__builtin_memcpy(address, &ends->skc_rcv_saddr, 4);
	else
		BPF_CORE_READ_INTO((struct in6_addr *)address, ends, skc_v6_rcv_saddr);
	unmap(family, address);
}

static __always_inline bool is_same(const __u8 *one, const __u8 *other)
{
	const __u64 *a = (const __u64 *)one, *b = (const __u64 *)other;

	return a[0] == b[0] && a[1] == b[1];
}

/* Whether an address is one of the host's that connects from `own`: the loopback's, or the same, which the kernel
 * chooses for an address of its own (fib_local). */
static __always_inline bool is_near(const struct requests_contact *contact, const __u8 *own)
{
	const __u32 *words = (const __u32 *)contact->address;

	if (contact->family == AF_INET && contact->address[0] == 127)
		return true;
	if (contact->family == AF_INET6 && !words[0] && !words[1] && !words[2] &&
	    words[3] == bpf_htonl(1))
		return true;
	return is_same(contact->address, own);
}

/* The other end of a connection that a process of the service made; false where it has no name. */
static __always_inline bool name_peer(struct sock *sk, __u32 service, struct requests_peer *peer)
{
	__u8 own[16] __attribute__((aligned(8))) = {};
	__u16 family;
	__u32 pid;

	peer->contact.account = service;
	peer->by_datagrams = sk->sk_type == SOCK_DGRAM;
	if (sk->__sk_common.skc_family == AF_UNIX) {
		pid = BPF_CORE_READ(sk, sk_peer_pid, numbers[0].nr);
		peer->contact.family = AF_UNIX;
		peer->holder = pid;
		__builtin_memcpy(peer->contact.address, &pid, sizeof(pid));
		return pid != 0;
	}
	if (!far_end(&sk->__sk_common, &peer->contact))
		return false;
	unmap(&peer->contact.family, peer->contact.address);
	near_end(&sk->__sk_common, &family, own);
	if (is_near(&peer->contact, own))
		peer->near = (__u64)bpf_core_cast(sk, struct sock)->__sk_common.skc_net.net;
	return true;
}

/* The account of what a service asks the other end of a connection that one of its processes made; NO_ACCOUNT where
 * there are too many peers. */
static __noinline int account_of_peer(struct sock *sk, __u32 service)
{
	struct requests_peer peer = {}, *entry;
	__u32 place, account, *known;

	if (!name_peer(sk, service, &peer))
		return NO_ACCOUNT;
	known = bpf_map_lookup_elem(&account_by_peer, &peer.contact);
	if (known)
		return *known;
	place = __sync_fetch_and_add(&peers_met, 1);
	entry = bpf_map_lookup_elem(&peer_by_place, &place);
	account = REQUESTS_MOST_SERVICES + place;
	/* Another CPU may have met it at the same time. Its place is lost then, and the next connection counts. */
	if (!entry || bpf_map_update_elem(&account_by_peer, &peer.contact, &account, BPF_NOEXIST))
		return NO_ACCOUNT;
	*entry = peer;
	barrier();
	entry->is_known = 1;
	return account;
}

/* Notes how long the way to a peer is, where a connection leads to one. */
static __always_inline void note_round_trip(struct sock *sk, const struct connection *connection)
{
	__u32 place = connection->service - REQUESTS_MOST_SERVICES, rtt_us;
	struct requests_peer *peer = bpf_map_lookup_elem(&peer_by_place, &place);

	if (!peer || connection->side != REQUESTS_CLIENT || sk->sk_type != SOCK_STREAM ||
	    sk->__sk_common.skc_family == AF_UNIX)
		return;
	rtt_us = bpf_core_cast(sk, struct tcp_sock)->rtt_min.s[0].v;
	if (rtt_us && rtt_us != ~0U && (!peer->rtt_us || rtt_us < peer->rtt_us))
		peer->rtt_us = rtt_us;
}

/* Whether a socket of a process is a peer's end, by the address that it is bound to. */
static __always_inline bool is_end_of(const struct requests_peer *peer, struct sock *sk, __u64 net,
				      const __u8 *address, __u16 family)
{
	const __u8 any[16] __attribute__((aligned(8))) = {};
	bool is_here;

	if (!peer->is_known || peer->contact.port != sk->__sk_common.skc_num ||
	    peer->by_datagrams != (sk->sk_type == SOCK_DGRAM))
		return false;
	/* Each network namespace has a loopback of its own. */
	is_here = !peer->near || peer->near == net;
	if (is_same(address, any))
		return peer->near && is_here;
	return is_here && family == peer->contact.family && is_same(address, peer->contact.address);
}

/* Notes whose end of a connection to a peer, or whose listening socket, this is. */
static __always_inline void look_for_peer(struct sock *sk, __u32 tgid)
{
	__u8 address[16] __attribute__((aligned(8))) = {};
	bool listens = sk->__sk_common.skc_state == TCP_LISTEN;
	__u16 family = sk->__sk_common.skc_family;
	/* Read once: of each pointer read from a socket the verifier searches all names of the kernel's types. */
	__u64 net = (__u64)sk->__sk_common.skc_net.net;
	struct requests_peer *peer;
	__u32 place;

	if (family != AF_INET && family != AF_INET6)
		return;
	/* Who connects has no backlog. */
	if (sk->sk_type == SOCK_STREAM && !sk->sk_max_ack_backlog)
		return;
	near_end(&sk->__sk_common, &family, address);
	for (place = 0; place < REQUESTS_MOST_PEERS; place++) {
		__u32 key = place;

		peer = bpf_map_lookup_elem(&peer_by_place, &key);
		if (!peer || !is_end_of(peer, sk, net, address, family))
			continue;
		/* Of several that share it the first, which has forked the others as a rule; init (pid 1) only
		 * holds it for others. */
		if (listens && !peer->listener && tgid != 1)
			peer->listener = tgid;
		else if (!listens && !peer->holder)
			peer->holder = tgid;
	}
}

#endif
