//! What the name of the kernel function that a blocked thread sits in means.
//!
//! `/proc/PID/task/TID/wchan` names the innermost function outside the scheduler's own section
//! (`get_wchan`, `in_sched_functions` in kernel/sched/core.c). `mutex_lock`, `down_read`,
//! `schedule_timeout`, `io_schedule` and `wait_for_completion` lie in that section, so it is their
//! *caller* that shows: a wait for an inode's lock reads `ext4_buffered_write_iter`, never
//! `rwsem_down_write_slowpath`. Functions that the compiler put into others show as those, so one
//! wait has several names: epoll is `ep_poll` on 5.10 and `do_epoll_wait` on 6.18.
//!
//! Codes are stored in recordings: they are never given to another name. A wait that a group's I/O
//! limit prolongs (blk-throttle) shows as what waits for the page or the request, as measured on 6.18.

/// The code of a thread that sits in no kernel function: it runs, or is about to.
pub const NOT_WAITING: i64 = 0;
/// The code of every name that is not in the list.
pub const OTHER: i64 = 1;

/// What a blocked thread waits for, by the kernel function that it sits in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum WaitChannel {
    /// Nothing: it runs, or is about to.
    NotWaiting,
    /// A name that is not in the list.
    Other,
    /// A page of a file, or a buffer, that is being read, written back or held by another.
    Page,
    /// A request at the block layer: direct I/O, a flush, a free tag, a queue's limit.
    Block,
    /// A limit on a group's I/O.
    Throttle,
    /// The file system's journal or log.
    Journal,
    /// The kernel slows writers down because too many pages are dirty.
    DirtyThrottle,
    /// Memory being reclaimed.
    Reclaim,
    /// A page coming back from swap.
    Swap,
    /// A lock inside the kernel: of a file, a folder, or the process's map of memory.
    KernelLock,
    /// A lock on a file that another process holds.
    FileLock,
    /// A futex: a lock or a condition of the program's own.
    Futex,
    /// Events: poll, select, epoll.
    Poll,
    /// A socket's data, room or next connection.
    Socket,
    /// A pipe's data or room.
    Pipe,
    /// Asleep for a time.
    Sleep,
    /// Completions of io_uring.
    IoUring,
    /// A network file system's server.
    NetworkFile,
    /// A file system served by a process (FUSE).
    UserFile,
    /// A child's end, a signal, a message or a semaphore of another process.
    Process,
    /// A worker of the kernel's own that has no work.
    Idle,
}

struct Known {
    code: i64,
    name: &'static str,
    class: WaitChannel,
}

/// What `class` and `name` know of a code.
fn known(code: i64) -> Option<&'static Known> {
    NAMES
        .iter()
        .chain(BEGINNINGS)
        .find(|known| known.code == code)
}

/// What a stored code means; a code of a later version is `Other`.
pub fn class(code: i64) -> WaitChannel {
    match code {
        NOT_WAITING => WaitChannel::NotWaiting,
        code => known(code).map_or(WaitChannel::Other, |known| known.class),
    }
}

/// The kernel function behind a stored code, or what its name begins with; `None` where it was not
/// in the list.
pub fn name(code: i64) -> Option<&'static str> {
    known(code).map(|known| known.name)
}

/// The code of what a wchan file holds. Compilers' suffixes (`.isra.0`, `.constprop.0`) are cut off.
pub(crate) fn code(text: &[u8]) -> i64 {
    let name = text.trim_ascii();
    if name == b"0" || name.is_empty() {
        return NOT_WAITING;
    }
    let end = name.iter().position(|byte| *byte == b'.');
    let name = &name[..end.unwrap_or(name.len())];
    NAMES
        .iter()
        .find(|known| known.name.as_bytes() == name)
        .or_else(|| {
            BEGINNINGS
                .iter()
                .find(|known| name.starts_with(known.name.as_bytes()))
        })
        .map_or(OTHER, |known| known.code)
}

const fn known_as(code: i64, name: &'static str, class: WaitChannel) -> Known {
    Known { code, name, class }
}

/// Whole names. "6.18" marks those that were met on Linux 6.18 by making the wait
/// (`fixtures/kernel/this-6.18/wchan`); the others are from the sources of 4.18 to 6.18.
#[rustfmt::skip]
static NAMES: &[Known] = &{
    use WaitChannel::*;
    [
        // mm/filemap.c, fs/buffer.c, fs/fs-writeback.c
        known_as(100, "folio_wait_bit_common", Page),             // 6.18: reads, page faults
        known_as(101, "folio_wait_bit", Page),                    // 6.18: fsync, sync_file_range
        known_as(102, "__folio_lock", Page),                      // 6.18
        known_as(103, "__folio_lock_killable", Page),
        known_as(104, "__folio_lock_or_retry", Page),
        known_as(105, "__filemap_get_folio", Page),               // 6.18: a write to a page in writeback
        known_as(106, "folio_wait_writeback", Page),
        known_as(107, "folio_wait_stable", Page),
        known_as(108, "filemap_fault", Page),
        known_as(109, "filemap_read", Page),
        known_as(110, "filemap_get_pages", Page),
        known_as(111, "filemap_update_page", Page),
        known_as(112, "wait_on_page_bit", Page),
        known_as(113, "wait_on_page_bit_common", Page),
        known_as(114, "wait_on_page_bit_killable", Page),
        known_as(115, "wait_on_page_writeback", Page),
        known_as(116, "__lock_page", Page),
        known_as(117, "__lock_page_killable", Page),
        known_as(118, "__lock_page_or_retry", Page),
        known_as(119, "generic_file_buffered_read", Page),
        known_as(120, "migration_entry_wait_on_locked", Page),
        known_as(121, "__wait_on_buffer", Page),
        known_as(122, "fsync_buffers_list", Page),                // 6.18
        known_as(123, "__sync_dirty_buffer", Page),               // 6.18
        known_as(124, "sync_mapping_buffers", Page),
        known_as(125, "wb_wait_for_completion", Page),            // 6.18: sync
        known_as(126, "inode_wait_for_writeback", Page),          // 6.18: fsync
        known_as(127, "wait_sb_inodes", Page),
        known_as(128, "ext4_wait_block_bitmap", Page),            // 6.18: fsync of a growing file
        known_as(129, "xfs_buf_iowait", Page),
        known_as(130, "truncate_inode_pages_range", Page),
        // block/, fs/direct-io.c, fs/iomap/direct-io.c
        known_as(200, "__iomap_dio_rw", Block),                   // 6.18: direct I/O
        known_as(201, "iomap_dio_rw", Block),
        known_as(202, "submit_bio_wait", Block),                  // 6.18: the flush of an fsync
        known_as(203, "blkdev_issue_flush", Block),
        known_as(204, "blk_mq_get_tag", Block),
        known_as(205, "rq_qos_wait", Block),                      // 6.18: many writers
        known_as(206, "wbt_wait", Block),
        known_as(207, "get_request", Block),
        known_as(208, "__bio_queue_enter", Block),
        known_as(209, "blk_queue_enter", Block),
        known_as(210, "__blkdev_direct_IO", Block),
        known_as(211, "__blkdev_direct_IO_simple", Block),
        known_as(212, "blkdev_direct_IO", Block),
        known_as(213, "do_blockdev_direct_IO", Block),
        known_as(214, "__blockdev_direct_IO", Block),
        known_as(215, "blk_execute_rq", Block),
        known_as(216, "md_write_start", Block),
        known_as(217, "md_flush_request", Block),
        known_as(218, "raid5_get_active_stripe", Block),
        known_as(219, "read_events", Block),                      // io_getevents of libaio
        // block/blk-cgroup.c, block/blk-iocost.c
        known_as(300, "blkcg_maybe_throttle_current", Throttle),
        known_as(301, "__blkcg_maybe_throttle_current", Throttle),
        known_as(302, "ioc_rqos_throttle", Throttle),
        // fs/jbd2, fs/xfs, fs/btrfs
        known_as(400, "jbd2_log_wait_commit", Journal),           // 6.18: fsync on ext4
        known_as(401, "do_get_write_access", Journal),            // 6.18: a write behind a commit
        known_as(402, "wait_transaction_locked", Journal),        // 6.18
        known_as(403, "jbd2_log_do_checkpoint", Journal),         // 6.18: the journal is full
        known_as(404, "__jbd2_log_wait_for_space", Journal),      // 6.18
        known_as(405, "jbd2_write_superblock", Journal),          // 6.18
        known_as(406, "add_transaction_credits", Journal),
        known_as(407, "start_this_handle", Journal),
        known_as(408, "xlog_grant_head_wait", Journal),
        known_as(409, "xlog_wait_on_iclog", Journal),
        known_as(410, "xlog_wait", Journal),
        known_as(411, "wait_current_trans", Journal),
        known_as(412, "btrfs_sync_log", Journal),
        known_as(413, "btrfs_commit_transaction", Journal),
        known_as(414, "wait_log_commit", Journal),
        known_as(415, "zil_commit", Journal),
        known_as(416, "zil_commit_waiter", Journal),
        // mm/vmscan.c, mm/memcontrol.c, mm/backing-dev.c
        known_as(600, "reclaim_throttle", Reclaim),               // 6.18: writers under a memory limit
        known_as(601, "throttle_direct_reclaim", Reclaim),
        known_as(602, "__mem_cgroup_handle_over_high", Reclaim),
        known_as(603, "mem_cgroup_handle_over_high", Reclaim),
        known_as(604, "congestion_wait", Reclaim),
        known_as(605, "wait_iff_congested", Reclaim),
        known_as(606, "mem_cgroup_oom_synchronize", Reclaim),
        known_as(607, "shrink_inactive_list", Reclaim),
        // mm/page_io.c, mm/memory.c
        known_as(700, "swap_readpage", Swap),
        known_as(701, "swap_read_folio", Swap),
        known_as(702, "swap_read_folio_bdev_sync", Swap),
        known_as(703, "do_swap_page", Swap),
        // Callers of down_read, down_write and mutex_lock
        known_as(800, "ext4_buffered_write_iter", KernelLock),    // 6.18: several writers of one file
        known_as(801, "ext4_file_write_iter", KernelLock),
        known_as(802, "ext4_file_read_iter", KernelLock),
        known_as(803, "ext4_dio_write_iter", KernelLock),
        known_as(804, "ext4_map_blocks", KernelLock),             // 6.18
        known_as(805, "ext4_da_get_block_prep", KernelLock),      // 6.18
        known_as(806, "do_truncate", KernelLock),                 // 6.18
        known_as(807, "do_renameat2", KernelLock),                // 6.18: one folder, many names
        known_as(808, "do_unlinkat", KernelLock),                 // 6.18
        known_as(809, "path_openat", KernelLock),                 // 6.18
        known_as(810, "filename_create", KernelLock),
        known_as(811, "lock_rename", KernelLock),
        known_as(812, "walk_component", KernelLock),
        known_as(813, "__lookup_slow", KernelLock),
        known_as(814, "iterate_dir", KernelLock),
        known_as(815, "__fdget_pos", KernelLock),
        known_as(816, "xfs_ilock", KernelLock),
        known_as(817, "xfs_buf_lock", KernelLock),
        known_as(818, "vm_mmap_pgoff", KernelLock),               // 6.18: threads that map memory
        known_as(819, "__vm_munmap", KernelLock),                 // 6.18
        known_as(820, "do_user_addr_fault", KernelLock),
        known_as(821, "lock_mm_and_find_vma", KernelLock),
        known_as(822, "do_mprotect_pkey", KernelLock),
        known_as(823, "do_madvise", KernelLock),
        known_as(824, "__do_sys_brk", KernelLock),
        known_as(825, "__do_sys_mremap", KernelLock),
        known_as(826, "dup_mmap", KernelLock),
        known_as(827, "exit_mmap", KernelLock),
        // fs/locks.c
        known_as(850, "locks_lock_inode_wait", FileLock),         // 6.18: flock
        known_as(851, "fcntl_setlk", FileLock),                   // 6.18: fcntl
        known_as(852, "do_lock_file_wait", FileLock),
        // kernel/futex
        known_as(900, "futex_do_wait", Futex),                    // 6.18
        known_as(901, "futex_wait_queue", Futex),
        known_as(902, "futex_wait_queue_me", Futex),
        known_as(903, "__futex_wait", Futex),
        known_as(905, "futex_wait_multiple", Futex),
        known_as(906, "futex_lock_pi", Futex),
        // fs/select.c, fs/eventpoll.c
        known_as(1000, "do_epoll_wait", Poll),                    // 6.18
        known_as(1001, "ep_poll", Poll),
        known_as(1002, "poll_schedule_timeout", Poll),            // 6.18: poll and select
        known_as(1003, "do_sys_poll", Poll),
        known_as(1004, "do_poll", Poll),
        known_as(1005, "do_select", Poll),
        known_as(1006, "do_wait_intr_irq", Poll),                 // 6.18: eventfd, timerfd
        known_as(1007, "eventfd_read", Poll),
        known_as(1008, "timerfd_read", Poll),
        // net/
        known_as(1100, "wait_woken", Socket),                     // 6.18: TCP, and inotify
        known_as(1101, "inet_csk_accept", Socket),                // 6.18
        known_as(1102, "unix_stream_read_generic", Socket),       // 6.18
        known_as(1103, "unix_stream_data_wait", Socket),
        known_as(1104, "unix_wait_for_peer", Socket),
        known_as(1105, "__skb_wait_for_more_packets", Socket),    // 6.18: datagrams
        known_as(1106, "sk_wait_data", Socket),
        known_as(1107, "sk_stream_wait_memory", Socket),
        known_as(1108, "sk_stream_wait_connect", Socket),
        known_as(1109, "sock_alloc_send_pskb", Socket),
        known_as(1110, "__lock_sock", Socket),
        known_as(1111, "inet_wait_for_connect", Socket),
        known_as(1112, "__inet_stream_connect", Socket),
        // fs/pipe.c, fs/splice.c
        known_as(1200, "anon_pipe_read", Pipe),                   // 6.18
        known_as(1201, "anon_pipe_write", Pipe),                  // 6.18
        known_as(1202, "pipe_read", Pipe),
        known_as(1203, "pipe_write", Pipe),
        known_as(1204, "pipe_wait", Pipe),
        known_as(1205, "pipe_wait_readable", Pipe),               // 6.18: splice
        known_as(1206, "pipe_wait_writable", Pipe),
        known_as(1207, "wait_for_partner", Pipe),
        // kernel/time/hrtimer.c
        known_as(1300, "hrtimer_nanosleep", Sleep),               // 6.18
        known_as(1301, "do_nanosleep", Sleep),
        known_as(1302, "common_nsleep", Sleep),
        known_as(1303, "msleep", Sleep),
        // io_uring/
        known_as(1400, "io_cqring_wait", IoUring),
        known_as(1401, "io_cqring_schedule_timeout", IoUring),
        known_as(1402, "__io_cqring_wait_schedule", IoUring),
        // net/sunrpc, fs/fuse
        known_as(1500, "rpc_wait_bit_killable", NetworkFile),
        known_as(1600, "request_wait_answer", UserFile),
        known_as(1601, "fuse_simple_request", UserFile),
        // kernel/exit.c, kernel/signal.c, ipc/
        known_as(1700, "do_wait", Process),                       // 6.18
        known_as(1701, "do_sigtimedwait", Process),               // 6.18
        known_as(1702, "__do_sys_pause", Process),                // 6.18
        known_as(1703, "sigsuspend", Process),
        known_as(1704, "__do_semtimedop", Process),               // 6.18
        known_as(1705, "do_semtimedop", Process),
        known_as(1706, "do_msgrcv", Process),                     // 6.18
        known_as(1707, "wq_sleep", Process),
        known_as(1708, "do_signal_stop", Process),
        known_as(1709, "ptrace_stop", Process),
        known_as(1710, "kernel_wait4", Process),
        // Threads of the kernel
        known_as(1800, "worker_thread", Idle),                    // 6.18
        known_as(1801, "rescuer_thread", Idle),                   // 6.18
        known_as(1802, "smpboot_thread_fn", Idle),                // 6.18
        known_as(1803, "kthread_worker_fn", Idle),                // 6.18
        known_as(1804, "kjournald2", Idle),                       // 6.18
        known_as(1805, "kswapd", Idle),                           // 6.18
        known_as(1806, "io_wq_worker", Idle),
    ]
};

/// What names begin with, for families: asked when no whole name fits, first one first.
#[rustfmt::skip]
static BEGINNINGS: &[Known] = &{
    use WaitChannel::*;
    [
        known_as(190, "folio_wait_", Page),
        known_as(191, "wait_on_page_", Page),
        known_as(290, "blkdev_", Block),
        known_as(390, "blk_throtl", Throttle),
        known_as(391, "throtl_", Throttle),
        known_as(490, "jbd2_", Journal),
        known_as(491, "xlog_", Journal),
        known_as(492, "xfs_log_", Journal),
        known_as(590, "balance_dirty_pages", DirtyThrottle),
        known_as(690, "shrink_", Reclaim),
        known_as(691, "try_to_free_", Reclaim),
        known_as(790, "swap_", Swap),
        known_as(890, "rwsem_down_", KernelLock),
        known_as(891, "__mutex_lock", KernelLock),
        known_as(892, "__down_", KernelLock),
        known_as(990, "futex_wait", Futex),
        known_as(1190, "unix_", Socket),
        known_as(1191, "tcp_", Socket),
        known_as(1490, "io_cqring_", IoUring),
        known_as(1590, "nfs4_", NetworkFile),
        known_as(1591, "nfs_", NetworkFile),
        known_as(1592, "rpc_", NetworkFile),
        known_as(1593, "ceph_", NetworkFile),
        known_as(1594, "cifs_", NetworkFile),
        known_as(1690, "fuse_", UserFile),
    ]
};

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_code_and_every_name_stands_once_and_is_found() {
        let (mut codes, mut names) = (BTreeSet::new(), BTreeSet::new());
        for known in NAMES.iter().chain(BEGINNINGS) {
            assert!(
                known.code > OTHER && codes.insert(known.code),
                "{}",
                known.code
            );
            assert!(names.insert(known.name), "{}", known.name);
            assert_eq!(code(known.name.as_bytes()), known.code, "{}", known.name);
            assert_eq!(
                (class(known.code), name(known.code)),
                (known.class, Some(known.name))
            );
        }
    }

    #[test]
    fn waits_made_on_a_real_kernel_are_classed() {
        let captured = include_str!("../fixtures/kernel/this-6.18/wchan");
        let mut seen = 0;
        for line in captured.lines().filter(|line| !line.starts_with('#')) {
            let (situation, rest) = line.split_once(": ").expect("situation: name = class");
            let (text, expected) = rest.split_once(" = ").expect("situation: name = class");
            let code = code(text.as_bytes());
            assert_eq!(
                format!("{:?}", class(code)),
                expected,
                "{situation}: {text}"
            );
            seen += 1;
        }
        assert!(seen > 40, "{seen}");
    }

    #[test]
    fn suffixes_of_the_compiler_do_not_matter_and_strangers_are_other() {
        assert_eq!(code(b"do_sigtimedwait.isra.0"), code(b"do_sigtimedwait"));
        assert_eq!(code(b"0"), NOT_WAITING);
        assert_eq!((code(b"my_driver_wait"), name(OTHER)), (OTHER, None));
        assert_eq!(class(OTHER), WaitChannel::Other);
        assert_eq!(class(987_654), WaitChannel::Other);
        assert_eq!(
            class(code(b"balance_dirty_pages_ratelimited_flags")),
            WaitChannel::DirtyThrottle
        );
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(text in proptest::collection::vec(any::<u8>(), 0..80)) {
            class(code(&text));
        }
    }
}
