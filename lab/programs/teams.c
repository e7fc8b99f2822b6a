/*
 * A server of several processes, each of which answers the requests of a connection, and has a team of threads (OpenMP)
 * for what it computes, as workers of a service do that use a library for numbers. The work of a request is some small
 * loops that the team shares. What a thread does until the next loop is the library's to say (OMP_WAIT_POLICY). A request
 * and its answer are eight bytes.
 *
 * server PORT PROCESSES THREADS LOOPS
 */
#include <netinet/tcp.h>
#include <omp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { MESSAGE = 8, NUMBERS = 16384 };

static double numbers[NUMBERS];

static double compute(int threads, int loops)
{
	double sum = 0;

	for (int loop = 0; loop < loops; loop++) {
#pragma omp parallel for num_threads(threads) reduction(+ : sum)
		for (int at = 0; at < NUMBERS; at++)
			sum += numbers[at] * loop;
	}
	return sum;
}

static void answer(int socket, int threads, int loops)
{
	char message[MESSAGE];
	int on = 1;

	setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	while (recv(socket, message, MESSAGE, MSG_WAITALL) == MESSAGE) {
		/* Else the compiler would leave it out. */
		numbers[0] = compute(threads, loops) > 0;
		if (send(socket, message, MESSAGE, MSG_NOSIGNAL) != MESSAGE)
			break;
	}
	close(socket);
}

static void serve(int listener, int threads, int loops)
{
	/* Nobody else would end it. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int at = 0; at < NUMBERS; at++)
		numbers[at] = at;
	for (;;) {
		int socket = accept(listener, NULL, NULL);

		if (socket < 0)
			err(1, "cannot accept a connection");
		answer(socket, threads, loops);
	}
}

int main(int count, char **words)
{
	if (count != 5)
		errx(1, "usage: server PORT PROCESSES THREADS LOOPS");
	int listener = listening(words[1]);
	for (int process = 0; process < atoi(words[2]); process++) {
		pid_t child = fork();

		if (child < 0)
			err(1, "cannot start a process");
		if (child == 0)
			serve(listener, atoi(words[3]), atoi(words[4]));
	}
	for (;;)
		pause();
}
