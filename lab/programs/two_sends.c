/* A web server with a thread for each connection, which sends the head of an answer and its body by a call each. Unless it
 * says otherwise (TCP_NODELAY), the kernel keeps the second, which is small, until the client has acknowledged the first.
 *
 * Compiled behind listening.c.
 *
 * two_sends PORT at-once|later
 */
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

static const char head[] = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n";
static const char body[] = "ok\n";

/* Whether a whole head has come; what is asked for has no body. */
static int asked(int connection)
{
	char text[4096];
	size_t length = 0;

	while (length < 4 || memcmp(text + length - 4, "\r\n\r\n", 4)) {
		ssize_t more = recv(connection, text + length, sizeof(text) - length, 0);

		if (more <= 0)
			return 0;
		length += more;
	}
	return 1;
}

static void *answer(void *argument)
{
	int connection = (intptr_t)argument;

	while (asked(connection)) {
		if (send(connection, head, strlen(head), MSG_NOSIGNAL) < 0 ||
		    send(connection, body, strlen(body), MSG_NOSIGNAL) < 0)
			break;
	}
	close(connection);
	return NULL;
}

int main(int count, char **words)
{
	int listener, at_once;

	if (count != 3)
		errx(2, "two_sends PORT at-once|later");
	listener = listening(words[1]);
	at_once = !strcmp(words[2], "at-once");
	for (;;) {
		pthread_t thread;
		int connection = accept(listener, NULL, NULL);

		if (connection < 0)
			err(1, "cannot accept");
		setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof(at_once));
		if (pthread_create(&thread, NULL, answer, (void *)(intptr_t)connection))
			errx(1, "cannot start a thread");
		pthread_detach(thread);
	}
}
