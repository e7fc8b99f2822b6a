//! A filesystem of the target is full.

use model::{Confidence, Finding};

use super::evidence::{finding, share};
use super::{Cause, Judgement, Kind};
use crate::facts::Facts;
use crate::thresholds::Thresholds;
use crate::words::{integer, percent, rate};

pub(super) const CAUSE: Cause = Cause {
    name: "io.full_disk",
    help: "A filesystem on which the target works has no space or no inodes left.",
    about: "the filesystem",
    kind: Kind::Failure,
    told_by: "Free space and free inodes of the filesystems on which the target's processes have their working directory, once a second; the least of the window counts. What the workload says of it (`No space left on device`) is shown with its remarks.",
    judge,
};

fn judge(facts: &Facts<'_>, thresholds: &Thresholds, _found: &[Finding]) -> Judgement {
    let Some(fullest) = facts.io.filesystems.first() else {
        return Judgement::CannotTell("the target's filesystems were not recorded".to_owned());
    };
    let free = thresholds.io_full_disk.free;
    if fullest.free >= free {
        return Judgement::Absent(format!(
            "{} of {} was free",
            percent(fullest.free),
            fullest.entity.path
        ));
    }
    let (left, column) = match fullest.free_inodes {
        Some(inodes) => (
            format!("{} inodes", integer(inodes)),
            "filesystem.free_inodes",
        ),
        None if fullest.free_bytes < 1.0 => ("nothing".to_owned(), "filesystem.available_bytes"),
        None => (
            format!("{} MB", rate(fullest.free_bytes / 1e6)),
            "filesystem.available_bytes",
        ),
    };
    let sentence = format!(
        "A disk is full: {} had {left} left ({}).",
        fullest.entity.path,
        percent(fullest.free)
    );
    let evidence = share(
        facts,
        "free part",
        column,
        &fullest.entity,
        fullest.free,
        free,
    );
    Judgement::Present(Box::new(Finding {
        // Here staying below the threshold is what counts.
        evidence: vec![model::Evidence {
            passed: true,
            ..evidence
        }],
        prove_wrong: format!("df -h {0}; df -i {0}", fullest.entity.path),
        ..finding(CAUSE.name, &fullest.entity, Confidence::Measured, sentence)
    }))
}
