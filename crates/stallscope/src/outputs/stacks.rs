//! The call paths that took most CPU time, one after another.

use analysis::{integer, percent};
use model::{HotPath, Report, StackReport};

use super::layout::wrap;

/// Columns before a path: its share.
const INDENT: usize = 10;
/// Lines of a path, at most; what is left out stands between the innermost and the outermost frames.
const MOST_LINES: usize = 2;
/// Between a function and its caller.
const CALLED_BY: &str = " < ";
const LEFT_OUT: &str = "..";

/// Nothing where stacks were not asked for.
pub(super) fn lines(report: &Report, width: usize) -> String {
    let Some(stacks) = &report.stacks else {
        return String::new();
    };
    let heading = wrap(&heading(stacks), width.saturating_sub(4));
    let mut text = format!("  {}\n", heading.join("\n    "));
    for path in &stacks.paths {
        text.push_str(&path_lines(path, width));
    }
    text
}

fn heading(stacks: &StackReport) -> String {
    let samples = integer(stacks.samples as f64);
    let whole = stacks.whole.map_or(String::new(), |whole| {
        format!("; {} of the stacks are whole", percent(whole))
    });
    let unnamed = match stacks.unnamed {
        unnamed if unnamed >= 0.005 => {
            format!(
                "; {} of the time is in functions without a name",
                percent(unnamed)
            )
        }
        _ => String::new(),
    };
    format!("What ran, by {samples} samples{whole}{unnamed}")
}

/// `12 %  postgres: innermost < caller < .. < outermost`
fn path_lines(path: &HotPath, width: usize) -> String {
    let room = width.saturating_sub(INDENT);
    let frames = fitting(path, room * MOST_LINES);
    let text = format!(
        "{}: {}",
        super::on_one_line(&path.process),
        frames.join(CALLED_BY)
    );
    let share = format!("{:>8}  ", percent(path.share));
    let mut lines = String::new();
    for (number, line) in wrap(&text, room).iter().take(MOST_LINES).enumerate() {
        let start = if number == 0 { &share } else { "          " };
        lines.push_str(&format!("{start}{line}\n"));
    }
    lines
}

/// Frames that fit into so many characters: the innermost, and the two outermost.
fn fitting(path: &HotPath, room: usize) -> Vec<String> {
    let frames: Vec<String> = path
        .frames
        .iter()
        .map(|frame| super::on_one_line(frame))
        .collect();
    let length = |frames: &[String]| -> usize {
        let names = frames
            .iter()
            .map(|frame| frame.chars().count() + CALLED_BY.len());
        names.sum()
    };
    // The lines are not filled to the last place.
    let room = room.saturating_sub(path.process.chars().count() + 40);
    if length(&frames) <= room || frames.len() < 5 {
        return frames;
    }
    let outermost = &frames[frames.len() - 2..];
    let mut shown = Vec::new();
    for frame in &frames[..frames.len() - 2] {
        if length(&shown) + length(outermost) + frame.chars().count() > room {
            break;
        }
        shown.push(frame.clone());
    }
    shown.push(LEFT_OUT.to_owned());
    shown.extend(outermost.iter().cloned());
    shown
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use model::Role;

    use super::*;

    fn path(process: &str, share: f64, frames: &[&str]) -> HotPath {
        HotPath {
            process: process.to_owned(),
            role: Role::Target,
            share,
            frames: frames.iter().map(|frame| (*frame).to_owned()).collect(),
        }
    }

    #[test]
    fn paths_have_their_innermost_and_outermost_frames() {
        let deep: Vec<String> = (0..40).map(|depth| format!("function_{depth}")).collect();
        let deep: Vec<&str> = deep.iter().map(String::as_str).collect();
        let json = include_str!("../../fixtures/reports/cpu-quota.json");
        let mut report: Report = serde_json::from_str(json).expect("a report as it is written");
        report.stacks = Some(StackReport {
            samples: 1_432,
            cpu_ns: 1,
            whole: Some(0.995),
            unnamed: 0.12,
            paths: vec![
                path(
                    "postgres",
                    0.213,
                    &["_bt_compare", "_bt_search", "main", "libc.so.6+0x2724a"],
                ),
                path("java", 0.04, &deep),
            ],
        });
        expect![[r#"
            at 99
              What ran, by 1,432 samples; 99.5 % of the stacks are whole; 12 % of the time is in functions
                without a name
                21 %  postgres: _bt_compare < _bt_search < main < libc.so.6+0x2724a
                 4 %  java: function_0 < function_1 < function_2 < function_3 < function_4 < function_5 <
                      function_6 < function_7 < .. < function_38 < function_39
        "#]].assert_eq(&format!("at 99\n{}", lines(&report, 99)));
        report.stacks = None;
        assert_eq!(lines(&report, 99), "");
    }
}
