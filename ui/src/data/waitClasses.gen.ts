// Made by `UPDATE_EXPECT=1 cargo test -p sensors --test generated`
// from crates/model/src/wait_class.rs: change that instead.

/** The classes of a thread's time: word, label, state, place in a bar, mark and its colour. */
export const WAIT_CLASSES = [
  // Running.
  ["on_cpu", "on a CPU", "running", 10, "none", "--mark-on-strong"],
  // Runnable and not running, quota aside.
  ["cpu_wait", "waiting for a CPU", "waiting", 20, "up", "--cpu"],
  // Runnable and throttled by a CPU quota.
  ["throttled", "held back by a quota", "withheld", 30, "upright", "--mark-on-strong"],
  // Uninterruptible, reason not known: disk or kernel lock.
  ["uninterruptible", "uninterruptible", "disk", 80, "cross", "--mark-on-strong"],
  // In a page fault that waits for a disk: a mapped file, swap, or program code that is read again.
  ["page_fault", "page fault from disk", "disk", 70, "dots", "--mark-on-strong"],
  // Direct reclaim for itself.
  ["reclaim", "direct reclaim", "blocked", 90, "down", "--mark-on-strong"],
  // In fsync and its family.
  ["sync", "fsync", "disk", 40, "none", "--mark-on-strong"],
  // Waiting behind another thread of the target that is in fsync.
  ["sync_queue", "behind another's fsync", "disk", 50, "down", "--io"],
  // In a read or write that waits for a disk.
  ["read_write", "disk read or write", "disk", 60, "flat", "--mark-on-strong"],
  // Waiting for a lock of the database: row, table, transaction.
  ["database_lock", "database lock", "blocked", 100, "none", "--mark-on-strong"],
  // Waiting for a lock that the database takes for itself: buffer, log, lock table.
  ["internal_lock", "internal lock", "blocked", 110, "down", "--lock"],
  // In futex.
  ["futex", "futex", "blocked", 120, "dots", "--lock"],
  // Sending, and the other end does not take it.
  ["output", "sending", "blocked", 130, "upright", "--mark-on-strong"],
  // Waiting for input: epoll, poll, select, receive, accept.
  ["input", "waiting for input", "idle", 140, "none", "--mark-on-pale"],
  // In a timed sleep.
  ["sleep", "sleep", "idle", 150, "flat", "--mark-on-pale"],
  // In another system call.
  ["other_call", "other system calls", "idle", 160, "upright", "--mark-on-pale"],
  // Blocked, reason not known.
  ["unknown", "blocked, not seen in what", "unknown", 170, "cross", "--mark-on-pale"],
] as const;
