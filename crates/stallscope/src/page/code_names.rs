//! What codes in tables stand for, where the recording alone does not say it: PostgreSQL's waits, numbered
//! as in the server's version, and the kernel's functions, by the recorder's list. What stands in a
//! column's description already is not repeated.

use std::collections::{BTreeMap, BTreeSet};

use model::{Column, Meta};
use sensors::{wait_channel, wait_event};

/// Words for the codes of a column that were seen; those without one are left out.
pub(super) fn of(column: &Column, seen: &BTreeSet<i64>, meta: &Meta) -> BTreeMap<i64, String> {
    let word: &dyn Fn(i64) -> Option<String> = match &*column.name {
        "wait_event" => &|code| {
            let told = meta.targets.iter().filter_map(|it| it.version.as_deref());
            wait_event::title(wait_event::versions(told), u32::try_from(code).ok()?)
        },
        "wait_channel" => &|code| wait_channel::name(code).map(str::to_owned),
        _ => return BTreeMap::new(),
    };
    let worded = |code: &i64| Some((*code, word(*code)?));
    seen.iter().filter_map(worded).collect()
}
