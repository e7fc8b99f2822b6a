//! CPU time and storage traffic of each process of the machine, and CPU time of the children that it
//! has buried.

use model::{Column, EntityKind, MISSING, Quality, Table, Unit};

use crate::bytes::{keyed, number, sum, times, whole, words};
use crate::sensor::{Malformed, Missing, Period, Reading, Scope, Sensor, Source, Subject};

static COLUMNS: &[Column] = &[
    Column::counter(
        "user_ns",
        Unit::Nanoseconds,
        "CPU time in user code, all threads, exited ones included.",
        "/proc/PID/stat utime",
    )
    .quality(Quality::Estimated),
    Column::counter(
        "system_ns",
        Unit::Nanoseconds,
        "CPU time in the kernel, all threads, exited ones included.",
        "/proc/PID/stat stime",
    )
    .quality(Quality::Estimated),
    Column::counter(
        "children_ns",
        Unit::Nanoseconds,
        "CPU time of exited children that it waited for; the verdict and the page subtract what \
         such children have in rows of their own.",
        "/proc/PID/stat cutime + cstime",
    )
    .quality(Quality::Estimated),
    Column::gauge(
        "threads",
        Unit::Count,
        "Threads alive.",
        "/proc/PID/stat num_threads",
    ),
    Column::gauge(
        "resident_bytes",
        Unit::Bytes,
        "Resident memory.",
        "/proc/PID/stat rss",
    )
    .quality(Quality::Estimated),
    Column::counter(
        "read_bytes",
        Unit::Bytes,
        "Bytes that it, and exited children that it waited for, caused to be read from storage; \
         the verdict and the page subtract what such children have in rows of their own; missing when not \
         permitted.",
        "/proc/PID/io read_bytes",
    ),
    Column::counter(
        "write_bytes",
        Unit::Bytes,
        "Bytes that it, and exited children that it waited for, dirtied, to be written to \
         storage; the verdict and the page subtract what such children have in rows of their own; missing \
         when not permitted.",
        "/proc/PID/io write_bytes",
    ),
];

static TABLE: Table = Table::new(
    "process",
    EntityKind::Process,
    "CPU time, memory and storage traffic of each process.",
    COLUMNS,
);

pub(crate) static SENSOR: Sensor = Sensor {
    table: &TABLE,
    scope: Scope::Process,
    sources: &[
        Source::file("stat", Missing::Usual),
        // Shown to root and to the process's owner only; without CONFIG_TASK_IO_ACCOUNTING to nobody.
        // A child's sums are added to its parent's when that waits for it (wait_task_zombie).
        Source::file("io", Missing::Usual),
    ],
    period: Period::of_ms(1_000, 1_000),
    first_decides: false,
    parse,
};

/// A row of the table: what a process has used so far, `MISSING` where that is not known. Its columns tell
/// what each is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the columns of the same names have them")]
pub struct ProcessUsage {
    pub user_ns: i64,
    pub system_ns: i64,
    pub children_ns: i64,
    pub threads: i64,
    pub resident_bytes: i64,
    pub read_bytes: i64,
    pub write_bytes: i64,
}

impl ProcessUsage {
    /// Columns of the table.
    pub const WIDTH: usize = 7;

    /// As the table has it.
    pub fn row(&self) -> [i64; Self::WIDTH] {
        [
            self.user_ns,
            self.system_ns,
            self.children_ns,
            self.threads,
            self.resident_bytes,
            self.read_bytes,
            self.write_bytes,
        ]
    }
}

/// The fields of /proc/PID/stat (proc(5)) that are used, times in ticks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProcessStat<'a> {
    /// Name of the thread, at most 15 bytes, any bytes at all.
    pub name: &'a [u8],
    /// State letter: R, S, D, T, t, Z, X, I.
    pub state: u8,
    /// Process id of the parent.
    pub parent: i64,
    /// Page faults without and with I/O.
    pub faults: (i64, i64),
    /// User and system time.
    pub times: (i64, i64),
    /// User and system time of children that were waited for.
    pub child_times: (i64, i64),
    /// Threads alive.
    pub threads: i64,
    /// Start after boot.
    pub start: i64,
    /// Resident pages.
    pub resident_pages: i64,
    /// CPU it last ran on.
    pub cpu: i64,
}

/// Reads a /proc/PID/stat or /proc/PID/task/TID/stat. The name may hold anything, brackets and line
/// ends included, so the fields begin behind the last `)`.
///
/// # Errors
/// When the brackets or the fields are not there.
pub fn parse_stat(text: &[u8]) -> Result<ProcessStat<'_>, Malformed> {
    let bad = Malformed::expected("`pid (name) state ...` in a stat file");
    let open = text.iter().position(|byte| *byte == b'(').ok_or(bad)?;
    let close = text
        .iter()
        .rposition(|byte| *byte == b')')
        .filter(|close| *close > open)
        .ok_or(bad)?;
    // Fields 3 (state) to 39 (processor), by their numbers in proc(5).
    let mut fields = [MISSING; 40];
    let mut state = b'?';
    let mut last = 2;
    for (word, number_of) in words(whole(&text[close + 1..])).zip(3..40) {
        if number_of == 3 {
            state = word[0];
        } else {
            fields[number_of] = number(word).unwrap_or(MISSING);
        }
        last = number_of;
    }
    // Without parent and start nobody can tell whose it is.
    if last < 24 || fields[4] == MISSING || fields[22] == MISSING {
        return Err(bad);
    }
    Ok(ProcessStat {
        name: &text[open + 1..close],
        state,
        parent: fields[4],
        faults: (fields[10], fields[12]),
        times: (fields[14], fields[15]),
        child_times: (fields[16], fields[17]),
        threads: fields[20],
        start: fields[22],
        resident_pages: fields[24],
        cpu: fields[39],
    })
}

fn parse(
    reading: &Reading<'_>,
    emit: &mut dyn FnMut(Subject<'_>, &[i64]),
) -> Result<(), Malformed> {
    let Some(text) = reading.source(0) else {
        return Ok(());
    };
    let stat = parse_stat(text)?;
    let tick = reading.facts.tick_ns;
    let io = |key| {
        reading
            .source(1)
            .map_or(MISSING, |text| keyed(text, key, 1))
    };
    let usage = ProcessUsage {
        user_ns: times(stat.times.0, tick),
        system_ns: times(stat.times.1, tick),
        children_ns: times(sum(stat.child_times), tick),
        threads: stat.threads,
        resident_bytes: times(stat.resident_pages, reading.facts.page_bytes),
        read_bytes: io(b"read_bytes:"),
        write_bytes: io(b"write_bytes:"),
    };
    emit(Subject::Own, &usage.row());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sensor::testing::{never_panics, rows};
    use expect_test::expect;
    use proptest::prelude::*;

    #[test]
    fn a_real_process() {
        let text = include_bytes!("../fixtures/kernel/this-6.18/pid.stat");
        expect![[r#"
            own: user_ns=0 system_ns=10000000 children_ns=0 threads=1 resident_bytes=10100736
        "#]]
        .assert_eq(&rows(&SENSOR, &[Some(text), None]));
        let io = include_bytes!("../fixtures/kernel/this-6.18/pid.io");
        expect![[r#"
            own: user_ns=0 system_ns=10000000 children_ns=0 threads=1 resident_bytes=10100736 read_bytes=2912256 write_bytes=20480
        "#]]
        .assert_eq(&rows(&SENSOR, &[Some(text), Some(io)]));
        let stat = parse_stat(text).expect("a real stat file");
        assert_eq!(
            (stat.name, stat.state, stat.parent, stat.start, stat.cpu),
            (b"stress-ng".as_slice(), b'S', 3719, 256402, 1)
        );
    }

    #[test]
    fn a_name_may_hold_anything() {
        let stat = parse_stat(b"7 (a) R (b\n) S 1 7 7 0 -1 0 0 0 0 0 5 6 0 0 20 0 3 0 99 0 0 0\n")
            .expect("it is whole");
        assert_eq!(
            (stat.name, stat.state, stat.times, stat.threads),
            (b"a) R (b\n".as_slice(), b'S', (5, 6), 3)
        );
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            never_panics(&SENSOR, &bytes);
        }
    }
}
