/* What the servers in C begin with: they are compiled as one text with this. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <stdlib.h>
#include <sys/socket.h>

static int listening(const char *port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(atoi(port)),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof(address)) ||
	    listen(listener, 64))
		err(1, "cannot listen on port %s", port);
	return listener;
}

