// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * How many requests are there, and how long do they take?
 *
 * Of any server that talks by TCP or unix stream sockets, whatever the protocol: a request begins when
 * data arrive at a connection that owes no answer, and ends with the last send before the server reads
 * again or more data arrive. At the generator's end it lasts from the first send to the last receive
 * before the next send; so do the calls of target and dependencies to their peers, and what they ask name servers by
 * UDP.
 *
 * Hooks: sock_send_length, inet_sock_set_state, sched_process_fork, sched_process_exit, always;
 * sk_data_ready and sock_recv_length while user space has them attached.
 * Counted are all requests, at sends (lib/connection.bpf.h). Timed are requests drawn at random, as many as user
 * space asks for, since the clock is the dearest part. When a request of a client on this machine arrived, its
 * send tells; the two further hooks tell when one arrives from elsewhere, when a client receives, and how long that lay there, which reads hold
 * several commands, and which thread reads a request (lib/serving.bpf.h). On-windows of theirs end nothing that is open: a request is timed where its
 * two ends are seen. Until the kernel has detached them, a grace period later, `reads_seen` is 0 and they do nothing.
 * Cost: `make bench` (probes) tells.
 * Kernel: 6.3 (the hooks of sockets).
 * Memory: 195 KB for the accounts, 128 KB for requests under way, some 200 bytes for each connection of target
 * and generator and some 80 for each of their processes, at most 16,384.
 * Lost: events of a connection or process for which there is no memory (`drops`). What is read by splice is not
 * timed. The time of a unix socket's last request, where its server closes it right away; and its last call, where
 * its client closes it without another send, unless that is its first. Of lookups by UDP those whose answer came in an off-window are not timed,
 * however long they were.
 * Not seen: that several requests came in one piece and were answered in one, which is one request here,
 * unless they are commands of Redis's protocol (lib/resp.bpf.h); and that what a client says wants no answer: it
 * lasts until the server sends something.
 */
#include "lib/kernel.bpf.h"
#include <bpf/bpf_tracing.h>
#include "lib/connection.bpf.h"
#include "lib/open_requests.bpf.h"
#include "lib/peers.bpf.h"
#include "lib/serving.bpf.h"
#include "lib/socket.bpf.h"
#include "lib/under_way.bpf.h"
#include "requests.h"

/* include/linux/socket.h */
#define MSG_PEEK 0x2
#define MSG_ERRQUEUE 0x2000

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

/* Goes up when a process is given a role: whoever has another number looks anew. */
__u32 roles = 1;
/* Connections and processes for which there was no memory. */
__u64 drops;

static __always_inline struct connection *create(struct sock *sk, __u32 side)
{
	struct connection first = {
		.side = side, .service = NO_ACCOUNT, .own = NO_ACCOUNT, .random = bpf_get_prandom_u32(),
		.input = INPUT_GIVEN
	}, *connection;

	connection = bpf_sk_storage_get(&connection_by_socket, sk, &first,
					BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!connection)
		__sync_fetch_and_add(&drops, 1);
	return connection;
}

/* Looks which role a connection has by that of the current process. */
static __noinline int look_for_role(struct sock *sk)
{
	struct connection *connection = bpf_sk_storage_get(&connection_by_socket, sk, NULL, 0);
	__u32 tgid = bpf_get_current_pid_tgid() >> 32, in_force = roles;
	struct requests_role *role = bpf_map_lookup_elem(&role_by_tgid, &tgid);

	if (!connection) {
		if (!role)
			return 0;
		connection = create(sk, side_of(sk));
		if (!connection)
			return 0;
		if (connection->side == REQUESTS_SERVER && role->side == REQUESTS_SERVER)
			note_port(sk);
		/* Its role may not be a client's yet: who has none is found by whom it sends to. */
		if (connection->side == REQUESTS_CLIENT)
			note_contact(sk, role->account);
	}
	connection->roles = in_force;
	connection->side = side_of(sk);
	/* Its process may get a role that fits this end only later. */
	if (role && role->side == REQUESTS_SERVER && connection->side == REQUESTS_CLIENT)
		connection->service = account_of_peer(sk, role->account);
	else if (role && role->side == connection->side && sk->sk_type == SOCK_STREAM)
		connection->service = role->account;
	else
		connection->side = REQUESTS_NEITHER;
	return 0;
}

/* The connection that the current process reads or writes, if it has a role in this. */
static __always_inline struct connection *meet(struct sock *sk)
{
	struct connection *connection = bpf_sk_storage_get(&connection_by_socket, sk, NULL, 0);

	if (likely(connection && connection->roles == roles))
		return connection;
	look_for_role(sk);
	return bpf_sk_storage_get(&connection_by_socket, sk, NULL, 0);
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

	if (!reads_seen || sk->__sk_common.skc_family == AF_UNIX)
		return 0;
	connection = bpf_sk_storage_get(&connection_by_socket, sk, NULL, 0);
	if (!connection)
		return 0;
	if (connection->side == REQUESTS_CLIENT) {
		if (connection->began_ns > UNTIMED)
			connection->came = bpf_ktime_get_ns();
		return 0;
	}
	if (connection->side != REQUESTS_SERVER || connection->is_local)
		return 0;
	reconcile(connection);
	if (!connection->began_ns)
		connection->began_ns = stamp(connection);
	else if (connection->asked && !connection->next_ns)
		connection->next_ns = stamp(connection);
	return 0;
}

/* An answer of a name server is read. */
static __always_inline void receive_answer(struct connection *connection)
{
	struct requests_account *account;
	__u64 ns;

	if (!connection->unanswered || --connection->unanswered || connection->began_ns <= UNTIMED)
		return;
	ns = bpf_ktime_get_ns() - connection->began_ns;
	connection->began_ns = 0;
	account = account_of(connection);
	if (account && ns < REQUESTS_LONG_NS)
		add_short(account, ns);
	else if (account)
		add_long(account, ns, ns);
}

SEC("tp_btf/sock_recv_length")
int BPF_PROG(on_receive, struct sock *sk, int ret, int flags)
{
	struct connection *connection;

	if (!reads_seen || flags & (MSG_PEEK | MSG_ERRQUEUE))
		return 0;
	connection = meet(sk);
	if (!connection)
		return 0;
	if (connection->side == REQUESTS_CLIENT && sk->sk_type == SOCK_DGRAM) {
		if (ret > 0)
			receive_answer(connection);
	} else if (connection->side == REQUESTS_CLIENT) {
		if (ret > 0 && connection->began_ns && connection->call != CALL_COUNTED)
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
		serving_on_request(sk);
	}
	return 0;
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

/* Whether anything was read since the last send: then this one begins something. */
static __always_inline bool has_read(struct sock *sk, struct connection *connection)
{
	struct tcp_sock *tcp;
	__u32 before;

	if (sk->__sk_common.skc_family == AF_UNIX) {
		connection->unread = sk->sk_receive_queue.qlen > 0;
		return take_input(connection);
	}
	tcp = bpf_core_cast(sk, struct tcp_sock);
	before = connection->copied_seq;
	connection->copied_seq = tcp->copied_seq;
	if (before == connection->copied_seq)
		return false;
	/* What came in a later tick than the reply left was asked after it: its sender may be held up in between. */
	connection->unread = tcp->rcv_nxt != connection->copied_seq &&
			     (__s32)(received_jiffies(sk) - tcp->lsndtime) <= 0;
	return true;
}

/* Whether the open call is this CPU's to count: both ends of a unix socket may send at once. */
static __always_inline bool take_call(struct connection *connection, __u32 to)
{
	return __sync_val_compare_and_swap(&connection->call, CALL_OPEN, to) == CALL_OPEN;
}

/* A request counts once its answer was read, which the next send shows, or the connection's end. */
static __always_inline void count_answered(struct sock *sk, struct connection *connection)
{
	struct requests_account *account;
	__u64 ticks;

	if (!take_call(connection, CALL_NONE)) {
		connection->call = CALL_NONE;
		return;
	}
	account = count_request(connection);
	if (sk->__sk_common.skc_family != AF_UNIX)
		connection->ended_jiffies = received_jiffies(sk);
	ticks = ticks_ns(connection);
	if (unlikely(ticks >= REQUESTS_LONG_NS) && account)
		add_long(account, ticks, connection->answers ? exact_ns(connection) : 0);
}

static __noinline void add_between(struct connection *connection, __u64 ns)
{
	struct requests_account *account = account_of(connection);

	if (account)
		__sync_fetch_and_add(&account->between_ns, ns);
}

/* A client's next request leaves behind a reply. */
static __always_inline void count_between(struct connection *connection)
{
	__s32 ticks = jiffies_now() - connection->ended_jiffies;

	if (unlikely(ticks > 0) && connection->ended_jiffies)
		add_between(connection, ticks * ns_per_jiffy);
}

static __always_inline void begin_call(struct connection *connection, __u64 ns)
{
	reconcile(connection);
	connection->call = CALL_OPEN;
	connection->answers = 0;
	connection->began_ns = ns;
	connection->began_jiffies = jiffies_now();
}

static __always_inline void send_request(struct sock *sk, struct connection *connection)
{
	bool begins = has_read(sk, connection);

	/* The first is one, whatever was read: a server may speak first, or not. */
	if (!begins && (connection->call || connection->requests))
		return;
	if (begins) {
		bool is_next = connection->call;

		count_answered(sk, connection);
		if (is_next)
			count_between(connection);
	}
	begin_call(connection, stamp(connection));
	if (unlikely(connection->began_ns > UNTIMED) && sk->__sk_common.skc_family != AF_UNIX &&
	    is_served(bpf_ntohs(sk->__sk_common.skc_dport)))
		send_off(sk, connection->began_ns, false);
}

/* A question leaves for a name server. Those for both kinds of address leave at once and are one lookup, as their
 * caller waits for both. No hook that is always there tells when an answer is read: what follows later is another. */
static __always_inline void send_question(struct connection *connection)
{
	__u32 now = jiffies_now();

	if (connection->unanswered == 1 && now - connection->began_jiffies <= 1) {
		connection->unanswered = 2;
		return;
	}
	count_request(connection);
	connection->unanswered = 1;
	connection->began_ns = stamp(connection);
	connection->began_jiffies = now;
}

static __always_inline void send_reply(struct sock *sk, struct connection *connection, int bytes)
{
	struct requests_account *account;
	__u8 unread;
	__u64 ns;

	if (has_read(sk, connection)) {
		serving_on_reply(sk);
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
		count_request(connection);
		count_answer();
		if (unlikely(connection->requests % REQUESTS_TO_OWN == 0) &&
		    (connection->own == NO_ACCOUNT || !is_own(connection, connection->own)))
			take_account(sk);
	}
	if (unlikely(!connection->began_ns)) {
		/* Nobody asked for it. */
		account = account_of(connection);
		if (account)
			__sync_fetch_and_add(&account->unsolicited, 1);
		return;
	}
	answer(connection, bytes);
}

/*
 * The answer to a client of a unix socket comes. The first request of a connection counts as this begins: no hook tells
 * when its client closes it, and clients of application servers ask once by each connection. What comes later makes it
 * longer, in the bucket that it is in.
 */
static __noinline void count_first(struct connection *connection)
{
	bool is_timed = connection->began_ns > UNTIMED;
	struct requests_account *account;
	__u64 ns = 0, ticks, before;

	if (connection->call == CALL_NONE || (connection->call == CALL_OPEN && connection->requests))
		return;
	before = connection->answered_ns;
	if (is_timed) {
		connection->answered_ns = bpf_ktime_get_ns();
		ns = exact_ns(connection);
	}
	account = account_of(connection);
	if (connection->call == CALL_COUNTED) {
		if (account && ns)
			__sync_fetch_and_add(&account->ns, connection->answered_ns - before);
		return;
	}
	if (!take_call(connection, CALL_COUNTED))
		return;
	/* The client went on meanwhile, and counted it: what is open is what it sent then. */
	if (*(volatile __u32 *)&connection->requests) {
		connection->call = CALL_OPEN;
		return;
	}
	count_request(connection);
	ticks = ticks_ns(connection);
	if (!account)
		return;
	if (ticks >= REQUESTS_LONG_NS || ns >= REQUESTS_LONG_NS) {
		add_long(account, ticks, ns);
		/* All of what is longer is told by its ticks alone. */
		connection->began_ns = 0;
	} else if (ns) {
		add_short(account, ns);
	}
}

/*
 * What a send to a unix socket means to the other end, to which the sender holds a reference. The hook is behind the
 * send: by then the other end may have read it and sent something in turn, which was noticed first. What that was waits
 * in our queue, and nothing of ours in its own. Whether anything waits there: then our own end has been given input.
 */
static __always_inline bool reach_other_end(struct sock *sk)
{
	struct unix_sock *unix_sock = bpf_skc_to_unix_sock(sk);
	struct sock *peer = unix_sock ? unix_sock->peer : NULL;
	struct connection *other =
		peer ? bpf_sk_storage_get(&connection_by_socket, peer, NULL, 0) : NULL;
	bool has_more = sk->sk_receive_queue.qlen > 0;

	if (other && other->side == REQUESTS_SERVER) {
		arrive(other);
		if (unlikely(give_input(other, has_more))) {
			other->began_ns = UNTIMED;
			count_request(other);
		}
	} else if (other) {
		other->ended_jiffies = jiffies_now();
		if (unlikely(give_input(other, has_more && !peer->sk_receive_queue.qlen))) {
			count_answered(peer, other);
			begin_call(other, UNTIMED);
		} else if (unlikely(other->requests <= 1)) {
			count_first(other);
		}
	}
	return has_more;
}

/* An end without a role sends, perhaps of some other client of the target's. */
static __noinline int send_of_others(struct sock *sk)
{
	__u16 family = sk->__sk_common.skc_family;
	struct connection *connection;

	if ((family == AF_INET || family == AF_INET6) && !sk->sk_max_ack_backlog &&
	    is_served(bpf_ntohs(sk->__sk_common.skc_dport)) && is_drawn(bpf_get_prandom_u32()))
		send_off(sk, bpf_ktime_get_ns(), true);
	if (family != AF_UNIX || !reach_other_end(sk))
		return 0;
	connection = bpf_sk_storage_get(&connection_by_socket, sk, NULL, 0);
	if (connection)
		connection->input = INPUT_GIVEN;
	return 0;
}

static __noinline int send_datagram(struct sock *sk)
{
	struct connection *connection = asks_for_names(sk) ? meet(sk) : NULL;

	if (connection && connection->side == REQUESTS_CLIENT)
		send_question(connection);
	return 0;
}

SEC("tp_btf/sock_send_length")
int BPF_PROG(on_send, struct sock *sk, int ret, int flags)
{
	struct connection *connection;

	if (ret <= 0)
		return 0;
	if (unlikely(sk->sk_type != SOCK_STREAM))
		return send_datagram(sk);
	connection = meet(sk);
	if (unlikely(!connection || connection->side == REQUESTS_NEITHER))
		return send_of_others(sk);
	if (connection->side == REQUESTS_CLIENT)
		send_request(sk, connection);
	else
		send_reply(sk, connection, ret);
	if (sk->__sk_common.skc_family == AF_UNIX && reach_other_end(sk))
		connection->input = INPUT_GIVEN;
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
	/* Its own close, and not that the client sends no more: it may wait for its answer still. */
	if (connection->side == REQUESTS_SERVER && to != TCP_CLOSE_WAIT)
		serving_on_close(sk);
	note_round_trip(sk, connection);
	reconcile(connection);
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
