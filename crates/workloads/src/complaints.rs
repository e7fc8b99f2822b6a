//! What any workload complains of, told by the usual words of databases and of the C library:
//! connections refused, no space left. Counted by kind, and the first line of each kind kept, so that
//! a cause can be judged by them.
//!
//! It knows texts, not tools: what a line means beyond its kind is the adapter's business. Memory does
//! not grow with the output.

use std::sync::LazyLock;

use model::{Complaint, ComplaintKind};
use regex::bytes::{RegexSet, RegexSetBuilder};

use crate::quote::quote;

/// Each kind and what its lines look like, letters of either case. A line is of every kind that it
/// fits.
const KINDS: &[(ComplaintKind, &str)] = &[
    // PostgreSQL: max_connections, reserved slots, limits of roles and databases, SQLSTATE 53300.
    // MySQL: 1040 and 1203. PgBouncer: max_client_conn. Redis: maxclients.
    (
        ComplaintKind::TooManyConnections,
        r"too many clients already|remaining connection slots are reserved|too many connections\b|(?:sqlstate|fatal|error|code)\W{0,6}53300\b|max_user_connections' (?:active|resource)|no more connections allowed|max number of clients reached",
    ),
    (
        ComplaintKind::ConnectionRefused,
        r"\bconnection refused|\bECONNREFUSED\b|can't connect to (?:local )?(?:mysql|server|mariadb)",
    ),
    (
        ComplaintKind::ServerGone,
        r"server closed the connection unexpectedly|terminating connection (?:due to|because of)|(?:mysql )?server has gone away|lost connection to (?:mysql )?server|connection reset by peer|the database system is (?:shutting down|starting up|in recovery mode)",
    ),
    // ENOSPC and EDQUOT as strerror(3) has them, PostgreSQL's 53100, MySQL's 1114.
    (
        ComplaintKind::NoSpace,
        r"no space left on device|\bENOSPC\b|disk quota exceeded|(?:sqlstate|fatal|error|code)\W{0,6}53100\b|the table '[^']{0,200}' is full",
    ),
    (
        ComplaintKind::OutOfMemory,
        r"cannot allocate memory|\bENOMEM\b|\bout of (?:shared )?memory\b|std::bad_alloc",
    ),
    (
        ComplaintKind::TooManyFiles,
        r"too many open files|\bEMFILE\b|\bENFILE\b",
    ),
];

static PATTERNS: LazyLock<RegexSet> = LazyLock::new(|| {
    RegexSetBuilder::new(KINDS.iter().map(|(_, pattern)| pattern))
        .case_insensitive(true)
        .unicode(false)
        .build()
        .expect("the patterns are constants, and tests use each")
});

/// The complaints of one run.
#[derive(Default)]
pub(crate) struct Complaints(Vec<Complaint>);

impl Complaints {
    /// Takes a whole line of either stream.
    pub(crate) fn line(&mut self, line: &[u8]) {
        for index in PATTERNS.matches(line) {
            let (kind, _) = KINDS[index];
            match self.0.iter_mut().find(|it| it.kind == kind) {
                Some(complaint) => complaint.count += 1,
                None => self.0.push(Complaint {
                    kind,
                    count: 1,
                    message: quote(&String::from_utf8_lossy(line)),
                }),
            }
        }
    }

    /// All of them, in the order in which each kind was first met.
    pub(crate) fn finish(self) -> Vec<Complaint> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What servers and the kernel say, as loads repeat it.
    const TEXTS: [(&str, ComplaintKind); 24] = [
        (
            r#"pgbench: error: connection to server at "127.0.0.1", port 55432 failed: FATAL:  sorry, too many clients already"#,
            ComplaintKind::TooManyConnections,
        ),
        (
            "FATAL:  remaining connection slots are reserved for roles with the SUPERUSER attribute",
            ComplaintKind::TooManyConnections,
        ),
        (
            "FATAL:  remaining connection slots are reserved for non-replication superuser connections",
            ComplaintKind::TooManyConnections,
        ),
        (
            r#"FATAL:  too many connections for role "bench""#,
            ComplaintKind::TooManyConnections,
        ),
        (
            r#"FATAL:  too many connections for database "bench""#,
            ComplaintKind::TooManyConnections,
        ),
        (
            "psql: FATAL: 53300: sorry",
            ComplaintKind::TooManyConnections,
        ),
        (
            "(psycopg.OperationalError) SQLSTATE[53300]",
            ComplaintKind::TooManyConnections,
        ),
        (
            "ERROR 1040 (HY000): Too many connections",
            ComplaintKind::TooManyConnections,
        ),
        (
            "ERROR 1203 (42000): User bench already has more than 'max_user_connections' active connections",
            ComplaintKind::TooManyConnections,
        ),
        (
            "FATAL:  no more connections allowed (max_client_conn)",
            ComplaintKind::TooManyConnections,
        ),
        (
            "(error) ERR max number of clients reached",
            ComplaintKind::TooManyConnections,
        ),
        (
            "\tIs the server running? Connection refused",
            ComplaintKind::ConnectionRefused,
        ),
        (
            "ERROR 2002 (HY000): Can't connect to MySQL server on 'db' (115)",
            ComplaintKind::ConnectionRefused,
        ),
        (
            "Error: connect ECONNREFUSED 127.0.0.1:5432",
            ComplaintKind::ConnectionRefused,
        ),
        (
            "server closed the connection unexpectedly",
            ComplaintKind::ServerGone,
        ),
        (
            "FATAL:  terminating connection due to administrator command",
            ComplaintKind::ServerGone,
        ),
        (
            "ERROR 2006 (HY000): MySQL server has gone away",
            ComplaintKind::ServerGone,
        ),
        (
            r#"ERROR:  could not extend file "base/5/16397": No space left on device"#,
            ComplaintKind::NoSpace,
        ),
        ("PANIC: error 53100", ComplaintKind::NoSpace),
        (
            "ERROR 1114 (HY000): The table 'sbtest1' is full",
            ComplaintKind::NoSpace,
        ),
        ("write: Disk quota exceeded", ComplaintKind::NoSpace),
        ("fork: Cannot allocate memory", ComplaintKind::OutOfMemory),
        ("ERROR:  out of memory", ComplaintKind::OutOfMemory),
        ("socket: Too many open files", ComplaintKind::TooManyFiles),
    ];

    fn kinds(line: &str) -> Vec<ComplaintKind> {
        let mut complaints = Complaints::default();
        complaints.line(line.as_bytes());
        complaints.finish().iter().map(|it| it.kind).collect()
    }

    #[test]
    fn texts_and_their_kind() {
        for (line, kind) in TEXTS {
            assert_eq!(kinds(line), [kind], "{line}");
        }
    }

    #[test]
    fn other_texts_are_no_complaint() {
        for line in [
            "progress: 1.0 s, 53300.0 tps, lat 0.100 ms stddev 0.010, 0 failed",
            "number of transactions actually processed: 53100",
            "maximum number of tries: 1",
            "total memory 4 GB",
            "the table 'a' is empty",
            "",
        ] {
            assert_eq!(kinds(line), [], "{line}");
        }
    }

    #[test]
    fn a_real_run_of_fio_on_a_full_disk() {
        let mut complaints = Complaints::default();
        for text in [
            include_str!("../fixtures/complaints/fio-enospc/stdout"),
            include_str!("../fixtures/complaints/fio-enospc/stderr"),
        ] {
            text.lines()
                .for_each(|line| complaints.line(line.as_bytes()));
        }
        expect_test::expect![[r#"
            [
                Complaint {
                    kind: NoSpace,
                    count: 2,
                    message: "fio: pid=31268, err=28/file:io_u.c:1876, func=io_u error, error=No space left on device",
                },
            ]
        "#]].assert_debug_eq(&complaints.finish());
    }

    #[test]
    fn counted_and_the_first_one_kept_without_secrets() {
        let mut complaints = Complaints::default();
        complaints.line(b"postgresql://u:hunter2@db: FATAL: sorry, too many clients already");
        complaints.line(b"No space left on device");
        complaints.line(b"second: sorry, too many clients already");
        let found = complaints.finish();
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].count, 2);
        assert_eq!(
            found[0].message,
            "postgresql://***@db: FATAL: sorry, too many clients already"
        );
        assert_eq!((found[1].kind, found[1].count), (ComplaintKind::NoSpace, 1));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic_and_it_does_not_grow(lines in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..80), 0..40)) {
            let mut complaints = Complaints::default();
            for line in &lines {
                complaints.line(line);
                complaints.line(b"too many open files");
            }
            prop_assert!(complaints.finish().len() <= KINDS.len());
        }
    }
}
