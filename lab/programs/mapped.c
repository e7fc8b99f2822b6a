/*
 * A server as around a store that maps its file into memory and leaves it to the kernel what of it is
 * there: a thread for each connection, and each request looks at some pages, one after the other. A
 * request and its answer are eight bytes.
 *
 * server PORT FILE
 */
#include <fcntl.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, LOOKS = 64, MESSAGE = 8 };

/* What is looked at must be looked at, though nobody uses it. */
static const volatile unsigned char *bytes;
static uint64_t pages;

static void look(uint64_t *at)
{
	for (int page = 0; page < LOOKS; page++) {
		/* Knuth's constants: any order that is not sequential. */
		*at = *at * 6364136223846793005 + 1442695040888963407;
		(void)bytes[(*at >> 33) % pages * PAGE];
	}
}

static void *serve(void *argument)
{
	int socket = (int)(intptr_t)argument;
	uint64_t at = (uint64_t)socket;
	char message[MESSAGE];

	while (recv(socket, message, MESSAGE, MSG_WAITALL) == MESSAGE) {
		look(&at);
		if (send(socket, message, MESSAGE, MSG_NOSIGNAL) != MESSAGE)
			break;
	}
	close(socket);
	return NULL;
}

static void map(const char *path)
{
	int file = open(path, O_RDONLY);
	size_t length;
	void *mapped;

	if (file < 0)
		err(1, "cannot open %s", path);
	length = (size_t)lseek(file, 0, SEEK_END);
	mapped = mmap(NULL, length, PROT_READ, MAP_SHARED, file, 0);
	if (mapped == MAP_FAILED)
		err(1, "cannot map %s", path);
	/* Nobody can foresee what is asked for. */
	madvise(mapped, length, MADV_RANDOM);
	bytes = mapped;
	pages = length / PAGE;
}

int main(int count, char **words)
{
	if (count != 3)
		errx(1, "usage: server PORT FILE");
	map(words[2]);
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
