//! What a log's lines add up to, by template and by call.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};

use super::call::{CallName, LoggedCall};
use super::drain::Templates;
use super::template::hash;

/// Calls of a log that are told apart, by method, caller and callee.
const MOST_CALLS: usize = 1_000;
/// What all lines are called for which there is no template.
pub const OTHER_LINES: &str = "other lines";
/// And all calls beyond `MOST_CALLS`.
pub const OTHER_CALLS: &str = "other calls";
/// From which duration on calls are counted apart, ns.
const OVER: [u64; 3] = [10_000_000, 100_000_000, 1_000_000_000];

/// What some counts are about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Subject {
    /// The log itself.
    Log,
    /// A template, by its number in the log.
    Template(usize),
    /// A call, by its number in the log.
    Call(usize),
}

/// New counts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// What they are about.
    pub subject: Subject,
    /// Its name, where it is new or another one.
    pub name: Option<String>,
    /// All columns of its table; of the log itself without `rotations`, the last.
    pub counts: Vec<i64>,
}

/// Finds templates and calls in the lines of one log.
#[derive(Debug, Default)]
pub struct LogMiner {
    templates: Templates,
    calls: HashMap<CallKey, usize>,
    durations: Vec<Durations>,
    other_lines: Sum,
    all: Sum,
    unmined_lines: u64,
    skipped_bytes: u64,
    /// What has changed since the last `changes`, each once, and by number what of that is known.
    changed: Vec<(Subject, bool)>,
    is_changed: HashMap<Subject, usize>,
}

/// A method by its hash, and both ends.
type CallKey = (u64, IpAddr, SocketAddr);

#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    lines: u64,
    bytes: u64,
}

impl Sum {
    fn add(&mut self, lines: u64, bytes: u64) {
        self.lines += lines;
        self.bytes += bytes;
    }
}

#[derive(Debug, Default)]
struct Durations {
    name: String,
    calls: u64,
    took_ns: u64,
    over: [u64; OVER.len()],
}

/// The number of what has no template.
const OTHERS: usize = super::drain::MOST_TEMPLATES;

impl LogMiner {
    /// Takes in a line of `length` bytes, of which `line` is the beginning.
    pub fn line(&mut self, line: &[u8], length: usize) {
        self.all.add(1, length as u64);
        self.touch(Subject::Log, false);
        if let Some(call) = LoggedCall::parse(line) {
            self.call(&call);
            return;
        }
        match self.templates.take(line, length) {
            Some(taken) => self.touch(Subject::Template(taken.template), taken.is_renamed),
            None => {
                let is_first = self.other_lines.lines == 0;
                self.other_lines.add(1, length as u64);
                self.touch(Subject::Template(OTHERS), is_first);
            }
        }
    }

    /// Counts lines that are not looked at.
    pub fn unmined(&mut self, lines: u64, bytes: u64) {
        self.all.add(lines, bytes);
        self.unmined_lines += lines;
        self.touch(Subject::Log, false);
    }

    /// Counts bytes that are not read.
    pub fn skipped(&mut self, bytes: u64) {
        self.skipped_bytes += bytes;
        self.touch(Subject::Log, false);
    }

    /// Lines that were not looked at so far.
    pub fn unmined_lines(&self) -> u64 {
        self.unmined_lines
    }

    /// Bytes that were not read so far.
    pub fn skipped_bytes(&self) -> u64 {
        self.skipped_bytes
    }

    /// The counts that have changed since the last time.
    pub fn changes(&mut self) -> Vec<Change> {
        self.is_changed.clear();
        let changed = std::mem::take(&mut self.changed);
        let changes = changed.into_iter().map(|(subject, is_renamed)| Change {
            subject,
            name: is_renamed.then(|| self.name(subject)),
            counts: self.counts(subject),
        });
        changes.collect()
    }

    fn call(&mut self, call: &LoggedCall<'_>) {
        let key = (hash(call.method.as_bytes()), call.caller, call.callee);
        let known = self.calls.get(&key).copied();
        let number = known.unwrap_or_else(|| self.begin_call(key, call));
        let own = &mut self.durations[number];
        let is_first = own.calls == 0;
        own.calls += 1;
        own.took_ns = own.took_ns.saturating_add(call.took_ns);
        for (count, least) in own.over.iter_mut().zip(OVER) {
            *count += u64::from(call.took_ns >= least);
        }
        self.touch(Subject::Call(number), is_first);
    }

    /// The number of calls that are new; the last number is that of all others.
    fn begin_call(&mut self, key: CallKey, call: &LoggedCall<'_>) -> usize {
        let number = self.durations.len();
        if number > MOST_CALLS {
            return MOST_CALLS;
        }
        let name = match number == MOST_CALLS {
            true => OTHER_CALLS.to_owned(),
            false => CallName {
                method: call.method.to_owned(),
                caller: call.caller.to_string(),
                callee: call.callee.to_string(),
            }
            .to_string(),
        };
        if number < MOST_CALLS {
            self.calls.insert(key, number);
        }
        self.durations.push(Durations {
            name,
            ..Durations::default()
        });
        number
    }

    fn touch(&mut self, subject: Subject, is_renamed: bool) {
        let next = self.changed.len();
        let place = *self.is_changed.entry(subject).or_insert(next);
        match self.changed.get_mut(place) {
            Some((_, renamed)) => *renamed |= is_renamed,
            None => self.changed.push((subject, is_renamed)),
        }
    }

    fn name(&self, subject: Subject) -> String {
        match subject {
            Subject::Log => String::new(),
            Subject::Template(number) => match self.templates.get(number) {
                Some(template) => template.text(),
                None => OTHER_LINES.to_owned(),
            },
            Subject::Call(number) => self.durations[number].name.clone(),
        }
    }

    fn counts(&self, subject: Subject) -> Vec<i64> {
        let counts = match subject {
            Subject::Log => vec![
                self.all.lines,
                self.all.bytes,
                self.unmined_lines,
                self.skipped_bytes,
            ],
            Subject::Template(number) => match self.templates.get(number) {
                Some(template) => vec![template.lines, template.bytes],
                None => vec![self.other_lines.lines, self.other_lines.bytes],
            },
            Subject::Call(number) => {
                let Durations {
                    calls,
                    took_ns,
                    over: [ten, hundred, thousand],
                    ..
                } = self.durations[number];
                vec![calls, took_ns, ten, hundred, thousand]
            }
        };
        counts.into_iter().map(u64::cast_signed).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::{LOG, LOG_TEMPLATE, LOGGED_CALL, Lines};
    use expect_test::expect;
    use proptest::prelude::*;

    /// Lines of what a server wrote, by name.
    fn mined(captured: &[u8]) -> String {
        let (mut lines, mut miner) = (Lines::default(), LogMiner::default());
        lines.take(captured, |line, length| miner.line(line, length));
        let changes = miner.changes().into_iter();
        let named = changes.filter_map(|it| Some(format!("{} {}\n", it.counts[0], it.name?)));
        named.collect()
    }

    /// PostgreSQL 15 as Debian 12 has it: log_connections, log_disconnections, log_checkpoints and
    /// log_min_duration_statement = 0.
    #[test]
    fn a_log_of_postgres_by_template() {
        let captured = include_bytes!("../../fixtures/log/postgresql-15");
        expect![[r#"
            1 (fewer than 3 lines)
            1 (fewer than 3 lines)
            1 (fewer than 3 lines)
            1 (fewer than 3 lines)
            11 <*> UTC <*> LOG: connection received: host=<*>
            11 <*> UTC <*> LOG: connection authorized: user=<*> database=<*> application_name=<*>
            1 (fewer than 3 lines)
            1 (fewer than 3 lines)
            11 <*> UTC <*> LOG: disconnection: session time: <*> user=<*> database=<*> host=<*>
            3 <*> UTC <*> LOG: duration: <*> ms statement: select * from account where name = <*>
            3 <*> UTC <*> LOG: checkpoint starting: immediate force wait
            4 <*> UTC <*> LOG: checkpoint complete: wrote <*> buffers <*> WAL <*> added, <*> removed, <*> recycled; write=<*> s, sync=<*> s, total=<*> s; sync files=<*> ...
            3 <*> UTC <*> LOG: duration: <*> ms statement: checkpoint
            3 <*> UTC <*> ERROR: duplicate key value violates unique constraint <*>
            3 <*> UTC <*> DETAIL: Key <*> already exists.
            3 <*> UTC <*> STATEMENT: insert into account values <*>
            3 <*> UTC <*> ERROR: column <*> does not exist at character <*>
            3 <*> UTC <*> STATEMENT: select nothing
            1 (fewer than 3 lines)
            1 (fewer than 3 lines)
            1 (fewer than 3 lines)
            1 (fewer than 3 lines)
            1 (fewer than 3 lines)
            1 (fewer than 3 lines)
            1 (fewer than 3 lines)
        "#]].assert_eq(&mined(captured));
    }

    /// `lab/demo-spikes/master.c`, which logs calls as YugabyteDB does.
    #[test]
    fn a_log_of_calls_by_caller() {
        let captured = include_bytes!("../../fixtures/log/demo-spikes-master");
        expect![[r#"
             24 yb.master.MasterService.GetTableSchema 127.0.0.1 -> 127.0.0.1:54982
        "#]]
        .assert_eq(&mined(captured));
    }

    fn call(port: usize, method: &str, took: &str) -> String {
        format!("Call a.b.{method} 10.1.0.24:{port} => 10.1.0.29:7100 took {took}")
    }

    #[test]
    fn calls_of_all_ports_are_one_and_no_template() {
        let mut miner = LogMiner::default();
        for (port, took) in [(1, "0ms"), (2, "12ms"), (3, "1500ms")] {
            let line = call(port, "Get", took);
            miner.line(line.as_bytes(), line.len() + 1);
        }
        miner.line(b"x", 2);
        let changes = miner.changes();
        let rows: Vec<(Subject, Option<&str>, &[i64])> = changes
            .iter()
            .map(|it| (it.subject, it.name.as_deref(), &*it.counts))
            .collect();
        let all = 3 + call(1, "Get", "0ms").len() + call(2, "Get", "12ms").len();
        let all = (all + call(3, "Get", "1500ms").len() + 2) as i64;
        assert_eq!(
            rows,
            [
                (Subject::Log, None, &[4, all, 0, 0][..]),
                (
                    Subject::Call(0),
                    Some("a.b.Get 10.1.0.24 -> 10.1.0.29:7100"),
                    &[3, 1_512_000_000, 2, 1, 1]
                ),
                (Subject::Template(0), Some("(fewer than 3 lines)"), &[1, 2]),
            ]
        );
        assert_eq!(miner.changes(), [], "each is told once");
    }

    #[test]
    fn counts_are_the_columns_of_their_tables() {
        let mut miner = LogMiner::default();
        miner.line(b"x", 2);
        let line = call(1, "Get", "0ms");
        miner.line(line.as_bytes(), line.len());
        for change in miner.changes() {
            let width = match change.subject {
                Subject::Log => LOG.columns.len() - 1,
                Subject::Template(_) => LOG_TEMPLATE.columns.len(),
                Subject::Call(_) => LOGGED_CALL.columns.len(),
            };
            assert_eq!(change.counts.len(), width);
        }
    }

    #[test]
    fn more_calls_than_there_is_room_for_are_others() {
        let mut miner = LogMiner::default();
        let letter = |it: usize| char::from(b'a' + (it % 26) as u8);
        for number in 0..MOST_CALLS + 50 {
            let name: String = [number, number / 26, number / 676]
                .map(letter)
                .iter()
                .collect();
            let line = call(1, &name, "1ms");
            miner.line(line.as_bytes(), line.len());
        }
        let changes = miner.changes();
        let others = changes.last().expect("there are some");
        assert_eq!(others.name.as_deref(), Some(OTHER_CALLS));
        assert_eq!((changes.len(), others.counts[0]), (MOST_CALLS + 2, 50));
    }

    proptest! {
        #[test]
        fn every_line_is_counted_once(lines in proptest::collection::vec(any::<Vec<u8>>(), 0..40)) {
            let mut miner = LogMiner::default();
            for line in &lines {
                miner.line(line, line.len());
            }
            let sum = |wanted: fn(&Subject) -> bool| -> i64 {
                let mut again = LogMiner::default();
                for line in &lines {
                    again.line(line, line.len());
                }
                let changes = again.changes();
                changes.iter().filter(|it| wanted(&it.subject)).map(|it| it.counts[0]).sum()
            };
            prop_assert_eq!(sum(|it| *it == Subject::Log), lines.len() as i64);
            prop_assert_eq!(sum(|it| *it != Subject::Log), lines.len() as i64);
        }
    }
}
