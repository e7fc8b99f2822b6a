//! What the word of a backend of PostgreSQL's for its wait means: `wait_event_info` of pg_stat_activity.
//!
//! The high byte is the class and never moved; the low two bytes are the event, whose numbers move
//! with every major version (Activity:WalWriterMain is 12, 12, 11, 12, 15, 17 in 13 to 18) and grow
//! only at the end within one: 13.6, 14.3, 15.0, 16.1, 17.0 and 18.0 give every number the same event
//! as the releases that the tables are from. Names changed their capitals in 17 (`WALSync`, then
//! `WalSync`), so compare them without regard to case.
//!
//! The tables hold what `pgstat_get_wait_event()` of each release answers for every number
//! (src/backend/utils/activity/wait_event.c, before 14 postmaster/pgstat.c). In each of 13.23, 14.23,
//! 15.18, 16.14, 17.10 and 18.4 the word in memory was compared with pg_stat_activity under pgbench.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use model::ThreadTimeClass;

/// Versions whose waits have names here.
pub const VERSIONS: RangeInclusive<u32> = 13..=18;

/// The kind of a backend's wait.
///
/// Source: PG_WAIT_* in src/include/utils/wait_classes.h.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum WaitClass {
    /// A lightweight lock inside the server.
    LwLock,
    /// A lock on a row, table or transaction, which another session holds.
    Lock,
    /// Exclusive access to a buffer that others have pinned.
    BufferPin,
    /// A process of the server that has no work.
    Activity,
    /// The client, usually its next statement.
    Client,
    /// An extension.
    Extension,
    /// Another process of the server.
    Ipc,
    /// A time to pass.
    Timeout,
    /// A file.
    Io,
    /// A point where a test stops the server (since 18, in builds for tests).
    InjectionPoint,
}

impl WaitClass {
    /// The word in pg_stat_activity.wait_event_type.
    pub const fn word(self) -> &'static str {
        match self {
            WaitClass::LwLock => "LWLock",
            WaitClass::Lock => "Lock",
            WaitClass::BufferPin => "BufferPin",
            WaitClass::Activity => "Activity",
            WaitClass::Client => "Client",
            WaitClass::Extension => "Extension",
            WaitClass::Ipc => "IPC",
            WaitClass::Timeout => "Timeout",
            WaitClass::Io => "IO",
            WaitClass::InjectionPoint => "InjectionPoint",
        }
    }
}

/// `LWLock:WALWrite`, held by the backend that syncs the log for all (group commit). An individual lock keeps
/// its number: 8 in lwlocknames.txt of versions 13 to 18.
pub const WAL_WRITE: u32 = 0x0100_0008;

/// `Client:ClientWrite`, of who sends; the second of its class in versions 13 to 18.
pub const CLIENT_WRITE: u32 = 0x0600_0001;

/// The class of a wait; `None` for `NOT_WAITING` and for a byte that no version knows (servers made
/// from PostgreSQL have classes of their own).
pub const fn class(code: u32) -> Option<WaitClass> {
    match code >> 24 {
        0x01 => Some(WaitClass::LwLock),
        0x03 => Some(WaitClass::Lock),
        0x04 => Some(WaitClass::BufferPin),
        0x05 => Some(WaitClass::Activity),
        0x06 => Some(WaitClass::Client),
        0x07 => Some(WaitClass::Extension),
        0x08 => Some(WaitClass::Ipc),
        0x09 => Some(WaitClass::Timeout),
        0x0A => Some(WaitClass::Io),
        0x0B => Some(WaitClass::InjectionPoint),
        _ => None,
    }
}

/// The class in which the kernel programs count a sleep with this wait event; `None` where the system call decides.
/// (Of `CLIENT_WRITE` they count it as sending.)
pub fn thread_time_class(code: u32) -> Option<ThreadTimeClass> {
    Some(match class(code)? {
        WaitClass::LwLock if code == WAL_WRITE => ThreadTimeClass::EventLog,
        WaitClass::LwLock => ThreadTimeClass::EventLwlock,
        WaitClass::Lock => ThreadTimeClass::EventLock,
        WaitClass::BufferPin => ThreadTimeClass::EventBuffer,
        WaitClass::Activity => ThreadTimeClass::EventActivity,
        WaitClass::Client => ThreadTimeClass::EventClient,
        WaitClass::Extension => ThreadTimeClass::EventExtension,
        WaitClass::Ipc => ThreadTimeClass::EventIpc,
        WaitClass::Timeout => ThreadTimeClass::EventTimeout,
        WaitClass::Io => ThreadTimeClass::EventIo,
        WaitClass::InjectionPoint => return None,
    })
}

/// The versions among those that were reported; all, where none was.
pub fn versions<'a>(told: impl Iterator<Item = &'a str>) -> Vec<u32> {
    let majors = told.filter_map(|version| version.split('.').next()?.parse().ok());
    let known: BTreeSet<u32> = majors.filter(|major| VERSIONS.contains(major)).collect();
    if known.is_empty() {
        VERSIONS.collect()
    } else {
        known.into_iter().collect()
    }
}

/// `Lock: transactionid`; with the number instead of the name where the versions disagree on it. `None` as
/// for `class`.
pub fn title(versions: impl IntoIterator<Item = u32>, code: u32) -> Option<String> {
    let class = class(code)?.word();
    let mut names = versions.into_iter().map(|major| name(major, code));
    let first = names.next().flatten();
    let name = first.filter(|first| names.all(|name| name == Some(first)));
    let number = code & 0x00FF_FFFF;
    Some(name.map_or(format!("{class}: {number}"), |name| {
        format!("{class}: {name}")
    }))
}

/// The event's name as PostgreSQL `major` writes it: `WALSync`, `relation`. `None` for another
/// version, and for events that extensions have made.
pub fn name(major: u32, code: u32) -> Option<&'static str> {
    let table = match major {
        13 => include_str!("../../tables/postgres/13.txt"),
        14 => include_str!("../../tables/postgres/14.txt"),
        15 => include_str!("../../tables/postgres/15.txt"),
        16 => include_str!("../../tables/postgres/16.txt"),
        17 => include_str!("../../tables/postgres/17.txt"),
        18 => include_str!("../../tables/postgres/18.txt"),
        _ => return None,
    };
    let (class, number) = (code >> 24, code & 0x00FF_FFFF);
    table.lines().find_map(|line| {
        let mut words = line.split(' ');
        let line_class = u32::from_str_radix(words.next()?, 16).ok()?;
        let first: u32 = words.next()?.parse().ok()?;
        let index = number.checked_sub(first)?;
        (line_class == class).then(|| words.nth(index as usize))?
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wait_event::NOT_WAITING;
    use proptest::prelude::*;

    #[test]
    fn numbers_that_were_seen_in_running_servers() {
        let seen = [
            (13, 0x0500_000c, "WalWriterMain"),
            (15, 0x0500_000b, "WalWriterMain"),
            (18, 0x0500_0011, "WalWriterMain"),
            (13, 0x0a00_0041, "WALSync"),
            (15, 0x0a00_0046, "WALSync"),
            (18, 0x0a00_004e, "WalSync"),
            (13, 0x0900_0001, "PgSleep"),
            (15, 0x0900_0002, "PgSleep"),
            (18, 0x0900_0002, "PgSleep"),
        ];
        for (major, code, expected) in seen {
            assert_eq!(name(major, code), Some(expected), "{major} {code:#x}");
        }
    }

    #[test]
    fn a_wait_has_the_name_that_its_version_gives_it() {
        let main = 0x0500_000b;
        let event = |versions: &[u32], code| title(versions.iter().copied(), code);
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
        assert_eq!(event(&[15], NOT_WAITING), None);
    }

    #[test]
    fn what_no_version_moved() {
        for major in 13..=18 {
            for (number, expected) in [
                (0, "relation"),
                (1, "extend"),
                (4, "tuple"),
                (5, "transactionid"),
                (10, "advisory"),
            ] {
                assert_eq!(name(major, 0x0300_0000 | number), Some(expected));
            }
            assert_eq!(name(major, 0x0600_0000), Some("ClientRead"));
            assert_eq!(name(major, WAL_WRITE), Some("WALWrite"));
            assert_eq!(name(major, CLIENT_WRITE), Some("ClientWrite"));
            assert_eq!(name(major, 0x0400_0000), Some("BufferPin"));
            assert_eq!(name(major, NOT_WAITING), None);
        }
        assert_eq!(class(0x0300_0005), Some(WaitClass::Lock));
        assert_eq!(class(NOT_WAITING), None);
        assert_eq!(class(0x0200_0000), None);
    }

    /// A backend that commits waits for a synchronous standby, and a leader for its parallel workers.
    #[test]
    fn waits_for_standbys_and_parallel_workers_have_names_in_every_version() {
        const IPC: u32 = 0x0800_0000;
        for major in VERSIONS {
            let named = |wanted: &str| {
                let mut codes = IPC..IPC + 100;
                let is_it = |code: &u32| {
                    name(major, *code).is_some_and(|it| it.eq_ignore_ascii_case(wanted))
                };
                codes
                    .find(is_it)
                    .unwrap_or_else(|| panic!("{major} has no {wanted}"))
            };
            for event in [
                "SyncRep",
                "ExecuteGather",
                "ParallelFinish",
                "ParallelBitmapScan",
                "ParallelCreateIndexScan",
                "HashBuildHashInner",
                "BgworkerShutdown",
                "BgworkerStartup",
            ] {
                let class = thread_time_class(named(event));
                assert_eq!(class, Some(ThreadTimeClass::EventIpc), "{major} {event}");
            }
        }
    }

    #[test]
    fn a_gap_in_the_numbers_and_a_stranger_have_no_name() {
        // LWLock 10 is free in 13 to 18.
        assert_eq!(name(15, 0x0100_000a), None);
        assert_eq!(name(15, 0x0100_0fff), None);
        assert_eq!(name(12, 0x0300_0000), None);
        assert_eq!(name(19, 0x0300_0000), None);
    }

    proptest! {
        #[test]
        fn whatever_has_a_name_has_a_class(major in 12u32..20, class_byte in 0u32..16, number in 0u32..130) {
            let code = class_byte << 24 | number;
            if name(major, code).is_some() {
                prop_assert!(class(code).is_some());
            }
        }

        #[test]
        fn any_number_is_survived(major: u32, code: u32) {
            name(major, code);
            class(code);
        }
    }
}
