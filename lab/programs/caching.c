
/*
 * A server that keeps a cache in memory of its own and leaves the file that it reads from to the page cache: a
 * thread for each connection, and each request reads some blocks, one after the other. The cache is filled when
 * the first request comes. A request and its answer are eight bytes.
 *
 * server PORT FILE MB
 */
#include <fcntl.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 4096, READS = 16, MESSAGE = 8 };

static int file;
static uint64_t blocks;
static size_t bytes;
/* What is kept must be kept, though nobody asks for it. */
static char *volatile cache;
static pthread_once_t first = PTHREAD_ONCE_INIT;

static void fill(void)
{
	cache = malloc(bytes);
	if (bytes && !cache)
		errx(1, "cannot keep %zu bytes", bytes);
	memset(cache, 7, bytes);
}

static void read_blocks(uint64_t *at)
{
	char block[BLOCK];

	for (int number = 0; number < READS; number++) {
		/* Knuth's constants: any order that is not sequential. */
		*at = *at * 6364136223846793005 + 1442695040888963407;
		if (pread(file, block, BLOCK, (off_t)((*at >> 33) % blocks * BLOCK)) != BLOCK)
			err(1, "cannot read a block");
	}
}

static void *serve(void *argument)
{
	int socket = (int)(intptr_t)argument;
	uint64_t at = (uint64_t)socket;
	char message[MESSAGE];

	while (recv(socket, message, MESSAGE, MSG_WAITALL) == MESSAGE) {
		pthread_once(&first, fill);
		read_blocks(&at);
		if (send(socket, message, MESSAGE, MSG_NOSIGNAL) != MESSAGE)
			break;
	}
	close(socket);
	return NULL;
}

int main(int count, char **words)
{
	if (count != 4)
		errx(1, "usage: server PORT FILE MB");
	file = open(words[2], O_RDONLY);
	if (file < 0)
		err(1, "cannot open %s", words[2]);
	/* Nobody can foresee what is asked for. */
	posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM);
	blocks = (uint64_t)lseek(file, 0, SEEK_END) / BLOCK;
	bytes = (size_t)atoi(words[3]) << 20;
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
