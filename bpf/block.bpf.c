// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What do block devices do, for whom?
 *
 * Hooks: block_io_start, block_rq_insert, block_rq_issue, block_rq_merge, block_rq_complete, block_io_done. A request
 * begins at the first of these that sees it: block_io_start runs in the thread that submits it (6.5; before, the
 * insertion or the issue does, mostly in the same thread). A merged request is part of another, whose size and place
 * count when it is issued.
 * Cost: `make bench` (probes) tells.
 * Kernel: 5.12 (operations that give a value back; the arguments of these hooks are as here since 5.11).
 * Memory: 1.4 MB for the accounts, 1.2 MB for requests under way.
 * Lost: requests for which there is no room, or whose end was not seen (`lost`), are in no account; until the kernel
 * uses such a request again it counts as under way. Where there is no account for a file, process or control group the
 * others count the request nevertheless (`unplaced`). A few ends are missed, probably where the interrupt comes while
 * the same CPU works on a map.
 * Not seen: what a throttle holds back, until it lets go (the block layer makes a request of it only then); devices
 * without requests (device mapper, md, zram), whose requests appear at the devices below them.
 */
#include "lib/kernel.bpf.h"
#include <bpf/bpf_tracing.h>
#include "lib/block_owner.bpf.h"
#include "lib/histogram.bpf.h"
#include "block.h"

/* Accounts that count one request: of its device, control group, process, and of its file or what is instead. */
#define ACCOUNTS_EACH 4
/* The place of the last of those among them. */
#define OF_FILE 3
#define SECTOR_SHIFT 9

/* A request under way. */
struct request_state {
	__u64 started_ns;
	/* 0 until it is issued. */
	__u64 issued_ns;
	__u32 bytes;
	__u8 is_synced;
	__u8 is_fua;
	/* For each of its accounts, whether it follows the request before: a bit. */
	__u8 sequential;
	__u8 padding;
	__u32 place[ACCOUNTS_EACH];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, BLOCK_MOST_IN_FLIGHT);
	__type(key, __u64);
	__type(value, struct request_state);
} state_by_request SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, BLOCK_MOST_ACCOUNTS + 1);
	__type(key, __u32);
	__type(value, struct block_account);
} account_by_place SEC(".maps");

/* Apart from the accounts, since a map with locks cannot be mapped into memory. */
struct account_lock {
	struct bpf_spin_lock lock;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, BLOCK_MOST_ACCOUNTS + 1);
	__type(key, __u32);
	__type(value, struct account_lock);
} lock_by_place SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, BLOCK_MOST_ACCOUNTS + 1);
	__type(key, struct block_key);
	__type(value, __u32);
} place_by_key SEC(".maps");

/* Places that user space has taken back. */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, BLOCK_MOST_FILES);
	__type(value, __u32);
} free_file_places SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, BLOCK_MOST_OTHERS);
	__type(value, __u32);
} free_other_places SEC(".maps");

/* Where the last direct write of a thread was counted, until a flush of the same thread follows. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, BLOCK_MOST_WRITERS);
	__type(key, __u32);
	__type(value, __u32);
} place_by_writer SEC(".maps");

/* User space's number of its next reading. */
__u32 epoch = 1;
__u64 lost;
__u64 unplaced;
/* Places that were ever in use. */
__u32 file_places;
__u32 other_places;
/* The reading before which an account was changed last, by place. */
__u32 changed_in[BLOCK_PLACE_MASK + 1];

/* A place that nobody has, of those of files or of the others; 0 where there is none. */
static __always_inline __u32 free_place(bool is_file)
{
	__u32 place, used;

	if (is_file) {
		if (!bpf_map_pop_elem(&free_file_places, &place))
			return place;
		if (file_places < BLOCK_MOST_FILES) {
			used = __sync_fetch_and_add(&file_places, 1);
			return used < BLOCK_MOST_FILES ? 1 + used : 0;
		}
		return 0;
	}
	if (!bpf_map_pop_elem(&free_other_places, &place))
		return place;
	if (other_places < BLOCK_MOST_OTHERS) {
		used = __sync_fetch_and_add(&other_places, 1);
		return used < BLOCK_MOST_OTHERS ? 1 + BLOCK_MOST_FILES + used : 0;
	}
	return 0;
}

/* The account of a key, made if there is none; 0 where there is no room. */
static __always_inline __u32 place_of(const struct block_key *key)
{
	__u32 *known = bpf_map_lookup_elem(&place_by_key, key);
	struct block_account *account;
	bool is_file = key->scope == BLOCK_FILE;
	__u32 place;

	if (known)
		return *known;
	place = free_place(is_file);
	if (!place) {
		__sync_fetch_and_add(&unplaced, 1);
		return 0;
	}
	account = bpf_map_lookup_elem(&account_by_place, &place);
	if (!account)
		return 0;
	if (bpf_map_update_elem(&place_by_key, key, &place, BPF_NOEXIST)) {
		/* Another CPU was faster. */
		if (is_file)
			bpf_map_push_elem(&free_file_places, &place, 0);
		else
			bpf_map_push_elem(&free_other_places, &place, 0);
		known = bpf_map_lookup_elem(&place_by_key, key);
		return known ? *known : 0;
	}
	account->key.device = key->device;
	account->key.operation = key->operation;
	account->key.id = key->id;
	account->key.instance = key->instance;
	barrier();
	account->key.scope = key->scope;
	return place;
}

/* Functions that are not static are verified once, each by itself: with all paths of each, for four accounts a request,
 * the verifier would give up. */
__noinline int begin_in(__u32 place, __u64 started_ns)
{
	struct block_account *account = bpf_map_lookup_elem(&account_by_place, &place);
	struct account_lock *lock = bpf_map_lookup_elem(&lock_by_place, &place);

	if (!place || !account || !lock)
		return 0;
	bpf_spin_lock(&lock->lock);
	changed_in[place & BLOCK_PLACE_MASK] = epoch;
	if (account->epoch != epoch) {
		account->epoch = epoch;
		account->most = account->in_flight;
	}
	/* CPUs may be here in another order than they read the clock. */
	if (account->in_flight++ == 0 && account->busy_until < started_ns)
		account->busy_until = started_ns;
	if (account->most < account->in_flight)
		account->most = account->in_flight;
	bpf_spin_unlock(&lock->lock);
	return 0;
}

/* Whether the request follows the one before in this account. */
__noinline int follows_in(__u32 place, __u64 sector, __u64 end)
{
	struct block_account *account = bpf_map_lookup_elem(&account_by_place, &place);
	struct account_lock *lock = bpf_map_lookup_elem(&lock_by_place, &place);
	int follows;

	if (!place || !account || !lock)
		return 0;
	bpf_spin_lock(&lock->lock);
	/* A log writes its last block again as it fills up. */
	follows = account->next_sector && sector >= account->last_sector &&
		  sector <= account->next_sector && end >= account->next_sector;
	account->last_sector = sector;
	account->next_sector = end;
	bpf_spin_unlock(&lock->lock);
	return follows;
}

__noinline int bucket(__u64 value, __u32 first, __u32 octaves)
{
	__u32 octave = log2_of(value);

	if (octave < first)
		return 0;
	return octave < first + octaves ? octave - first + 1 : octaves + 1;
}

/* A request that ends, as its accounts count it. */
struct ending {
	__u64 at_ns;
	__u64 queue_ns;
	__u64 device_ns;
	__u64 bytes;
	__u32 queue_bucket;
	__u32 device_bucket;
	__u32 size_bucket;
	bool is_completed;
	bool is_error;
	bool is_synced;
	bool is_fua;
};

__noinline int end_in(__u32 place, const struct ending *ending, int is_sequential)
{
	struct block_account *account = bpf_map_lookup_elem(&account_by_place, &place);
	struct account_lock *lock = bpf_map_lookup_elem(&lock_by_place, &place);
	__u32 queue, device, size;

	if (!ending || !place || !account || !lock)
		return 0;
	queue = ending->queue_bucket;
	device = ending->device_bucket;
	size = ending->size_bucket;
	if (queue >= BLOCK_TIMES || device >= BLOCK_TIMES || size >= BLOCK_SIZES)
		return 0;
	bpf_spin_lock(&lock->lock);
	changed_in[place & BLOCK_PLACE_MASK] = epoch;
	if (account->in_flight)
		account->in_flight--;
	if (account->busy_until < ending->at_ns) {
		account->busy_ns += ending->at_ns - account->busy_until;
		account->busy_until = ending->at_ns;
	}
	if (ending->is_completed) {
		account->requests++;
		account->bytes += ending->bytes;
		account->errors += ending->is_error;
		account->sequential += is_sequential;
		account->synced += ending->is_synced;
		account->fua += ending->is_fua;
		account->queue_ns += ending->queue_ns;
		account->device_ns += ending->device_ns;
		account->requests_by_queue[queue]++;
		account->requests_by_device[device]++;
		account->requests_by_size[size]++;
	}
	bpf_spin_unlock(&lock->lock);
	return 0;
}

static __always_inline void end_everywhere(const struct request_state *state,
					   const struct ending *ending)
{
	end_in(state->place[0], ending, state->sequential >> 0 & 1);
	end_in(state->place[1], ending, state->sequential >> 1 & 1);
	end_in(state->place[2], ending, state->sequential >> 2 & 1);
	end_in(state->place[3], ending, state->sequential >> 3 & 1);
}

static __always_inline __u32 operation_of(struct request *rq, __u32 flags)
{
	switch (flags & REQ_OP_MASK) {
	case REQ_OP_READ:
		return BLOCK_READ;
	case REQ_OP_WRITE:
		return rq->__data_len ? BLOCK_WRITE : BLOCK_FLUSH;
	case REQ_OP_ZONE_APPEND:
		return BLOCK_WRITE;
	case REQ_OP_FLUSH:
		return BLOCK_FLUSH;
	case REQ_OP_DISCARD:
	case REQ_OP_SECURE_ERASE:
		return BLOCK_DISCARD;
	default:
		return BLOCK_OTHER;
	}
}

/* A thread's flush makes its last direct write durable. */
static __always_inline void sync_last_write(void)
{
	__u32 thread = bpf_get_current_pid_tgid();
	__u32 *place = bpf_map_lookup_elem(&place_by_writer, &thread);
	struct block_account *account;
	__u32 written;

	if (!place || !*place)
		return;
	written = *place;
	*place = 0;
	account = bpf_map_lookup_elem(&account_by_place, &written);
	if (account)
		__sync_fetch_and_add(&account->synced, 1);
}

static __always_inline void note_writer(__u32 place)
{
	__u32 thread = bpf_get_current_pid_tgid();

	bpf_map_update_elem(&place_by_writer, &thread, &place, BPF_ANY);
}

/* The accounts of everybody for whom the request is. */
static __always_inline void find_accounts(struct request *rq, __u32 flags, struct request_state *state)
{
	struct bio *bio = rq->bio;
	struct block_key key = { .device = device_of(rq), .operation = operation_of(rq, flags) };
	bool is_write = key.operation == BLOCK_WRITE;
	struct owner owner;

	/* The kernel asks the device for one flush in the name of all who want one: that one has no bio, and theirs
	 * are never issued. */
	if (key.operation != BLOCK_FLUSH || !bio) {
		key.scope = BLOCK_DEVICE;
		state->place[0] = place_of(&key);
	}
	if (!bio)
		return;
	key.id = group_of(bio);
	key.scope = BLOCK_CGROUP;
	if (key.id)
		state->place[1] = place_of(&key);
	find_process(&key.id, &key.instance);
	key.scope = BLOCK_PROCESS;
	state->place[2] = place_of(&key);
	owner = owner_of(bio, key.operation);
	if (owner.scope != BLOCK_UNNAMED) {
		key.id = owner.inode;
		key.instance = owner.filesystem;
	}
	key.scope = owner.scope;
	state->place[OF_FILE] = place_of(&key);
	if (!state->place[OF_FILE] && owner.scope == BLOCK_FILE) {
		find_process(&key.id, &key.instance);
		key.scope = BLOCK_UNNAMED;
		state->place[OF_FILE] = place_of(&key);
	}
	if (key.operation == BLOCK_FLUSH)
		sync_last_write();
	state->is_fua = !!(flags & REQ_FUA);
	state->is_synced = is_write && (flags & (REQ_FUA | REQ_PREFLUSH) ||
					(owner.is_cached && flags & REQ_SYNC));
	if (is_write && !state->is_synced && !owner.is_cached)
		note_writer(state->place[OF_FILE]);
}

/* A request begins, at a time of CLOCK_MONOTONIC. */
static __always_inline struct request_state *begin(struct request *rq, __u64 started_ns)
{
	struct request_state state = { .started_ns = started_ns };
	__u64 address = (__u64)rq;
	__u32 flags = rq->cmd_flags;

	/* Commands for drivers read and write nothing that is stored. */
	if ((flags & REQ_OP_MASK) >= REQ_OP_DRV_IN)
		return NULL;
	find_accounts(rq, flags, &state);
	if (bpf_map_update_elem(&state_by_request, &address, &state, BPF_ANY)) {
		__sync_fetch_and_add(&lost, 1);
		return NULL;
	}
	begin_in(state.place[0], started_ns);
	begin_in(state.place[1], started_ns);
	begin_in(state.place[2], started_ns);
	begin_in(state.place[3], started_ns);
	return bpf_map_lookup_elem(&state_by_request, &address);
}

/* What is known of a request, which begins if nothing is. */
static __always_inline struct request_state *known(struct request *rq)
{
	__u64 address = (__u64)rq;
	struct request_state *state = bpf_map_lookup_elem(&state_by_request, &address);

	if (state)
		return state;
	return begin(rq, rq->start_time_ns ? rq->start_time_ns : bpf_ktime_get_ns());
}

/* Ends a request that is not completed; returns whether it was known. */
static __always_inline bool drop(struct request *rq)
{
	__u64 address = (__u64)rq;
	struct request_state *state = bpf_map_lookup_elem(&state_by_request, &address);
	struct ending ending = {};

	if (!state)
		return false;
	end_everywhere(state, &ending);
	bpf_map_delete_elem(&state_by_request, &address);
	return true;
}

SEC("tp_btf/block_io_start")
int BPF_PROG(on_start, struct request *rq)
{
	/* One at the same address whose end was not seen. */
	if (drop(rq))
		__sync_fetch_and_add(&lost, 1);
	/* Since 6.12 the request's own start_time_ns is set only behind this hook. */
	begin(rq, bpf_ktime_get_ns());
	return 0;
}

SEC("tp_btf/block_rq_insert")
int BPF_PROG(on_insert, struct request *rq)
{
	known(rq);
	return 0;
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(on_issue, struct request *rq)
{
	struct request_state *state = known(rq);
	__u64 sector, end;

	if (!state)
		return 0;
	/* Again, if the device had no room before. */
	if (!state->issued_ns && rq->__data_len) {
		sector = rq->__sector;
		end = sector + (rq->__data_len >> SECTOR_SHIFT);
		state->bytes = rq->__data_len;
		state->sequential = follows_in(state->place[0], sector, end) |
				    follows_in(state->place[1], sector, end) << 1 |
				    follows_in(state->place[2], sector, end) << 2 |
				    follows_in(state->place[3], sector, end) << 3;
	}
	state->issued_ns = bpf_ktime_get_ns();
	return 0;
}

/* It goes on as a part of another. */
SEC("tp_btf/block_rq_merge")
int BPF_PROG(on_merge, struct request *rq)
{
	drop(rq);
	return 0;
}

static __always_inline __u64 between(__u64 from, __u64 to)
{
	return from < to ? to - from : 0;
}

static __always_inline void complete(__u64 address, struct request_state *state, bool is_error)
{
	struct ending ending = { .is_completed = true, .is_error = is_error };
	__u64 issued;

	ending.at_ns = bpf_ktime_get_ns();
	/* A flush is never issued itself: who wants one waits for the device all the time. */
	issued = state->issued_ns ? state->issued_ns : state->started_ns;
	ending.queue_ns = between(state->started_ns, issued);
	ending.device_ns = between(issued, ending.at_ns);
	ending.bytes = state->bytes;
	ending.is_synced = state->is_synced;
	ending.is_fua = state->is_fua;
	ending.queue_bucket = bucket(ending.queue_ns, BLOCK_FIRST_OCTAVE, BLOCK_OCTAVES);
	ending.device_bucket = bucket(ending.device_ns, BLOCK_FIRST_OCTAVE, BLOCK_OCTAVES);
	ending.size_bucket = bucket(ending.bytes, BLOCK_FIRST_SIZE, BLOCK_SIZE_OCTAVES);
	end_everywhere(state, &ending);
	bpf_map_delete_elem(&state_by_request, &address);
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(on_complete, struct request *rq, int error, unsigned int bytes)
{
	__u64 address = (__u64)rq;
	struct request_state *state = bpf_map_lookup_elem(&state_by_request, &address);

	/* A part of it may be done before the rest. */
	if (!state || bytes < rq->__data_len)
		return 0;
	if (!state->bytes)
		state->bytes = rq->__data_len;
	complete(address, state, !!(error & 0xff));
	return 0;
}

/* The kernel runs no program within itself: the end of a request that interrupts `on_complete` is seen here. */
SEC("tp_btf/block_io_done")
int BPF_PROG(on_done, struct request *rq)
{
	__u64 address = (__u64)rq;
	struct request_state *state = bpf_map_lookup_elem(&state_by_request, &address);

	if (state)
		complete(address, state, false);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
