/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A loop under everything that happens to threads, while others read its counters all the time:
 * signals, blocking calls, page faults, fork, exec, handing over, the end of the thread. Prints one
 * line for what does not hold and returns 1.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <stealmeter.h>

#define READERS 3
#define MS 1000000ull
#define CLASSES 5
#define PAGES (1 << 20)

static atomic_bool done;
static atomic_int broken;
static atomic_ulong reads, signals;

static void expect(bool holds, const char *what)
{
	if (holds)
		return;
	printf("does not hold: %s\n", what);
	atomic_fetch_add(&broken, 1);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 * MS + (uint64_t)now.tv_nsec;
}

static void sleep_ms(unsigned int ms)
{
	struct timespec rest = { .tv_nsec = (long)(ms * MS) };

	while (nanosleep(&rest, &rest) != 0)
		;
}

static const uint64_t *classes(const stealmeter_snapshot *seen)
{
	return &seen->cpu_ns;
}

static void check(const stealmeter_snapshot *last, const stealmeter_snapshot *seen)
{
	uint64_t sum = 0;

	for (int class = 0; class < CLASSES; class++) {
		expect(classes(seen)[class] >= classes(last)[class], "no class ever decreases");
		sum += classes(seen)[class];
	}
	expect(sum == seen->wall_ns, "the classes add up to the wall time");
	expect(seen->at_ns >= last->at_ns && seen->boundaries >= last->boundaries,
	       "boundaries come one after the other");
}

static void *read_all_the_time(void *reader)
{
	stealmeter_snapshot last = { 0 }, seen;

	while (!atomic_load(&done)) {
		expect(stealmeter_read(reader, &seen) == 0, "a reader reads");
		check(&last, &seen);
		last = seen;
		atomic_fetch_add(&reads, 1);
		sleep_ms(1);
	}
	return NULL;
}

static void on_signal(int number)
{
	(void)number;
	atomic_fetch_add(&signals, 1);
}

static void wait_a_little(stealmeter *meter)
{
	stealmeter_before_wait(meter);
	usleep(2000);
	stealmeter_after_wait(meter);
}

static void touch_pages(void)
{
	char *pages = mmap(NULL, PAGES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		return;
	memset(pages, 1, PAGES);
	munmap(pages, PAGES);
}

/* Page faults that read from a disk, as many as the file system grants: in memory there are none. */
static long fault_from_disk(void)
{
	static char content[PAGES];
	char name[] = "faults-XXXXXX";
	int file = mkstemp(name);
	struct rusage before, after;
	volatile char *pages;

	unlink(name);
	if (file < 0 || write(file, content, PAGES) != PAGES || fsync(file) != 0 ||
	    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) != 0)
		return 0;
	pages = mmap(NULL, PAGES, PROT_READ, MAP_PRIVATE, file, 0);
	if (pages == MAP_FAILED)
		return 0;
	getrusage(RUSAGE_THREAD, &before);
	for (size_t at = 0; at < PAGES; at += 4096)
		(void)pages[at];
	getrusage(RUSAGE_THREAD, &after);
	munmap((void *)pages, PAGES);
	close(file);
	return after.ru_majflt - before.ru_majflt;
}

/* The child marks the meter that it inherited; its exit status is what does not hold there. */
static int in_the_child(stealmeter *meter, stealmeter_reader *reader)
{
	stealmeter_snapshot before, first, seen;
	uint64_t begin;

	atomic_store(&broken, 0);
	stealmeter_read(reader, &before);
	sleep_ms(50);
	stealmeter_after_wait(meter);
	stealmeter_read(reader, &first);
	check(&before, &first);
	expect(first.wall_ns == before.wall_ns, "the child begins anew");
	begin = now_ns();
	for (int round = 0; round < 10; round++)
		wait_a_little(meter);
	stealmeter_read(reader, &seen);
	check(&first, &seen);
	expect(seen.wall_ns - first.wall_ns <= now_ns() - begin + MS, "the child's own time is metered");
	expect(seen.sleep_ns > first.sleep_ns, "the child's own sleep is seen");
	return atomic_load(&broken);
}

/* Signals come in between. */
static int exit_status(pid_t child)
{
	int status;

	if (child < 0)
		return -1;
	while (waitpid(child, &status, 0) != child)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void fork_children(stealmeter *meter, stealmeter_reader *reader)
{
	pid_t child = fork();

	if (child == 0)
		_exit(in_the_child(meter, reader));
	expect(exit_status(child) == 0, "a forked child");

	child = fork();
	if (child == 0) {
		execl("/bin/sh", "sh", "-c",
		      "for f in /proc/self/fd/*; do readlink $f; done | grep schedstat", (char *)NULL);
		_exit(2);
	}
	/* grep's 1: it found nothing. */
	expect(exit_status(child) == 1, "exec closes what the meter keeps open");
}

static void block_signals(int how)
{
	sigset_t alarm;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	pthread_sigmask(how, &alarm, NULL);
}

/* Some kernels count the sleep of a thread that they move as waiting for a CPU. */
static void stay_on_this_cpu(void)
{
	cpu_set_t here;

	CPU_ZERO(&here);
	CPU_SET((size_t)sched_getcpu(), &here);
	sched_setaffinity(0, sizeof(here), &here);
}

static void rounds(stealmeter *meter, stealmeter_reader *reader)
{
	stealmeter_snapshot before, after;
	long faults = 0;

	for (int round = 0; round < 100; round++) {
		wait_a_little(meter);
		touch_pages();
		if (round % 10 == 0)
			sleep_ms(3);
		if (round == 30 || round == 60)
			fork_children(meter, reader);
		stealmeter_tick(meter);
	}
	stealmeter_update(meter);
	stealmeter_read(reader, &before);
	for (int round = 0; round < 3; round++)
		faults += fault_from_disk();
	stealmeter_update(meter);
	stealmeter_read(reader, &after);
	expect(after.sleep_ns == before.sleep_ns, "outside waits there is no sleep");
	expect(faults == 0 || after.blocked_ns > before.blocked_ns, "page faults block");
}

static void *run_loop(void *given)
{
	stealmeter *meter = given;
	stealmeter_reader *reader = stealmeter_reader_new(meter);
	stealmeter_snapshot begin, seen;
	uint64_t outer_ns, inner_ns, wall_ns;

	block_signals(SIG_UNBLOCK);
	stay_on_this_cpu();
	/* It was made by another thread. */
	outer_ns = now_ns();
	stealmeter_update(meter);
	inner_ns = now_ns();
	stealmeter_read(reader, &begin);
	rounds(meter, reader);
	inner_ns = now_ns() - inner_ns;
	stealmeter_update(meter);
	outer_ns = now_ns() - outer_ns;
	stealmeter_read(reader, &seen);
	check(&begin, &seen);
	wall_ns = seen.wall_ns - begin.wall_ns;
	expect(wall_ns * 1000 >= inner_ns * 999 && wall_ns * 1000 <= outer_ns * 1001,
	       "the metered wall time is that of the clock within 0.1 %");
	expect(seen.blocked_ns - begin.blocked_ns >= 10 * 2 * MS, "blocking calls are blocked");
	expect(seen.sleep_ns > begin.sleep_ns && seen.cpu_ns > begin.cpu_ns, "waits and work are seen");
	expect(atomic_load(&signals) > 0, "signals arrived");
	stealmeter_free(meter);
	stealmeter_reader_free(reader);
	return NULL;
}

int main(void)
{
	/* No SA_RESTART: calls of the loop are really interrupted. */
	const struct sigaction action = { .sa_handler = on_signal };
	const struct itimerval each_ms = { { 0, 1000 }, { 0, 1000 } }, never = { 0 };
	stealmeter *meter = stealmeter_new();
	stealmeter_reader *reader = stealmeter_reader_new(meter);
	pthread_t readers[READERS], loop;
	stealmeter_snapshot seen;

	sigaction(SIGALRM, &action, NULL);
	/* The loop is the only one that takes them. */
	block_signals(SIG_BLOCK);
	setitimer(ITIMER_REAL, &each_ms, NULL);
	for (int i = 0; i < READERS; i++)
		if (pthread_create(&readers[i], NULL, read_all_the_time, reader) != 0)
			return 2;
	if (pthread_create(&loop, NULL, run_loop, meter) != 0)
		return 2;
	pthread_join(loop, NULL);
	setitimer(ITIMER_REAL, &never, NULL);
	expect(stealmeter_read(reader, &seen) == 0 && (seen.flags & STEALMETER_ENDED),
	       "the counters outlive their thread");
	atomic_store(&done, true);
	for (int i = 0; i < READERS; i++)
		pthread_join(readers[i], NULL);
	stealmeter_reader_free(reader);
	expect(stealmeter_read(NULL, &seen) == -1 && stealmeter_reader_new(NULL) == NULL,
	       "NULL is refused");
	stealmeter_tick(NULL);
	stealmeter_free(NULL);
	printf("%lu reads, %lu signals, sizeof %zu\n", atomic_load(&reads), atomic_load(&signals),
	       sizeof(stealmeter_snapshot));
	return atomic_load(&broken) > 0;
}
