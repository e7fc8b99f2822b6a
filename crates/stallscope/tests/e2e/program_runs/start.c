/*
 * Starts as many processes as it is told, some at a time, and writes a line on each: kind, pid, the boot clock before it
 * was started and after it was waited for (ns), its CPU time as wait4 says it (us), and its status as wait4 says it.
 */
#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define AT_A_TIME 8
#define MOST_PIDS 4194304

static struct {
	const char *kind;
	long long before;
} started[MOST_PIDS];

static long long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_BOOTTIME, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void wait_for_one(void)
{
	struct rusage usage;
	int status;
	pid_t pid = wait4(-1, &status, 0, &usage);
	long long after = now();
	long long cpu = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000LL + usage.ru_utime.tv_usec +
			usage.ru_stime.tv_usec;

	printf("%s %d %lld %lld %lld %d\n", started[pid].kind, pid, started[pid].before, after, cpu, status);
}

static void start(int number)
{
	char name[32], status[16];
	char *words[] = { "short", "--password=hunter2", name, status, 0 };
	long long before = now();
	const char *kind = "exec";
	pid_t pid;

	snprintf(name, sizeof(name), "job%d", number);
	snprintf(status, sizeof(status), "%d", number % 7);
	if (number % 100 == 99) {
		kind = "fork";
		pid = fork();
		if (pid == 0)
			_exit(5);
	} else {
		if (number % 100 == 98)
			snprintf(status, sizeof(status), "kill");
		if (posix_spawn(&pid, "./short", 0, 0, words, environ))
			exit(1);
	}
	started[pid].kind = kind;
	started[pid].before = before;
}

int main(int count, char **words)
{
	int all = atoi(words[1]), number;

	for (number = 0; number < all; number++) {
		start(number);
		if (number >= AT_A_TIME)
			wait_for_one();
	}
	for (number = 0; number < AT_A_TIME && number < all; number++)
		wait_for_one();
	return 0;
}
