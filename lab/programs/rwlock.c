
/*
 * A server that reads a table for each request, a thread for each connection, and shares it by a lock that
 * many readers may have at once. A thread in the background makes the table anew, again and again: it has
 * the lock for itself meanwhile, or works beside it. A request and its answer are eight bytes.
 *
 * server PORT locked|beside
 */
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MESSAGE = 8 };

static const struct timespec READ = { .tv_nsec = 200000 };
static const struct timespec RENEW = { .tv_nsec = 16000000 };
static const struct timespec PAUSE = { .tv_nsec = 4000000 };

static pthread_rwlock_t lock;

static void *serve(void *argument)
{
	int socket = (int)(intptr_t)argument;
	char message[MESSAGE];
	int on = 1;

	setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	while (recv(socket, message, MESSAGE, MSG_WAITALL) == MESSAGE) {
		pthread_rwlock_rdlock(&lock);
		nanosleep(&READ, NULL);
		pthread_rwlock_unlock(&lock);
		if (send(socket, message, MESSAGE, MSG_NOSIGNAL) != MESSAGE)
			break;
	}
	close(socket);
	return NULL;
}

static void *renew(void *argument)
{
	int locked = !strcmp(argument, "locked");

	for (;;) {
		if (locked)
			pthread_rwlock_wrlock(&lock);
		nanosleep(&RENEW, NULL);
		if (locked)
			pthread_rwlock_unlock(&lock);
		nanosleep(&PAUSE, NULL);
	}
	return NULL;
}

static void start(void *(*work)(void *), void *argument)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, work, argument))
		errx(1, "cannot start a thread");
	pthread_detach(thread);
}

int main(int count, char **words)
{
	pthread_rwlockattr_t attributes;

	if (count != 3)
		errx(1, "usage: server PORT locked|beside");
	pthread_rwlockattr_init(&attributes);
	/* Else readers, of whom there is always one, would never let it in. */
	pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&lock, &attributes);
	int listener = listening(words[1]);
	start(renew, words[2]);
	for (;;) {
		int socket = accept(listener, NULL, NULL);

		if (socket < 0)
			err(1, "cannot accept a connection");
		start(serve, (void *)(intptr_t)socket);
	}
}
