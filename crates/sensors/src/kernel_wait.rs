//! What kept threads from running in the kernel: for a disk, for memory, behind a lock of the kernel's own.
//!
//! At each such switch the scheduler's event takes the head of the thread's kernel stack
//! (`bpf/lib/wait_site.bpf.h`), and `kernel_symbol` says what the functions on it mean. Unlike the one name that wchan
//! shows, callers tell too: a page that is waited for in swap is swap, and a lock's own function is seen. The
//! columns add up to the `memory_`, `io_` and `kernel_` columns of `thread_time`.

use model::{Column, EntityKind, Quality, Table, Unit};

use crate::THREAD_TIME_COVERAGE;

use crate::wait_channel::{self, WaitChannel};

const STACK: &str = "kernel stack at sched_switch by BPF";

/// A wait site with its column and the column's help.
type Site = (WaitChannel, &'static str, &'static str);

/// Every wait site, numbered as the program numbers them: `enum wait_site`. The first four are generic; a function
/// further out on the stack may say more.
const SITES: &[Site] = &[
    (
        WaitChannel::Other,
        "other_ns",
        "In functions that are not in the list, or not known: the thread was blocked since \
         before it was traced.",
    ),
    (
        WaitChannel::Page,
        "page_ns",
        "For a page of a file, or a buffer, that is being read, written back or used by another.",
    ),
    (
        WaitChannel::Block,
        "block_ns",
        "For a request to a disk: direct I/O, a flush, a free tag, a queue's limit.",
    ),
    (
        WaitChannel::KernelLock,
        "kernel_lock_ns",
        "Behind a lock inside the kernel: of a file, a folder, or the process's map of memory.",
    ),
    (
        WaitChannel::Throttle,
        "throttle_ns",
        "Throttled by an I/O limit of its group that delays the thread (iocost, iolatency); \
         limits in bytes or operations delay the request and are in page_ns and block_ns.",
    ),
    (
        WaitChannel::Journal,
        "journal_ns",
        "For the file system's journal or log (ext4, xfs, btrfs, zfs).",
    ),
    (
        WaitChannel::DirtyThrottle,
        "dirty_throttle_ns",
        "Throttled because too many pages are dirty.",
    ),
    (WaitChannel::Reclaim, "reclaim_ns", "In direct reclaim."),
    (
        WaitChannel::Swap,
        "swap_ns",
        "For a page that is read from swap.",
    ),
    (
        WaitChannel::NetworkFile,
        "network_file_ns",
        "For a network file system's server.",
    ),
    (
        WaitChannel::UserFile,
        "user_file_ns",
        "For the process that serves a file system (FUSE).",
    ),
];

/// The wait sites in the order of their columns.
pub const WAIT_SITES: [WaitChannel; SITES.len()] = {
    let mut sites = [WaitChannel::Other; SITES.len()];
    let mut place = 0;
    while place < SITES.len() {
        sites[place] = SITES[place].0;
        place += 1;
    }
    sites
};

static COLUMNS: [Column; SITES.len()] = {
    let mut columns = [Column::BLANK; SITES.len()];
    let mut place = 0;
    while place < SITES.len() {
        let (_, name, help) = SITES[place];
        let own = Column::counter(name, Unit::Nanoseconds, help, STACK);
        Column::put(&mut columns, place, [own.quality(Quality::Sampled)]);
        place += 1;
    }
    columns
};

/// The threads of target and generator that were kept so.
pub static KERNEL_WAIT: Table = Table::new(
    "kernel_wait",
    EntityKind::Thread,
    "Kernel waits of each thread of target and generator that had any, by wait site.",
    &COLUMNS,
)
.covered_by(THREAD_TIME_COVERAGE);

/// I/O intent: what a thread in a kernel wait asked for, as `enum thread_time_call` numbers them; 0 is for any other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IoIntent {
    /// What was written has to be safe: fsync and its family, or a write that says so (O_DSYNC).
    Sync = 1,
    /// To read or write a file: read, write and their families, io_uring, libaio.
    ReadWrite,
    /// A page that was not there: a page fault, in no system call.
    Fault,
}

impl IoIntent {
    /// Every intent, in the order of their numbers.
    pub const ALL: [IoIntent; 3] = [IoIntent::Sync, IoIntent::ReadWrite, IoIntent::Fault];
}

/// What a function on a kernel stack tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KernelSymbol {
    /// The index in `WAIT_SITES`; 0 where it tells nothing.
    pub wait_site: usize,
    /// `None` where it tells nothing.
    pub intent: Option<IoIntent>,
}

/// What the function tells whose name this is, compilers' suffixes included.
pub fn kernel_symbol(name: &str) -> KernelSymbol {
    let name = name.split('.').next().unwrap_or(name);
    let listed = wait_channel::class(wait_channel::code(name.as_bytes()));
    let channel = match listed {
        _ if is_in(LOCKS, name) => WaitChannel::KernelLock,
        // Of a buffer, whose own function the compiler puts into its callers.
        _ if name == "bit_wait_io" => WaitChannel::Page,
        // Those are callers of a lock's functions, and of others.
        WaitChannel::KernelLock => WaitChannel::Other,
        listed => listed,
    };
    let errands = [
        (SYNCS, IoIntent::Sync),
        (READS, IoIntent::ReadWrite),
        (FAULTS, IoIntent::Fault),
    ];
    let intent = errands.into_iter().find(|(names, _)| is_in(names, name));
    KernelSymbol {
        wait_site: WAIT_SITES.iter().position(|it| *it == channel).unwrap_or(0),
        intent: intent.map(|(_, intent)| intent),
    }
}

/// Whether a name is in a list; there `name*` is all that begin so.
fn is_in(names: &[&str], name: &str) -> bool {
    names.iter().any(|listed| match listed.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => *listed == name,
    })
}

/// kernel/locking
static LOCKS: &[&str] = &[
    "mutex_lock*",
    "__mutex_lock*",
    "ww_mutex_lock*",
    "down_read*",
    "down_write*",
    "rwsem_down_*",
    "down",
    "down_interruptible",
    "down_killable",
    "down_timeout",
    "__down*",
    "rt_mutex_slowlock*",
    "percpu_rwsem_wait",
    "percpu_down_write",
    "__percpu_down_read",
];

/// fs/sync.c and what file systems and block devices have for it, mm/filemap.c, mm/msync.c
static SYNCS: &[&str] = &[
    "do_fsync",
    "vfs_fsync",
    "vfs_fsync_range",
    "ext4_sync_file",
    "xfs_file_fsync",
    "btrfs_sync_file",
    "f2fs_sync_file",
    "nfs_file_fsync",
    "fuse_fsync",
    "zpl_fsync",
    "blkdev_fsync",
    "generic_file_fsync",
    "__generic_file_fsync",
    "file_write_and_wait_range",
    "ksys_sync_file_range",
    "sync_file_range",
    "ksys_sync",
    "sync_filesystem",
];

/// io_uring/rw.c, fs/aio.c
static READS: &[&str] = &["io_read", "__io_read", "io_write", "aio_read", "aio_write"];

/// arch/*/mm/fault.c, mm/memory.c
static FAULTS: &[&str] = &[
    "do_user_addr_fault",
    "exc_page_fault",
    "do_page_fault",
    "handle_mm_fault",
    "__handle_mm_fault",
    "faultin_page",
    "filemap_fault",
    "do_swap_page",
];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn each_channel_has_the_column_that_is_named_after_it() {
        for (channel, column) in WAIT_SITES.into_iter().zip(&COLUMNS) {
            let name = column.name.trim_end_matches("_ns").replace('_', "");
            assert_eq!(format!("{channel:?}").to_lowercase(), name);
        }
    }

    /// A stack from the inside out, as the program goes through it.
    fn told(stack: &[&str]) -> (WaitChannel, Option<IoIntent>) {
        let symbols: Vec<KernelSymbol> = stack.iter().map(|name| kernel_symbol(name)).collect();
        let is_general = |channel: usize| channel <= 3;
        let special = symbols.iter().find(|it| !is_general(it.wait_site));
        let channel = special.or_else(|| symbols.iter().find(|it| it.wait_site > 0));
        let intent = symbols.iter().find_map(|it| it.intent);
        (WAIT_SITES[channel.map_or(0, |it| it.wait_site)], intent)
    }

    #[test]
    fn stacks_of_a_real_kernel_tell_what_is_waited_for() {
        use WaitChannel::*;
        let captured = include_str!("../fixtures/kernel/this-6.18/stacks");
        let mut seen = 0;
        for line in captured.lines().filter(|line| !line.starts_with('#')) {
            let (names, expected) = line.split_once(" = ").expect("functions = what they tell");
            let names: Vec<&str> = names.split(' ').collect();
            assert_eq!(format!("{:?}", told(&names)), expected, "{names:?}");
            seen += 1;
        }
        assert!(seen >= 10, "{seen}");
        assert_eq!(told(&["schedule", "vfs_unlink"]), (Other, None));
    }

    #[test]
    fn who_calls_a_lock_is_not_taken_for_one() {
        assert_eq!(kernel_symbol("path_openat").wait_site, 0);
        assert_eq!(
            kernel_symbol("mutex_lock_io"),
            kernel_symbol("__mutex_lock.constprop.0")
        );
        assert_eq!(
            kernel_symbol("down_read"),
            kernel_symbol("rwsem_down_read_slowpath")
        );
    }

    proptest! {
        #[test]
        fn any_name_is_survived(name in ".{0,60}") {
            prop_assert!(kernel_symbol(&name).wait_site < WAIT_SITES.len());
        }
    }
}
