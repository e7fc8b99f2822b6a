/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * What the example loops share: another thread that prints the counters once a second, the work that
 * a request is, and how long to run (the first argument, in seconds).
 */
#ifndef EACH_SECOND_H
#define EACH_SECOND_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <stealmeter.h>

#define MS 1000000ull

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 * MS + (uint64_t)now.tv_nsec;
}

static uint64_t end_ns(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 10;

	return now_ns() + (uint64_t)(seconds * 1e9);
}

/* A request: 2 ms of a CPU, or longer where others have it. */
static void work(void)
{
	uint64_t end = now_ns() + 2 * MS;

	while (now_ns() < end)
		;
}

static void *print_each_second(void *reader)
{
	stealmeter_snapshot last = { 0 }, seen;
	const struct timespec second = { .tv_sec = 1 };

	for (;;) {
		nanosleep(&second, NULL);
		stealmeter_read(reader, &seen);
#define MS_SINCE(field) ((double)(seen.field - last.field) / MS)
		printf("cpu %.3f  run_queue %.3f  sleep %.3f  blocked %.3f  hidden %.3f  wall %.3f ms\n",
		       MS_SINCE(cpu_ns), MS_SINCE(run_queue_ns), MS_SINCE(sleep_ns),
		       MS_SINCE(blocked_ns), MS_SINCE(hidden_ns), MS_SINCE(wall_ns));
#undef MS_SINCE
		fflush(stdout);
		last = seen;
	}
	return NULL;
}

/* The thread ends with the program. */
static bool start_printing(const stealmeter *meter)
{
	pthread_t thread;

	return pthread_create(&thread, NULL, print_each_second, stealmeter_reader_new(meter)) == 0 &&
	       pthread_detach(thread) == 0;
}

#endif /* EACH_SECOND_H */
