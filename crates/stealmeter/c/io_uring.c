/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A loop on io_uring: a timeout of 10 ms is asked for, each completion is 2 ms of work.
 *
 *     cc io_uring.c $(pkg-config --cflags --libs stealmeter liburing) -pthread && ./a.out 10
 *
 * Completions that are there already are taken without a system call. Only where there are none it
 * asks the kernel to wait, and only then pays for boundaries.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>

#include <liburing.h>

#include "each_second.h"

static struct __kernel_timespec pause_10_ms = { .tv_nsec = 10 * MS };

static void ask_for_timeout(struct io_uring *ring)
{
	io_uring_prep_timeout(io_uring_get_sqe(ring), &pause_10_ms, 0, 0);
}

int main(int argc, char **argv)
{
	uint64_t end = end_ns(argc, argv);
	struct io_uring ring;
	int error = io_uring_queue_init(8, &ring, 0);
	stealmeter *meter = stealmeter_new();

	if (error < 0 || !start_printing(meter)) {
		fprintf(stderr, "io_uring: %s\n", strerror(error < 0 ? -error : errno));
		return 1;
	}
	ask_for_timeout(&ring);
	while (now_ns() < end) {
		struct io_uring_cqe *done;

		if (io_uring_peek_cqe(&ring, &done) < 0) {
			stealmeter_before_wait(meter);
			error = io_uring_submit_and_wait(&ring, 1);
			stealmeter_after_wait(meter);
			if (error < 0 && error != -EINTR)
				return 1;
			continue;
		}
		stealmeter_tick(meter);
		io_uring_cqe_seen(&ring, done);
		work();
		ask_for_timeout(&ring);
	}
	stealmeter_free(meter);
	io_uring_queue_exit(&ring);
	return 0;
}
