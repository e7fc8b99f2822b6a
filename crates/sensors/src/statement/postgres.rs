//! Where PostgreSQL keeps, per process, its state, the id of its statement and the text: the entry behind
//! `pg_stat_activity` (`PgBackendStatus` in src/include/utils/backend_status.h).
//!
//! The struct is the server's own and may change with each major version, so a version that is not here is a gap. On
//! 64-bit Linux: the entry begins alike in all of them (st_changecount at 0, st_activity_start_timestamp at 32), st_state
//! is at 232 behind a SockAddr of 136 bytes, st_activity_raw at 248, st_query_id at 424 behind 20 progress parameters.
//! 18 has a state more, STATE_STARTING, before those that count here, and a plan's id behind the statement's.

use std::ops::RangeInclusive;

/// Versions whose entry is known.
pub const VERSIONS: RangeInclusive<u32> = 14..=18;

/// The exported pointer of each process to its own entry (src/backend/utils/activity/backend_status.c).
pub const POINTER: &str = "MyBEEntry";

/// Where the fields of an entry are, bytes, and the values of its state while a statement is under way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    /// `st_state`, of four bytes.
    pub state: u32,
    /// `st_query_id`, of eight bytes.
    pub id: u32,
    /// `st_activity_raw`, a pointer.
    pub text: u32,
    /// STATE_RUNNING.
    pub running: u32,
    /// STATE_FASTPATH.
    pub fastpath: u32,
}

/// The layouts that are told apart.
pub const LAYOUTS: [Layout; 2] = [
    Layout {
        state: 232,
        id: 424,
        text: 248,
        running: 2,
        fastpath: 4,
    },
    Layout {
        state: 232,
        id: 424,
        text: 248,
        running: 3,
        fastpath: 5,
    },
];

/// The number of a major version's layout in `LAYOUTS`; `None` for another version.
pub fn layout(major: u32) -> Option<usize> {
    VERSIONS.contains(&major).then_some(usize::from(major > 17))
}

/// A time of PostgreSQL's, microseconds since 2000-01-01, as microseconds since 1970-01-01 (both UTC).
///
/// Source: POSTGRES_EPOCH_JDATE and UNIX_EPOCH_JDATE in src/include/datatype/timestamp.h.
pub fn since_unix_us(time_us: i64) -> i64 {
    time_us.saturating_add((2_451_545 - 2_440_588) * 86_400 * 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_versions_have_a_layout() {
        let known: Vec<u32> = (9..25).filter(|it| layout(*it).is_some()).collect();
        assert_eq!(known, VERSIONS.collect::<Vec<u32>>());
        let running = |major| layout(major).map(|it| LAYOUTS[it].running);
        assert_eq!([17, 18].map(running), [Some(2), Some(3)]);
    }

    #[test]
    fn the_epoch_is_that_of_2000() {
        // 2000-01-01 00:00:00 UTC.
        assert_eq!(since_unix_us(0), 946_684_800_000_000);
        assert_eq!(since_unix_us(i64::MAX), i64::MAX);
    }
}
