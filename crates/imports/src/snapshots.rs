//! A folder of snapshots of /proc/pressure: files as the kernel wrote them, with the time in a name.

use std::collections::BTreeMap;

use model::{Quality, sentence};

use crate::draft::{Cell, Draft, machine};
use crate::{Imported, NotUnderstood, wall_clock};

const ADVICE: &str = "name each folder or file by the time, as in 1764139200/cpu or cpu.1764139200, and copy /proc/pressure/cpu, io and memory as they are";
const NS_PER_US: i64 = 1_000;

/// One file of the folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Snapshot {
    /// Its path below the folder.
    pub path: String,
    /// What is in it.
    pub bytes: Vec<u8>,
}

/// Reads a folder of snapshots. Files that are no pressure are left out.
///
/// # Errors
/// A file of pressure whose name has no time or no resource, or whose total is no number.
pub fn snapshots(files: &[Snapshot]) -> Result<Imported, NotUnderstood> {
    let mut draft = Draft::default();
    // Totals never run backwards: in the order of their times.
    let mut totals: BTreeMap<(&'static str, i64), i64> = BTreeMap::new();
    let mut left_out = 0_usize;
    for file in files {
        let text = String::from_utf8_lossy(&file.bytes);
        if !text.starts_with("some avg10=") && !text.starts_with("full avg10=") {
            left_out += 1;
            continue;
        }
        one(file, &text, &mut totals)?;
    }
    let mut before: Option<(&'static str, i64)> = None;
    for ((column, time), total) in totals {
        if before.is_some_and(|(of, highest)| of == column && total < highest) {
            return Err(NotUnderstood::whole(
                format!("totals of {column} that grow"),
                "snapshots from before and after a restart are two imports",
            ));
        }
        before = Some((column, total));
        let cell = Cell {
            table: "pressure",
            column,
            source: "snapshot of /proc/pressure, total",
            quality: Quality::Sampled,
        };
        draft.put(cell, &machine(), time, total);
    }
    if left_out > 0 {
        draft.note(
            "*",
            sentence!(
                "{} files of the folder are no pressure and were left out",
                left_out
            ),
        );
    }
    draft.finish("/proc/pressure")
}

fn one(
    file: &Snapshot,
    text: &str,
    totals: &mut BTreeMap<(&'static str, i64), i64>,
) -> Result<(), NotUnderstood> {
    let lacks =
        |what: &str| NotUnderstood::whole(format!("{what} in the name {}", file.path), ADVICE);
    let (some, full) = columns(&file.path).ok_or_else(|| lacks("cpu, io or memory"))?;
    let time = time(&file.path).ok_or_else(|| lacks("a time"))?;
    for (index, line) in text.lines().enumerate() {
        let column = match line.split(' ').next() {
            Some("some") => Some(some),
            Some("full") => full,
            _ => None,
        };
        let Some(column) = column else {
            continue;
        };
        let total = line.split(' ').find_map(|word| word.strip_prefix("total="));
        let total = total
            .and_then(|word| word.parse::<i64>().ok())
            .and_then(|it| it.checked_mul(NS_PER_US))
            .filter(|it| *it >= 0);
        let total = total.ok_or_else(|| {
            NotUnderstood::at(index + 1, format!("total=NUMBER in {}", file.path), ADVICE)
        })?;
        totals.insert((column, time), total);
    }
    Ok(())
}

/// The columns of some and full; cpu full of a machine is 0 by definition.
fn columns(path: &str) -> Option<(&'static str, Option<&'static str>)> {
    let mut words: Vec<&str> = path.split(|c: char| !c.is_ascii_alphabetic()).collect();
    words.reverse();
    words.into_iter().find_map(|word| match word {
        "cpu" => Some(("cpu_some_ns", None)),
        "io" => Some(("io_some_ns", Some("io_full_ns"))),
        "memory" | "mem" => Some(("memory_some_ns", Some("memory_full_ns"))),
        _ => None,
    })
}

/// The time that a folder or a file is named by, with what stands around it taken off.
fn time(path: &str) -> Option<i64> {
    path.split('/').rev().find_map(|part| {
        let from = part.find(|c: char| c.is_ascii_digit())?;
        let rest = &part[from..];
        let to = rest.rfind(|c: char| c.is_ascii_digit() || c == 'Z')?;
        wall_clock::parse(&rest[..=to])
    })
}
