// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * How many requests are there, and how long do they take?
 *
 * Of any server that talks by TCP or unix stream sockets, whatever the protocol: a request begins when
 * data arrive at a connection that owes no answer, and ends with the last send before the server reads
 * again or more data arrive. At the generator's end it lasts from the first send to the last receive
 * before the next send.
 *
 * Hooks: sock_send_length, inet_sock_set_state, sched_process_fork, sched_process_exit, always;
 * sk_data_ready and sock_recv_length while user space has them attached.
 * Counted are all requests, at sends (lib/connection.bpf.h). Timed are requests drawn at random, as many as user
 * space asks for, since the clock is the dearest part. When a request of a client on this machine arrived, its
 * send tells; the two further hooks tell when one arrives from elsewhere, when the generator receives, and
 * which reads hold several commands. On-windows of theirs end nothing that is open: a request is timed where its
 * two ends are seen.
 * Cost: `make bench` (probes) tells.
 * Kernel: 6.3 (the hooks of sockets).
 * Memory: 98 KB for the accounts, 128 KB for requests under way, some 200 bytes for each connection of target
 * and generator and some 80 for each of their processes, at most 16,384.
 * Lost: events of a connection or process for which there is no memory (`drops`). What is read by splice is not
 * timed. The time of a unix socket's last request, where its server closes it right away. One call in thousands
 * at the client's end of a unix socket, where both ends' sends are noticed out of order.
 * Not seen: that several requests came in one piece and were answered in one, which is one request here,
 * unless they are commands of Redis's protocol (lib/resp.bpf.h); and that what a client says wants no answer: it
 * lasts until the server sends something.
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

/* Roles of processes; what they fork inherits theirs. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, REQUESTS_MOST_PROCESSES);
	__type(key, __u32);
	__type(value, struct requests_role);
} role_by_tgid SEC(".maps");

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

/* Whom processes with a role send to by TCP: connections may be over before user space can look for their other end.
 * The value means nothing. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, REQUESTS_MOST_CONTACTS);
	__type(key, struct requests_contact);
	__type(value, __u8);
} contacts SEC(".maps");

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

/* Goes up when a process is given a role: whoever has another number looks anew. */
__u32 roles = 1;
/* Connections and processes for which there was no memory. */
__u64 drops;
/* Entries of `contacts` so far. */
__u64 contacts_noted;

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
		.side = side, .service = NO_ACCOUNT, .own = NO_ACCOUNT, .random = bpf_get_prandom_u32(),
		.has_input = 1
	}, *connection;

	connection = bpf_sk_storage_get(&connection_by_socket, sk, &first,
					BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!connection)
		__sync_fetch_and_add(&drops, 1);
	return connection;
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

/* The other end of a client's connection. */
static __noinline int note_contact(struct sock *sk, __u32 account)
{
	struct sock_common *ends = &sk->__sk_common;
	struct requests_contact contact = {
		.account = account, .family = ends->skc_family, .port = bpf_ntohs(ends->skc_dport)
	};
	__u8 value = 0;

	if (contact.family == AF_INET)
		__builtin_memcpy(contact.address, &ends->skc_daddr, 4);
	else if (contact.family == AF_INET6)
		BPF_CORE_READ_INTO(&contact.address, ends, skc_v6_daddr);
	else
		return 0;
	if (!bpf_map_lookup_elem(&contacts, &contact) &&
	    !bpf_map_update_elem(&contacts, &contact, &value, BPF_NOEXIST))
		__sync_fetch_and_add(&contacts_noted, 1);
	return 0;
}

/* The connection that the current process reads or writes, if it has a role in this. */
static __always_inline struct connection *meet(struct sock *sk)
{
	struct connection *connection = bpf_sk_storage_get(&connection_by_socket, sk, NULL, 0);
	__u32 tgid, in_force = roles;
	struct requests_role *role;

	if (connection && connection->roles == in_force)
		return connection;
	tgid = bpf_get_current_pid_tgid() >> 32;
	role = bpf_map_lookup_elem(&role_by_tgid, &tgid);
	if (!connection) {
		if (!role)
			return NULL;
		connection = create(sk, side_of(sk));
		if (!connection)
			return NULL;
		if (connection->side == REQUESTS_SERVER && role->side == REQUESTS_SERVER)
			note_port(sk);
		/* Its role may not be a client's yet: who has none is found by whom it sends to. */
		if (connection->side == REQUESTS_CLIENT)
			note_contact(sk, role->account);
	}
	connection->roles = in_force;
	connection->side = side_of(sk);
	/* Its process may get a role that fits this end only later. */
	if (role && role->side == connection->side)
		connection->service = role->account;
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
static __always_inline void send_off(struct sock *sk, __u64 since_ns, bool may_go_on)
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
static __always_inline __u64 sent_at(struct sock *sk)
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

/* A request is read whose arrival was not seen: it may have come before its connection was accepted. */
static __always_inline void begin_as_read(struct sock *sk, struct connection *connection)
{
	__u64 ns;

	if (connection->began_ns)
		return;
	ns = sk->__sk_common.skc_family == AF_UNIX ? 0 : sent_at(sk);
	connection->is_local |= ns > 0;
	/* The sends of a client on this machine have drawn already. */
	connection->began_ns = ns ? ns : connection->is_local ? UNTIMED : stamp(connection);
	connection->began_jiffies = jiffies_now();
}

/* Data arrive; this is not its process, as a rule. */
SEC("tp_btf/sk_data_ready")
int BPF_PROG(on_ready, struct sock *sk)
{
	struct connection *connection;

	/* Most that data arrive for are no server's. */
	if (sk->__sk_common.skc_family == AF_UNIX || !sk->sk_max_ack_backlog)
		return 0;
	connection = bpf_sk_storage_get(&connection_by_socket, sk, NULL, 0);
	if (!connection || connection->side != REQUESTS_SERVER || connection->is_local)
		return 0;
	reconcile(connection);
	if (!connection->began_ns)
		connection->began_ns = stamp(connection);
	else if (connection->asked && !connection->next_ns)
		connection->next_ns = stamp(connection);
	return 0;
}

SEC("tp_btf/sock_recv_length")
int BPF_PROG(on_receive, struct sock *sk, int ret, int flags)
{
	struct connection *connection;

	if (flags & (MSG_PEEK | MSG_ERRQUEUE))
		return 0;
	connection = meet(sk);
	if (!connection)
		return 0;
	if (connection->side == REQUESTS_CLIENT) {
		if (ret > 0 && connection->began_ns)
			answer(connection, ret);
	} else if (connection->side == REQUESTS_SERVER) {
		reconcile(connection);
		if (ret <= 0)
			return 0;
		if (connection->asked) {
			/* It belonged to the request after all. */
			connection->next_ns = 0;
			return 0;
		}
		connection->asked = 1;
		look_at(connection, ret, flags);
		begin_as_read(sk, connection);
	}
	return 0;
}

/* The other end of a unix socket. Whoever sends holds a reference to it. */
static __always_inline struct connection *other_end(struct sock *sk)
{
	struct unix_sock *own = bpf_skc_to_unix_sock(sk);
	struct sock *other = own ? own->peer : NULL;

	return other ? bpf_sk_storage_get(&connection_by_socket, other, NULL, 0) : NULL;
}

/* A request arrives at a server's connection, by the send of a client on this machine. */
static __always_inline void arrive(struct connection *connection)
{
	reconcile(connection);
	connection->is_local = 1;
	if (!connection->began_ns) {
		connection->began_ns = stamp(connection);
		connection->began_jiffies = jiffies_now();
	}
}

/* What a send to a unix socket means to the other end; `own` may be nobody's. The hook is behind the send: the
 * other end may have answered by then, and its send been noticed first. */
static __always_inline void reach_other_end(struct sock *sk, struct connection *own)
{
	struct connection *other = other_end(sk);
	bool has_more = sk->sk_receive_queue.qlen > 0;

	if (other && other->side == REQUESTS_SERVER) {
		arrive(other);
		if (has_more && other->spoke_first) {
			other->spoke_first = 0;
			other->began_ns = UNTIMED;
			count_request(other);
		} else {
			other->has_input = 1;
		}
	} else if (other) {
		other->has_input = 1;
		other->ended_jiffies = jiffies_now();
	}
	if (own && has_more)
		own->has_input = 1;
}

/* Whether anything was read since the last send: then this one begins something. */
static __always_inline bool has_read(struct sock *sk, struct connection *connection)
{
	struct tcp_sock *tcp;
	__u32 before;

	if (sk->__sk_common.skc_family == AF_UNIX) {
		before = connection->has_input;
		connection->has_input = 0;
		connection->unread = sk->sk_receive_queue.qlen > 0;
		return before;
	}
	tcp = bpf_core_cast(sk, struct tcp_sock);
	before = connection->copied_seq;
	connection->copied_seq = tcp->copied_seq;
	if (before == connection->copied_seq)
		return false;
	connection->unread = tcp->rcv_nxt != connection->copied_seq;
	return true;
}

/* When the last data arrived at a TCP socket, jiffies. */
static __always_inline __u32 received_jiffies(struct sock *sk)
{
	return bpf_core_cast(sk, struct inet_connection_sock)->icsk_ack.lrcvtime;
}

/* A request counts once its answer was read, which the next send shows, or the connection's end. */
static __always_inline void count_answered(struct sock *sk, struct connection *connection)
{
	struct requests_account *account;
	__u64 ticks;

	if (!connection->is_open)
		return;
	connection->is_open = 0;
	count_request(connection);
	if (sk->__sk_common.skc_family != AF_UNIX)
		connection->ended_jiffies = received_jiffies(sk);
	ticks = ticks_ns(connection);
	if (ticks < REQUESTS_LONG_NS)
		return;
	account = account_of(connection);
	if (account)
		add_long(account, ticks, connection->answers ? exact_ns(connection) : 0);
}

static __always_inline void send_request(struct sock *sk, struct connection *connection)
{
	bool begins = has_read(sk, connection);

	/* The first is one, whatever was read: a server may speak first, or not. */
	if (!begins && (connection->is_open || connection->requests))
		return;
	if (begins)
		count_answered(sk, connection);
	reconcile(connection);
	connection->is_open = 1;
	connection->answers = 0;
	connection->began_ns = stamp(connection);
	connection->began_jiffies = jiffies_now();
	if (connection->began_ns > UNTIMED && sk->__sk_common.skc_family != AF_UNIX &&
	    is_served(bpf_ntohs(sk->__sk_common.skc_dport)))
		send_off(sk, connection->began_ns, false);
}

static __always_inline void send_reply(struct sock *sk, struct connection *connection, int bytes)
{
	struct requests_account *account;
	__u8 unread;
	__u64 ns;

	if (has_read(sk, connection)) {
		unread = connection->unread;
		reconcile(connection);
		connection->unread = unread;
		if (sk->__sk_common.skc_family != AF_UNIX) {
			connection->began_jiffies = received_jiffies(sk);
			ns = sent_at(sk);
			if (ns) {
				connection->is_local = 1;
				if (!connection->began_ns)
					connection->began_ns = ns;
			}
		}
		if (!connection->began_ns)
			connection->began_ns = UNTIMED;
		connection->spoke_first = 0;
		count_request(connection);
		if (connection->requests % REQUESTS_TO_OWN == 0 &&
		    (connection->own == NO_ACCOUNT || !is_own(connection, connection->own)))
			take_account(sk);
	} else {
		connection->spoke_first = 1;
	}
	if (!connection->began_ns) {
		/* Nobody asked for it. */
		account = account_of(connection);
		if (account)
			__sync_fetch_and_add(&account->unsolicited, 1);
		return;
	}
	answer(connection, bytes);
}

SEC("tp_btf/sock_send_length")
int BPF_PROG(on_send, struct sock *sk, int ret, int flags)
{
	__u16 family = sk->__sk_common.skc_family;
	struct connection *connection;

	if (ret <= 0 || sk->sk_type != SOCK_STREAM)
		return 0;
	connection = meet(sk);
	if (connection && connection->side == REQUESTS_CLIENT)
		send_request(sk, connection);
	else if (connection && connection->side == REQUESTS_SERVER)
		send_reply(sk, connection, ret);
	else if ((family == AF_INET || family == AF_INET6) && !sk->sk_max_ack_backlog &&
		 is_served(bpf_ntohs(sk->__sk_common.skc_dport)) && is_drawn(bpf_get_prandom_u32()))
		/* Some other client of the target's. */
		send_off(sk, bpf_ktime_get_ns(), true);
	if (family == AF_UNIX)
		reach_other_end(sk, connection);
	return 0;
}

/* A connection ends, and with it its last request; or one is about to be accepted. */
SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(on_state, struct sock *sk, int from, int to)
{
	struct connection *connection;

	if (from == TCP_SYN_RECV && to == TCP_ESTABLISHED) {
		if (!is_served(sk->__sk_common.skc_num))
			return 0;
		connection = create(sk, REQUESTS_SERVER);
		if (connection)
			connection->copied_seq = bpf_core_cast(sk, struct tcp_sock)->copied_seq;
		return 0;
	}
	connection = bpf_sk_storage_get(&connection_by_socket, sk, NULL, 0);
	if (!connection)
		return 0;
	if (connection->side == REQUESTS_CLIENT && has_read(sk, connection))
		count_answered(sk, connection);
	reconcile(connection);
	return 0;
}

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
		return connection->is_open && !connection->has_input ? connection->began_jiffies : 0;
	tcp = bpf_core_cast(sk, struct tcp_sock);
	is_waiting = tcp->rcv_nxt != connection->copied_seq;
	received = received_jiffies(sk);
	/* Else the compiler reads it and the connection's value by one instruction, which the verifier refuses. */
	barrier_var(received);
	if (connection->side == REQUESTS_CLIENT)
		return connection->is_open && !is_waiting ? connection->began_jiffies : 0;
	return is_waiting && sk->__sk_common.skc_state == TCP_ESTABLISHED ? received : 0;
}

/* Whether a request is under way on a connection, and how old it is. */
static __always_inline void look_for_open(struct sock *sk)
{
	struct connection *connection = bpf_sk_storage_get(&connection_by_socket, sk, NULL, 0);
	struct requests_open *open;
	__u32 since, place;
	__s32 ticks;
	__u64 age;

	if (!connection || connection->side == REQUESTS_NEITHER || connection->walk == walk_number)
		return;
	/* Several processes may hold it. */
	connection->walk = walk_number;
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
	struct file *file = walk->file;
	struct socket *socket;
	struct sock *sk;

	if (!file)
		return 0;
	socket = bpf_sock_from_file(file);
	sk = socket ? socket->sk : NULL;
	if (sk)
		look_for_open(sk);
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	__u32 from = parent->tgid, to = child->tgid;
	struct requests_role *role;

	if (from == to)
		return 0;
	role = bpf_map_lookup_elem(&role_by_tgid, &from);
	if (role && bpf_map_update_elem(&role_by_tgid, &to, role, BPF_ANY))
		__sync_fetch_and_add(&drops, 1);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task)
{
	__u32 tgid = task->tgid;

	if (task->pid == task->tgid)
		bpf_map_delete_elem(&role_by_tgid, &tgid);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
