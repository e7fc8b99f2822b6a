//! What people and programs see; each a pure writer of a report, and the few lines that print it.

mod cluster;
mod cluster_page;
mod comparison;
mod comparison_page;
mod connections;
mod csv;
mod dictionary;
mod disks;
mod doctor_report;
mod json;
mod labels;
mod layout;
mod live;
mod locks;
mod machine;
mod output_file;
mod parquet;
mod phases;
mod plain_page;
mod programs;
mod proof;
mod size;
mod spike_differences;
mod spikes;
mod stacks;
mod stalls;
mod statements;
mod sweep;
mod sweep_page;
mod terminal;
mod threads;
mod throughput;
mod waits;

use std::io::{IsTerminal, Write};

use model::{ClusterReport, Comparison, DoctorReport, Proof, Report, SizingReport, Sweep};

pub(crate) use cluster_page::page as cluster_page;
pub(crate) use comparison::markdown as comparison_markdown;
pub(crate) use comparison_page::{Align, page as comparison_page};
pub(crate) use csv::write as write_csv;
pub(crate) use dictionary::section as dictionary;
pub(crate) use json::{harmless as harmless_json, text as json_text, word as json_word};
pub(crate) use live::{Live, Screen, one_place};
pub(crate) use output_file::OutputFile;
pub(crate) use parquet::write as write_parquet;
pub(crate) use size::RECORDING;
pub(crate) use sweep_page::page as sweep_page;
pub(crate) use terminal::Detail;

/// Columns that the verdict fits into, however wide the terminal is.
const WIDEST: usize = 100;
/// Columns below which nothing is wrapped any further.
const NARROWEST: usize = 60;

/// The verdict as text, as wide as the terminal, at most `WIDEST`.
pub(crate) fn terminal(report: &Report, detail: Detail) -> String {
    terminal::verdict(report, columns(), detail)
}

/// What was proved as text, as wide.
pub(crate) fn proof(proof: &Proof, report: &Report) -> String {
    proof::text(proof, report, columns())
}

/// What was proved, as lines below a verdict.
pub(crate) fn proof_lines(proof: &Proof) -> String {
    proof::lines_below(proof, columns())
}

/// What a machine allows as text, as wide.
pub(crate) fn doctor_report(report: &DoctorReport, detail: Detail) -> String {
    doctor_report::text(report, columns(), detail)
}

/// Recordings side by side as text, as wide.
pub(crate) fn comparison(comparison: &Comparison, detail: Detail) -> String {
    comparison::text(comparison, columns(), detail)
}

/// Several nodes as text, as wide.
pub(crate) fn cluster(report: &ClusterReport, detail: Detail) -> String {
    cluster::text(report, columns(), detail)
}

/// Runs over a parameter as text, as wide.
pub(crate) fn sweep(sweep: &Sweep, detail: Detail) -> String {
    sweep::text(sweep, columns(), detail)
}

/// What configurations give as text, as wide; commands that are to be copied are wider.
pub(crate) fn sizing(report: &SizingReport, detail: Detail) -> String {
    size::text(report, columns(), detail)
}

/// A line on standard error. A reader that has gone is no reason to stop.
pub(crate) fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{}", harmless(line));
}

/// Names in a recording are made harmless where they are read; one that came from elsewhere may still
/// hold anything that a terminal would obey.
pub(crate) fn harmless(text: &str) -> String {
    text.split('\n')
        .map(on_one_line)
        .collect::<Vec<_>>()
        .join("\n")
}

/// The same for a text that must not end a line either, nor turn the order of what follows
/// (<https://www.unicode.org/reports/tr9/#Directional_Formatting_Characters>).
fn on_one_line(text: &str) -> String {
    let obeyed = |c: char| {
        let turns = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        c.is_control() || turns
    };
    text.replace(obeyed, "\u{fffd}")
}

/// Text on standard output; a pipe that was closed early (`| head`) is no error.
pub(crate) fn show(text: &str) -> std::io::Result<()> {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// A sentence in lines that fit where it is indented by two.
pub(crate) fn wrap(sentence: &str) -> Vec<String> {
    layout::wrap(sentence, WIDEST - 2)
}

fn columns() -> usize {
    if !std::io::stderr().is_terminal() {
        return WIDEST;
    }
    let size = rustix::termios::tcgetwinsize(std::io::stderr()).ok();
    // A terminal that does not know its size says 0.
    let size = size.filter(|size| size.ws_col > 0);
    size.map_or(WIDEST, |size| usize::from(size.ws_col))
        .clamp(NARROWEST, WIDEST)
}

/// The error and what caused it, each said once: a cause that its error already quotes is left out. Who
/// may open no more files is told whose limit that is, whatever was to be opened.
pub(crate) fn sentence(error: &anyhow::Error) -> String {
    let mut said = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if said.is_empty() {
            said = cause;
        } else if !said.contains(&cause) {
            said = format!("{said}: {cause}");
        }
    }
    match too_many_files(error) {
        Some(why) => format!("{said}; {why}"),
        None => said,
    }
}

/// Whose limit of open files it was that caused an error, and what raises it.
pub(crate) fn too_many_files(error: &anyhow::Error) -> Option<String> {
    let causes = error.chain().filter_map(|cause| cause.downcast_ref());
    causes.filter_map(kernel::too_many_files).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_said_once() {
        let inner = anyhow::anyhow!("disk full");
        assert_eq!(
            sentence(&inner.context("cannot write x: disk full. Make room")),
            "cannot write x: disk full. Make room"
        );
        let inner = anyhow::anyhow!("disk full");
        assert_eq!(
            sentence(&inner.context("cannot write x")),
            "cannot write x: disk full"
        );
    }

    #[test]
    fn whose_limit_of_open_files_it_was_is_said_of_any_error() {
        let said = |errno: rustix::io::Errno| {
            let cause = std::io::Error::from(errno);
            sentence(&anyhow::Error::from(cause).context("cannot write x"))
        };
        assert_eq!(
            said(rustix::io::Errno::NFILE),
            "cannot write x: Too many open files in system (os error 23); too many files are open on this machine; allow more with: sudo sysctl fs.file-max=1000000"
        );
        assert_eq!(
            said(rustix::io::Errno::IO),
            "cannot write x: Input/output error (os error 5)"
        );
    }

    #[test]
    fn names_cannot_command_the_terminal() {
        let json = include_str!("../../fixtures/reports/cpu-saturated.json");
        let mut report: Report = serde_json::from_str(json).expect("a report as it is written");
        report.verdict.findings[0].entity.name = "\u{1b}[2Jpostgres\r".to_owned();
        let text = terminal::verdict(&report, 100, Detail::Full);
        assert!(text.chars().all(|c| c == '\n' || !c.is_control()));
        // Nor write lines of their own, in any sentence.
        let called = |name: &str| {
            let named = json.replace("postgres", name).replace("pgbench", name);
            terminal::verdict(
                &serde_json::from_str(&named).expect("a report"),
                100,
                Detail::Full,
            )
        };
        assert_eq!(called(r"a\nSaved\u202e"), called(r"a\ufffdSaved\ufffd"));
    }
}
