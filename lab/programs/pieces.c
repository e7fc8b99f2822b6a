
/*
 * A server with a thread for each connection, which writes the head of an answer and its body by a call each. The kernel
 * sends the second "at-once", as it does with TCP_NODELAY, or "later": when the client has acknowledged the first (RFC 896),
 * which has nothing to say and delays that. A request and its answer are eight bytes.
 *
 * server PORT at-once|later
 */
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

enum { MESSAGE = 8, HEAD = 4 };

static void *serve(void *argument)
{
	int socket = (int)(intptr_t)argument;
	char message[MESSAGE];

	while (recv(socket, message, MESSAGE, MSG_WAITALL) == MESSAGE) {
		if (send(socket, message, HEAD, MSG_NOSIGNAL) != HEAD)
			break;
		if (send(socket, message + HEAD, MESSAGE - HEAD, MSG_NOSIGNAL) != MESSAGE - HEAD)
			break;
	}
	close(socket);
	return NULL;
}

int main(int count, char **words)
{
	if (count != 3)
		errx(1, "usage: server PORT at-once|later");
	int at_once = !strcmp(words[2], "at-once");
	int listener = listening(words[1]);
	for (;;) {
		int socket = accept(listener, NULL, NULL);
		pthread_t thread;

		if (socket < 0)
			err(1, "cannot accept a connection");
		setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof(at_once));
		if (pthread_create(&thread, NULL, serve, (void *)(intptr_t)socket))
			errx(1, "cannot start a thread");
		pthread_detach(thread);
	}
}
