/*
 * master PORT LOG [ADDRESS]: the one server that knows the schema of all tables. One thread answers one call after
 * the other; each takes some 150 us of CPU time, and a line in the log.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CALL_NS 150000

static FILE *call_log;

static long long now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void find_schema(void)
{
	long long end = now_ns(CLOCK_THREAD_CPUTIME_ID) + CALL_NS;

	while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

static void note_call(int client, long long took_ns)
{
	struct sockaddr_in from, to;
	socklen_t length = sizeof(from);
	char day[32], from_text[INET_ADDRSTRLEN], to_text[INET_ADDRSTRLEN];
	struct timespec now;
	struct tm parts;

	getpeername(client, (struct sockaddr *)&from, &length);
	length = sizeof(to);
	getsockname(client, (struct sockaddr *)&to, &length);
	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &parts);
	strftime(day, sizeof(day), "%m%d %H:%M:%S", &parts);
	inet_ntop(AF_INET, &from.sin_addr, from_text, sizeof(from_text));
	inet_ntop(AF_INET, &to.sin_addr, to_text, sizeof(to_text));
	fprintf(call_log,
		"I%s.%06ld master.c:61] Call yb.master.MasterService.GetTableSchema %s:%d => %s:%d (request call id 1) took %lldms\n",
		day, now.tv_nsec / 1000, from_text, ntohs(from.sin_port), to_text, ntohs(to.sin_port),
		took_ns / 1000000);
}

static void answer(int client)
{
	static char reply[1024];
	char text[4096];
	ssize_t got = recv(client, text, sizeof(text), 0);

	if (got <= 0) {
		close(client);
		return;
	}
	for (ssize_t at = 0; at < got; at++) {
		long long began = now_ns(CLOCK_MONOTONIC);

		if (text[at] != '\n')
			continue;
		find_schema();
		send(client, reply, sizeof(reply), MSG_NOSIGNAL);
		note_call(client, now_ns(CLOCK_MONOTONIC) - began);
	}
}

int main(int count, char **arguments)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	struct epoll_event event = {.events = EPOLLIN}, ready[64];
	int own = socket(AF_INET, SOCK_STREAM, 0), poll = epoll_create1(0), one = 1;

	if (count < 3 || count > 4 || inet_pton(AF_INET, count == 4 ? arguments[3] : "127.0.0.1", &address.sin_addr) != 1) {
		fprintf(stderr, "master PORT LOG [ADDRESS]\n");
		return 2;
	}
	call_log = fopen(arguments[2], "a");
	address.sin_port = htons(atoi(arguments[1]));
	setsockopt(own, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (!call_log || bind(own, (struct sockaddr *)&address, sizeof(address)) || listen(own, 256)) {
		fprintf(stderr, "master: %s: %s\n", arguments[1], strerror(errno));
		return 1;
	}
	event.data.fd = own;
	epoll_ctl(poll, EPOLL_CTL_ADD, own, &event);
	for (;;) {
		int many = epoll_wait(poll, ready, 64, -1);

		for (int at = 0; at < many; at++) {
			if (ready[at].data.fd != own) {
				answer(ready[at].data.fd);
				continue;
			}
			event.data.fd = accept(own, NULL, NULL);
			setsockopt(event.data.fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
			epoll_ctl(poll, EPOLL_CTL_ADD, event.data.fd, &event);
		}
		fflush(call_log);
	}
}
