/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where in the kernel does a target or generator thread wait (wait site), and for what I/O (I/O
 * intent)?
 *
 * The top of the thread's kernel stack is walked from the innermost frame outwards. A map says what
 * each return address means. A new address is inserted without a meaning, until user space has
 * asked for its name and written the meaning. So no list of kernel symbols is needed, which few
 * users may read (kernel.kptr_restrict).
 * Cost: some microseconds per walk, only at switches in which a thread blocks for memory, a disk or
 * another kernel wait.
 * Lost: addresses that do not fit into the map (`symbols_dropped`); the other frames of the stack
 * decide then.
 */
#ifndef STALLSCOPE_WAIT_SITE_BPF_H
#define STALLSCOPE_WAIT_SITE_BPF_H

#include "reason.bpf.h"

/* From the scheduler's own frames outwards: an O_SYNC write is a dozen calls away from the disk. */
#define MOST_FRAMES 20
/* This program, its trampoline, the tracepoint. */
#define FRAMES_BEFORE 3

/* Whether this question is asked. Set by user space. */
const volatile __u32 asks_wait_site = 1;

/* What the kernel stack says about a kernel wait; zero if the thread is in
 * none. */
struct wait_context {
	/* enum wait_site */
	__u32 wait_site;
	/* enum thread_time_call: the I/O intent */
	__u32 io_intent;
};

struct stack_head {
	__u64 addresses[MOST_FRAMES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stack_head);
} head_by_cpu SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, THREAD_TIME_MOST_SYMBOLS);
	__type(key, __u64);
	__type(value, struct kernel_symbol);
} symbol_by_address SEC(".maps");

/* Addresses inserted, and insertions that failed. */
__u64 symbols_found;
__u64 symbols_dropped;

/* Input of `name_symbol`, and its output. */
__u64 requested_address;
char symbol_name[THREAD_TIME_SYMBOL_NAME];

static __always_inline const struct kernel_symbol *symbol_at(__u64 address)
{
	const struct kernel_symbol *symbol = bpf_map_lookup_elem(&symbol_by_address, &address);
	struct kernel_symbol nothing = {};

	if (symbol || !address)
		return symbol;
	if (bpf_map_update_elem(&symbol_by_address, &address, &nothing, BPF_NOEXIST))
		__sync_fetch_and_add(&symbols_dropped, 1);
	else
		__sync_fetch_and_add(&symbols_found, 1);
	return NULL;
}

/* Whether the current thread, which is about to leave its CPU blocked in a state, does so at a wait
 * site. */
static __always_inline bool has_wait_site(struct task_struct *task, __u32 blocked_in)
{
	return asks_wait_site && is_uninterruptible(task, blocked_in);
}

/* Walks the stack of that thread, which takes microseconds. The innermost generic function (a page, a
 * lock) decides the site, unless a function further out has a specific one. */
static __noinline int wait_site_on_switch_out(void *ctx, struct wait_context *context)
{
	const struct kernel_symbol *symbol;
	struct stack_head *head;
	__u32 first = 0;
	long length;
	int each;

	if (!context)
		return 0;
	head = bpf_map_lookup_elem(&head_by_cpu, &first);
	if (!head)
		return 0;
	length = bpf_get_stack(ctx, head->addresses, sizeof(head->addresses), FRAMES_BEFORE);
	for (each = 0; each < MOST_FRAMES && (long)(each * sizeof(__u64)) < length; each++) {
		symbol = symbol_at(head->addresses[each]);
		if (!symbol)
			continue;
		if (symbol->wait_site > WAIT_SITE_KERNEL_LOCK ? context->wait_site <= WAIT_SITE_KERNEL_LOCK
								: !context->wait_site)
			context->wait_site = symbol->wait_site;
		if (context->io_intent == THREAD_TIME_CALL_OTHER)
			context->io_intent = symbol->io_intent;
		if (context->wait_site > WAIT_SITE_KERNEL_LOCK && context->io_intent != THREAD_TIME_CALL_OTHER)
			break;
	}
	return 0;
}

/* Formats the kernel symbol of a return address. */
SEC("syscall")
int name_symbol(void *ctx)
{
	static const char format[] = "%pB";
	__u64 address = requested_address;

	return bpf_snprintf(symbol_name, sizeof(symbol_name), format, &address, sizeof(address));
}

#endif
