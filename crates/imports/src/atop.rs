//! What `atop -P ALL` prints of a raw log: lines with a label, amounts per interval.

mod fields;

use model::{Entity, EntityKind, Quality, sentence};

use crate::draft::{Cell, Draft, Interval, machine};
use crate::pidstat::process;
use crate::report::number;
use crate::{Imported, NotUnderstood};

use fields::{
    CPU, DISK, Field, LOAD, MEMORY, NETWORK, PAGING, PRESSURE, PROCESS_CPU, PROCESS_DISK,
    PROCESS_MEMORY, SWAP, SWITCHES,
};

const AGAIN: &str = "make it again: atop -P ALL -r FILE";
const NS_PER_S: i64 = 1_000_000_000;
/// What stands before a label's own fields: label, host, seconds since 1970, date, time, length in seconds.
const HEAD: usize = 6;

/// A line behind its head.
struct Line<'a> {
    number: usize,
    fields: Vec<&'a str>,
    interval: Interval,
}

impl Line<'_> {
    /// A field's number; `None` where the line ends before it, or for -1: not known.
    fn value(&self, place: usize) -> Result<Option<f64>, NotUnderstood> {
        let Some(word) = self.fields.get(place) else {
            return Ok(None);
        };
        Ok(Some(number(word, self.number, AGAIN)?).filter(|value| *value >= 0.0))
    }

    /// ns per clock tick, from the line's ticks per second.
    fn tick(&self, place: usize) -> Result<f64, NotUnderstood> {
        let per_second = self.value(place)?.filter(|it| *it > 0.0);
        per_second
            .map(|it| NS_PER_S as f64 / it)
            .ok_or_else(|| NotUnderstood::at(self.number, "clock ticks per second", AGAIN))
    }
}

#[derive(Default)]
struct Log {
    draft: Draft,
    node: Option<String>,
    cpus: Option<u32>,
    /// Between RESET and SEP stand amounts since boot.
    is_since_boot: bool,
    /// The sample that is read, and the end of the one before.
    sample: Option<Interval>,
    before: Option<i64>,
    has_pressure: bool,
}

pub(crate) fn read(text: &str) -> Result<Imported, NotUnderstood> {
    let mut log = Log::default();
    for (index, line) in text.lines().enumerate() {
        match line.trim() {
            "" => {}
            "RESET" => log.is_since_boot = true,
            "SEP" => {
                log.is_since_boot = false;
                log.before = log.sample.take().map(|it| it.end).or(log.before);
            }
            line => log.line(index + 1, line)?,
        }
    }
    log.notes();
    let Log {
        draft, node, cpus, ..
    } = log;
    Ok(Imported {
        node,
        cpus,
        ..draft.finish("atop")?
    })
}

/// Whether a line is one of its own.
pub(crate) fn is_line(words: &[&str]) -> bool {
    let is_mark = words == ["RESET"] || words == ["SEP"];
    let is_row = words.len() > HEAD
        && words[0].len() <= 4
        && words[2].parse::<i64>().is_ok()
        && words[3].matches('/').count() == 2
        && words[4].matches(':').count() == 2;
    is_mark || is_row
}

impl Log {
    fn line(&mut self, number: usize, line: &str) -> Result<(), NotUnderstood> {
        let words: Vec<&str> = line.split_whitespace().collect();
        if !is_line(&words) {
            return Err(NotUnderstood::at(
                number,
                "a label, a host, seconds since 1970, a date, a time and a length",
                AGAIN,
            ));
        }
        let interval = self.interval(number, &words)?;
        if self.is_since_boot {
            return Ok(());
        }
        self.node.get_or_insert_with(|| words[1].to_owned());
        let own = |fields: Vec<_>| Line {
            number,
            fields,
            interval,
        };
        match words[0] {
            label if label.starts_with("PR") => self.process(label, line, number, interval),
            label => self.system(label, &own(words[HEAD..].to_vec())),
        }
    }

    /// The interval that a line stands for; all lines of a sample have the same.
    fn interval(&mut self, number: usize, words: &[&str]) -> Result<Interval, NotUnderstood> {
        let whole = |word: &str| word.parse::<i64>().ok();
        let end = whole(words[2]).filter(|it| (0..9_000_000_000).contains(it));
        let length = whole(words[5]).filter(|it| (0..10_000_000_000).contains(it));
        let (Some(end), Some(length)) = (end, length) else {
            return Err(NotUnderstood::at(
                number,
                "seconds since 1970 and a length in seconds",
                AGAIN,
            ));
        };
        let (end, length) = (end * NS_PER_S, length.max(1) * NS_PER_S);
        if let Some(sample) = self.sample.filter(|it| it.end == end) {
            return Ok(sample);
        }
        if self.before.is_some_and(|before| before >= end) {
            return Err(NotUnderstood::at(
                number,
                "a later time than in the sample before",
                "import the part before it and the part after it on their own: atop -b and -e",
            ));
        }
        let start = self.start(end, length);
        let sample = Interval { start, end };
        self.sample = Some(sample);
        Ok(sample)
    }

    /// When an interval of that end and length began: where the one before ended, if nothing was left out between.
    fn start(&mut self, end: i64, length: i64) -> i64 {
        let own = end.saturating_sub(length).max(0);
        let Some(before) = self.before else {
            return own;
        };
        if self.is_since_boot {
            self.draft.hole(Interval { start: before, end });
            return before;
        }
        // Lengths are whole seconds: what is off by one is no hole.
        if own <= before.saturating_add(2 * NS_PER_S) {
            return before;
        }
        self.draft.hole(Interval {
            start: before,
            end: own,
        });
        own
    }

    fn system(&mut self, label: &str, line: &Line<'_>) -> Result<(), NotUnderstood> {
        let name = line.fields.first().copied().unwrap_or_default();
        match label {
            "cpu" => {
                let place = line.fields.get(1).copied().unwrap_or_default();
                let cpu = Entity::new(EntityKind::Cpu, format!("cpu{place}"), place);
                let tick = line.tick(0)?;
                self.grown(line, &cpu, CPU, tick)
            }
            "CPL" => {
                self.cpus = name.parse().ok().filter(|it| (1..=65_536).contains(it));
                self.gauges(line, &machine(), LOAD, 1.0)?;
                self.grown(line, &machine(), SWITCHES, 1.0)
            }
            "MEM" => {
                let page = line.value(0)?.unwrap_or_default();
                self.gauges(line, &machine(), MEMORY, page)
            }
            "SWP" => {
                let page = line.value(0)?.unwrap_or_default();
                self.gauges(line, &machine(), SWAP, page)
            }
            "PAG" => self.grown(line, &machine(), PAGING, 1.0),
            "PSI" if name == "y" => {
                self.has_pressure = true;
                self.grown(line, &machine(), PRESSURE, 1.0)
            }
            "DSK" => {
                let disk = Entity::new(EntityKind::Disk, name, name);
                self.grown(line, &disk, DISK, 1.0)
            }
            "NET" if name != "upper" => {
                let interface = Entity::new(EntityKind::Interface, name, name);
                self.grown(line, &interface, NETWORK, 1.0)
            }
            _ => Ok(()),
        }
    }

    fn process(
        &mut self,
        label: &str,
        line: &str,
        number: usize,
        interval: Interval,
    ) -> Result<(), NotUnderstood> {
        if !["PRC", "PRM", "PRD"].contains(&label) {
            return Ok(());
        }
        let Some(about) = about(line) else {
            return Err(NotUnderstood::at(
                number,
                "a process number, a name in brackets and a state",
                AGAIN,
            ));
        };
        let line = Line {
            number,
            fields: about.fields,
            interval,
        };
        // With -y there are lines of threads, whose time their process has.
        let is_process = match label {
            "PRC" => line.fields.get(11),
            "PRM" => line.fields.get(14),
            _ => line.fields.get(10),
        };
        if is_process == Some(&"n") {
            return Ok(());
        }
        match label {
            "PRC" => {
                let tick = line.tick(1)?;
                self.grown(&line, &about.process, PROCESS_CPU, tick)
            }
            // Of who has ended it prints 0.
            "PRM" if line.fields.first() == Some(&"E") => Ok(()),
            "PRM" => self.gauges(&line, &about.process, PROCESS_MEMORY, 1.0),
            // What the kernel did not count is printed as 0.
            _ if line.fields.get(2) != Some(&"y") => Ok(()),
            _ => self.grown(&line, &about.process, PROCESS_DISK, 1.0),
        }
    }

    fn grown(
        &mut self,
        line: &Line<'_>,
        entity: &Entity,
        fields: &[Field],
        scale: f64,
    ) -> Result<(), NotUnderstood> {
        for field in fields {
            if let Some(value) = line.value(field.place)? {
                let amount = value * field.scale * scale;
                self.draft.grow(
                    cell(field, Quality::Estimated),
                    entity,
                    line.interval,
                    amount,
                );
            }
        }
        Ok(())
    }

    fn gauges(
        &mut self,
        line: &Line<'_>,
        entity: &Entity,
        fields: &[Field],
        scale: f64,
    ) -> Result<(), NotUnderstood> {
        for field in fields {
            let value = line.value(field.place)?;
            let amount = value.map(|value| value * field.scale * scale);
            if let Some(amount) = amount.filter(|it| *it < 9e18) {
                let time = line.interval.end;
                let cell = cell(field, Quality::Sampled);
                self.draft.put(cell, entity, time, amount.round() as i64);
            }
        }
        Ok(())
    }

    fn notes(&mut self) {
        if !self.has_pressure {
            self.draft.note("pressure", sentence!("pressure.cpu_some_ns, io_some_ns and memory_some_ns are not in the file: the kernel or atop had no PSI"));
        }
        self.draft.note(
            "disk",
            sentence!(
                "disk.read_ns, write_ns and queue_ns are not in the file: atop does not record them"
            ),
        );
        self.draft.note(
            "process",
            sentence!("Processes without a line in a sample were taken to do nothing in it"),
        );
    }
}

fn cell(field: &Field, quality: Quality) -> Cell<'static> {
    Cell {
        table: field.table,
        column: field.column,
        source: field.source,
        quality,
    }
}

/// Whom a line of a process is about, and what stands behind its name: state first.
struct About<'a> {
    process: Entity,
    fields: Vec<&'a str>,
}

/// The process of a line. A name in brackets may hold brackets and spaces; behind it stands a state of one letter.
fn about(line: &str) -> Option<About<'_>> {
    let pid: u32 = line.split_whitespace().nth(HEAD)?.parse().ok()?;
    let Some((_, rest)) = line.split_once(" (") else {
        // -Z: no brackets, and no spaces in a name.
        let words: Vec<&str> = line.split_whitespace().collect();
        return Some(About {
            process: process(pid, words.get(HEAD + 1)?),
            fields: words.get(HEAD + 2..)?.to_vec(),
        });
    };
    let is_end = |at: &usize| {
        let mut after = rest[at + 2..].chars();
        after.next().is_some_and(|c| c.is_ascii_alphabetic()) && after.next() == Some(' ')
    };
    let end = rest.match_indices(") ").map(|found| found.0).find(is_end)?;
    Some(About {
        process: process(pid, &rest[..end]),
        fields: rest[end + 2..].split_whitespace().collect(),
    })
}
