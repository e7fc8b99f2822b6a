/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A loop that never sleeps: it looks at a flag again and again. Another thread raises it every 10 ms,
 * which is 2 ms of work.
 *
 *     cc busy.c $(pkg-config --cflags --libs stealmeter) -pthread && ./a.out 10
 *
 * There is nothing to mark, only the round itself.
 */
#define _GNU_SOURCE
#include <stdatomic.h>

#include "each_second.h"

static atomic_bool asked;

static void *ask_each_10_ms(void *nothing)
{
	const struct timespec pause = { .tv_nsec = 10 * MS };

	for (;;) {
		nanosleep(&pause, NULL);
		atomic_store(&asked, true);
	}
	return nothing;
}

int main(int argc, char **argv)
{
	uint64_t end = end_ns(argc, argv);
	stealmeter *meter = stealmeter_new();
	pthread_t thread;

	if (pthread_create(&thread, NULL, ask_each_10_ms, NULL) != 0 || !start_printing(meter)) {
		perror("busy");
		return 1;
	}
	pthread_detach(thread);
	while (now_ns() < end) {
		if (atomic_exchange(&asked, false))
			work();
		stealmeter_tick(meter);
	}
	stealmeter_free(meter);
	return 0;
}
