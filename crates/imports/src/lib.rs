//! What other tools measured, as the rows of a recording: sar, atop, vmstat, iostat, pidstat, perf sched, a monitor's CSV,
//! snapshots of /proc/pressure.
//!
//! Pure: bytes in, an [`Imported`] out. It opens no file, runs no command and judges nothing. Formats are
//! recognised by what is in them. Nothing that comes from here is declared exact, and a column that the
//! source does not have is not in the table, so that nobody takes it for zero.
#![warn(missing_docs)]

mod atop;
mod csv;
mod draft;
mod error;
mod headings;
mod iostat;
mod merge;
mod perf;
mod pidstat;
pub mod prometheus;
mod report;
mod sar;
mod snapshots;
mod vmstat;
mod wall_clock;

pub use draft::Imported;
pub use error::NotUnderstood;
pub use merge::merged;
pub use snapshots::{Snapshot, snapshots};

/// Lines that are looked at to recognise a format.
const LOOKED_AT: usize = 100;

/// Reads a text: what `sadf -j` or `atop -P ALL` print, what vmstat, iostat, pidstat or perf printed, or a CSV. `period_ns` is how
/// far rows without a time lie apart.
///
/// # Errors
/// Which line was not understood, what was expected there, and what to do.
pub fn text(bytes: &[u8], period_ns: Option<i64>) -> Result<Imported, NotUnderstood> {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Err(NotUnderstood::whole(
            "text in UTF-8",
            "give a file that docs/import.md lists",
        ));
    };
    let text = text.trim_start_matches('\u{feff}');
    match format(text) {
        Format::Sadf => sar::read(text),
        Format::Sar => Err(NotUnderstood::at(
            1,
            "sar's binary file, or what sadf -j prints of it; this is what sar prints",
            "sadf -j FILE -- -A > sar.json, and import that",
        )),
        Format::Atop => atop::read(text),
        Format::Vmstat => vmstat::read(text, period_ns),
        Format::Iostat => iostat::read(text, period_ns),
        Format::Pidstat => pidstat::read(text, period_ns),
        Format::Perf => perf::read(text),
        Format::Csv => csv::read(text, period_ns),
    }
}

/// What a text is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Format {
    Sadf,
    Sar,
    Atop,
    Vmstat,
    Iostat,
    Pidstat,
    Perf,
    Csv,
}

fn format(text: &str) -> Format {
    if text.trim_start().starts_with('{') {
        return Format::Sadf;
    }
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let known = lines.clone().take(LOOKED_AT).find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        match &*words {
            words if atop::is_line(words) => Some(Format::Atop),
            words if vmstat::is_headings(words) => Some(Format::Vmstat),
            words if iostat::is_headings(words) => Some(Format::Iostat),
            words if pidstat::is_headings(words) => Some(Format::Pidstat),
            _ if perf::is_line(line) => Some(Format::Perf),
            _ => None,
        }
    });
    let mut lines = lines;
    let is_sysstat = lines
        .next()
        .is_some_and(|line| report::banner(line).is_some());
    known.unwrap_or(match is_sysstat {
        true => Format::Sar,
        false => Format::Csv,
    })
}

#[cfg(test)]
mod tests;
