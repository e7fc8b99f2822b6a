
/*
 * A server that looks into a table for each request, under a mutex, and then writes to a journal, a thread and a
 * journal for each connection. A thread in the background makes the table anew, again and again: it has the mutex
 * meanwhile, or works beside it. Journals are synced, or left to the kernel. A request and its answer are eight bytes.
 *
 * server PORT FOLDER locked|beside synced|left
 */
#include <fcntl.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MESSAGE = 8, ENTRY = 512, NAME = 4096 };

static const struct timespec RENEW = { .tv_nsec = 20000000 };
static const struct timespec PAUSE = { .tv_nsec = 10000000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static const char *folder;
static int locked, synced;
static volatile long looked;

static void *serve(void *argument)
{
	int socket = (int)(intptr_t)argument;
	char message[MESSAGE], entry[ENTRY], name[NAME];
	int on = 1;

	snprintf(name, NAME, "%s/%d", folder, socket);
	int journal = open(name, O_WRONLY | O_CREAT, 0600);
	if (journal < 0)
		err(1, "cannot open %s", name);
	memset(entry, 'x', ENTRY);
	setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	while (recv(socket, message, MESSAGE, MSG_WAITALL) == MESSAGE) {
		pthread_mutex_lock(&mutex);
		looked++;
		pthread_mutex_unlock(&mutex);
		if (pwrite(journal, entry, ENTRY, 0) != ENTRY)
			err(1, "cannot write to %s", name);
		if (synced && fsync(journal))
			err(1, "cannot sync %s", name);
		if (send(socket, message, MESSAGE, MSG_NOSIGNAL) != MESSAGE)
			break;
	}
	close(journal);
	close(socket);
	return NULL;
}

static void *renew(void *argument)
{
	(void)argument;
	for (;;) {
		if (locked)
			pthread_mutex_lock(&mutex);
		nanosleep(&RENEW, NULL);
		if (locked)
			pthread_mutex_unlock(&mutex);
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
	if (count != 5)
		errx(1, "usage: server PORT FOLDER locked|beside synced|left");
	folder = words[2];
	locked = !strcmp(words[3], "locked");
	synced = !strcmp(words[4], "synced");
	int listener = listening(words[1]);
	start(renew, NULL);
	for (;;) {
		int socket = accept(listener, NULL, NULL);

		if (socket < 0)
			err(1, "cannot accept a connection");
		start(serve, (void *)(intptr_t)socket);
	}
}
