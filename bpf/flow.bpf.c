// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Who talks to whom, how much, and how well do their connections do?
 *
 * A flow is what one process exchanges with one peer at one port of the service, by all its connections: thousands of
 * connections from ports that the kernel chose are one flow. There are flows of TCP, UDP and unix sockets, of all
 * processes, in all network namespaces.
 *
 * Hooks: inet_sock_set_state (TCP connections that open and end), sock_send_length and sock_recv_length (UDP and unix
 * sockets; TCP leaves them at once), the latter two while user space has them attached: their hooks are the most frequent
 * of all on a busy server, and each one costs every send and receive of the machine. What TCP connections transfer no
 * event tells: the kernel counts it in each socket, and a walk over the sockets that are known here adds up what is new,
 * whenever user space runs it; at a connection's end its last counts are added, so that short ones are complete.
 * Cost: `make bench` (probes) tells.
 * Kernel: 6.3 (the hooks of sockets).
 * Memory: 0.9 MB for the accounts and names, and some 130 bytes for each socket.
 * Lost: sockets for which there is no memory or no account (`unplaced`). Where there is no room for one more peer, its
 * connections count in an account of all further peers of the process and port.
 * Not seen: TCP connections from before that are in no process's table of files; who accepts a connection that ends
 * before anybody has read, written or closed it (process 0 has it); to whom datagrams go that are sent without connect;
 * what splice takes out of a unix socket; the end of unix and UDP sockets, other than by the walk. In off-windows: all of
 * unix and UDP sockets; and whose a TCP connection is that arrived, until its process closes it or the next on-window.
 */
#include "lib/kernel.bpf.h"
#include <bpf/bpf_tracing.h>
#include "lib/connection_state.bpf.h"
#include "lib/flow_account.bpf.h"
#include "flow.h"

/* include/net/tcp_states.h */
#define TCP_SYN_SENT 2
#define TCP_FIN_WAIT1 4
#define TCP_CLOSE 7
#define TCP_LAST_ACK 9
/* include/uapi/linux/in.h */
#define IPPROTO_TCP 6
#define IPPROTO_UDP 17
/* enum sock_flags in include/net/sock.h: the other end has said that no more will come. */
#define SOCK_DONE 1
/* include/linux/socket.h */
#define MSG_PEEK 0x2
#define MSG_ERRQUEUE 0x2000
/* include/uapi/asm-generic/errno.h, the same on all architectures that this runs on. */
#define EPIPE 32
#define ECONNRESET 104
#define ETIMEDOUT 110
#define ECONNREFUSED 111
/* RFC 1035 */
#define NAMES_PORT 53

/* A socket whose traffic counts in a flow. */
struct flow_socket {
	/* When its connection was established; 0 for one from before. */
	__u64 born_ns;
	/* When its connection was begun; of DNS when a query was sent that has no reply yet, and in which on-window. */
	__u64 began_ns;
	__u32 began_in;
	/* What of the kernel's counts is in the account. */
	__u64 sent;
	__u64 received;
	__u32 sends;
	__u32 receives;
	__u32 retransmitted;
	__u32 requests;
	/* The account's; 0 for none. */
	__u32 place;
	/* Of UDP: whom it was connected to when it was given its account. */
	__u32 peer;
	__u16 peer_port;
	__u8 protocol;
	__u8 side;
	/* Whether its process is known, and with it its account if there was room; 32 bits for an atomic exchange. */
	__u32 is_owned;
	/* The last walk over open files that came to it. */
	__u32 walked;
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct flow_socket);
} flow_by_socket SEC(".maps");

/* Connections that arrived and of which no process has shown itself: while there are any, sends and receives of TCP are
 * looked at. */
__s32 unowned;
/* The number of the walk; user space raises it before each. */
__u32 walk_number;

/* The on-window in which calls are counted; 0 for an off-window. Set by user space. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} on_window SEC(".maps");

static __always_inline void add(__u64 *sum, __u64 more)
{
	__sync_fetch_and_add(sum, more);
}

/* Adds to an account what a count of the kernel's has grown by. The walk and a connection's end may come at a time, on
 * two CPUs: a growth is whose exchange succeeds. */
static __always_inline bool grow(__u64 *counted, __u64 now, __u64 *sum)
{
	__u64 before = *counted, found;

	if (now <= before)
		return false;
	found = __sync_val_compare_and_swap(counted, before, now);
	if (found != before) {
		if (now <= found || __sync_val_compare_and_swap(counted, found, now) != found)
			return false;
		before = found;
	}
	add(sum, now - before);
	return true;
}

/* The same of a count that wraps. */
static __always_inline void grow_short(__u32 *counted, __u32 now, __u64 *sum)
{
	__u32 before = *counted, found;

	if ((__s32)(now - before) <= 0)
		return;
	found = __sync_val_compare_and_swap(counted, before, now);
	if (found != before) {
		if ((__s32)(now - found) <= 0 ||
		    __sync_val_compare_and_swap(counted, found, now) != found)
			return;
		before = found;
	}
	add(sum, now - before);
}

/* How much of its stream a TCP socket has sent: what is acknowledged, and what is under way. Not bytes_sent less
 * bytes_retrans of tcp_info: what this machine's own queue drops is sent again, and counts in the first alone. Nothing
 * (0) where an acknowledgement comes between the readings of a walk. */
static __always_inline __u64 sent_bytes(struct sock *sk, struct tcp_sock *tcp, __u8 side)
{
	__u32 from = *(volatile __u32 *)&tcp->snd_una, next;
	__u64 acknowledged = *(volatile __u64 *)&tcp->bytes_acked, sent;
	__u8 state = sk->__sk_common.skc_state;

	next = *(volatile __u32 *)&tcp->snd_nxt;
	if (*(volatile __u32 *)&tcp->snd_una != from)
		return 0;
	sent = acknowledged + (__u32)(next - from);
	/* The first byte of whoever connects is the connection itself, and its end is the last. */
	if (sent && side == FLOW_CLIENT)
		sent--;
	if (sent && state != TCP_ESTABLISHED && state != TCP_CLOSE_WAIT && next == tcp->write_seq)
		sent--;
	return state == TCP_SYN_SENT ? 0 : sent;
}

static __always_inline __u64 received_bytes(struct sock *sk, struct tcp_sock *tcp)
{
	__u64 all = *(volatile __u64 *)&tcp->bytes_received;

	barrier();
	return all - (sk->__sk_common.skc_flags >> SOCK_DONE & 1);
}

static __always_inline void add_round_trip(struct tcp_sock *tcp, struct flow_account *account)
{
	__u64 srtt_us = tcp->srtt_us;

	if (!srtt_us)
		return;
	add(&account->rtt_ns, srtt_us * 1000 / 8);
	add(&account->rtts, 1);
}

/* Counts requests that `requests.bpf.c` has seen on a socket. */
static __always_inline void count_requests(struct sock *sk, struct flow_socket *socket)
{
	struct connection *connection = bpf_sk_storage_get(&connection_by_socket, sk, NULL, 0);
	struct flow_account *account;

	if (!connection || connection->requests == socket->requests)
		return;
	account = account_at(socket->place);
	if (account)
		grow_short(&socket->requests, connection->requests, &account->requests);
}

/* Adds what a TCP socket has transferred since it was last looked at. */
static __always_inline void count_transfer(struct sock *sk, struct flow_socket *socket)
{
	struct tcp_sock *tcp = bpf_core_cast(sk, struct tcp_sock);
	__u64 sent = sent_bytes(sk, tcp, socket->side), received = received_bytes(sk, tcp);
	struct flow_account *account;
	bool has_grown;

	if (sent == socket->sent && received == socket->received &&
	    tcp->total_retrans == socket->retransmitted)
		return;
	account = account_at(socket->place);
	if (!account)
		return;
	has_grown = grow(&socket->sent, sent, &account->sent_bytes);
	has_grown |= grow(&socket->received, received, &account->received_bytes);
	if (has_grown)
		add_round_trip(tcp, account);
	grow_short(&socket->sends, tcp->data_segs_out, &account->sends);
	grow_short(&socket->receives, tcp->data_segs_in, &account->receives);
	grow_short(&socket->retransmitted, tcp->total_retrans, &account->retransmitted);
}

/* The socket's account, of a process. */
static __always_inline void place_tcp(struct sock *sk, struct flow_socket *socket,
				      struct task_struct *task)
{
	struct flow_identity who = {};

	who.key.protocol = FLOW_TCP;
	who.key.net = sk->__sk_common.skc_net.net->ns.inum;
	if (task)
		name_process(&who, task);
	name_ends(&who, sk, socket->side);
	socket->place = place_of(&who);
}

static __always_inline void count_opened(struct flow_account *account)
{
	add(&account->opened, 1);
	if (account->opened_in == epoch)
		return;
	account->opened_in = epoch;
	account->opened_ns = bpf_ktime_get_boot_ns();
}

/* Whether the caller is the first to find out whose a socket is: several threads may at a time. */
static __always_inline bool is_first(struct flow_socket *socket)
{
	return !socket->is_owned && !__sync_val_compare_and_swap(&socket->is_owned, 0, 1);
}

/* A connection that arrived finds its process, by what that does with it first; without a task it has none. */
static __always_inline void own(struct sock *sk, struct flow_socket *socket, struct task_struct *task)
{
	struct flow_account *account;

	if (!is_first(socket))
		return;
	__sync_fetch_and_add(&unowned, -1);
	place_tcp(sk, socket, task);
	account = account_at(socket->place);
	if (account)
		count_opened(account);
}

/* A process sends or receives: that of a connection that arrived shows itself. */
static __noinline int meet_owner(struct sock *sk)
{
	struct flow_socket *socket = bpf_sk_storage_get(&flow_by_socket, sk, NULL, 0);

	if (socket)
		own(sk, socket, bpf_get_current_task_btf());
	return 0;
}

/* Begins to count a UDP or unix socket, or one that was connected to somebody else. */
static __noinline int place_other(struct sock *sk, struct task_struct *task, bool is_new)
{
	struct flow_socket *socket = bpf_sk_storage_get(&flow_by_socket, sk, NULL,
							BPF_LOCAL_STORAGE_GET_F_CREATE);
	struct flow_identity who = {};
	struct flow_account *account;

	if (!socket || !task) {
		__sync_fetch_and_add(&unplaced, 1);
		return 0;
	}
	who.key.net = sk->__sk_common.skc_net.net->ns.inum;
	name_process(&who, task);
	if (sk->__sk_common.skc_family == AF_UNIX)
		name_unix(&who, sk);
	else
		name_datagrams(&who, sk);
	socket->protocol = who.key.protocol;
	socket->side = who.key.side;
	socket->peer = sk->__sk_common.skc_daddr;
	socket->peer_port = sk->__sk_common.skc_dport;
	socket->place = place_of(&who);
	is_new &= is_first(socket);
	account = account_at(socket->place);
	if (account && is_new)
		count_opened(account);
	return 0;
}

/* Whether a socket's traffic is counted call by call. */
static __always_inline bool is_counted_by_call(struct sock *sk)
{
	return sk->__sk_common.skc_family == AF_UNIX || sk->sk_protocol == IPPROTO_UDP;
}

/* The socket that a process sends to or receives from, with an account if there is room. */
static __always_inline struct flow_socket *meet(struct sock *sk)
{
	struct flow_socket *socket = bpf_sk_storage_get(&flow_by_socket, sk, NULL, 0);

	if (socket && (socket->protocol == FLOW_UNIX ||
		       (socket->peer_port == sk->__sk_common.skc_dport &&
			socket->peer == sk->__sk_common.skc_daddr)))
		return socket;
	place_other(sk, bpf_get_current_task_btf(), true);
	return bpf_sk_storage_get(&flow_by_socket, sk, NULL, 0);
}

/* Of TCP most is done with that, since here it is only asked whose a connection is. */
static __always_inline bool is_tcp(struct sock *sk)
{
	if (sk->sk_protocol != IPPROTO_TCP)
		return false;
	if (unowned > 0 && sk->sk_max_ack_backlog)
		meet_owner(sk);
	return true;
}

static __always_inline __u32 window_now(void)
{
	__u32 key = 0, *window = bpf_map_lookup_elem(&on_window, &key);

	return window ? *window : 0;
}

SEC("tp_btf/sock_send_length")
int BPF_PROG(on_send, struct sock *sk, int ret, int flags)
{
	__u32 window = window_now();
	struct flow_socket *socket;
	struct flow_account *account;

	/* What they still see while the kernel detaches them is of no on-window. */
	if (!window || is_tcp(sk) || !is_counted_by_call(sk) || ret < 0)
		return 0;
	socket = meet(sk);
	account = socket ? account_at(socket->place) : NULL;
	if (!account)
		return 0;
	add(&account->sends, 1);
	add(&account->sent_bytes, ret);
	if (socket->peer_port == bpf_htons(NAMES_PORT) && socket->protocol == FLOW_UDP &&
	    (!socket->began_ns || socket->began_in != window)) {
		socket->began_ns = bpf_ktime_get_ns();
		socket->began_in = window;
	}
	return 0;
}

SEC("tp_btf/sock_recv_length")
int BPF_PROG(on_receive, struct sock *sk, int ret, int flags)
{
	struct flow_socket *socket;
	struct flow_account *account;
	__u32 window = window_now();
	__u64 began;

	if (!window || is_tcp(sk) || !is_counted_by_call(sk))
		return 0;
	/* An empty datagram is one; a stream's end is nothing. */
	if (ret < 0 || (!ret && sk->sk_type == SOCK_STREAM) || flags & (MSG_PEEK | MSG_ERRQUEUE))
		return 0;
	socket = meet(sk);
	account = socket ? account_at(socket->place) : NULL;
	if (!account)
		return 0;
	add(&account->receives, 1);
	add(&account->received_bytes, ret);
	began = socket->began_ns;
	if (!began)
		return 0;
	socket->began_ns = 0;
	/* An earlier on-window's query may have had its reply unseen. */
	if (socket->began_in == window) {
		add(&account->answers, 1);
		add(&account->answer_ns, bpf_ktime_get_ns() - began);
	}
	return 0;
}

/* A process connects. Its socket may have been connected before, and the kernel's counts begin anew. */
static __always_inline void begin_connect(struct sock *sk)
{
	struct flow_socket fresh = {
		.protocol = FLOW_TCP, .side = FLOW_CLIENT, .is_owned = 1,
		.began_ns = bpf_ktime_get_ns()
	}, *socket;

	socket = bpf_sk_storage_get(&flow_by_socket, sk, &fresh, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!socket) {
		__sync_fetch_and_add(&unplaced, 1);
		return;
	}
	*socket = fresh;
	place_tcp(sk, socket, bpf_get_current_task_btf());
}

/* A connection arrived, on behalf of nobody as yet. */
static __always_inline void begin_served(struct sock *sk)
{
	struct flow_socket fresh = {
		.protocol = FLOW_TCP, .side = FLOW_SERVER, .born_ns = bpf_ktime_get_ns()
	};

	if (bpf_sk_storage_get(&flow_by_socket, sk, &fresh, BPF_LOCAL_STORAGE_GET_F_CREATE))
		__sync_fetch_and_add(&unowned, 1);
	else
		__sync_fetch_and_add(&unplaced, 1);
}

static __always_inline void establish(struct flow_socket *socket)
{
	struct flow_account *account = account_at(socket->place);
	__u64 now = bpf_ktime_get_ns();

	socket->born_ns = now;
	if (!account)
		return;
	count_opened(account);
	add(&account->connects, 1);
	add(&account->connect_ns, now - socket->began_ns);
}

/* The last word on a count: a reading of the walk that fell between two stores of the kernel's may have been more. */
static __always_inline void settle(__u64 *counted, __u64 now, __u64 *sum)
{
	__u64 before = __sync_lock_test_and_set(counted, now);

	add(sum, now - before);
}

static __always_inline void settle_transfer(struct sock *sk, struct flow_socket *socket,
					    struct flow_account *account)
{
	struct tcp_sock *tcp = bpf_core_cast(sk, struct tcp_sock);

	settle(&socket->sent, sent_bytes(sk, tcp, socket->side), &account->sent_bytes);
	settle(&socket->received, received_bytes(sk, tcp), &account->received_bytes);
}

/* Whether a server that speaks first had only a refusal to say: the client had nothing to ask then. */
static __always_inline bool is_turned_away(struct sock *sk, struct flow_socket *socket)
{
	struct tcp_sock *tcp = bpf_core_cast(sk, struct tcp_sock);

	return socket->side == FLOW_CLIENT && !tcp->data_segs_out && tcp->data_segs_in;
}

/* A connection is over, or came to nothing. */
static __always_inline void end(struct sock *sk, struct flow_socket *socket, int from)
{
	int error = sk->sk_err;
	struct flow_account *account;

	/* Whoever closes it is its process; where the other end or time ended it, there is none that is known. */
	own(sk, socket, error ? NULL : bpf_get_current_task_btf());
	count_transfer(sk, socket);
	count_requests(sk, socket);
	account = account_at(socket->place);
	if (!account)
		return;
	if (from == TCP_SYN_SENT && error == ECONNREFUSED) {
		add(&account->refused, 1);
	} else if (error == ETIMEDOUT) {
		add(&account->timed_out, 1);
	} else if (from == TCP_SYN_SENT) {
		add(&account->failed, 1);
	} else if (error == ECONNRESET || error == EPIPE) {
		add(&account->reset, 1);
	}
	if (from == TCP_SYN_SENT)
		return;
	settle_transfer(sk, socket, account);
	add(&account->closed, 1);
	if (is_turned_away(sk, socket))
		add(&account->turned_away, 1);
	if (socket->born_ns && bpf_ktime_get_ns() - socket->born_ns < FLOW_SHORT_NS)
		add(&account->short_lived, 1);
}

SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(on_state, struct sock *sk, int from, int to)
{
	struct flow_socket *socket;

	if (sk->sk_protocol != IPPROTO_TCP)
		return 0;
	if (to == TCP_SYN_SENT) {
		begin_connect(sk);
		return 0;
	}
	socket = bpf_sk_storage_get(&flow_by_socket, sk, NULL, 0);
	if (to == TCP_ESTABLISHED && (from == TCP_SYN_SENT || from == TCP_SYN_RECV)) {
		/* Of two that connect to each other at once neither listens. */
		if (socket)
			establish(socket);
		else
			begin_served(sk);
		return 0;
	}
	if (!socket)
		return 0;
	if (to == TCP_FIN_WAIT1 || to == TCP_LAST_ACK)
		own(sk, socket, bpf_get_current_task_btf());
	else if (to == TCP_CLOSE)
		end(sk, socket, from);
	return 0;
}

/* Adds up what a socket has transferred since the last walk, and counts it as open. */
static __always_inline void visit(struct sock *sk, struct flow_socket *socket)
{
	struct flow_account *account;
	__u8 state = sk->__sk_common.skc_state;
	__u32 place;

	if (!socket->place)
		return;
	if (socket->protocol == FLOW_TCP) {
		if (state == TCP_CLOSE)
			return;
		count_transfer(sk, socket);
	}
	count_requests(sk, socket);
	place = socket->place;
	account = bpf_map_lookup_elem(&account_by_place, &place);
	if (!account)
		return;
	if (account->walk != walk_number) {
		account->walk = walk_number;
		account->sockets = 0;
		account->open = 0;
	}
	account->sockets++;
	if (socket->protocol != FLOW_TCP || state == TCP_ESTABLISHED || state == TCP_CLOSE_WAIT)
		account->open++;
}

/*
 * Walks over the sockets that are known, without locking any: iter/tcp waits for each socket's lock, visits the 262,144
 * slots of the kernel's own table, and sees one network namespace only.
 */
SEC("iter/bpf_sk_storage_map")
int walk_sockets(struct bpf_iter__bpf_sk_storage_map *walk)
{
	struct sock *sk = walk->sk;
	struct flow_socket *socket;

	socket = sk ? bpf_sk_storage_get(&flow_by_socket, sk, NULL, 0) : NULL;
	if (socket)
		visit(sk, socket);
	return 0;
}

/*
 * The same for kernels that let nobody walk over the elements of a map: over all open files. It takes the longer the more
 * files are open, and leaves out sockets that no process has open any more, which count when they end.
 */
SEC("iter/task_file")
int walk_open_files(struct bpf_iter__task_file *walk)
{
	struct file *file = walk->file;
	struct flow_socket *known;
	struct socket *socket;
	struct sock *sk;

	if (!file)
		return 0;
	socket = bpf_sock_from_file(file);
	sk = socket ? socket->sk : NULL;
	known = sk ? bpf_sk_storage_get(&flow_by_socket, sk, NULL, 0) : NULL;
	/* Processes share files. */
	if (!known || known->walked == walk_number)
		return 0;
	known->walked = walk_number;
	visit(sk, known);
	return 0;
}

/* A TCP connection from before: what it has transferred until now is not counted. */
static __always_inline void begin_old(struct sock *sk, struct task_struct *task)
{
	struct tcp_sock *tcp = bpf_core_cast(sk, struct tcp_sock);
	struct flow_socket fresh = {
		.protocol = FLOW_TCP,
		.side = sk->sk_max_ack_backlog ? FLOW_SERVER : FLOW_CLIENT,
		.is_owned = 1,
	}, *socket;

	fresh.sent = sent_bytes(sk, tcp, fresh.side);
	fresh.received = received_bytes(sk, tcp);
	fresh.sends = tcp->data_segs_out;
	fresh.receives = tcp->data_segs_in;
	fresh.retransmitted = tcp->total_retrans;
	socket = bpf_sk_storage_get(&flow_by_socket, sk, &fresh, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (socket)
		place_tcp(sk, socket, task);
	else
		__sync_fetch_and_add(&unplaced, 1);
}

/* Finds the sockets that are there already, and their processes. */
SEC("iter/task_file")
int walk_files(struct bpf_iter__task_file *walk)
{
	struct task_struct *task = walk->task;
	struct file *file = walk->file;
	struct socket *socket;
	struct sock *sk;
	__u8 state;

	if (!file || !task)
		return 0;
	socket = bpf_sock_from_file(file);
	sk = socket ? socket->sk : NULL;
	if (!sk || bpf_sk_storage_get(&flow_by_socket, sk, NULL, 0))
		return 0;
	state = sk->__sk_common.skc_state;
	if (is_counted_by_call(sk) && state != TCP_LISTEN)
		place_other(sk, task, false);
	else if (sk->sk_protocol == IPPROTO_TCP && sk->__sk_common.skc_family != AF_UNIX &&
		 (state == TCP_ESTABLISHED || state == TCP_CLOSE_WAIT))
		begin_old(sk, task);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
