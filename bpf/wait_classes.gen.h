/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Made by `UPDATE_EXPECT=1 cargo test -p sensors --test generated` from
 * crates/model/src/wait_class.rs, and from kernel_wait.rs, thread_time.rs and wakeup.rs in
 * crates/sensors/src: change these instead. */
#ifndef STALLSCOPE_WAIT_CLASSES_GEN_H
#define STALLSCOPE_WAIT_CLASSES_GEN_H

/* A process's role in the measurement; of a CPU, the role of the thread that has it, or idle. */
enum thread_time_role {
	THREAD_TIME_BACKGROUND,
	THREAD_TIME_TARGET,
	THREAD_TIME_GENERATOR,
	THREAD_TIME_IDLE,
	THREAD_TIME_ROLES
};

/* I/O intent: what a thread in a kernel wait asked for, by its system call; a page fault is in
 * none. */
enum thread_time_call {
	THREAD_TIME_CALL_OTHER,
	THREAD_TIME_CALL_SYNC,
	THREAD_TIME_CALL_READ_WRITE,
	THREAD_TIME_CALL_FAULT,
	THREAD_TIME_CALL_KINDS
};

/* Wait classes other than the wait for a CPU (`queued_ns`). Each ns of a thread is in exactly
 * one. */
enum thread_time_class {
	/* On a CPU. */
	THREAD_TIME_ON_CPU,
	/* Throttled by a CPU quota, until on a CPU again (kernels before 6.18 do not show it:
	 * there it is in the waits for a CPU). */
	THREAD_TIME_THROTTLED,
	/* Waiting for memory (direct reclaim, as a rule), outside the calls below. */
	THREAD_TIME_MEMORY_OTHER,
	/* Waiting for memory, in fsync and its family. */
	THREAD_TIME_MEMORY_SYNC,
	/* Waiting for memory, in read, write and their families: refaults of evicted pages. */
	THREAD_TIME_MEMORY_READ_WRITE,
	/* Waiting for memory, in a page fault: refaults of evicted or swapped pages. */
	THREAD_TIME_MEMORY_FAULT,
	/* Waiting for a disk, outside the calls below. */
	THREAD_TIME_IO_OTHER,
	/* Waiting for a disk in fsync and its family, or in a synchronous write (O_DSYNC). */
	THREAD_TIME_IO_SYNC,
	/* Waiting for a disk in read, write and their families, those of io_uring and libaio
	 * among them. */
	THREAD_TIME_IO_READ_WRITE,
	/* Waiting for a disk in a page fault. */
	THREAD_TIME_IO_FAULT,
	/* Uninterruptible for something else in the kernel, a lock as a rule, outside the calls
	 * below. */
	THREAD_TIME_KERNEL_OTHER,
	/* Uninterruptible in fsync and its family and not for a disk: behind the file system's
	 * journal, as a rule. */
	THREAD_TIME_KERNEL_SYNC,
	/* Uninterruptible in read, write and their families and not for a disk: behind the lock
	 * of a file, as a rule. */
	THREAD_TIME_KERNEL_READ_WRITE,
	/* Uninterruptible in a page fault and not for a disk: behind the lock of the process's
	 * memory, as a rule. */
	THREAD_TIME_KERNEL_FAULT,
	/* Asleep in futex. */
	THREAD_TIME_FUTEX,
	/* Asleep in write, send and their families: the other end does not read. */
	THREAD_TIME_OUTPUT,
	/* Asleep waiting for input: epoll, poll, select, receive, accept, read of a pipe or
	 * socket. */
	THREAD_TIME_INPUT,
	/* In a timed sleep. */
	THREAD_TIME_SLEEP,
	/* Asleep in another system call. */
	THREAD_TIME_OTHER_CALL,
	/* Off-CPU, reason not known: stopped, traced, or a kernel thread. */
	THREAD_TIME_UNKNOWN,
	/* Asleep, with a wait event for an internal lock of the server (PostgreSQL: LWLock),
	 * except the next. */
	THREAD_TIME_EVENT_LWLOCK,
	/* Asleep, with a wait event for another session's flush of the log (PostgreSQL:
	 * LWLock:WALWrite). */
	THREAD_TIME_EVENT_LOG,
	/* Asleep, with a wait event for a row, table or transaction that another session has
	 * locked (PostgreSQL: Lock). */
	THREAD_TIME_EVENT_LOCK,
	/* Asleep, with a wait event for a buffer that others use (PostgreSQL: BufferPin). */
	THREAD_TIME_EVENT_BUFFER,
	/* Asleep, with the wait event of a server process that has no work (PostgreSQL:
	 * Activity). */
	THREAD_TIME_EVENT_ACTIVITY,
	/* Asleep, with a wait event for the client's next message (PostgreSQL: Client;
	 * Client:ClientWrite is in output_ns). */
	THREAD_TIME_EVENT_CLIENT,
	/* Asleep, with a wait event of an extension (PostgreSQL: Extension). */
	THREAD_TIME_EVENT_EXTENSION,
	/* Asleep, with a wait event for another process of the server: parallel workers, a
	 * synchronous standby (PostgreSQL: IPC). */
	THREAD_TIME_EVENT_IPC,
	/* Asleep, with a wait event until a time (PostgreSQL: Timeout). */
	THREAD_TIME_EVENT_TIMEOUT,
	/* Asleep and, by the kernel, not for a disk, with a wait event for I/O: for a server
	 * process that does I/O for others, as a rule (PostgreSQL: IO). */
	THREAD_TIME_EVENT_IO,
	THREAD_TIME_CLASSES
};

/* What a thread in a kernel wait waits for, by the kernel functions on its stack. The first few
 * are generic: for these a function further out on the stack decides, if it is specific. */
enum wait_site {
	/* In functions that are not in the list, or not known: the thread was blocked since
	 * before it was traced. */
	WAIT_SITE_OTHER,
	/* For a page of a file, or a buffer, that is being read, written back or used by
	 * another. */
	WAIT_SITE_PAGE,
	/* For a request to a disk: direct I/O, a flush, a free tag, a queue's limit. */
	WAIT_SITE_BLOCK,
	/* Behind a lock inside the kernel: of a file, a folder, or the process's map of memory. */
	WAIT_SITE_KERNEL_LOCK,
	/* Throttled by an I/O limit of its group that delays the thread (iocost, iolatency);
	 * limits in bytes or operations delay the request and are in page_ns and block_ns. */
	WAIT_SITE_THROTTLE,
	/* For the file system's journal or log (ext4, xfs, btrfs, zfs). */
	WAIT_SITE_JOURNAL,
	/* Throttled because too many pages are dirty. */
	WAIT_SITE_DIRTY_THROTTLE,
	/* In direct reclaim. */
	WAIT_SITE_RECLAIM,
	/* For a page that is read from swap. */
	WAIT_SITE_SWAP,
	/* For a network file system's server. */
	WAIT_SITE_NETWORK_FILE,
	/* For the process that serves a file system (FUSE). */
	WAIT_SITE_USER_FILE,
	WAIT_SITES
};

/* What ended a wait: a target or generator thread, whose pool is `waker`; a thread of a
 * background process, which is `waker`; an interrupt or softirq; a kernel thread. */
enum wakeup_by {
	WAKEUP_BY_UNKNOWN,
	WAKEUP_BY_POOL,
	WAKEUP_BY_BACKGROUND,
	WAKEUP_BY_INTERRUPT,
	WAKEUP_BY_KERNEL,
	WAKEUP_BYS
};

#endif
