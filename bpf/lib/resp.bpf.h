/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whether what a server has just read holds more than one command of Redis's protocol.
 *
 * RESP says before each command of how many parts it is (`*2`), and before each part how long that is
 * (`$3`; https://redis.io/docs/latest/develop/reference/protocol-spec/). So where the first command ends is
 * told by these numbers: what stands between them is not looked at, and nothing outlives the look. Found in
 * the memory that the call named: only what read(2) and recv(2) gave is known to be there.
 */
#ifndef STALLSCOPE_RESP_BPF_H
#define STALLSCOPE_RESP_BPF_H

#include "kernel.bpf.h"

/* Commands of more parts are not looked through. */
#define RESP_MOST_PARTS 64
/* No part is longer than 512 MB. */
#define RESP_MOST_DIGITS 9
#define RESP_NO_NUMBER 0xffffffff

enum resp_commands {
	/* Begins with no command. */
	RESP_NONE,
	/* One, or the beginning of one. */
	RESP_ONE,
	/* One, and something behind it. */
	RESP_SEVERAL
};

/* A sign, digits and what ends them. */
#define RESP_LONGEST (1 + RESP_MOST_DIGITS + 1)
/* Copied at once: a usual command as a whole. */
#define RESP_WINDOW 64

struct resp {
	unsigned long bytes;
	__u32 length;
	/* How far it was looked through. */
	__u32 at;
	/* Where the copy begins; it may end before the window does. */
	__u32 from;
	char window[RESP_WINDOW];
};

/* Where the current thread has what it reads just now; 0 where its call does not say. */
static __always_inline unsigned long read_to(void)
{
	void *registers = (void *)bpf_task_pt_regs(bpf_get_current_task_btf());
	struct pt_regs___x86 *x86 = registers;
	struct pt_regs___arm64 *arm64 = registers;

	/* Calls by their numbers: read and recvfrom. */
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

/* The number behind its sign: `$3\r\n`. One that is not all there ends behind the length. */
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

/* Ends where not even the beginning of what follows is there. */
static long resp_skip_part(__u32 role, struct resp *resp)
{
	__u32 bytes = resp_number(resp, '$');

	resp->at = bytes == RESP_NO_NUMBER ? resp->length : resp->at + bytes + 2;
	return resp->at >= resp->length;
}

/* What the current thread has just read, so many bytes. */
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
