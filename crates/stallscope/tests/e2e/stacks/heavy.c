/* Spends its time in three functions, and says how much in each by its own CPU clock. Built without frame pointers. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double cpu(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static volatile uint64_t sink;

#define WORK(NAME, ROUNDS)                                          \
	__attribute__((noinline)) static double NAME(double begun)  \
	{                                                           \
		uint64_t sum = sink;                                \
		for (int i = 0; i < ROUNDS; i++)                    \
			sum = sum * 6364136223846793005u + i;       \
		sink = sum;                                         \
		return cpu() - begun;                               \
	}
WORK(heavy_c, 600000)
WORK(middle_c, 300000)
WORK(light_c, 100000)

__attribute__((noinline)) static void step(double spent[3])
{
	spent[0] += heavy_c(cpu());
	spent[1] += middle_c(cpu());
	spent[2] += light_c(cpu());
}

int main(int count, char **words)
{
	double spent[3] = { 0 }, seconds = count > 1 ? atof(words[1]) : 1;
	while (cpu() < seconds)
		step(spent);
	printf("c %f %f %f\n", spent[0], spent[1], spent[2]);
	return 0;
}
