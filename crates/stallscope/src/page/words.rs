//! What codes in tables stand for, where the recording alone does not say it: PostgreSQL's waits, numbered
//! as in the server's version, and the kernel's functions, by the recorder's list. What stands in a
//! column's description already is not repeated.

use std::collections::{BTreeMap, BTreeSet};

use model::{Column, Meta};
use sensors::{wait_channel, wait_event};

/// Words for the codes of a column that were seen; those without one are left out.
pub(super) fn of(column: &Column, seen: &BTreeSet<i64>, meta: &Meta) -> BTreeMap<i64, String> {
    let word: &dyn Fn(i64) -> Option<String> = match &*column.name {
        "wait_event" => &|code| wait_event::title(versions(meta), u32::try_from(code).ok()?),
        "wait_channel" => &|code| wait_channel::name(code).map(str::to_owned),
        _ => return BTreeMap::new(),
    };
    let worded = |code: &i64| Some((*code, word(*code)?));
    seen.iter().filter_map(worded).collect()
}

/// The versions that the servers of this recording may have: all, where none was told.
fn versions(meta: &Meta) -> Vec<u32> {
    let told = meta.targets.iter().filter_map(|target| {
        let major = target.version.as_deref()?.split('.').next()?;
        major
            .parse()
            .ok()
            .filter(|major| wait_event::VERSIONS.contains(major))
    });
    let told: BTreeSet<u32> = told.collect();
    if told.is_empty() {
        wait_event::VERSIONS.collect()
    } else {
        told.into_iter().collect()
    }
}
