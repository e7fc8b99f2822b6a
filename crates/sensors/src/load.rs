//! Load averages, and how many tasks run, are blocked, were forked and switched.

use model::{Column, EntityKind, MISSING, Quality, Table, Unit};

use crate::bytes::{keyed, number, whole, words};
use crate::sensor::{Malformed, Missing, Period, Reading, Scope, Sensor, Source, Subject};

static COLUMNS: &[Column] = &[
    Column::gauge(
        "load1_hundredths",
        Unit::Hundredths,
        "Exponential average over 1 min of running and uninterruptible tasks.",
        "/proc/loadavg field 1",
    ),
    Column::gauge(
        "load5_hundredths",
        Unit::Hundredths,
        "The same over 5 min.",
        "/proc/loadavg field 2",
    ),
    Column::gauge(
        "load15_hundredths",
        Unit::Hundredths,
        "The same over 15 min.",
        "/proc/loadavg field 3",
    ),
    Column::gauge(
        "running",
        Unit::Count,
        "Tasks running or waiting for a CPU.",
        "/proc/stat procs_running",
    )
    .quality(Quality::Sampled),
    Column::gauge(
        "blocked",
        Unit::Count,
        "Tasks waiting for I/O.",
        "/proc/stat procs_blocked",
    )
    .quality(Quality::Sampled),
    Column::counter(
        "switches",
        Unit::Count,
        "Context switches.",
        "/proc/stat ctxt",
    ),
    Column::counter(
        "forks",
        Unit::Count,
        "Tasks created.",
        "/proc/stat processes",
    ),
];

static TABLE: Table = Table::new(
    "load",
    EntityKind::Machine,
    "Load averages and task counts of the machine.",
    COLUMNS,
);

pub(crate) static SENSOR: Sensor = Sensor {
    table: &TABLE,
    scope: Scope::Machine,
    sources: &[
        Source::file("proc/loadavg", Missing::Usual),
        Source::file("proc/stat", Missing::Usual),
    ],
    period: Period::of_ms(1_000, 1_000),
    first_decides: false,
    parse,
};

fn parse(
    reading: &Reading<'_>,
    emit: &mut dyn FnMut(Subject<'_>, &[i64]),
) -> Result<(), Malformed> {
    let mut row = [MISSING; 7];
    if let Some(text) = reading.source(0) {
        let mut averages = words(whole(text));
        for value in &mut row[..3] {
            *value = averages
                .next()
                .and_then(hundredths)
                .ok_or(Malformed::expected("three load averages in /proc/loadavg"))?;
        }
    }
    if let Some(text) = reading.source(1) {
        let keys: [&[u8]; 4] = [b"procs_running", b"procs_blocked", b"ctxt", b"processes"];
        for (value, key) in row[3..].iter_mut().zip(keys) {
            *value = keyed(text, key, 1);
        }
    }
    emit(Subject::Own, &row);
    Ok(())
}

/// `10.27` as 1027; the kernel prints two decimals (fs/proc/loadavg.c).
fn hundredths(word: &[u8]) -> Option<i64> {
    let dot = word.iter().position(|byte| *byte == b'.')?;
    let (whole, part) = (number(&word[..dot])?, &word[dot + 1..]);
    let hundreds = whole.checked_mul(100)?;
    (part.len() == 2).then_some(hundreds.checked_add(number(part)?)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sensor::testing::{never_panics, rows};
    use expect_test::expect;
    use proptest::prelude::*;

    #[test]
    fn load_and_counts() {
        let loadavg = include_bytes!("../fixtures/kernel/this-6.18/loadavg");
        let stat = include_bytes!("../fixtures/kernel/this-6.18/stat");
        expect![[r#"
            own: load1_hundredths=1027 load5_hundredths=1146 load15_hundredths=1115 running=17 blocked=0 switches=15420401 forks=67544
        "#]]
        .assert_eq(&rows(&SENSOR, &[Some(loadavg), Some(stat)]));
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            never_panics(&SENSOR, &bytes);
        }
    }
}
