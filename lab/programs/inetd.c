/* A web server that starts a process for each connection, as inetd does, and that closes every descriptor which the
 * process might have inherited before that begins to work: as many as its limit allows, whether they are open or not.
 *
 * inetd PORT */
#include <signal.h>
#include <string.h>
#include <unistd.h>

static void answer(int connection)
{
	static const char text[] =
		"HTTP/1.0 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\nok\n";
	char head[4096];
	long most = sysconf(_SC_OPEN_MAX);

	for (int descriptor = 3; descriptor < most; descriptor++)
		if (descriptor != connection)
			close(descriptor);
	if (read(connection, head, sizeof(head)) > 0 &&
	    write(connection, text, strlen(text)) < 0)
		_exit(1);
	_exit(0);
}

int main(int argc, char **argv)
{
	int listener = listening(argc > 1 ? argv[1] : "0");

	/* Nobody waits for the children. */
	signal(SIGCHLD, SIG_IGN);
	for (;;) {
		int connection = accept(listener, NULL, NULL);

		if (connection < 0)
			continue;
		if (fork() == 0)
			answer(connection);
		close(connection);
	}
}
