//! The call paths that took most CPU time, and those in which most waiting was, one after another.

use analysis::{duration, integer, percent};
use model::{ClassState, Report, StackReport, WaitPath, WaitReport};

use super::layout::wrap;

/// Columns before a path: its share.
const INDENT: usize = 10;
/// Lines of a path, at most; what is left out stands between the innermost and the outermost frames.
const MOST_LINES: usize = 2;
/// The same of where a thread waits: what it waits for is some calls away.
const MOST_WAIT_LINES: usize = 3;
/// Between a function and its caller.
const CALLED_BY: &str = " < ";
const LEFT_OUT: &str = "..";
/// What stands before a line without a share.
const BLANK: &str = "          ";

/// Nothing where stacks were not asked for.
pub(super) fn lines(report: &Report, width: usize) -> String {
    let Some(stacks) = &report.stacks else {
        return String::new();
    };
    let mut text = String::new();
    if stacks.samples > 0 {
        text.push_str(&heading_lines(&heading(stacks), width));
    }
    for path in &stacks.paths {
        let process = super::on_one_line(&path.process);
        text.push_str(&path_lines(
            path.share,
            &process,
            &path.frames,
            [width, MOST_LINES],
        ));
    }
    if let Some(waits) = &stacks.waits {
        text.push_str(&wait_lines(waits, width));
    }
    text
}

fn heading_lines(heading: &str, width: usize) -> String {
    let lines = wrap(heading, width.saturating_sub(4));
    format!("  {}\n", lines.join("\n    "))
}

fn wait_lines(waits: &WaitReport, width: usize) -> String {
    let is_idle = |path: &WaitPath| path.class.state() == ClassState::Idle;
    let (idle, needed): (Vec<_>, Vec<_>) = waits.paths.iter().partition(|path| is_idle(path));
    let mut text = String::new();
    if !needed.is_empty() {
        text.push_str(&heading_lines(&wait_heading(waits), width));
    }
    for path in needed {
        text.push_str(&wait_path_lines(path, width));
    }
    if !idle.is_empty() {
        let ns = waits.blocked_ns - waits.needed_ns;
        let heading = format!(
            "Where it waited for input or for a time: {}",
            duration(ns as f64)
        );
        text.push_str(&heading_lines(&heading, width));
    }
    for path in idle {
        text.push_str(&wait_path_lines(path, width));
    }
    text
}

fn wait_heading(waits: &WaitReport) -> String {
    let count = integer(waits.waits as f64);
    let error = match waits.error_ns as f64 / waits.blocked_ns.max(1) as f64 {
        error if error >= 0.0005 => format!(" (sampled, within {})", percent(error)),
        _ => String::new(),
    };
    let whole = waits.whole.map_or(String::new(), |whole| {
        format!("; {} of the stacks are whole", percent(whole))
    });
    let ns = duration(waits.needed_ns as f64);
    format!("Where it waited, by {count} waits: {ns} of all threads{error}{whole}")
}

fn wait_path_lines(path: &WaitPath, width: usize) -> String {
    let who = format!(
        "{}, {}",
        super::on_one_line(&path.process),
        path.class.label()
    );
    let frames = own_frames(&path.frames, path.kernel_frames);
    let mut lines = path_lines(path.share, &who, frames, [width, MOST_WAIT_LINES]);
    if let Some(end) = &path.ended_by {
        let process = super::on_one_line(&end.process);
        let who = format!("{} ended by {process}", percent(end.share));
        let frames = own_frames(&end.frames, end.kernel_frames);
        lines.push_str(&frame_lines(BLANK, &who, frames, [width, MOST_LINES]));
    }
    lines
}

/// A program's own frames, where it has some: how the kernel waits says less, and stands in every path.
fn own_frames(frames: &[String], of_kernel: u64) -> &[String] {
    match frames.get(of_kernel as usize..) {
        Some(own @ [_, ..]) => own,
        _ => frames,
    }
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
fn path_lines(share: f64, who: &str, frames: &[String], extent: [usize; 2]) -> String {
    let share = format!("{:>8}  ", percent(share));
    frame_lines(&share, who, frames, extent)
}

/// In so many columns, and at most so many lines.
fn frame_lines(start: &str, who: &str, frames: &[String], [width, most]: [usize; 2]) -> String {
    let room = width.saturating_sub(INDENT);
    let frames = fitting(who, frames, room * most);
    let text = format!("{who}: {}", frames.join(CALLED_BY));
    let mut lines = String::new();
    for (number, line) in wrap(&text, room).iter().take(most).enumerate() {
        let start = if number == 0 { start } else { BLANK };
        lines.push_str(&format!("{start}{line}\n"));
    }
    lines
}

/// Frames that fit into so many characters: the innermost, and the two outermost.
fn fitting(who: &str, frames: &[String], room: usize) -> Vec<String> {
    let frames: Vec<String> = frames
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
    let room = room.saturating_sub(who.chars().count() + 40);
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
    use model::{HotPath, LedgerClass, Role, WaitEnd};

    use super::*;

    fn path(process: &str, share: f64, frames: &[&str]) -> HotPath {
        HotPath {
            process: process.to_owned(),
            role: Role::Target,
            share,
            frames: frames.iter().map(|frame| (*frame).to_owned()).collect(),
        }
    }

    fn waits() -> WaitReport {
        let wait = |class, share, frames: &[&str], ended_by| WaitPath {
            process: "postgres".to_owned(),
            role: Role::Target,
            class,
            share,
            waits: 900,
            frames: frames.iter().map(|frame| (*frame).to_owned()).collect(),
            kernel_frames: 1,
            ended_by,
        };
        let end = WaitEnd {
            process: "postgres".to_owned(),
            share: 0.93,
            kernel_frames: 1,
            frames: ["futex_wake", "sem_post", "LWLockRelease"]
                .map(str::to_owned)
                .to_vec(),
        };
        let lock = [
            "futex_wait",
            "PGSemaphoreLock",
            "LWLockAcquireOrWait",
            "XLogFlush",
        ];
        let idle = ["do_epoll_wait", "epoll_wait", "WaitEventSetWait"];
        WaitReport {
            waits: 3_829,
            blocked_ns: 71_000_000_000,
            error_ns: 1_000_000_000,
            needed_ns: 21_000_000_000,
            whole: Some(1.0),
            paths: vec![
                wait(LedgerClass::InternalLock, 0.41, &lock, Some(end)),
                wait(LedgerClass::Input, 0.9, &idle, None),
            ],
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
            waits: Some(waits()),
        });
        expect![[r#"
            at 99
              What ran, by 1,432 samples; 99.5 % of the stacks are whole; 12 % of the time is in functions
                without a name
                21 %  postgres: _bt_compare < _bt_search < main < libc.so.6+0x2724a
                 4 %  java: function_0 < function_1 < function_2 < function_3 < function_4 < function_5 <
                      function_6 < function_7 < .. < function_38 < function_39
              Where it waited, by 3,829 waits: 21.0 s of all threads (sampled, within 1.4 %); 100 % of the
                stacks are whole
                41 %  postgres, waiting for an internal lock: PGSemaphoreLock < LWLockAcquireOrWait < XLogFlush
                      93 % ended by postgres: sem_post < LWLockRelease
              Where it waited for input or for a time: 50.0 s
                90 %  postgres, waiting for input: epoll_wait < WaitEventSetWait
        "#]].assert_eq(&format!("at 99\n{}", lines(&report, 99)));
        report.stacks = None;
        assert_eq!(lines(&report, 99), "");
    }
}
