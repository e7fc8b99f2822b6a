/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A loop on epoll: a timer rings every 10 ms, each ring is 2 ms of work.
 *
 *     cc epoll.c $(pkg-config --cflags --libs stealmeter) -pthread && ./a.out 10
 *
 * It looks for events without waiting first. Only where there are none it goes to sleep, and only then
 * pays for boundaries.
 */
#define _GNU_SOURCE
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "each_second.h"

int main(int argc, char **argv)
{
	uint64_t end = end_ns(argc, argv);
	const struct itimerspec each_10_ms = {
		.it_interval = { .tv_nsec = 10 * MS },
		.it_value = { .tv_nsec = 10 * MS },
	};
	struct epoll_event event = { .events = EPOLLIN };
	int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	stealmeter *meter = stealmeter_new();

	if (timer < 0 || epoll < 0 || timerfd_settime(timer, 0, &each_10_ms, NULL) < 0 ||
	    epoll_ctl(epoll, EPOLL_CTL_ADD, timer, &event) < 0 || !start_printing(meter)) {
		perror("epoll");
		return 1;
	}
	while (now_ns() < end) {
		int ready = epoll_wait(epoll, &event, 1, 0);
		uint64_t rings;

		if (ready == 0) {
			stealmeter_before_wait(meter);
			ready = epoll_wait(epoll, &event, 1, -1);
			stealmeter_after_wait(meter);
		} else {
			stealmeter_tick(meter);
		}
		if (ready > 0 && read(timer, &rings, sizeof(rings)) == sizeof(rings))
			work();
	}
	stealmeter_free(meter);
	return 0;
}
