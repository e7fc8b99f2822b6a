/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a socket says about its two ends: which one it is, whose ports are served here, whom clients send to.
 */
#ifndef STALLSCOPE_SOCKET_BPF_H
#define STALLSCOPE_SOCKET_BPF_H

#include "address.bpf.h"
#include "kernel.bpf.h"
#include <bpf/bpf_endian.h>
#include "../requests.h"

/* RFC 1035 */
#define NAMES_PORT 53

/* Ports that a server's connection was met at: a bit each. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 65536 / 64);
	__type(key, __u32);
	__type(value, __u64);
} served_by_port SEC(".maps");

/* Whom processes with a role send to by TCP: connections may be over before user space can look for their other end.
 * The value means nothing. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, REQUESTS_MOST_CONTACTS);
	__type(key, struct requests_contact);
	__type(value, __u8);
} contacts SEC(".maps");

/* Entries of `contacts` so far. */
__u64 contacts_noted;

/* Whether it is connected to a name server by datagrams, as resolvers do it. */
static __always_inline bool asks_for_names(struct sock *sk)
{
	return sk->sk_type == SOCK_DGRAM && sk->__sk_common.skc_family != AF_UNIX &&
	       sk->__sk_common.skc_dport == bpf_htons(NAMES_PORT);
}

/* Which end of a connection a socket is. TCP: whoever was accepted has the backlog of the socket that
 * listened. Unix: it has its address, and whoever connects has none as a rule. */
static __always_inline __u32 side_of(struct sock *sk)
{
	__u16 family = sk->__sk_common.skc_family;
	struct unix_sock *own = (void *)sk, *peer;

	if (asks_for_names(sk))
		return REQUESTS_CLIENT;
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

static __always_inline void note_port(struct sock *sk)
{
	__u32 port = sk->__sk_common.skc_num, place = port / 64;
	__u64 *served;

	if (sk->__sk_common.skc_family == AF_UNIX)
		return;
	served = bpf_map_lookup_elem(&served_by_port, &place);
	if (served)
		__sync_fetch_and_or(served, 1ULL << (port % 64));
}

static __always_inline bool is_served(__u32 port)
{
	__u32 place = port / 64;
	__u64 *served = bpf_map_lookup_elem(&served_by_port, &place);

	return served && (*served >> (port % 64)) & 1;
}

/* The other end of a connection over IP; false for others. */
static __always_inline bool far_end(struct sock_common *ends, struct requests_contact *contact)
{
	contact->family = ends->skc_family;
	contact->port = bpf_ntohs(ends->skc_dport);
	return far_address(ends, contact->address);
}

/* The other end of a client's connection. */
static __noinline int note_contact(struct sock *sk, __u32 account)
{
	struct requests_contact contact = { .account = account };
	__u8 value = 0;

	if (!far_end(&sk->__sk_common, &contact))
		return 0;
	if (!bpf_map_lookup_elem(&contacts, &contact) &&
	    !bpf_map_update_elem(&contacts, &contact, &value, BPF_NOEXIST))
		__sync_fetch_and_add(&contacts_noted, 1);
	return 0;
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

/* When the last data arrived at a TCP socket, jiffies. */
static __always_inline __u32 received_jiffies(struct sock *sk)
{
	return bpf_core_cast(sk, struct inet_connection_sock)->icsk_ack.lrcvtime;
}

#endif
