/* Waits of three functions whose times it knows, and a lock that one thread holds and another waits for. Built without
 * frame pointers. */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static pthread_mutex_t the_lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int over;
static volatile int held;

__attribute__((noinline)) double heavy_c(double begun)
{
	struct timespec rest = { 0, 6000000 };

	nanosleep(&rest, NULL);
	return now() - begun;
}

__attribute__((noinline)) double middle_c(double begun)
{
	poll(NULL, 0, 3);
	return now() - begun;
}

__attribute__((noinline)) double light_c(double begun)
{
	usleep(1000);
	return now() - begun;
}

__attribute__((noinline)) void hand_on(void)
{
	held = 0;
	pthread_mutex_unlock(&the_lock);
	/* The one who waits takes it. */
	usleep(2000);
}

static void *hold(void *unused)
{
	while (!over) {
		pthread_mutex_lock(&the_lock);
		held = 1;
		usleep(8000);
		hand_on();
	}
	return unused;
}

__attribute__((noinline)) void take(void)
{
	pthread_mutex_lock(&the_lock);
	pthread_mutex_unlock(&the_lock);
}

static void *contend(void *unused)
{
	while (!over) {
		if (held)
			take();
		usleep(500);
	}
	return unused;
}

int main(int argc, char **argv)
{
	double until = now() + atof(argv[1]), spent[3] = { 0, 0, 0 };
	pthread_t holder, contender;

	pthread_create(&holder, NULL, hold, NULL);
	pthread_create(&contender, NULL, contend, NULL);
	while (now() < until) {
		spent[0] += heavy_c(now());
		spent[1] += middle_c(now());
		spent[2] += light_c(now());
	}
	over = 1;
	pthread_join(holder, NULL);
	pthread_join(contender, NULL);
	printf("c %f %f %f\n", spent[0], spent[1], spent[2]);
	printf("lock %lld\n", (long long)&the_lock);
	return 0;
}
