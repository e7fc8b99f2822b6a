//! Programs that were started, put together by what their command lines have in common.
//!
//! Nothing here decides a cause.

mod template;

use std::collections::{BTreeMap, HashMap};

use model::{MISSING, Report, StartedProgram, StringId, Timeline, Timestamp, Window};
use sensors::program_run::{End, PROGRAM_RUN};

pub use template::template;

/// Programs of a report: those with most CPU time, and those that were started most often, at most so many of each.
const MOST: usize = 20;

/// One run of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProgramRun {
    /// When it began.
    pub start: Timestamp,
    /// When it ended, or the recording did.
    pub end: Timestamp,
    /// The process.
    pub pid: i64,
    /// Its command line, among the texts of the recording.
    pub command: Option<StringId>,
    /// That of its parent.
    pub parent_command: Option<StringId>,
    /// Whether it is a copy of its parent that started no program.
    pub is_fork: bool,
    /// CPU time, ns, where its end was seen.
    pub cpu_ns: Option<i64>,
    /// How it ended.
    pub how: Option<End>,
    /// The exit status or the signal.
    pub status: Option<i64>,
}

/// All runs of a recording, in the order of their ends.
pub fn program_runs(timeline: &Timeline) -> impl Iterator<Item = ProgramRun> {
    let data = timeline.table(&PROGRAM_RUN.name);
    let data = data.into_iter().flat_map(|data| {
        let columns = [
            "pid",
            "exec",
            "command",
            "parent_command",
            "duration_ns",
            "cpu_ns",
            "end",
            "status",
        ];
        let places = columns.map(|name| data.table.position(name));
        (0..data.len()).map(move |row| {
            let values = places.map(|place| place.map_or(MISSING, |it| data.value(row, it)));
            (data.key(row).0, values)
        })
    });
    let known = |value: i64| (value != MISSING).then_some(value);
    let text = |value: i64| u32::try_from(value).ok().map(StringId);
    data.map(
        move |(end, [pid, exec, command, parent, duration, cpu, how, status])| ProgramRun {
            // In a recording from elsewhere a duration may be anything; nothing begins before the machine does.
            start: end + -known(duration).unwrap_or(0).clamp(0, end.as_ns().max(0)),
            end,
            pid,
            command: text(command),
            parent_command: text(parent),
            is_fork: exec == 0,
            cpu_ns: known(cpu).map(|ns| ns.max(0)),
            how: End::of(how),
            status: known(status),
        },
    )
}

/// The report with the programs that were started in its window, where they were recorded.
pub(crate) fn with_programs(mut report: Report, timeline: &Timeline) -> Report {
    report.programs = started(timeline, report.window);
    report
}

/// Templates of a recording's command lines, each worked out once.
pub(crate) struct Templates<'a> {
    timeline: &'a Timeline,
    known: HashMap<StringId, String>,
}

impl<'a> Templates<'a> {
    pub(crate) fn new(timeline: &'a Timeline) -> Self {
        Self {
            timeline,
            known: HashMap::new(),
        }
    }

    /// Empty where the command is not known.
    pub(crate) fn of(&mut self, command: Option<StringId>) -> String {
        let Some(text) = command.and_then(|id| self.timeline.strings.get(id)) else {
            return String::new();
        };
        let known = self.known.entry(text.id);
        known.or_insert_with(|| template(&text.text)).clone()
    }
}

/// What is added up of one group.
#[derive(Default)]
struct Sum {
    example: Option<StringId>,
    parents: BTreeMap<String, u64>,
    starts: u64,
    cpu_ns: i64,
    ended: i64,
    ended_ns: i64,
    longest_ns: i64,
    failed: u64,
    killed: u64,
}

impl Sum {
    fn take(&mut self, run: &ProgramRun, parent: String) {
        let ran = run.end.ns_since(run.start);
        self.example = self.example.or(run.command);
        *self.parents.entry(parent).or_default() += 1;
        self.starts += 1;
        self.cpu_ns = self.cpu_ns.saturating_add(run.cpu_ns.unwrap_or(0));
        self.longest_ns = self.longest_ns.max(ran);
        if run.how.is_some_and(|how| how != End::Running) {
            self.ended += 1;
            self.ended_ns = self.ended_ns.saturating_add(ran);
        }
        self.killed += u64::from(run.how == Some(End::Signalled));
        self.failed += u64::from(run.how == Some(End::Exited) && run.status != Some(0));
    }

    fn program(self, command: String, is_fork: bool, timeline: &Timeline) -> StartedProgram {
        let example = self.example.and_then(|id| timeline.strings.get(id));
        let most = self.parents.into_iter().max_by_key(|(_, count)| *count);
        StartedProgram {
            command,
            example: example.map_or(String::new(), |text| text.text.to_string()),
            is_fork,
            started_by: most.map_or(String::new(), |(parent, _)| parent),
            starts: self.starts,
            cpu_ns: self.cpu_ns,
            mean_ns: (self.ended > 0).then(|| self.ended_ns / self.ended),
            longest_ns: self.longest_ns,
            failed: self.failed,
            killed: self.killed,
        }
    }
}

/// Those that began in a window, most CPU time first; of many those with most of it, and the most frequent.
fn started(timeline: &Timeline, window: Window) -> Vec<StartedProgram> {
    let mut templates = Templates::new(timeline);
    let mut sums: BTreeMap<(String, bool), Sum> = BTreeMap::new();
    for run in program_runs(timeline).filter(|run| window.contains(run.start)) {
        let key = (templates.of(run.command), run.is_fork);
        let parent = templates.of(run.parent_command);
        sums.entry(key).or_default().take(&run, parent);
    }
    let all = sums.into_iter();
    let mut all: Vec<StartedProgram> = all
        .map(|((command, is_fork), sum)| sum.program(command, is_fork, timeline))
        .collect();
    all.sort_by_key(|it| std::cmp::Reverse(it.starts));
    let mut rare = all.split_off(MOST.min(all.len()));
    rare.sort_by_key(|it| std::cmp::Reverse(it.cpu_ns));
    all.extend(rare.into_iter().take(MOST));
    all.sort_by_key(|it| std::cmp::Reverse((it.cpu_ns, it.starts)));
    all
}

/// Paths by their last parts: where a file lies is less than what it is called.
pub fn short(command: &str) -> String {
    let word = |word: &str| match word.rsplit_once('/') {
        Some(("", _)) | None => word.to_owned(),
        Some((_, name)) if name.contains(char::is_alphabetic) && !word.contains("://") => {
            name.to_owned()
        }
        Some(_) => word.to_owned(),
    };
    let words: Vec<String> = command.split(' ').map(word).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests;
