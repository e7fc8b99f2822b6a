/*
 * A tracer of system calls as anybody attaches one to a process: that stops before and after each call, and the tracer
 * takes some time to note it before it lets it go on. It says when it is attached, and ends with the process.
 *
 * tracing PID
 */
#include <err.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

static const struct timespec NOTE = { .tv_nsec = 250000 };

int main(int count, char **words)
{
	if (count != 2)
		errx(1, "usage: tracing PID");
	pid_t pid = atoi(words[1]);
	int status;

	if (ptrace(PTRACE_SEIZE, pid, NULL, PTRACE_O_TRACESYSGOOD) ||
	    ptrace(PTRACE_INTERRUPT, pid, NULL, NULL))
		err(1, "cannot trace process %d", pid);
	puts("tracing");
	fflush(stdout);
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		int signal = WSTOPSIG(status);

		if (signal == (SIGTRAP | 0x80))
			nanosleep(&NOTE, NULL);
		/* Stops of its own are no signals of the process. */
		if (signal == (SIGTRAP | 0x80) || status >> 16)
			signal = 0;
		if (ptrace(PTRACE_SYSCALL, pid, NULL, signal))
			break;
	}
	return 0;
}
