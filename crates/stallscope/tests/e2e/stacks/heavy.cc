// The same with templates, methods and a lambda.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

static double cpu()
{
	timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static volatile uint64_t sink;

namespace work {
template <class T> struct Worker {
	std::vector<T> kept;
	__attribute__((noinline)) double heavy_cc(double begun, int rounds)
	{
		T sum = sink;
		for (int i = 0; i < rounds; i++)
			sum = sum * 6364136223846793005u + i;
		sink = sum;
		return cpu() - begun;
	}
	__attribute__((noinline)) double middle_cc(double begun) const
	{
		T sum = sink;
		for (int i = 0; i < 300000; i++)
			sum = sum * 6364136223846793005u + i;
		sink = sum;
		return cpu() - begun;
	}
	__attribute__((noinline)) static double light_cc(double begun)
	{
		T sum = sink;
		for (int i = 0; i < 100000; i++)
			sum = sum * 6364136223846793005u + i;
		sink = sum;
		return cpu() - begun;
	}
};
}

int main(int count, char **words)
{
	double spent[3] = {}, seconds = count > 1 ? atof(words[1]) : 1;
	work::Worker<uint64_t> worker;
	while (cpu() < seconds) {
		spent[0] += worker.heavy_cc(cpu(), 600000);
		spent[1] += worker.middle_cc(cpu());
		spent[2] += worker.light_cc(cpu());
	}
	printf("cc %f %f %f\n", spent[0], spent[1], spent[2]);
}
