/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Addresses of sockets over IP, and the kernel's numbers for families, types and states.
 */
#ifndef STALLSCOPE_ADDRESS_BPF_H
#define STALLSCOPE_ADDRESS_BPF_H

#include "kernel.bpf.h"
#include <bpf/bpf_endian.h>

/* include/linux/socket.h */
#define AF_UNIX 1
#define AF_INET 2
#define AF_INET6 10
#define SOCK_STREAM 1
#define SOCK_DGRAM 2
/* include/net/tcp_states.h */
#define TCP_ESTABLISHED 1
#define TCP_CLOSE_WAIT 8
#define TCP_SYN_RECV 3
#define TCP_LISTEN 10
/* IPv4 in an address of IPv6 is IPv4: the two ends of a connection may differ in that. */
static __always_inline void unmap(__u16 *family, __u8 *address)
{
	__u32 *words = (__u32 *)address;

	if (*family != AF_INET6 || words[0] || words[1] || words[2] != bpf_htonl(0xffff))
		return;
	*family = AF_INET;
	words[0] = words[3];
	words[2] = 0;
	words[3] = 0;
}

/* The other end's address, of which IPv4 takes the first four bytes; false for a socket that is not of IP. */
static __always_inline bool far_address(struct sock_common *ends, __u8 *address)
{
	__u16 family = ends->skc_family;

	if (family == AF_INET)
		__builtin_memcpy(address, &ends->skc_daddr, 4);
	else if (family == AF_INET6)
		BPF_CORE_READ_INTO((struct in6_addr *)address, ends, skc_v6_daddr);
	else
		return false;
	return true;
}

#endif
