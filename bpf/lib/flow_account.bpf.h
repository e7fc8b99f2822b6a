/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Accounts of flows: whose each is, and where there is room for one more.
 */
#ifndef STALLSCOPE_FLOW_ACCOUNT_BPF_H
#define STALLSCOPE_FLOW_ACCOUNT_BPF_H

#include "address.bpf.h"
#include "../flow.h"

/* SOCK_BINDPORT_LOCK in include/net/sock.h */
#define BOUND_TO_PORT 8
/* The largest sun_path, as the kernel may fill it. */
#define PATH_BYTES 108
/* FNV-1a */
#define HASH_BASIS 0xcbf29ce484222325ULL
#define HASH_PRIME 0x100000001b3ULL

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, FLOW_MOST_ACCOUNTS + 1);
	__type(key, __u32);
	__type(value, struct flow_account);
} account_by_place SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, FLOW_MOST_ACCOUNTS + 1);
	__type(key, __u32);
	__type(value, struct flow_name);
} name_by_place SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FLOW_MOST_ACCOUNTS + 1);
	__type(key, struct flow_key);
	__type(value, __u32);
} place_by_key SEC(".maps");

/* Places that user space has taken back. */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, FLOW_MOST_FLOWS);
	__type(value, __u32);
} free_places SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, FLOW_MOST_REST);
	__type(value, __u32);
} free_rest_places SEC(".maps");

/* User space's number of its next reading. */
__u32 epoch = 1;
/* Connections and sockets that found no account, or for which there was no memory. */
__u64 unplaced;
/* Places that were ever in use. */
__u32 places;
__u32 rest_places;
/* The reading before which an account was changed last, by place. */
__u32 changed_in[FLOW_PLACE_MASK + 1];

/* Who a flow is about. */
struct flow_identity {
	struct flow_key key;
	struct flow_name name;
};

static __always_inline struct flow_account *account_at(__u32 place)
{
	changed_in[place & FLOW_PLACE_MASK] = epoch;
	return place ? bpf_map_lookup_elem(&account_by_place, &place) : NULL;
}

/* A place that nobody has; 0 where there is none. */
static __always_inline __u32 free_place(bool is_rest)
{
	__u32 place, used;

	if (is_rest) {
		if (!bpf_map_pop_elem(&free_rest_places, &place))
			return place;
		if (rest_places >= FLOW_MOST_REST)
			return 0;
		used = __sync_fetch_and_add(&rest_places, 1);
		return used < FLOW_MOST_REST ? 1 + FLOW_MOST_FLOWS + used : 0;
	}
	if (!bpf_map_pop_elem(&free_places, &place))
		return place;
	if (places >= FLOW_MOST_FLOWS)
		return 0;
	used = __sync_fetch_and_add(&places, 1);
	return used < FLOW_MOST_FLOWS ? 1 + used : 0;
}

/* The account of a key, made if there is none; 0 where there is no room. A function that is not static is verified
 * once, by itself. */
__noinline int place_for(const struct flow_identity *who)
{
	struct flow_account *account;
	struct flow_name *name;
	__u32 place, *known;

	if (!who)
		return 0;
	known = bpf_map_lookup_elem(&place_by_key, &who->key);
	if (known)
		return *known;
	place = free_place(who->key.is_rest);
	account = place ? bpf_map_lookup_elem(&account_by_place, &place) : NULL;
	name = place ? bpf_map_lookup_elem(&name_by_place, &place) : NULL;
	if (!account || !name)
		return 0;
	if (bpf_map_update_elem(&place_by_key, &who->key, &place, BPF_NOEXIST)) {
		/* Another CPU was faster. */
		if (who->key.is_rest)
			bpf_map_push_elem(&free_rest_places, &place, 0);
		else
			bpf_map_push_elem(&free_places, &place, 0);
		known = bpf_map_lookup_elem(&place_by_key, &who->key);
		return known ? *known : 0;
	}
	*name = who->name;
	account->key.started_ns = who->key.started_ns;
	account->key.tgid = who->key.tgid;
	account->key.net = who->key.net;
	__builtin_memcpy(account->key.peer, who->key.peer, sizeof(account->key.peer));
	account->key.port = who->key.port;
	account->key.family = who->key.family;
	account->key.side = who->key.side;
	account->key.is_rest = who->key.is_rest;
	barrier();
	account->key.protocol = who->key.protocol;
	return place;
}

/* The same; where there is no room, the account of all peers without one. */
static __always_inline __u32 place_of(struct flow_identity *who)
{
	__u32 place = place_for(who);

	if (place)
		return place;
	__builtin_memset(who->key.peer, 0, sizeof(who->key.peer));
	who->key.family = 0;
	who->key.is_rest = 1;
	place = place_for(who);
	if (!place)
		__sync_fetch_and_add(&unplaced, 1);
	return place;
}

static __always_inline void name_process(struct flow_identity *who, struct task_struct *task)
{
	struct task_struct *leader = task->group_leader;

	who->key.tgid = task->tgid;
	who->key.started_ns = leader->start_boottime;
	bpf_probe_read_kernel(who->name.comm, sizeof(who->name.comm), leader->comm);
}

/* A unix socket is told by its path: its own where it serves, else the other end's. One without any is half of a
 * pair. */
static __always_inline void name_unix(struct flow_identity *who, struct sock *sk)
{
	struct unix_sock *own = (void *)sk, *peer = (void *)BPF_CORE_READ(own, peer);
	struct unix_address *address = BPF_CORE_READ(own, addr);
	__u64 hash = HASH_BASIS;
	__u32 length, at;

	who->key.protocol = FLOW_UNIX;
	who->key.side = FLOW_SERVER;
	if (!address) {
		address = peer ? BPF_CORE_READ(peer, addr) : NULL;
		who->key.side = address ? FLOW_CLIENT : FLOW_NEITHER;
	}
	if (!address)
		return;
	/* Behind two bytes of the family. */
	length = BPF_CORE_READ(address, len) - 2;
	if (length > PATH_BYTES)
		length = PATH_BYTES;
	if (!length || bpf_probe_read_kernel(who->name.path, length, address->name[0].sun_path))
		return;
	for (at = 0; at < PATH_BYTES; at++)
		hash = (hash ^ (__u8)who->name.path[at]) * HASH_PRIME;
	__builtin_memcpy(who->key.peer, &hash, sizeof(hash));
}

static __always_inline void name_ends(struct flow_identity *who, struct sock *sk, __u8 side)
{
	struct sock_common *ends = &sk->__sk_common;
	__u16 family = ends->skc_family;

	who->key.side = side;
	who->key.port = side == FLOW_CLIENT ? bpf_ntohs(ends->skc_dport) : ends->skc_num;
	if (!ends->skc_dport || !far_address(ends, who->key.peer))
		return;
	unmap(&family, who->key.peer);
	who->key.family = family;
}

/* Of datagrams: whoever is connected asks; whoever took a port of its choice is asked, by anybody. */
static __always_inline void name_datagrams(struct flow_identity *who, struct sock *sk)
{
	bool is_connected = sk->__sk_common.skc_dport;
	bool is_bound = BPF_CORE_READ_BITFIELD(sk, sk_userlocks) & BOUND_TO_PORT;

	who->key.protocol = FLOW_UDP;
	name_ends(who, sk, is_connected || !is_bound ? FLOW_CLIENT : FLOW_SERVER);
}

#endif
