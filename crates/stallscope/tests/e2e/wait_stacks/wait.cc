// The same in C++, on condition variables.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>

using Clock = std::chrono::steady_clock;

static double seconds(Clock::duration time)
{
	return std::chrono::duration<double>(time).count();
}

namespace work {
template <typename T> struct Waiter {
	std::mutex mutex;
	std::condition_variable never;

	void rest(int ms)
	{
		std::unique_lock<std::mutex> lock(mutex);
		never.wait_for(lock, std::chrono::milliseconds(ms));
	}
	__attribute__((noinline)) double heavy_cc(Clock::time_point begun)
	{
		rest(6);
		return seconds(Clock::now() - begun);
	}
	__attribute__((noinline)) double middle_cc(Clock::time_point begun)
	{
		rest(3);
		return seconds(Clock::now() - begun);
	}
	__attribute__((noinline)) double light_cc(Clock::time_point begun)
	{
		rest(1);
		return seconds(Clock::now() - begun);
	}
};
} // namespace work

int main(int, char **argv)
{
	auto begun = Clock::now();
	double until = atof(argv[1]), spent[3] = {};
	work::Waiter<long> waiter;

	while (seconds(Clock::now() - begun) < until) {
		spent[0] += waiter.heavy_cc(Clock::now());
		spent[1] += waiter.middle_cc(Clock::now());
		spent[2] += waiter.light_cc(Clock::now());
	}
	printf("cc %f %f %f\n", spent[0], spent[1], spent[2]);
}
