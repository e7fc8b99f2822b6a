/*
 * Processes that wait in a way which the kernel counts as load, and that use no CPU: who calls vfork() sleeps
 * without being interruptible until its child runs a program or ends, and these children do neither.
 *
 * waiting COUNT
 */
#include <err.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <unistd.h>

static void end_with_parent(void)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL))
		err(1, "cannot be tied to a parent");
}

static void wait_for_child(void)
{
	end_with_parent();
	if (vfork() == 0) {
		end_with_parent();
		for (;;)
			pause();
	}
	err(1, "a child has ended, or was never there");
}

int main(int count, char **words)
{
	if (count != 2)
		errx(1, "usage: waiting COUNT");
	for (int number = atoi(words[1]); number > 0; number--) {
		pid_t child = fork();

		if (child < 0)
			err(1, "cannot start a process");
		if (child == 0)
			wait_for_child();
	}
	puts("waiting");
	fflush(stdout);
	for (;;)
		pause();
}
