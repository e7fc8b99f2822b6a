//! The lines of `perf script --ns -F cpu,time,event,trace`, for the scheduler's events.
//!
//! Names of threads may hold anything, also what looks like a field: each line is read from its end.

use anyhow::{Context, Result, bail};

/// What the scheduler did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Event {
    /// One thread left a CPU and another got it.
    Switch {
        cpu: usize,
        at_ns: u64,
        left: i32,
        /// Why it left.
        state: Left,
        got: i32,
        /// The name of the one that got it.
        got_name: String,
    },
    /// A thread was put on a run queue.
    Wakeup { at_ns: u64, thread: i32 },
    /// So many events are missing.
    Lost(u64),
}

/// The state in which a thread left its CPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Left {
    /// Still runnable.
    Runnable,
    /// In an interruptible sleep, as all three backends wait.
    Asleep,
    /// In any other: disk, page fault, stopped, dead.
    Blocked,
}

impl Left {
    /// The word of the tracepoint: letters joined by `|`, a `+` after it when preempted.
    fn parse(state: &str) -> Self {
        match state {
            "R" | "R+" => Left::Runnable,
            "S" => Left::Asleep,
            _ => Left::Blocked,
        }
    }
}

/// The event of a line; `None` for events that say nothing here.
pub(crate) fn parse(line: &str) -> Result<Option<Event>> {
    if line.contains("PERF_RECORD_LOST") {
        let count = line
            .rsplit_once("lost ")
            .and_then(|(_, count)| number(count).ok());
        return Ok(Some(Event::Lost(count.unwrap_or(1))));
    }
    let event = line.split_once("sched:").and_then(|(head, event)| {
        let (name, fields) = event.split_once(": ")?;
        Some((head, name, fields))
    });
    let Some((head, name, fields)) = event else {
        return Ok(None);
    };
    let parsed = match name {
        "sched_switch" => switch(head, fields),
        "sched_wakeup" | "sched_wakeup_new" => wakeup(head, fields),
        _ => return Ok(None),
    };
    let parsed = parsed.with_context(|| format!("perf script wrote what is not known: {line}"))?;
    Ok(Some(parsed))
}

fn switch(head: &str, fields: &str) -> Result<Event> {
    let (cpu, at_ns) = cpu_and_time(head)?;
    let (left, got) = halves(fields)?;
    let (left, state) = cut(left, " prev_state=")?;
    let (left, _) = cut(left, " prev_prio=")?;
    let (_, left) = cut(left, "prev_pid=")?;
    let (got, _) = cut(got, " next_prio=")?;
    let (name, got) = cut(got, " next_pid=")?;
    Ok(Event::Switch {
        cpu,
        at_ns,
        left: left.parse()?,
        state: Left::parse(state),
        got: got.parse()?,
        got_name: name.to_owned(),
    })
}

/// The one that left and the one that got the CPU. A name cannot be long enough to hold both of the
/// words around the arrow, so the last one whose halves fit is the right one.
fn halves(fields: &str) -> Result<(&str, &str)> {
    cut(fields, " ==> next_comm=")
}

fn wakeup(head: &str, fields: &str) -> Result<Event> {
    let (_, at_ns) = cpu_and_time(head)?;
    let (fields, _) = cut(fields, " prio=")?;
    let (_, thread) = cut(fields, " pid=")?;
    Ok(Event::Wakeup {
        at_ns,
        thread: thread.parse()?,
    })
}

/// `[001] 46884.035137693:       ` before the event.
fn cpu_and_time(head: &str) -> Result<(usize, u64)> {
    let (cpu, time) = head.split_once(']').context("no CPU")?;
    let (_, cpu) = cpu.split_once('[').context("no CPU")?;
    let time = time.trim().trim_end_matches(':');
    let (seconds, fraction) = time.split_once('.').context("no time")?;
    if fraction.len() != 9 {
        bail!("the time is not in ns");
    }
    let at_ns = number(seconds)? * 1_000_000_000 + number(fraction)?;
    Ok((cpu.parse()?, at_ns))
}

fn cut<'a>(text: &'a str, at: &str) -> Result<(&'a str, &'a str)> {
    text.rsplit_once(at).with_context(|| format!("no {at:?}"))
}

fn number(text: &str) -> Result<u64> {
    Ok(text.trim().parse()?)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn event(line: &str) -> Event {
        let event = parse(line).expect("it is known");
        event.expect("it says something")
    }

    #[test]
    fn a_switch() {
        let line = "[001] 46884.025279891:       sched:sched_switch: prev_comm=perf prev_pid=22845 \
                    prev_prio=120 prev_state=S ==> next_comm=bash next_pid=22880 next_prio=120";
        let expected = Event::Switch {
            cpu: 1,
            at_ns: 46_884_025_279_891,
            left: 22845,
            state: Left::Asleep,
            got: 22880,
            got_name: "bash".to_owned(),
        };
        assert_eq!(event(line), expected);
    }

    #[test]
    fn names_that_look_like_fields_change_nothing() {
        let line = "[000] 1.000000002:  sched:sched_switch: prev_comm=a prev_pid=9 prev_pid=5 \
                    prev_prio=120 prev_state=R+ ==> next_comm=b next_pid=8 c next_pid=6 next_prio=120";
        let Event::Switch {
            left,
            state,
            got,
            got_name,
            ..
        } = event(line)
        else {
            panic!("a switch")
        };
        assert_eq!((left, state, got), (5, Left::Runnable, 6));
        assert_eq!(got_name, "b next_pid=8 c");
    }

    #[test]
    fn a_wakeup() {
        let line =
            "[001] 46884.035137693:  sched:sched_wakeup: comm=sh pid=22843 prio=120 target_cpu=001";
        let at_ns = 46_884_035_137_693;
        assert_eq!(
            event(line),
            Event::Wakeup {
                at_ns,
                thread: 22843
            }
        );
    }

    #[test]
    fn states() {
        for (word, state) in [
            ("R", Left::Runnable),
            ("R+", Left::Runnable),
            ("S", Left::Asleep),
            ("D", Left::Blocked),
            ("D|K", Left::Blocked),
            ("X", Left::Blocked),
        ] {
            assert_eq!(Left::parse(word), state, "{word}");
        }
    }

    #[test]
    fn lost_events_are_counted_and_others_passed_over() {
        let line = "[000] 46884.016066182: PERF_RECORD_LOST lost 17";
        assert_eq!(event(line), Event::Lost(17));
        assert_eq!(parse("").ok(), Some(None));
        let migrated = "[001] 1.000000000:  sched:sched_migrate_task: comm=sh pid=5 prio=120 orig_cpu=1 dest_cpu=0";
        assert_eq!(parse(migrated).ok(), Some(None));
    }

    #[test]
    fn what_is_not_known_is_refused() {
        for line in [
            "[000] 1.000002:  sched:sched_wakeup: comm=sh pid=22843 prio=120 target_cpu=001",
            "[000] 1.000000002:  sched:sched_switch: something else",
            "1.000000002:  sched:sched_wakeup: comm=sh pid=22843 prio=120 target_cpu=001",
        ] {
            assert!(parse(line).is_err(), "{line}");
        }
    }

    proptest! {
        #[test]
        fn no_line_makes_the_parser_panic(
            line in "(\\[[0-9]{0,3}\\] )?[0-9.:]{0,12} ?(sched:sched_(switch|wakeup):)? ?[ -~]{0,60}",
        ) {
            let _ = parse(&line);
        }
    }
}
