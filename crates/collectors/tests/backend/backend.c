/* A stand-in for a server's process: it keeps a word and shows where, as PostgreSQL does since 14
 * or, with BEFORE_14, as 13 does. It wakes every millisecond, so that it is read at every sample. */
#include <stdlib.h>
#include <unistd.h>

static struct {
	char before[684];
	volatile unsigned word;
	char after[336];
} own;

#ifdef BEFORE_14
void *MyProc = &own;
#else
volatile unsigned *my_wait_event_info = &own.word;
#endif

int main(int argc, char **argv)
{
	own.word = argc > 1 ? strtoul(argv[1], NULL, 0) : 0;
	for (;;)
		usleep(1000);
}
