//! A filesystem of the target is full.

use model::{Confidence, Evidence, Finding, Reading};

use super::cause::{Case, Cause, Judgement, Kind, absent, cannot_tell};
use super::evidence::share;
use super::family::Family;
use crate::formula;
use crate::io::Filesystem;
use crate::number_format::{integer, percent, storage};
use crate::thresholds::Threshold;

const FREE: Threshold =
    Threshold::share("free", 0.01, "Free part of a filesystem's space or inodes");

pub(super) const CAUSE: Cause = Cause {
    name: "io.full_disk",
    help: "A filesystem on which the target works has no space or no inodes left.",
    about: "the filesystem",
    kind: Kind::Failure,
    family: Family::Storage,
    told_by: "Free space and free inodes of the filesystems that hold the working directories and open files of the target's processes, once a second; the least of the window counts. Where hardly anything is free when the recording begins, files that are open for a moment only are met too, as those of a cache are (fanotify(7), `CAP_SYS_ADMIN`). What is mounted read-only cannot fill up and does not count. Both the part and the amount must be small: a hundredth of a large disk is room for long. What the workload says of it (`No space left on device`) is shown with its remarks.",
    thresholds: &[FREE],
    upstream: &[],
    wait: None,
    would_help: &[],
    would_not_help: None,
    to_confirm: "",
    judge,
};

fn judge(case: &Case<'_>) -> Judgement {
    let filesystems = &case.facts.io.filesystems;
    let Some(fullest) = filesystems.first() else {
        return cannot_tell("the target's filesystems were not recorded");
    };
    let mut full = filesystems.iter();
    let full = full.find_map(|filesystem| Some((filesystem, lack(filesystem, FREE.value())?)));
    if let Some((filesystem, lack)) = full {
        return Ok(present(case, filesystem, &lack));
    }
    let path = &fullest.entity.path;
    let free = percent(fullest.free());
    absent(if fullest.free() >= FREE.value() {
        format!("{free} of {path} was free")
    } else {
        let left = storage(fullest.bytes.0);
        format!("{free} of {path} was free, and {left} are room for a while")
    })
}

fn present(case: &Case<'_>, filesystem: &Filesystem, lack: &Shortage) -> Finding {
    let entity = &filesystem.entity;
    let path = &entity.path;
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
    let free = share(
        case.facts,
        "free part",
        &format!("filesystem.{}", lack.columns.0),
        entity,
        lack.part,
        FREE.value(),
    );
    let of = |reading, column| {
        formula::recorded(
            reading,
            "filesystem",
            &[column],
            formula::one(filesystem.id),
        )
    };
    let (left, all) = lack.columns;
    let free = free.by(formula::part(
        of(Reading::Lowest, left),
        of(Reading::Last, all),
    ));
    Finding {
        // Here staying below the threshold is what counts.
        evidence: vec![Evidence {
            passed: true,
            ..free
        }],
        to_confirm: format!(
            "see what is free: df -h {path}; df -i {path}: if there is room, this is wrong"
        ),
        ..case.finding(entity, Confidence::Measured, sentence)
    }
}

/// What a full filesystem lacks.
struct Shortage {
    left: f64,
    part: f64,
    words: String,
    nothing: &'static str,
    all: &'static str,
    /// Of what is left, and of all.
    columns: (&'static str, &'static str),
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
            columns: ("free_inodes", "inodes"),
        });
    let (left, part) = filesystem.bytes;
    let bytes = (part < least && left < ROOM_BYTES).then(|| Shortage {
        left,
        part,
        words: storage(left),
        nothing: "no room",
        all: "it",
        columns: ("available_bytes", "total_bytes"),
    });
    let both = inodes.into_iter().chain(bytes);
    both.min_by(|a, b| a.part.total_cmp(&b.part))
}
