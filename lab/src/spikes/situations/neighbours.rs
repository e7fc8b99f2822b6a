//! Others on the same CPUs, and nobody.

use anyhow::Result;

use super::{pgbench, script, target};
use crate::spikes::situation::{Answer, By, Made, Named, Situation, Timing, Variant};
use crate::stage::Stage;

/// Twice as many threads as CPUs, for a second, before all others: without that a server that sleeps most of the time
/// hardly notices them (kernels since 6.6 let who has slept run first).
pub const BURN: &str = "for number in $(seq $(( $(nproc) * 2 ))); do\n    \
                    nice -n -15 timeout 1 sh -c 'while :; do :; done' &\ndone\nwait\n";

/// A job of cron's that computes.
pub fn cpu() -> Situation {
    Situation {
        name: "cpu-burst",
        about: "A timer starts a script of somebody else's, which computes on all CPUs for a second, before all others.",
        timing: Timing::Recurring(7.0),
        follows: 1.2,
        answer: BURST,
        set_up,
    }
}

const BURST: Answer = Answer::any_of(&[Named::Program("make-report")]);

fn set_up(stage: &mut Stage, _: Variant) -> Result<Result<Made, String>> {
    stage.postgres(&[])?;
    let action = script(stage, "make-report", BURN)?;
    made(stage, vec![action])
}

fn made(stage: &Stage, actions: Vec<String>) -> Result<Result<Made, String>> {
    Ok(Ok(Made {
        target: target(stage)?,
        load: pgbench(stage, &["-S", "-R", "300"])?,
        logs: Vec::new(),
        by: By::Process("lab-timer", actions),
    }))
}

/// The same at random times.
pub fn random_cpu() -> Situation {
    Situation {
        name: "random-cpu-bursts",
        about: "The script of cpu-burst at random times.",
        timing: Timing::Random(6.0),
        ..cpu()
    }
}

/// Nothing but the crowd.
pub fn none() -> Situation {
    Situation {
        name: "no-spikes",
        about: "The load and the crowd, and nothing that makes spikes.",
        timing: Timing::Never,
        follows: 1.0,
        answer: Answer {
            any_of: &[],
            or_none: true,
        },
        set_up: |stage, _| {
            stage.postgres(&[])?;
            made(stage, Vec::new())
        },
    }
}
