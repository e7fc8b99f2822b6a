/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Types and constants of the kernel's and libbpf's interfaces (include/uapi/linux/types.h and
 * bpf.h), as far as they are used here: the system's own headers differ between distributions.
 */
#ifndef STALLSCOPE_TYPES_BPF_H
#define STALLSCOPE_TYPES_BPF_H

typedef signed char __s8;
typedef unsigned char __u8;
typedef short __s16;
typedef unsigned short __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long __s64;
typedef unsigned long long __u64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;

#define bool _Bool
#define true 1
#define false 0
#define NULL ((void *)0)

enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERF_EVENT_ARRAY = 4,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_QUEUE = 22,
	BPF_MAP_TYPE_SK_STORAGE = 24,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
};

/* Flags of a map update: create or replace; create only. */
enum {
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
};

/* Flags of maps. */
enum {
	BPF_F_NO_PREALLOC = 1 << 0,
	BPF_F_MMAPABLE = 1 << 10,
};

/* As a part of a map's value. */
struct bpf_spin_lock {
	__u32 val;
};

/* For bpf_task_storage_get and bpf_sk_storage_get. */
#define BPF_LOCAL_STORAGE_GET_F_CREATE 1

/* For bpf_ringbuf_output: the reader comes by the clock. */
#define BPF_RB_NO_WAKEUP 1

/* The CPU that the program runs on, for bpf_perf_event_output. */
#define BPF_F_CURRENT_CPU 0xffffffffULL

#endif
