//! Readers of what servers answer, for the fuzzer (folder `fuzz/`) alone.
//!
//! They open nothing. What a reader promises beyond "no panic" is asserted here.

use crate::MOST_SERIES;
use crate::mysql::questions::Answers as MySqlAnswers;
use crate::pgbouncer::report::{self, Record};
use crate::postgres::{queries, rows};
use crate::prometheus::text;
use crate::redis::info::{self, Answers, Info};
use crate::redis::resp::{self, Reply};

/// Replies of a Redis server, one after the other.
///
/// # Panics
/// When a row has other columns than its table.
pub fn redis(mut bytes: &[u8]) {
    while let Ok(reply) = resp::read(&mut bytes) {
        let text = match &reply {
            Reply::Text(text) => text.as_str(),
            _ => "",
        };
        let row = info::row(&Answers {
            info: Info::read(text),
            slowlog: None,
            spikes: info::spikes(&reply),
            since_s: 0,
        });
        assert_eq!(row.len(), sensors::redis::REDIS.columns.len());
    }
}

/// Answers of PgBouncer's console, each a table: a line of names, then one per row, cells parted by `|`.
///
/// # Panics
/// As `redis`.
pub fn pgbouncer(answers: [&str; 3]) {
    let [pools, stats, lists] = answers.map(|answer| {
        let mut lines = cells(answer);
        let names = lines.next().unwrap_or_default();
        let record = |line: Vec<Option<String>>| -> Record {
            let named = names.iter().cloned().zip(line);
            named
                .filter_map(|(name, cell)| Some((name?, cell?)))
                .collect()
        };
        lines.map(record).collect::<Vec<_>>()
    });
    let row = report::row(&pools, &stats, &lists, None);
    assert_eq!(row.len(), sensors::pgbouncer::PGBOUNCER.columns.len());
}

/// PostgreSQL's sessions and counters, each a table: a line per row, cells parted by `|`.
///
/// # Panics
/// As `redis`.
pub fn postgres(answers: [&str; 2]) {
    let [sessions, counters] = answers.map(|answer| cells(answer).collect::<Vec<_>>());
    if let Some(look) = queries::read_look(&sessions, &counters) {
        let poll = rows::poll(&look, None);
        assert_eq!(poll.server.len(), sensors::postgres::DATABASE.columns.len());
    }
}

/// MySQL's status, sessions, transactions and lock waits, each a table as for `postgres`.
///
/// # Panics
/// As `redis`.
pub fn mysql(answers: [&str; 4]) {
    let [status, sessions, transactions, lock_waits] =
        answers.map(|answer| cells(answer).collect::<Vec<_>>());
    let look = crate::mysql::questions::read(&MySqlAnswers {
        status,
        sessions,
        transactions,
        lock_waits,
    });
    let poll = crate::mysql::rows::poll(&look, None);
    assert_eq!(poll.server.len(), sensors::mysql::MYSQL.columns.len());
}

/// An answer of an endpoint in Prometheus's format.
///
/// # Panics
/// When there are more series than allowed, one of them twice, or one that cannot be read again by its name.
pub fn prometheus(answer: &[u8]) {
    let Ok(read) = text::read(answer) else {
        return;
    };
    assert!(read.samples.len() <= MOST_SERIES);
    let lines = read.samples.iter().map(|it| format!("{} 1\n", it.series));
    let names: String = lines.collect();
    if names.is_empty() {
        return;
    }
    let again = text::read(names.as_bytes()).map(|again| again.samples);
    let again = again.unwrap_or_else(|error| panic!("{error:?} in {names}"));
    let named = |samples: &[crate::Sample]| -> Vec<String> {
        samples.iter().map(|it| it.series.clone()).collect()
    };
    assert_eq!(named(&again), named(&read.samples));
}

/// The rows of a table; an empty cell is null.
fn cells(text: &str) -> impl Iterator<Item = Vec<Option<String>>> {
    text.lines().map(|line| {
        let cells = line.split('|');
        cells
            .map(|cell| Some(cell.to_owned()).filter(|cell| !cell.is_empty()))
            .collect()
    })
}
