//! Runs of programs as rows of a page: like command lines are one program, of which those with most CPU time are drawn.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use analysis::program_runs::{ProgramRun, program_runs, template};
use model::{
    Column, EntityKind, MISSING, PageForm, RowKind, StringId, Table, TableData, Timeline,
    Timestamp, Unit,
};
use sensors::program_run::End;

use super::entities::Places;
use super::rows;
use super::tables::{Written, described};

/// Programs that are drawn.
const MOST_PROGRAMS: usize = 40;
/// Their runs, at most: of more the longest are drawn.
const MOST_RUNS: f64 = 20_000.0;

/// The rows' times are the starts.
static COLUMNS: &[Column] = &[
    Column::gauge(
        "program",
        Unit::Code,
        "What was started: command lines that differ only in numbers and identifiers are one.",
        "column command of program_run",
    ),
    Column::gauge(
        "started_by",
        Unit::Code,
        "The same of the parent.",
        "column parent_command of program_run",
    ),
    Column::gauge(
        "duration_ns",
        Unit::Nanoseconds,
        "How long it ran.",
        "as in program_run",
    ),
    Column::gauge(
        "cpu_ns",
        Unit::Nanoseconds,
        "Its CPU time; missing where its end was not seen.",
        "as in program_run",
    ),
    Column::gauge(
        "end",
        Unit::Code,
        "How it ended: 0 with status 0, 1 with another one, 2 by a signal, 3 as another program, 4 not while it was \
         recorded; missing where that was lost.",
        "columns end and status of program_run",
    ),
];

/// Templates of command lines, and their codes.
struct Programs<'a> {
    timeline: &'a Timeline,
    templates: HashMap<(Option<StringId>, bool), i64>,
    words: BTreeMap<i64, String>,
    codes: HashMap<String, i64>,
}

impl<'a> Programs<'a> {
    fn new(timeline: &'a Timeline) -> Self {
        Self {
            timeline,
            templates: HashMap::new(),
            words: BTreeMap::new(),
            codes: HashMap::new(),
        }
    }

    fn code(&mut self, command: Option<StringId>, is_fork: bool) -> i64 {
        if let Some(known) = self.templates.get(&(command, is_fork)) {
            return *known;
        }
        let text = command.and_then(|id| self.timeline.strings.get(id));
        let text = text.map_or_else(|| "not known".to_owned(), |text| template(&text.text));
        let text = if is_fork {
            format!("fork of {text}")
        } else {
            text
        };
        let next = self.words.len() as i64;
        let code = *self.codes.entry(text.clone()).or_insert(next);
        self.words.insert(code, text);
        self.templates.insert((command, is_fork), code);
        code
    }
}

/// The runs of the programs with most CPU time; nothing of a recording without any.
pub(super) fn write(
    timeline: &Timeline,
    origin: Timestamp,
    part: f64,
    places: &mut Places<'_>,
) -> Option<Written> {
    let machine = timeline.entities.machine()?.id;
    let mut programs = Programs::new(timeline);
    let coded = |run: ProgramRun| (programs.code(run.command, run.is_fork), run);
    let mut runs: Vec<(i64, ProgramRun)> = program_runs(timeline).map(coded).collect();
    if runs.is_empty() {
        return None;
    }
    let all = runs.len();
    let drawn = most(&runs);
    runs.retain(|(program, _)| drawn.contains(program));
    runs.sort_by_key(|(_, run)| Reverse(run.end.ns_since(run.start)));
    runs.truncate((MOST_RUNS * part) as usize);
    let table = Table::new(
        "program_run",
        EntityKind::Machine,
        "Runs of programs, a row at the start of each; of many those of the programs with most CPU time.",
        COLUMNS,
    )
    .rows(RowKind::Events);
    let mut data = TableData::new(table);
    runs.sort_by_key(|(_, run)| run.start);
    for (program, run) in &runs {
        let parent = programs.code(run.parent_command, false);
        let row = [
            *program,
            parent,
            run.end.ns_since(run.start),
            run.cpu_ns.unwrap_or(MISSING),
            end_of(run),
        ];
        data.push(run.start, machine, &row);
    }
    let left_out = u32::try_from(all - runs.len()).unwrap_or(u32::MAX);
    let mut table = described(&data.table, PageForm::Rows, left_out);
    for (column, seen) in [(0, 0), (1, 1)] {
        let codes: Vec<i64> = (0..data.len()).map(|row| data.value(row, seen)).collect();
        let words = codes.iter().filter_map(|code| {
            let word = programs.words.get(code)?;
            Some((*code, word.clone()))
        });
        table.columns[column].words = words.collect();
    }
    Some(Written {
        table,
        numbers: rows::write(&data, origin, 1.0, places),
    })
}

/// The programs with most CPU time.
fn most(runs: &[(i64, ProgramRun)]) -> Vec<i64> {
    let mut sums: BTreeMap<i64, (i64, usize)> = BTreeMap::new();
    for (program, run) in runs {
        let (cpu_ns, starts) = sums.entry(*program).or_default();
        *cpu_ns = cpu_ns.saturating_add(run.cpu_ns.unwrap_or(0));
        *starts += 1;
    }
    let mut all: Vec<_> = sums.into_iter().collect();
    all.sort_by_key(|(_, sum)| Reverse(*sum));
    all.truncate(MOST_PROGRAMS);
    all.into_iter().map(|(program, _)| program).collect()
}

/// As the help of the column says.
fn end_of(run: &ProgramRun) -> i64 {
    match run.how {
        Some(End::Exited) if run.status == Some(0) => 0,
        Some(End::Exited) => 1,
        Some(End::Signalled) => 2,
        Some(End::Replaced) => 3,
        Some(End::Running) => 4,
        None => MISSING,
    }
}
