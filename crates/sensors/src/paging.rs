//! Memory moving: pages that come back too soon, pages searched for, waits for a free one, and what
//! goes to and from storage; from /proc/vmstat.

use model::{Column, EntityKind, MISSING, Table, Unit};

use crate::bytes::{BYTES_PER_KB, Key, fill};
use crate::sensor::{Malformed, Missing, Period, Reading, Scope, Sensor, Source, Subject};

macro_rules! event {
    ($name:literal, $unit:ident, $key:literal, $help:literal) => {
        Column::counter($name, Unit::$unit, $help, concat!("/proc/vmstat ", $key))
    };
}

static COLUMNS: &[Column] = &[
    event!(
        "refault_anon",
        Count,
        "workingset_refault_anon",
        "Anonymous pages that were swapped out and soon needed again (refaults)."
    )
    .since("5.9"),
    event!(
        "refault_file",
        Count,
        "workingset_refault_file",
        "File pages that were evicted and soon needed again (refaults); before 5.9 anonymous \
         pages too (workingset_refault)."
    ),
    event!(
        "activate_file",
        Count,
        "workingset_activate_file",
        "Refaulted file pages that belong to the working set; before 5.9 anonymous pages too \
         (workingset_activate)."
    ),
    event!(
        "scan_direct",
        Count,
        "pgscan_direct",
        "Pages scanned by direct reclaim: by tasks that needed memory."
    ),
    event!(
        "scan_kswapd",
        Count,
        "pgscan_kswapd",
        "Pages scanned by kswapd, in the background."
    ),
    event!(
        "steal_direct",
        Count,
        "pgsteal_direct",
        "Pages freed by direct reclaim: by tasks that needed memory."
    ),
    event!(
        "steal_kswapd",
        Count,
        "pgsteal_kswapd",
        "Pages freed by kswapd."
    ),
    event!(
        "allocation_stalls",
        Count,
        "allocstall_*, summed",
        "Times that a task had to reclaim before it got memory."
    ),
    event!(
        "compaction_stalls",
        Count,
        "compact_stall",
        "Times that a task had to compact memory before it got a large page."
    ),
    event!(
        "faults",
        Count,
        "pgfault",
        "Page faults, major ones included."
    ),
    event!("major_faults", Count, "pgmajfault", "Page faults with I/O."),
    event!("swap_in", Count, "pswpin", "Pages read from swap."),
    event!("swap_out", Count, "pswpout", "Pages written to swap."),
    event!(
        "page_in_bytes",
        Bytes,
        "pgpgin",
        "Bytes read from block devices."
    ),
    event!(
        "page_out_bytes",
        Bytes,
        "pgpgout",
        "Bytes written to block devices."
    ),
    event!(
        "oom_kills",
        Count,
        "oom_kill",
        "Processes killed for lack of memory, of the machine or of a group."
    ),
    event!("dirtied", Count, "nr_dirtied", "Pages dirtied."),
    event!("written", Count, "nr_written", "Pages written to storage."),
];

const KEYS: &[Key] = &[
    (b"workingset_refault_anon", 0, 1),
    (b"workingset_refault_file", 1, 1),
    (b"workingset_refault", 1, 1),
    (b"workingset_activate_file", 2, 1),
    (b"workingset_activate", 2, 1),
    (b"pgscan_direct", 3, 1),
    (b"pgscan_kswapd", 4, 1),
    (b"pgsteal_direct", 5, 1),
    (b"pgsteal_kswapd", 6, 1),
    (b"allocstall_dma", 7, 1),
    (b"allocstall_dma32", 7, 1),
    (b"allocstall_normal", 7, 1),
    (b"allocstall_high", 7, 1),
    (b"allocstall_movable", 7, 1),
    (b"allocstall_device", 7, 1),
    (b"compact_stall", 8, 1),
    (b"pgfault", 9, 1),
    (b"pgmajfault", 10, 1),
    (b"pswpin", 11, 1),
    (b"pswpout", 12, 1),
    (b"pgpgin", 13, BYTES_PER_KB),
    (b"pgpgout", 14, BYTES_PER_KB),
    (b"oom_kill", 15, 1),
    (b"nr_dirtied", 16, 1),
    (b"nr_written", 17, 1),
];

static TABLE: Table = Table::new(
    "paging",
    EntityKind::Machine,
    "Paging: refaults, reclaim, faults, swap.",
    COLUMNS,
);

pub(crate) static SENSOR: Sensor = Sensor {
    table: &TABLE,
    scope: Scope::Machine,
    sources: &[Source::file("proc/vmstat", Missing::Usual)],
    period: Period::of_ms(200, 200),
    first_decides: false,
    parse,
};

fn parse(
    reading: &Reading<'_>,
    emit: &mut dyn FnMut(Subject<'_>, &[i64]),
) -> Result<(), Malformed> {
    let Some(text) = reading.source(0) else {
        return Ok(());
    };
    let mut row = [MISSING; COLUMNS.len()];
    fill(&mut row, text, KEYS);
    if row.iter().all(|value| *value == MISSING) {
        return Err(Malformed::expected("`pgfault` and others in /proc/vmstat"));
    }
    emit(Subject::Own, &row);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sensor::testing::{never_panics, rows};
    use expect_test::expect;
    use proptest::prelude::*;

    #[test]
    fn each_column_has_the_key_that_its_source_names() {
        for (key, column, _) in KEYS {
            let source = &COLUMNS[*column].source;
            let key = std::str::from_utf8(key).expect("a key is text");
            assert!(
                source.ends_with(&format!(" {key}"))
                    || key.starts_with("allocstall_")
                    || source.ends_with(&format!(" {key}_file")),
                "{key}"
            );
        }
        for column in 0..COLUMNS.len() {
            assert!(KEYS.iter().any(|(_, of, _)| *of == column));
        }
    }

    #[test]
    fn a_real_machine() {
        let text = include_bytes!("../fixtures/kernel/this-6.18/vmstat");
        expect![[r#"
            own: refault_anon=0 refault_file=1219247 activate_file=395203 scan_direct=0 scan_kswapd=0 steal_direct=0 steal_kswapd=0 allocation_stalls=0 compaction_stalls=0 faults=67765078 major_faults=9943 swap_in=0 swap_out=0 page_in_bytes=12824716288 page_out_bytes=26585004032 oom_kills=0 dirtied=9846850 written=7942371
        "#]].assert_eq(&rows(&SENSOR, &[Some(text)]));
    }

    #[test]
    fn a_kernel_before_5_9_does_not_tell_files_from_programs() {
        let text = b"workingset_refault 5\nworkingset_activate 3\nallocstall_dma 1\nallocstall_normal 2\npgpgin 7\n";
        expect![[r#"
            own: refault_file=5 activate_file=3 allocation_stalls=3 page_in_bytes=7168
        "#]]
        .assert_eq(&rows(&SENSOR, &[Some(text)]));
        expect![[r#"
            malformed: expected `pgfault` and others in /proc/vmstat
        "#]]
        .assert_eq(&rows(&SENSOR, &[Some(b"x\n")]));
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            never_panics(&SENSOR, &bytes);
        }
    }
}
