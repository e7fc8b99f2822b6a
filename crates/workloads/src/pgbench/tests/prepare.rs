//! Which commands are taken, and what becomes of them.

use model::Provenance;

use super::*;

fn prepared(words: &str, adjust: Adjust) -> Option<Prepared> {
    super::super::PGBENCH.prepare(&argv(words), adjust)
}

fn command(prepared: &Prepared) -> String {
    let words: Vec<_> = prepared
        .argv
        .iter()
        .map(|word| word.to_string_lossy())
        .collect();
    words.join(" ")
}

#[test]
fn other_tools_and_other_modes_are_not_taken() {
    for words in [
        "pgbench -i -s 10",
        "pgbench --help",
        "pgbench -?",
        "pgbench -V",
        "pgbench -b list",
        "psql",
        "pgbench2 -S",
        "/",
        "env pgbench",
    ] {
        assert!(prepared(words, Adjust::Allowed).is_none(), "{words}");
    }
    assert!(
        super::super::PGBENCH
            .prepare(&[], Adjust::Allowed)
            .is_none()
    );
    assert!(
        crate::prepare(
            &argv("/usr/lib/postgresql/15/bin/pgbench -S"),
            Adjust::Allowed
        )
        .is_some()
    );
}

#[test]
fn progress_is_added_where_nothing_can_take_it_for_a_value() {
    let cases = [
        ("pgbench", "pgbench -P 1"),
        (
            "/srv/bin/pgbench -c 4 bench -S",
            "/srv/bin/pgbench -P 1 -c 4 bench -S",
        ),
        ("pgbench -- bench", "pgbench -P 1 -- bench"),
    ];
    for (words, expected) in cases {
        let prepared = prepared(words, Adjust::Allowed).unwrap();
        assert_eq!(command(&prepared), expected);
        assert_eq!(
            prepared.notices,
            ["pgbench: added -P 1 (--no-adjust leaves it alone)"]
        );
        assert_eq!(prepared.latency, Provenance::ToolMean);
    }
}

#[test]
fn nothing_is_added_to_what_has_progress_or_must_not_be_touched() {
    let cases = [
        ("pgbench -nSP5", Adjust::Allowed, Provenance::ToolMean),
        (
            "pgbench --progress=1",
            Adjust::Forbidden,
            Provenance::ToolMean,
        ),
        ("pgbench -S", Adjust::Forbidden, Provenance::Derived),
        // -l times for the log only: the latency printed is clients / tps.
        ("pgbench -l", Adjust::Forbidden, Provenance::Derived),
        ("pgbench -R 100", Adjust::Forbidden, Provenance::ToolMean),
        ("pgbench -L 5", Adjust::Forbidden, Provenance::ToolMean),
        // pgbench refuses this, and must be seen to.
        (
            "pgbench --progress-timestamp",
            Adjust::Allowed,
            Provenance::Derived,
        ),
    ];
    for (words, adjust, latency) in cases {
        let prepared = prepared(words, adjust).unwrap();
        assert_eq!(command(&prepared), words);
        assert!(prepared.notices.is_empty(), "{words}");
        assert_eq!(prepared.latency, latency, "{words}");
    }
}

#[test]
fn what_the_bins_will_hold() {
    use crate::Quantity::{Lag, Latency, Throughput};
    for (words, adjust, gives) in [
        ("pgbench -S", Adjust::Allowed, &[Throughput, Latency][..]),
        (
            "pgbench -R 5 -P 2",
            Adjust::Forbidden,
            &[Throughput, Latency, Lag],
        ),
        ("pgbench -R 5", Adjust::Forbidden, &[]),
    ] {
        assert_eq!(prepared(words, adjust).unwrap().gives, gives, "{words}");
    }
}

#[test]
fn the_load_is_what_pgbench_will_make() {
    let load = prepared("pgbench -c 4 -j 8 -R 1000.5", Adjust::Allowed)
        .unwrap()
        .load;
    assert_eq!(
        (load.clients, load.threads, load.rate),
        (Some(4), Some(4), Some(1000.5))
    );
    assert_eq!(load.rate_unit, "tps");
    assert_eq!(
        (load.clients_option.as_deref(), load.rate_option.as_deref()),
        (Some("-c"), Some("-R"))
    );
    let load = prepared("pgbench", Adjust::Allowed).unwrap().load;
    assert_eq!(
        (load.clients, load.threads, load.rate),
        (Some(1), Some(1), None)
    );
}
