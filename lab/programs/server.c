/*
 * A server as around an embedded store: a thread for each connection, and each request reads some
 * blocks, one after the other, from a file past the page cache, as a descent of a tree does. It does
 * that while it holds the server's one mutex, or beside it. A request and its answer are eight bytes.
 *
 * server PORT FILE locked|beside
 */
#include <fcntl.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 4096, READS = 4, MESSAGE = 8 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int file;
static uint64_t blocks;
static int locked;

static void descend(void *block, uint64_t *at)
{
	for (int read = 0; read < READS; read++) {
		/* Knuth's constants: any order that is not sequential. */
		*at = *at * 6364136223846793005 + 1442695040888963407;
		if (pread(file, block, BLOCK, (*at >> 33) % blocks * BLOCK) != BLOCK)
			err(1, "cannot read the file");
	}
}

static void *serve(void *argument)
{
	int socket = (int)(intptr_t)argument;
	uint64_t at = (uint64_t)socket;
	char message[MESSAGE];
	void *block;

	if (posix_memalign(&block, BLOCK, BLOCK))
		errx(1, "there is no memory");
	while (recv(socket, message, MESSAGE, MSG_WAITALL) == MESSAGE) {
		if (locked)
			pthread_mutex_lock(&mutex);
		descend(block, &at);
		if (locked)
			pthread_mutex_unlock(&mutex);
		if (send(socket, message, MESSAGE, MSG_NOSIGNAL) != MESSAGE)
			break;
	}
	free(block);
	close(socket);
	return NULL;
}

int main(int count, char **words)
{
	if (count != 4)
		errx(1, "usage: server PORT FILE locked|beside");
	locked = !strcmp(words[3], "locked");
	file = open(words[2], O_RDONLY | O_DIRECT);
	if (file < 0)
		err(1, "cannot open %s", words[2]);
	blocks = (uint64_t)lseek(file, 0, SEEK_END) / BLOCK;
	int listener = listening(words[1]);
	for (;;) {
		int on = 1;
		int socket = accept(listener, NULL, NULL);
		pthread_t thread;

		if (socket < 0)
			err(1, "cannot accept a connection");
		setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		if (pthread_create(&thread, NULL, serve, (void *)(intptr_t)socket))
			errx(1, "cannot start a thread");
		pthread_detach(thread);
	}
}
