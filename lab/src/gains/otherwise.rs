//! Situations in which the lab takes something else away than the first remedy says, or which have nothing that a
//! remedy could be held against. They are not measured.

const CLIENTS: &str = "the lab takes clients away, the remedy adds a CPU";
const GENERATOR: &str = "the lab takes the generator's work away, the remedy gives it more threads";
const THREAD: &str = "the lab takes the thread's work away, the remedy spreads it";
const WORK: &str = "the lab takes work away, the remedy adds a CPU";
const BOTH: &str = "the lab takes both causes away, the remedy one";

/// The situations, and what is different.
const OTHERWISE: [(&str, &str); 34] = [
    ("cpu-saturated", CLIENTS),
    ("mariadb-saturated", CLIENTS),
    ("client-bound", GENERATOR),
    ("haproxy-client-bound", GENERATOR),
    ("redis-slow-client", GENERATOR),
    ("redis-script", THREAD),
    ("node-blocked-loop", THREAD),
    (
        "python-sleeping-loop",
        "the lab takes the thread's sleep away, the remedy adds threads",
    ),
    ("mariadb-flush-and-neighbour", BOTH),
    ("redis-aof-and-far", BOTH),
    ("python-service-and-neighbour", BOTH),
    ("quota-over-mutex", BOTH),
    ("go-calls-and-journal", BOTH),
    ("python-far-and-limited", BOTH),
    ("haproxy-handshakes", THREAD),
    ("apache-scripts", WORK),
    ("apache-checksums", GENERATOR),
    ("go-reads-and-service", BOTH),
    ("postgres-advisory-lock-and-neighbour", BOTH),
    ("nginx-backtracking", WORK),
    ("java-collections-and-journal", BOTH),
    ("go-memory-and-service", BOTH),
    ("postgres-missing-index", WORK),
    ("python-far-and-direct-reads", BOTH),
    ("java-refresh-and-service", BOTH),
    ("apache-password-hashes", WORK),
    ("haproxy-signing-generator", GENERATOR),
    ("redis-large-sets", THREAD),
    ("python-far-and-reload", BOTH),
    ("memcached-far-and-neighbour", BOTH),
    ("postgres-new-sessions", WORK),
    ("node-orders-as-text", THREAD),
    ("node-dashboard-and-service", BOTH),
    ("nginx-far-and-unix-service", BOTH),
];

/// Why that situation is not compared, if it is not.
pub fn why(scenario: &str) -> Option<&'static str> {
    let found = OTHERWISE.iter().find(|(name, _)| *name == scenario);
    found.map(|(_, why)| *why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenarios;

    #[test]
    fn each_is_a_situation() {
        let all = scenarios::all();
        for (name, _) in OTHERWISE {
            assert!(all.iter().any(|it| it.name == name), "{name}");
            assert!(why(name).is_some());
        }
        assert_eq!(why("hot-mutex"), None);
    }
}
