/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * stealmeter: where the time of an event loop's thread goes, counted by the loop itself.
 *
 *     stealmeter *meter = stealmeter_new();
 *     stealmeter_reader *reader = stealmeter_reader_new(meter);   // for another thread
 *     for (;;) {
 *         stealmeter_before_wait(meter);
 *         int n = epoll_wait(epoll, events, 64, -1);
 *         stealmeter_after_wait(meter);
 *         ... work ...
 *     }
 *
 * The marks go around the call that may put the loop to sleep, and nothing else. A poll that returns
 * at once whatever it finds needs none, only stealmeter_tick() once a round.
 *
 * Five classes share out the time of the thread, in nanoseconds. They never decrease, add up to
 * wall_ns in every snapshot, and do not depend on who reads or how often.
 *
 * One thread marks; any number of others read, without locks, in a bounded number of steps. A meter
 * that is marked by another thread than before, or by the child of a fork, begins anew there: its
 * counters go on from where they were, the time in between is in none of them. The file that it keeps
 * open is closed by exec.
 *
 * Where a function takes a pointer, NULL does nothing.
 */
#ifndef STEALMETER_H
#define STEALMETER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Counts where the time of the thread that marks its boundaries goes. */
typedef struct stealmeter stealmeter;

/* Reads the counters of a meter, also after that is gone. Threads may share one. */
typedef struct stealmeter_reader stealmeter_reader;

/* The counters as of the loop's last boundary: what came after it is in no class yet. */
typedef struct stealmeter_snapshot {
	/* On a CPU, ns (CLOCK_THREAD_CPUTIME_ID). */
	uint64_t cpu_ns;
	/* Ready to run and not running, ns: others had the CPU, or the quota was used up. */
	uint64_t run_queue_ns;
	/* Asleep in a wait of the loop, ns. */
	uint64_t sleep_ns;
	/* Asleep elsewhere, ns: blocking calls, locks, page faults that read from a disk. */
	uint64_t blocked_ns;
	/* Neither on a CPU nor waiting for one by the kernel's word, in a stretch in which the thread
	 * never gave up the CPU, ns: interrupts, a hypervisor. Elsewhere it is in blocked_ns. */
	uint64_t hidden_ns;
	/* The sum of the five, ns of CLOCK_MONOTONIC. */
	uint64_t wall_ns;
	/* When that boundary was, ns on CLOCK_MONOTONIC. */
	uint64_t at_ns;
	/* How many boundaries were booked. */
	uint64_t boundaries;
	/* How many could not be read in one piece, and were booked with the next. */
	uint64_t torn;
	/* STEALMETER_..., below. */
	uint64_t flags;
} stealmeter_snapshot;

/* The loop went to wait at that boundary. */
#define STEALMETER_WAITING UINT64_C(1)
/* The kernel does not tell the waiting for a CPU (no /proc/thread-self/schedstat): run_queue_ns has
 * only that of stretches in which the thread did not sleep, the rest is in sleep_ns and blocked_ns. */
#define STEALMETER_RUN_QUEUE_IN_PART UINT64_C(2)
/* The writer stood in the middle of publishing: each counter is of one of two boundaries that follow
 * each other. They add up and never decrease all the same. */
#define STEALMETER_MIXED UINT64_C(4)
/* The meter is gone: nothing will change any more. */
#define STEALMETER_ENDED UINT64_C(8)

/* Begins a meter of the calling thread. Never NULL. */
stealmeter *stealmeter_new(void);

/* The same without a look at schedstat: cheaper, with STEALMETER_RUN_QUEUE_IN_PART. Never NULL. */
stealmeter *stealmeter_new_clocks_only(void);

/* Ends a meter: the last thing its thread does with it. Its readers stay. */
void stealmeter_free(stealmeter *meter);

/* The loop is about to make a call that may put it to sleep. */
void stealmeter_before_wait(stealmeter *meter);

/* That call has returned. */
void stealmeter_after_wait(stealmeter *meter);

/* The loop went round without waiting: brings the counters up to date if that was not done for
 * 10 ms, and costs a look at the clock otherwise. */
void stealmeter_tick(stealmeter *meter);

/* Brings the counters up to date now. */
void stealmeter_update(stealmeter *meter);

/* A reader of this meter. Called by the meter's thread. */
stealmeter_reader *stealmeter_reader_new(const stealmeter *meter);

/* Gives a reader back. */
void stealmeter_reader_free(stealmeter_reader *reader);

/* The counters as of the last boundary. 0, or -1 where a pointer is NULL. */
int stealmeter_read(const stealmeter_reader *reader, stealmeter_snapshot *into);

#ifdef __cplusplus
}
#endif

#endif /* STEALMETER_H */
