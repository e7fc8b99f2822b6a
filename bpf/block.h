/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What `block.bpf.c` and its reader agree on. Times are ns.
 */
#ifndef STALLSCOPE_BLOCK_H
#define STALLSCOPE_BLOCK_H

/* Accounts of files, of which there may be any number, and of all others; user space takes those back that are idle
 * when they become few. Place 0 is nobody's, and those of files come first. */
#define BLOCK_MOST_FILES 1536
#define BLOCK_MOST_OTHERS 512
#define BLOCK_MOST_ACCOUNTS (BLOCK_MOST_FILES + BLOCK_MOST_OTHERS)
/* All ones, and no less than the last place: the verifier wants to see that an index is inside. */
#define BLOCK_PLACE_MASK 4095
#define BLOCK_MOST_IN_FLIGHT 8192
/* Threads whose last direct write may still be made durable by a flush. */
#define BLOCK_MOST_WRITERS 1024

/* Times by powers of two, from 2^12 ns (4.1 us) to 2^35 ns (34 s); the first bucket is for what is shorter, the last
 * for what is longer. */
#define BLOCK_FIRST_OCTAVE 12
#define BLOCK_OCTAVES 23
#define BLOCK_TIMES (BLOCK_OCTAVES + 2)
/* Sizes likewise, from 4 KiB to 1 MiB. */
#define BLOCK_FIRST_SIZE 12
#define BLOCK_SIZE_OCTAVES 8
#define BLOCK_SIZES (BLOCK_SIZE_OCTAVES + 2)

/* Whose requests an account counts. Those of a device add up to the requests of its FILE, JOURNAL, METADATA and
 * UNNAMED accounts, but for flushes: many that were asked for may be one at the device. */
enum block_scope {
	BLOCK_NOBODY,
	BLOCK_DEVICE,
	/* By the control group that the kernel charges, which knows whose pages a kernel worker writes back. */
	BLOCK_CGROUP,
	/* By the process that submits; kernel threads together, as process 0. */
	BLOCK_PROCESS,
	BLOCK_FILE,
	/* A filesystem's log: of jbd2's threads, or XFS's. */
	BLOCK_JOURNAL,
	/* Pages of the block device itself, of which ext4's metadata are, and of directories. */
	BLOCK_METADATA,
	/* A process's requests whose file is not known: there is none, or a layer between hides it. */
	BLOCK_UNNAMED
};

enum block_operation {
	BLOCK_NONE,
	BLOCK_READ,
	BLOCK_WRITE,
	BLOCK_FLUSH,
	BLOCK_DISCARD,
	BLOCK_OTHER
};

struct block_key {
	/* major << 20 | minor of the whole disk. */
	__u32 device;
	/* enum block_scope; written last. */
	__u16 scope;
	/* enum block_operation */
	__u16 operation;
	/* Of a process its pid, of a file its inode, of a control group the kernel's id. */
	__u64 id;
	/* Of a process when it started, of a file its filesystem's device. */
	__u64 instance;
};
_Static_assert(sizeof(struct block_key) == 24, "as the reader has it");

struct block_account {
	struct block_key key;
	/* Requests under way, and the most of them since `epoch`, which user space counts on at each reading. */
	__u32 in_flight;
	__u32 most;
	__u32 epoch;
	__u32 padding;
	/* The rest only grows. Completed requests, and of these: */
	__u64 requests;
	__u64 bytes;
	__u64 errors;
	/* Those that began in or right behind the request that was issued before, and ended no earlier. */
	__u64 sequential;
	/* Writes that somebody waits for on stable storage: FUA, with a flush before, by fsync(2) from the page cache,
	 * or directly with a flush of the same thread behind them. */
	__u64 synced;
	__u64 fua;
	/* From the request's beginning to its issue, and from there to its completion, all together. */
	__u64 queue_ns;
	__u64 device_ns;
	/* Time with any request under way, up to the last completion. */
	__u64 busy_ns;
	__u64 requests_by_queue[BLOCK_TIMES];
	__u64 requests_by_device[BLOCK_TIMES];
	__u64 requests_by_size[BLOCK_SIZES];
	/* Up to when `busy_ns` has been counted. */
	__u64 busy_until;
	/* First sector of the request that was issued last, and the one behind it. */
	__u64 last_sector;
	__u64 next_sector;
};
_Static_assert(sizeof(struct block_account) == 8 * (3 + 2 + 9 + 2 * BLOCK_TIMES + BLOCK_SIZES + 3),
	       "as the reader has it");

#endif
