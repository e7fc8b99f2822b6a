//! Runs of programs on pages against the recording.

use super::data_of;
use super::decode::found;
use super::made::{kept, with_programs};

#[test]
fn like_command_lines_are_one_program_and_those_with_most_cpu_time_are_drawn() {
    let recording = with_programs(kept("cpu-quota"));
    let seconds = recording.timeline.window.len_ns() / 1_000_000_000;
    let (_, text) = data_of(&recording);
    let found = found(&text);
    let table = found.page.tables.iter().find(|it| it.name == "program_run");
    let table = table.expect("it is drawn");
    let rows = &found.rows["program_run"];
    let words = &table.columns[0].words;
    assert_eq!(words.len(), 40);
    // Of 45 others the 39 with most CPU time; what lasts has used none that is known.
    assert_eq!((rows.len() as i64, table.left_out), (seconds - 1 + 39, 7));
    let jobs = words.iter().find(|(_, word)| word.starts_with("/opt/job"));
    let (code, word) = jobs.expect("jobs have used most");
    assert_eq!(word, "/opt/job --number N --key ***");
    let runs: Vec<_> = rows
        .iter()
        .filter(|row| row.values[0] == Some(*code))
        .collect();
    assert_eq!(runs.len() as i64, seconds - 1);
    let start = runs[1].at - runs[0].at;
    assert_eq!(start, 1_000_000_000, "rows stand at their starts");
    let failed = runs.iter().filter(|row| row.values[4] == Some(1)).count();
    assert_eq!(failed as i64, (seconds - 1) / 5);
    let parent = runs[0].values[1].expect("it is known");
    assert_eq!(table.columns[1].words[&parent], "cron -f");
    assert_eq!(runs[0].values[2..4], [Some(100_000_000), Some(50_000_000)]);
}
