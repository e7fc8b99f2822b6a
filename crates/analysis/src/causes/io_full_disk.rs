//! A filesystem of the target is full.

use model::{Confidence, Finding};

use super::evidence::{finding, share};
use super::{Cause, Judgement, Kind};
use crate::facts::Facts;
use crate::io::Filesystem;
use crate::number_format::{integer, percent, storage};
use crate::thresholds::Thresholds;

pub(super) const CAUSE: Cause = Cause {
    name: "io.full_disk",
    help: "A filesystem on which the target works has no space or no inodes left.",
    about: "the filesystem",
    kind: Kind::Failure,
    told_by: "Free space and free inodes of the filesystems that hold the working directories and open files of the target's processes, once a second; the least of the window counts. Both the part and the amount must be small: a hundredth of a large disk is room for long. What the workload says of it (`No space left on device`) is shown with its remarks.",
    judge,
};

fn judge(facts: &Facts<'_>, thresholds: &Thresholds, _found: &[Finding]) -> Judgement {
    let least = thresholds.io_full_disk.free;
    let filesystems = &facts.io.filesystems;
    let Some(fullest) = filesystems.first() else {
        return Judgement::CannotTell("the target's filesystems were not recorded".to_owned());
    };
    let full = filesystems
        .iter()
        .find_map(|filesystem| Some((filesystem, lack(filesystem, least)?)));
    let Some((filesystem, lack)) = full else {
        let path = &fullest.entity.path;
        let free = percent(fullest.free());
        return Judgement::Absent(if fullest.free() >= least {
            format!("{free} of {path} was free")
        } else {
            let left = storage(fullest.bytes.0);
            format!("{free} of {path} was free, and {left} are room for a while")
        });
    };
    let path = &filesystem.entity.path;
    let sentence = if lack.left < 1.0 {
        format!("A disk is full: {path} had {} left.", lack.nothing)
    } else {
        let part = if lack.part < 0.0005 {
            String::new()
        } else {
            format!(", {} of {}", percent(lack.part), lack.all)
        };
        format!("A disk is full: {path} had only {} left{part}.", lack.words)
    };
    let evidence = share(
        facts,
        "free part",
        lack.column,
        &filesystem.entity,
        lack.part,
        least,
    );
    Judgement::Present(Box::new(Finding {
        // Here staying below the threshold is what counts.
        evidence: vec![model::Evidence {
            passed: true,
            ..evidence
        }],
        to_confirm: format!(
            "see what is free: df -h {path}; df -i {path}: if there is room, this is wrong"
        ),
        ..finding(
            CAUSE.name,
            &filesystem.entity,
            Confidence::Measured,
            sentence,
        )
    }))
}

/// What a full filesystem lacks.
struct Shortage {
    left: f64,
    part: f64,
    words: String,
    nothing: &'static str,
    all: &'static str,
    column: &'static str,
}

/// More than this is room for a while, however small a part of a large disk it is: a segment of
/// PostgreSQL's log has at most 1 GiB (bytes).
const ROOM_BYTES: f64 = 1e9;
/// The same of inodes.
const ROOM_INODES: f64 = 10_000.0;

fn lack(filesystem: &Filesystem, least: f64) -> Option<Shortage> {
    let inodes = filesystem
        .inodes
        .filter(|(left, part)| *part < least && *left < ROOM_INODES)
        .map(|(left, part)| Shortage {
            left,
            part,
            words: format!("{} inodes", integer(left)),
            nothing: "no inode",
            all: "them",
            column: "filesystem.free_inodes",
        });
    let (left, part) = filesystem.bytes;
    let bytes = (part < least && left < ROOM_BYTES).then(|| Shortage {
        left,
        part,
        words: storage(left),
        nothing: "no room",
        all: "it",
        column: "filesystem.available_bytes",
    });
    let both = inodes.into_iter().chain(bytes);
    both.min_by(|a, b| a.part.total_cmp(&b.part))
}
