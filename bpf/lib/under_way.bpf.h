/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Requests on their way from a client to a server on this machine: the client's send tells the server when its
 * request began.
 */
#ifndef STALLSCOPE_UNDER_WAY_BPF_H
#define STALLSCOPE_UNDER_WAY_BPF_H

#include "socket.bpf.h"

/* A request on its way from a TCP client to a server on this machine that was drawn for timing. */
struct under_way {
	__u64 since_ns;
	/* Addresses and ports as the client has them. */
	__u64 ports;
	__u64 addresses;
};

/* By the client's port: two clients with one port at two addresses cost each other a time, never a count. */
#define MOST_UNDER_WAY 4096
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MOST_UNDER_WAY);
	__type(key, __u32);
	__type(value, struct under_way);
} under_way_by_port SEC(".maps");

/* The ends of a TCP connection as its client has them; the client's is the first port. */
static __always_inline void name_ends(struct sock_common *ends, bool is_client, struct under_way *name)
{
	__u64 near, far, near_port = ends->skc_num, far_port = bpf_ntohs(ends->skc_dport);

	if (ends->skc_family == AF_INET6) {
		/* Interfaces and hosts differ in the last bytes. */
		BPF_CORE_READ_INTO(&near, ends, skc_v6_rcv_saddr.in6_u.u6_addr8[8]);
		BPF_CORE_READ_INTO(&far, ends, skc_v6_daddr.in6_u.u6_addr8[8]);
	} else {
		near = ends->skc_rcv_saddr;
		far = ends->skc_daddr;
	}
	name->ports = is_client ? near_port << 16 | far_port : far_port << 16 | near_port;
	name->addresses = is_client ? near * 31 + far : far * 31 + near;
}

/* A TCP client sends a request to a port that is served here; where it may be a further piece of one, that one
 * stays. */
static __noinline void send_off(struct sock *sk, __u64 since_ns, bool may_go_on)
{
	struct under_way name, *entry;
	__u32 key;

	name_ends(&sk->__sk_common, true, &name);
	key = (name.ports >> 16) % MOST_UNDER_WAY;
	entry = bpf_map_lookup_elem(&under_way_by_port, &key);
	if (!entry || (may_go_on && entry->since_ns && entry->ports == name.ports &&
		       entry->addresses == name.addresses))
		return;
	entry->since_ns = 0;
	entry->ports = name.ports;
	entry->addresses = name.addresses;
	barrier();
	entry->since_ns = since_ns;
}

/* When the request was sent that a server on this machine answers just now; 0 where that is not known. */
static __noinline __u64 sent_at(struct sock *sk)
{
	struct under_way name, *entry;
	__u64 since_ns;
	__u32 key = bpf_ntohs(sk->__sk_common.skc_dport) % MOST_UNDER_WAY;

	entry = bpf_map_lookup_elem(&under_way_by_port, &key);
	if (!entry || !entry->since_ns)
		return 0;
	name_ends(&sk->__sk_common, false, &name);
	if (entry->ports != name.ports || entry->addresses != name.addresses)
		return 0;
	since_ns = entry->since_ns;
	entry->since_ns = 0;
	return since_ns;
}

#endif
