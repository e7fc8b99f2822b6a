/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whether the bytes that a server has just read hold more than one command of Redis's protocol.
 *
 * In RESP a number before each command gives its number of elements (`*2`), and a number before
 * each element its length (`$3`; https://redis.io/docs/latest/develop/reference/protocol-spec/).
 * These numbers alone say where the first command ends: the contents are not looked at, and no byte
 * of them is kept. The data is in the memory that the system call names; only for read(2) and
 * recv(2) is that known.
 */
#ifndef STALLSCOPE_RESP_BPF_H
#define STALLSCOPE_RESP_BPF_H

#include "kernel.bpf.h"

/* Commands with more elements are not parsed. */
#define RESP_MOST_PARTS 64
/* An element has at most 512 MB. */
#define RESP_MOST_DIGITS 9
#define RESP_NO_NUMBER 0xffffffff

enum resp_commands {
	/* The data does not begin with a command. */
	RESP_NONE,
	/* One command, or the beginning of one. */
	RESP_ONE,
	/* One command, and more data after it. */
	RESP_SEVERAL
};

/* A sign, digits and the first byte of their end. */
#define RESP_LONGEST (1 + RESP_MOST_DIGITS + 1)
/* Bytes copied at once: a usual command fits. */
#define RESP_WINDOW 64

struct resp {
	unsigned long bytes;
	__u32 length;
	/* Offset up to which the data is parsed. */
	__u32 at;
	/* Offset at which the copy begins; the data may end before the window does. */
	__u32 from;
	char window[RESP_WINDOW];
};

/* Address of the current thread's read buffer; 0 if its system call is neither read nor
 * recvfrom. */
static __always_inline unsigned long read_to(void)
{
	void *registers = (void *)bpf_task_pt_regs(bpf_get_current_task_btf());
	struct pt_regs___x86 *x86 = registers;
	struct pt_regs___arm64 *arm64 = registers;

	/* System call numbers of read and recvfrom. */
	if (bpf_core_field_exists(x86->orig_ax))
		return x86->orig_ax == 0 || x86->orig_ax == 45 ? x86->si : 0;
	if (bpf_core_field_exists(arm64->syscallno))
		return arm64->syscallno == 63 || arm64->syscallno == 207 ? arm64->regs[1] : 0;
	return 0;
}

static __always_inline bool resp_copy(struct resp *resp)
{
	__u32 left;

	if (resp->at >= resp->length)
		return false;
	left = resp->length - resp->at;
	if (left > RESP_WINDOW)
		left = RESP_WINDOW;
	resp->from = resp->at;
	return !bpf_probe_read_user(resp->window, left, (void *)(resp->bytes + resp->at));
}

/* Parses a number after its sign: `$3\r\n`. Returns RESP_NO_NUMBER if it is not there as a whole;
 * `at` may then end beyond `length`. */
static __always_inline __u32 resp_number(struct resp *resp, char sign)
{
	__u32 begin, digits, value = 0;
	__u8 digit;

	if (resp->at - resp->from > RESP_WINDOW - RESP_LONGEST && !resp_copy(resp))
		return RESP_NO_NUMBER;
	begin = resp->at - resp->from;
	if (begin > RESP_WINDOW - RESP_LONGEST || resp->window[begin] != sign)
		return RESP_NO_NUMBER;
	for (digits = 0; digits < RESP_MOST_DIGITS; digits++) {
		digit = resp->window[begin + 1 + digits] - '0';
		if (digit > 9)
			break;
		value = value * 10 + digit;
	}
	if (!digits || resp->window[begin + 1 + digits] != '\r')
		return RESP_NO_NUMBER;
	resp->at += 1 + digits + 2;
	return value;
}

/* Skips one element. Stops the loop where the data does not even hold the beginning of the next. */
static long resp_skip_part(__u32 role, struct resp *resp)
{
	__u32 bytes = resp_number(resp, '$');

	resp->at = bytes == RESP_NO_NUMBER ? resp->length : resp->at + bytes + 2;
	return resp->at >= resp->length;
}

/* Looks at the `length` bytes that the current thread has just read. */
static __noinline enum resp_commands resp_commands(__u32 length)
{
	struct resp resp = { .bytes = read_to(), .length = length };
	__u32 roles;

	if (!resp.bytes || !resp_copy(&resp))
		return RESP_NONE;
	roles = resp_number(&resp, '*');
	if (roles == RESP_NO_NUMBER)
		return RESP_NONE;
	if (!roles || roles > RESP_MOST_PARTS)
		return RESP_ONE;
	bpf_loop(roles, resp_skip_part, &resp, 0);
	return resp.at < resp.length ? RESP_SEVERAL : RESP_ONE;
}

#endif
