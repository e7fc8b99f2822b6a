//! Where each thread of target and generator spends its time: on a CPU, waiting for one, blocked.
//!
//! schedstat's two times are kept by the scheduler at every switch, so they are exact; the wait ends
//! up in the counter when the thread gets its CPU. It includes time withheld by a CPU quota, which
//! analysis subtracts. What a blocked thread waits *for* is looked at once per period: a state letter
//! and, where permitted, the system call and the kernel function that it sits in, and the event that
//! PostgreSQL itself says it waits for.

use model::{Column, EntityKind, LedgerClass, MISSING, Quality, Table, Unit};

use crate::bytes::{number, scaled, sum, times, whole, words};
use crate::process::parse_stat;
use crate::sensor::{
    Malformed, MemoryWord, Missing, Period, Reading, Scope, Sensor, Source, Subject, Within,
};
use crate::wait_channel;

static COLUMNS: &[Column] = &[
    Column::counter("run_ns", Unit::Nanoseconds, "Time on a CPU.", "/proc/PID/task/TID/schedstat field 1"),
    Column::counter("wait_ns", Unit::Nanoseconds, "Run-queue delay: runnable and not running, \
                                                   throttling by a CPU quota included.", "/proc/PID/task/TID/schedstat field 2"),
    Column::counter("slices", Unit::Count, "Timeslices: times it was switched in.", "/proc/PID/task/TID/schedstat field 3"),
    Column::counter("user_ns", Unit::Nanoseconds, "CPU time in user code.", "/proc/PID/task/TID/stat utime").quality(Quality::Estimated),
    Column::counter("system_ns", Unit::Nanoseconds, "CPU time in the kernel.", "/proc/PID/task/TID/stat stime").quality(Quality::Estimated),
    Column::counter("minor_faults", Unit::Count, "Page faults without I/O.", "/proc/PID/task/TID/stat minflt"),
    Column::counter("major_faults", Unit::Count, "Page faults with I/O.", "/proc/PID/task/TID/stat majflt"),
    Column::gauge("state", Unit::Code, "State letter as ASCII: R runnable, S sleeping, D \
                                        uninterruptible, T stopped, Z zombie.", "/proc/PID/task/TID/stat state").quality(Quality::Sampled),
    Column::gauge("syscall", Unit::Code, "System call that it is in, numbered as on the recorded \
                                          machine; -1 blocked outside one, -2 running; missing when not permitted.", "/proc/PID/task/TID/syscall").quality(Quality::Sampled),
    Column::gauge("cpu", Unit::Code, "CPU it last ran on.", "/proc/PID/task/TID/stat processor").quality(Quality::Sampled),
    Column::gauge("wait_channel", Unit::Code, "Kernel function in which it is blocked (wchan), \
                                               by the recorder's list: 0 none, 1 not in the list; missing when not permitted.", "/proc/PID/task/TID/wchan").quality(Quality::Sampled),
    Column::gauge("wait_event", Unit::Code, "PostgreSQL's wait event (class in the highest of \
                                             four bytes, numbered as in that version): 0 no wait; missing for other programs.", "wait_event_info in the process's memory").quality(Quality::Sampled),
];

/// Where a PostgreSQL backend says what it waits for.
///
/// Since 14 `my_wait_event_info` points at it (src/backend/utils/activity/wait_event.c). 13 exports
/// only `MyProc`, the process's PGPROC; there the word is told by the waits of those that have no work:
/// the Activity of the server's own processes, which every server has, and Client:ClientRead. It is
/// at 684 in the build that was looked into (npm's 13.23), a PGPROC is longer than 832 bytes, and the
/// next process's lies behind it.
static POSTGRES: MemoryWord = MemoryWord {
    program: "postgres",
    pointer: "my_wait_event_info",
    within: Within {
        pointer: "MyProc",
        values: &[0x0500_0000..=0x0500_000d, 0x0600_0000..=0x0600_0000],
        bytes: 1024,
    },
};

static TABLE: Table = Table::new(
    "thread",
    EntityKind::Thread,
    "Run time, run-queue delay and state of each thread of target and generator.",
    COLUMNS,
);

pub(crate) static SENSOR: Sensor = Sensor {
    table: &TABLE,
    scope: Scope::Thread,
    sources: &[
        Source::file(
            "schedstat",
            Missing::Say(
                "no run-queue delay: this kernel was built without CONFIG_SCHED_INFO (schedstats)",
            ),
        ),
        Source::file("stat", Missing::Usual),
        Source::file(
            "syscall",
            Missing::Say(
                "what blocked threads wait for is not seen: run as root, or as the user who owns them",
            ),
        ),
        // Readable for everybody, and then it says 0: proc_pid_wchan in fs/proc/base.c.
        Source::file("wchan", Missing::Usual),
        Source::memory(
            "wait_event",
            &POSTGRES,
            Missing::Say(
                "what PostgreSQL itself says it waits for is not seen: run as root, or as the user who owns it \
                 where kernel.yama.ptrace_scope is 0; or give --postgres DSN",
            ),
        ),
    ],
    period: Period::of_ms(100, 100),
    // A thread whose schedstat stands still has not been put on a CPU: it sits where it sat, or waits
    // for its turn, which the next change tells.
    first_decides: true,
    parse,
};

/// What schedstat and stat say of a thread, or another who knows as much; `MISSING` where that is not known.
/// The columns of the same names tell what each is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the columns of the same names have them")]
pub struct ThreadUsage {
    pub run_ns: i64,
    pub wait_ns: i64,
    pub slices: i64,
    pub user_ns: i64,
    pub system_ns: i64,
    pub minor_faults: i64,
    pub major_faults: i64,
    pub state: i64,
    pub cpu: i64,
}

impl ThreadUsage {
    /// Where nothing is known.
    const UNKNOWN: Self = Self {
        run_ns: MISSING,
        wait_ns: MISSING,
        slices: MISSING,
        user_ns: MISSING,
        system_ns: MISSING,
        minor_faults: MISSING,
        major_faults: MISSING,
        state: MISSING,
        cpu: MISSING,
    };

    /// A row of the table, with what the other sources of a reading say.
    pub fn row(&self, reading: &Reading<'_>) -> [i64; 12] {
        let call = reading.source(CALL_SOURCE);
        let channel = reading.source(3);
        let word = reading.source(4).and_then(|bytes| bytes.try_into().ok());
        [
            self.run_ns,
            self.wait_ns,
            self.slices,
            self.user_ns,
            self.system_ns,
            self.minor_faults,
            self.major_faults,
            self.state,
            call.map_or(MISSING, syscall_of),
            self.cpu,
            channel.map_or(MISSING, |text| channel_of(text, self.state, call)),
            word.map_or(MISSING, |bytes| i64::from(u32::from_ne_bytes(bytes))),
        ]
    }
}

fn parse(
    reading: &Reading<'_>,
    emit: &mut dyn FnMut(Subject<'_>, &[i64]),
) -> Result<(), Malformed> {
    let mut usage = ThreadUsage::UNKNOWN;
    if let Some(text) = reading.source(0) {
        let mut times = words(whole(text));
        let ThreadUsage {
            run_ns,
            wait_ns,
            slices,
            ..
        } = &mut usage;
        for value in [run_ns, wait_ns, slices] {
            *value = times
                .next()
                .and_then(number)
                .ok_or(Malformed::expected("three numbers in schedstat"))?;
        }
    }
    if let Some(text) = reading.source(1) {
        let stat = parse_stat(text)?;
        let tick = reading.facts.tick_ns;
        usage.user_ns = times(stat.times.0, tick);
        usage.system_ns = times(stat.times.1, tick);
        (usage.minor_faults, usage.major_faults) = stat.faults;
        usage.state = i64::from(stat.state);
        usage.cpu = stat.cpu;
        if usage.run_ns == MISSING {
            // Without schedstat the ticks are all there is.
            usage.run_ns = sum((usage.user_ns, usage.system_ns));
        }
    }
    let row = usage.row(reading);
    if row.iter().any(|value| *value != MISSING) {
        emit(Subject::Own, &row);
    }
    Ok(())
}

/// The source that says in which system call a thread is.
pub const CALL_SOURCE: usize = 2;

/// The places of two columns.
const STATE: usize = 7;
const CALL: usize = 8;

/// Whether a thread may be waiting for a file, by its row: it is in fsync, or in uninterruptible sleep in a read or
/// write.
pub fn waits_for_file(row: &[i64]) -> bool {
    const ARCHITECTURE: &str = std::env::consts::ARCH;
    let class = row
        .get(CALL)
        .and_then(|call| syscall::class(ARCHITECTURE, *call));
    match class {
        Some(LedgerClass::Sync) => true,
        Some(LedgerClass::ReadWrite) => row.get(STATE) == Some(&i64::from(b'D')),
        _ => false,
    }
}

/// The number at the start of a syscall file, which is -1 for blocked outside a call; `running` has none.
fn syscall_of(text: &[u8]) -> i64 {
    match words(whole(text)).next() {
        Some(b"-1") => syscall::OUTSIDE,
        Some(b"running") => syscall::RUNNING,
        word => scaled(word, 1),
    }
}

/// The code of a wchan file. Its 0 means "in no function" only of a thread that runs: of a blocked one
/// it means that the name is withheld (who may not read the syscall file is told 0), or that it woke
/// between two reads.
fn channel_of(text: &[u8], state: i64, call: Option<&[u8]>) -> i64 {
    let runs = call
        .is_some_and(|call| state == i64::from(b'R') || call.trim_ascii() == b"running".as_slice());
    match wait_channel::code(text) {
        wait_channel::NOT_WAITING if !runs => MISSING,
        code => code,
    }
}

/// What system call numbers mean.
pub mod syscall {
    use model::LedgerClass;

    /// Written by the kernel for a thread that is blocked outside of any system call: in a page fault.
    pub const OUTSIDE: i64 = -1;
    /// Stored for a thread that runs, or is about to.
    pub const RUNNING: i64 = -2;

    /// The number of a call that is on an open file or socket, and its descriptor, by the text of a syscall file; `None`
    /// for calls that name none first (sync, msync, libaio), and for a thread that is in no call.
    pub fn on_descriptor(architecture: &str, text: &[u8]) -> Option<(i64, u32)> {
        let mut words = super::words(text);
        let mut word = || std::str::from_utf8(words.next()?).ok();
        let number = word()?.parse().ok()?;
        let first = u64::from_str_radix(word()?.strip_prefix("0x")?, 16).ok()?;
        let is_on_one = matches!(
            class(architecture, number)?,
            LedgerClass::Sync | LedgerClass::ReadWrite
        );
        // sync msync io_getevents
        let names_none: [i64; 3] = match architecture {
            "x86_64" => [162, 26, 208],
            _ => [81, 227, 4],
        };
        // The kernel takes the lower half of the register.
        (is_on_one && !names_none.contains(&number)).then_some((number, first as u32))
    }

    /// Whether call `number` gives data away: blocked in it without a disk, a thread waits for the
    /// other end to take them.
    pub fn gives(architecture: &str, number: i64) -> bool {
        match architecture {
            // write pwrite64 writev pwritev pwritev2 sendfile splice
            "x86_64" => matches!(number, 1 | 18 | 20 | 296 | 328 | 40 | 275),
            // write writev pwrite64 pwritev sendfile splice pwritev2
            _ => matches!(number, 64 | 66 | 68 | 70 | 71 | 76 | 287),
        }
    }

    /// The class of time that a thread blocked in call `number` of `architecture` (as `uname -m`
    /// says) spends; `None` for an architecture whose numbers are not known here.
    ///
    /// Source: arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h.
    pub fn class(architecture: &str, number: i64) -> Option<LedgerClass> {
        match architecture {
            "x86_64" => Some(x86_64(number)),
            "aarch64" | "riscv64" => Some(generic(number)),
            _ => None,
        }
    }

    fn x86_64(number: i64) -> LedgerClass {
        match number {
            // poll select pselect6 ppoll epoll_wait epoll_pwait epoll_pwait2, accept recvfrom recvmsg accept4 recvmmsg,
            // rt_sigtimedwait, wait4, waitid, io_uring_enter, mq_timedreceive, pause, msgrcv
            7 | 23 | 270 | 271 | 232 | 281 | 441 | 43 | 45 | 47 | 288 | 299 | 128 | 61 | 247
            | 426 | 243 | 34 | 70 => LedgerClass::Input,
            202 | 449 => LedgerClass::Futex,
            // fsync fdatasync sync msync sync_file_range syncfs
            74 | 75 | 162 | 26 | 277 | 306 => LedgerClass::Sync,
            // read write pread64 pwrite64 readv writev preadv pwritev preadv2 pwritev2 sendfile splice copy_file_range io_getevents
            0 | 1 | 17 | 18 | 19 | 20 | 295 | 296 | 327 | 328 | 40 | 275 | 326 | 208 => {
                LedgerClass::ReadWrite
            }
            // sendto sendmsg sendmmsg
            44 | 46 | 307 => LedgerClass::Output,
            35 | 230 => LedgerClass::Sleep,
            _ => LedgerClass::OtherCall,
        }
    }

    fn generic(number: i64) -> LedgerClass {
        match number {
            // epoll_pwait pselect6 ppoll epoll_pwait2, accept accept4 recvfrom recvmsg recvmmsg, rt_sigtimedwait,
            // wait4, waitid, io_uring_enter, mq_timedreceive, msgrcv
            22 | 72 | 73 | 441 | 202 | 242 | 207 | 212 | 243 | 137 | 260 | 95 | 426 | 183 | 188 => {
                LedgerClass::Input
            }
            98 | 449 => LedgerClass::Futex,
            // fsync fdatasync sync msync sync_file_range syncfs
            82 | 83 | 81 | 227 | 84 | 267 => LedgerClass::Sync,
            // read write readv writev pread64 pwrite64 preadv pwritev sendfile splice preadv2 pwritev2 copy_file_range io_getevents
            63..=71 | 76 | 286 | 287 | 285 | 4 => LedgerClass::ReadWrite,
            // sendto sendmsg sendmmsg
            206 | 211 | 269 => LedgerClass::Output,
            101 | 115 => LedgerClass::Sleep,
            _ => LedgerClass::OtherCall,
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn an_unknown_architecture_is_not_guessed() {
            assert_eq!(class("x86_64", 232), Some(LedgerClass::Input));
            assert_eq!(class("aarch64", 232), Some(LedgerClass::OtherCall));
            assert_eq!(class("s390x", 232), None);
        }

        #[test]
        fn who_sends_waits_for_the_other_end() {
            for (architecture, send) in [("x86_64", 44), ("aarch64", 206)] {
                assert_eq!(class(architecture, send), Some(LedgerClass::Output));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sensor::testing::{never_panics, rows};
    use expect_test::expect;
    use proptest::prelude::*;

    #[test]
    fn a_real_thread() {
        let schedstat = include_bytes!("../fixtures/kernel/this-6.18/pid.schedstat");
        let stat = include_bytes!("../fixtures/kernel/this-6.18/pid.stat");
        expect![[r#"
            own: run_ns=21006031 wait_ns=107544373 slices=28 user_ns=0 system_ns=10000000 minor_faults=1153 major_faults=15 state=83 syscall=232 cpu=1
        "#]]
        .assert_eq(&rows(&SENSOR, &[Some(schedstat), Some(stat), Some(b"232 0x4 0x7ffd 0x1 0xffffffff 0x0 0x0 0x7ffd 0x7f\n")]));
    }

    #[test]
    fn a_call_on_a_file_has_its_descriptor() {
        let on = |text: &str| syscall::on_descriptor("x86_64", text.as_bytes());
        assert_eq!(
            on("75 0xb 0x0 0x0 0x0 0x0 0x0 0x7ffd 0x7f\n"),
            Some((75, 11))
        );
        assert_eq!(on("17 0xffffffff00000003 0x7ffd 0x2000 0x0"), Some((17, 3)));
        // sync, msync, io_getevents, epoll_wait, and no call at all.
        for none in [
            "162 0x3 0x1",
            "26 0x7f00 0x1",
            "208 0x7f 0x1",
            "232 0x4 0x1",
            "-1 0x7f 0x7e",
            "running",
            "",
            "75",
            "75 b",
        ] {
            assert_eq!(on(none), None, "{none}");
        }
        let on_arm = syscall::on_descriptor("aarch64", b"83 0x7 0x0");
        assert_eq!(on_arm, Some((83, 7)));
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn threads_that_wait_for_a_file_are_told_by_their_rows() {
        let places = ["state", "syscall"].map(|column| SENSOR.table.position(column));
        assert_eq!(places, [Some(STATE), Some(CALL)]);
        let row = |state: u8, call| {
            let mut row = [MISSING; 12];
            (row[STATE], row[CALL]) = (i64::from(state), call);
            waits_for_file(&row)
        };
        let fsync_read_epoll = [74, 0, 232];
        assert_eq!(
            fsync_read_epoll.map(|call| row(b'D', call)),
            [true, true, false]
        );
        assert_eq!(
            fsync_read_epoll.map(|call| row(b'S', call)),
            [true, false, false]
        );
        assert!(!waits_for_file(&[MISSING; 12]) && !waits_for_file(&[]));
    }

    #[test]
    fn running_is_told_from_a_call_and_from_a_page_fault_and_a_refused_file_is_missing() {
        expect![[r#"
            own: syscall=-2
        "#]]
        .assert_eq(&rows(&SENSOR, &[None, None, Some(b"running\n")]));
        expect![[r#"
            own: syscall=-1
        "#]]
        .assert_eq(&rows(
            &SENSOR,
            &[None, None, Some(b"-1 0x7ffd5c0e4d18 0x55d0b0a4c1e9\n")],
        ));
        expect![[r#"
            own: run_ns=1 wait_ns=2 slices=3
        "#]]
        .assert_eq(&rows(&SENSOR, &[Some(b"1 2 3\n"), None, None]));
    }

    #[test]
    fn a_backend_that_waits_for_a_row_says_so_twice() {
        let stat = include_bytes!("../fixtures/kernel/this-6.18/pid.stat");
        let lock = 0x0300_0005_u32.to_ne_bytes();
        let sources: [Option<&[u8]>; 5] = [
            Some(b"1 2 3\n"),
            Some(stat),
            Some(b"232 0x4 0x7ffd 0x1 0xffffffff 0x0 0x0 0x7ffd 0x7f\n"),
            Some(b"do_epoll_wait"),
            Some(&lock),
        ];
        expect![[r#"
            own: run_ns=1 wait_ns=2 slices=3 user_ns=0 system_ns=10000000 minor_faults=1153 major_faults=15 state=83 syscall=232 cpu=1 wait_channel=1000 wait_event=50331653
        "#]]
        .assert_eq(&rows(&SENSOR, &sources));
    }

    #[test]
    fn a_wait_channel_of_0_is_an_answer_only_of_a_thread_that_runs() {
        let (idle, busy) = (i64::from(b'S'), i64::from(b'R'));
        assert_eq!(channel_of(b"0", idle, Some(b"running\n")), 0);
        assert_eq!(channel_of(b"0", busy, Some(b"232 0x4")), 0);
        assert_eq!(channel_of(b"0", idle, Some(b"232 0x4")), MISSING);
        assert_eq!(channel_of(b"0", idle, Some(b"-1 0x7ffd 0x7f")), MISSING);
        assert_eq!(channel_of(b"0", busy, None), MISSING, "not permitted");
        assert_eq!(channel_of(b"futex_do_wait", idle, Some(b"202 0x4")), 900);
    }

    #[test]
    fn a_word_that_is_not_known_yet_is_missing() {
        expect![[r#"
            own: run_ns=1 wait_ns=2 slices=3
        "#]]
        .assert_eq(&rows(
            &SENSOR,
            &[Some(b"1 2 3\n"), None, None, None, Some(b"")],
        ));
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            never_panics(&SENSOR, &bytes);
        }
    }
}
