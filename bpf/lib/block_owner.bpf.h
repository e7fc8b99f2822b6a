/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* For whom a block request is: its device, control group, process, and file. */
#ifndef STALLSCOPE_BLOCK_OWNER_BPF_H
#define STALLSCOPE_BLOCK_OWNER_BPF_H

#include "kernel.bpf.h"
#include "../block.h"

/* enum req_op and enum req_flag_bits in include/linux/blk_types.h. */
#define REQ_OP_MASK 0xff
#define REQ_OP_READ 0
#define REQ_OP_WRITE 1
#define REQ_OP_FLUSH 2
#define REQ_OP_DISCARD 3
#define REQ_OP_SECURE_ERASE 5
#define REQ_OP_ZONE_APPEND 7
#define REQ_OP_DRV_IN 34
#define REQ_SYNC (1 << 11)
#define REQ_FUA (1 << 17)
#define REQ_PREFLUSH (1 << 18)

/* include/linux/sched.h */
#define PF_KTHREAD 0x00200000
/* include/uapi/linux/stat.h */
#define S_IFMT 0170000
#define S_IFREG 0100000
/* Bits of a page's mapping that is no file's (include/linux/page-flags.h), and of a page that is part of a larger
 * one. */
#define NO_FILE 3
#define PART_OF_LARGER 1
/* The id of the root in each hierarchy of control groups (kernfs counts from 1). */
#define ROOT_GROUP 1

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct gendisk {
	int major;
	int first_minor;
};

struct request_queue {
	struct gendisk *disk; /* since 5.15 */
};

struct bvec_iter {
	unsigned int bi_idx;
};

struct page;

struct bio_vec {
	struct page *bv_page;
	unsigned int bv_len;
	unsigned int bv_offset;
};

struct blkcg {
	struct cgroup_subsys_state css;
};

struct blkcg_gq {
	struct blkcg *blkcg;
};

struct bio {
	void (*bi_end_io)(struct bio *bio);
	void *bi_private;
	struct blkcg_gq *bi_blkg;
	struct bio_vec *bi_io_vec;
	struct bvec_iter bi_iter;
};

struct request {
	struct request_queue *q;
	unsigned int cmd_flags;
	unsigned int __data_len;
	unsigned long long __sector;
	struct bio *bio;
	unsigned long long start_time_ns;
};

struct request___before_5_15 {
	struct gendisk *rq_disk;
};

struct super_block {
	unsigned int s_dev;
};

struct inode {
	unsigned short i_mode;
	struct super_block *i_sb;
	unsigned long i_ino;
};

struct address_space {
	struct inode *host;
};

struct page {
	unsigned long compound_head;
	struct address_space *mapping;
};

/* Where pages have no mapping of their own any more. */
struct folio {
	struct address_space *mapping; /* since 5.16 */
};

struct file {
	struct inode *f_inode;
};

struct kiocb {
	struct file *ki_filp;
};

/* fs/iomap/direct-io.c */
struct iomap_dio {
	struct kiocb *iocb;
};

#pragma clang attribute pop

/* Functions that end a bio, by which it is known whose it is; 0 where the kernel does not tell their addresses. */
extern const void iomap_dio_bio_end_io __ksym __weak;
extern const void bio_chain_endio __ksym __weak;
extern const void xlog_bio_end_io __ksym __weak;

struct owner {
	/* enum block_scope */
	__u32 scope;
	/* Whether the data is in the page cache. */
	bool is_cached;
	__u64 inode;
	__u64 filesystem;
};

static __always_inline __u32 device_of(struct request *rq)
{
	struct gendisk *disk = NULL;

	if (bpf_core_field_exists(struct request_queue, disk))
		disk = rq->q->disk;
	else if (bpf_core_field_exists(struct request___before_5_15, rq_disk))
		disk = BPF_CORE_READ((struct request___before_5_15 *)rq, rq_disk);
	return disk ? BPF_CORE_READ(disk, major) << 20 | BPF_CORE_READ(disk, first_minor) : 0;
}

/* The id of the control group that the kernel charges; 0 for the root. */
static __always_inline __u64 group_of(struct bio *bio)
{
	__u64 id;

	if (!bpf_core_field_exists(struct bio, bi_blkg) || !bio->bi_blkg)
		return 0;
	id = BPF_CORE_READ(bio, bi_blkg, blkcg, css.cgroup, kn, id);
	return id == ROOT_GROUP ? 0 : id;
}

/* The process that submits it, and when that started; nothing of kernel threads, which take turns. */
static __always_inline void find_process(__u64 *pid, __u64 *start_ns)
{
	struct task_struct *task = bpf_get_current_task_btf();
	bool is_kernel = task->flags & PF_KTHREAD;

	*pid = is_kernel ? 0 : task->tgid;
	*start_ns = is_kernel ? 0 : task->group_leader->start_boottime;
}

/* The kernel names jbd2's threads after their devices; no process is a kernel thread by taking such a name. */
static __always_inline bool is_jbd2(void)
{
	struct task_struct *task = bpf_get_current_task_btf();

	return task->flags & PF_KTHREAD && task->comm[0] == 'j' && task->comm[1] == 'b' &&
	       task->comm[2] == 'd' && task->comm[3] == '2' && task->comm[4] == '/';
}

static __always_inline struct inode *inode_of_page(struct page *page)
{
	__u64 head = BPF_CORE_READ(page, compound_head);
	struct address_space *mapping;

	if (head & PART_OF_LARGER)
		page = (void *)(head - PART_OF_LARGER);
	if (bpf_core_field_exists(struct folio, mapping))
		mapping = BPF_CORE_READ((struct folio *)page, mapping);
	else
		mapping = BPF_CORE_READ(page, mapping);
	if (!mapping || (__u64)mapping & NO_FILE)
		return NULL;
	return BPF_CORE_READ(mapping, host);
}

static __always_inline struct owner owner_of(struct bio *bio, __u32 operation)
{
	struct owner owner = { .scope = BLOCK_UNNAMED };
	void *end_io = BPF_CORE_READ(bio, bi_end_io);
	struct iomap_dio *direct;
	struct bio_vec *vector;
	struct inode *inode;
	struct page *page;
	__u32 index;

	if (operation != BLOCK_READ && is_jbd2())
		owner.scope = BLOCK_JOURNAL;
	if (owner.scope == BLOCK_JOURNAL || (operation != BLOCK_READ && operation != BLOCK_WRITE))
		return owner;
	index = BPF_CORE_READ(bio, bi_iter.bi_idx);
	vector = BPF_CORE_READ(bio, bi_io_vec);
	page = vector ? BPF_CORE_READ(&vector[index], bv_page) : NULL;
	/* The first part of one that was too long. */
	if (end_io && end_io == &bio_chain_endio) {
		bio = BPF_CORE_READ(bio, bi_private);
		end_io = BPF_CORE_READ(bio, bi_end_io);
	}
	if (end_io && end_io == &xlog_bio_end_io) {
		owner.scope = BLOCK_JOURNAL;
		return owner;
	}
	if (end_io && end_io == &iomap_dio_bio_end_io) {
		direct = BPF_CORE_READ(bio, bi_private);
		inode = BPF_CORE_READ(direct, iocb, ki_filp, f_inode);
	} else {
		inode = page ? inode_of_page(page) : NULL;
		owner.is_cached = !!inode;
	}
	if (!inode)
		return owner;
	if ((BPF_CORE_READ(inode, i_mode) & S_IFMT) == S_IFREG) {
		owner.scope = BLOCK_FILE;
		owner.inode = BPF_CORE_READ(inode, i_ino);
		owner.filesystem = BPF_CORE_READ(inode, i_sb, s_dev);
	} else {
		owner.scope = BLOCK_METADATA;
	}
	return owner;
}

#endif
