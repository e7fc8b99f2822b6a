/*
 * A server of several processes, each of which accepts a connection and answers it, as servers did before
 * they had threads. What the processes have in common lies in memory that they share, and so does the
 * mutex around it. A request sleeps while it holds that, or beside it. A request and its answer are eight
 * bytes.
 *
 * server PORT PROCESSES US locked|beside
 */
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { MESSAGE = 8 };

static pthread_mutex_t *mutex;
static struct timespec work;
static int locked;

static void share(void)
{
	pthread_mutexattr_t attributes;

	mutex = mmap(NULL, sizeof(*mutex), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (mutex == MAP_FAILED)
		err(1, "there is no memory");
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(mutex, &attributes);
}

static void answer(int socket)
{
	char message[MESSAGE];
	int on = 1;

	setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	while (recv(socket, message, MESSAGE, MSG_WAITALL) == MESSAGE) {
		if (locked)
			pthread_mutex_lock(mutex);
		nanosleep(&work, NULL);
		if (locked)
			pthread_mutex_unlock(mutex);
		if (send(socket, message, MESSAGE, MSG_NOSIGNAL) != MESSAGE)
			break;
	}
	close(socket);
}

static void serve(int listener)
{
	/* Nobody else would end it. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		int socket = accept(listener, NULL, NULL);

		if (socket < 0)
			err(1, "cannot accept a connection");
		answer(socket);
	}
}

int main(int count, char **words)
{
	if (count != 5)
		errx(1, "usage: server PORT PROCESSES US locked|beside");
	work.tv_nsec = atol(words[3]) * 1000;
	locked = !strcmp(words[4], "locked");
	share();
	int listener = listening(words[1]);
	for (int process = 0; process < atoi(words[2]); process++) {
		pid_t child = fork();

		if (child < 0)
			err(1, "cannot start a process");
		if (child == 0)
			serve(listener);
	}
	for (;;)
		pause();
}
