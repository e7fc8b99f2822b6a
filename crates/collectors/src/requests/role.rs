//! The role of each process whose requests are counted, and what its title says.

use model::{EntityId, Role, Timestamp};

/// So old a process has its title.
const LATE_TITLE_NS: i64 = 2_000_000_000;

/// The role that a process was given.
pub(super) struct Assignment {
    pub(super) process: EntityId,
    pub(super) role: Role,
    pub(super) assigned: Timestamp,
    /// How often its title was looked at.
    pub(super) looks: u32,
}

impl Assignment {
    /// Whether its title is to be looked at again: who is new may have none yet, on a busy machine for
    /// longer.
    pub(super) fn look_again(&mut self, now: Timestamp) -> bool {
        let again =
            self.looks == 1 || self.looks == 2 && now.ns_since(self.assigned) > LATE_TITLE_NS;
        self.looks += u32::from(again);
        again
    }
}

/// Whether a process's title is that of a PostgreSQL process that sends a replica what was written, or takes it there:
/// what the replica says asks for nothing. With `cluster_name` that comes before.
pub(super) fn replicates(title: &str) -> bool {
    const TITLES: [&str; 3] = ["walsender ", "walreceiver", "logical replication "];
    let Some(rest) = title.strip_prefix("postgres: ") else {
        return false;
    };
    let starts = |part: &str| TITLES.iter().any(|title| part.starts_with(title));
    rest.split(": ").any(starts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_who_replicate_are_recognised_by_their_title() {
        for title in [
            "postgres: walsender repl 10.0.0.7(41822) streaming 0/3000148",
            "postgres: main: walsender postgres [local] streaming 16/B374D848",
            "postgres: walreceiver streaming 0/3000148",
            "postgres: main: logical replication apply worker for subscription 16394 ",
        ] {
            assert!(replicates(title), "{title}");
        }
        for title in [
            "postgres: walwriter ",
            "postgres: bench walsender [local] SELECT",
            "postgres: main: postgres bench 127.0.0.1(41822) idle",
            "/usr/lib/postgresql/15/bin/postgres -D /data/walsender ",
            "walsender repl",
        ] {
            assert!(!replicates(title), "{title}");
        }
    }
}
