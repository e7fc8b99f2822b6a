//! What codes in tables stand for, where the recording alone does not say it: PostgreSQL's waits, numbered
//! as in the server's version, and the kernel's functions, by the recorder's list. What stands in a
//! column's description already is not repeated.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use model::{Column, Meta};
use sensors::{wait_channel, wait_event};

/// Versions of PostgreSQL whose waits have names here.
const VERSIONS: RangeInclusive<u32> = 13..=18;

/// Words for the codes of a column that were seen; those without one are left out.
pub(super) fn of(column: &Column, seen: &BTreeSet<i64>, meta: &Meta) -> BTreeMap<i64, String> {
    let word: &dyn Fn(i64) -> Option<String> = match &*column.name {
        "wait_event" => &|code| event(&versions(meta), u32::try_from(code).ok()?),
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
        major.parse().ok().filter(|major| VERSIONS.contains(major))
    });
    let told: BTreeSet<u32> = told.collect();
    if told.is_empty() {
        VERSIONS.collect()
    } else {
        told.into_iter().collect()
    }
}

/// `Lock: transactionid`; with the number instead of the name where the versions disagree on it.
fn event(versions: &[u32], code: u32) -> Option<String> {
    let class = wait_event::class(code)?.word();
    let mut names = versions.iter().map(|major| wait_event::name(*major, code));
    let first = names.next().flatten();
    let name = first.filter(|first| names.all(|name| name == Some(first)));
    let number = code & 0x00FF_FFFF;
    Some(name.map_or(format!("{class}: {number}"), |name| {
        format!("{class}: {name}")
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_has_the_name_that_its_version_gives_it() {
        let main = 0x0500_000b;
        assert_eq!(
            event(&[15], main).as_deref(),
            Some("Activity: WalWriterMain")
        );
        // 11 is the same in 15 alone of all versions.
        let all: Vec<u32> = VERSIONS.collect();
        assert_eq!(event(&all, main).as_deref(), Some("Activity: 11"));
        assert_eq!(
            event(&all, 0x0300_0005).as_deref(),
            Some("Lock: transactionid")
        );
        assert_eq!(
            event(&[14, 15], 0x0600_0000).as_deref(),
            Some("Client: ClientRead")
        );
        assert_eq!(
            event(&[15], 0x0700_0777).as_deref(),
            Some("Extension: 1911")
        );
        assert_eq!(event(&[15], wait_event::NOT_WAITING), None);
    }
}
