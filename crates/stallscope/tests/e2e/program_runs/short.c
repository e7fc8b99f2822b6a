/* Lives for a millisecond, and ends as its last argument says: with that status, or by a signal where it is "kill". */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int main(int count, char **words)
{
	struct timespec millisecond = { 0, 1000000 };

	nanosleep(&millisecond, 0);
	if (!strcmp(words[count - 1], "kill"))
		raise(SIGKILL);
	return atoi(words[count - 1]);
}
