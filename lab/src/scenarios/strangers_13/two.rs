//! Two causes at once: delays that add up, since in a closed loop only one thing can be full.

use anyhow::Result;

use super::programs::{NODE, PYTHON, missing};
use super::{cause, downstream, servers, unknown};
use crate::scenario::{Cause, Expect, Kind, Scenario, SetUp, Who};
use crate::scenarios::held_out::here;
use crate::scenarios::loads::pgbench_script;
use crate::stage::Stage;

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    let both = |words, expect, set_up| Scenario {
        kind: Kind::TwoCauses,
        ..cause(words, expect, set_up)
    };
    vec![
        both(
            [
                "node-far-and-slow-service",
                "long way to the client and a slow service",
                "Four connections ask Node.js, 3 ms away in each direction, which asks a service for each \
                 page that takes 7 ms to answer.",
            ],
            Expect::one("net.rtt", Who::Peer).and("net.remote", Who::Peer),
            far_and_slow_service,
        ),
        both(
            [
                "python-order-and-mail",
                "slow service and fsync",
                "Two connections order something from a Python service, which writes the order, its lines and \
                 a note for the books to a file each and waits until a slow disk has them, and then sends \
                 a mail and waits for the mail server, which takes 2.5 ms.",
            ],
            Expect::one("net.remote", Who::Peer).and("io.sync", Who::Target),
            order_and_mail,
        ),
        both(
            [
                "postgres-hot-row-and-commits",
                "row that all want and each keeps until a slow disk has its commit",
                "Three pgbench clients count in one row of PostgreSQL, and each keeps the row until a slow \
                 disk has its commit, while the two others wait for the row.",
            ],
            // Each of its sessions, and who opened them, has the row in turn.
            Expect::one("io.sync", Who::Target).and("lock.database", Who::Anyone),
            hot_row_and_commits,
        ),
    ]
}

/// From <https://www.greadme.com/blog/performance/what-is-network-server-latency-complete-guide>: the time to the first byte is
/// the way to the server and what the server waits for, the call of an interface among it, and each has a remedy of its own.
fn far_and_slow_service(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[NODE, PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    servers::far_and_slow(stage, cause, "7000", servers::page_for_all)
}

/// From <https://codewithsundeep.com/discussion/solution/57085874>, where a view of Django took long since it sent a mail, and
/// each guide to Celery, as <https://schoolofweb.pages.dev/en/posts/django-drf-4-celery-async-tasks/>; the order itself has to
/// be on the disk (<https://sqlprostudio.com/blog/50-how-to-improve-sqlite-insert-performance>: each insert waits for a sync).
fn order_and_mail(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let disk = match stage.slow_disk() {
        Ok(disk) => disk,
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    let (sleep_us, word) = match cause {
        Cause::Made => (2_500, "sync"),
        Cause::Removed => (0, "later"),
    };
    let (mail, address) = downstream(stage, sleep_us)?;
    let peer = format!("pid:{mail}@ {address}");
    stage.cast.insert(Who::Peer, peer);
    let (pid, port) = servers::ordering(stage, &disk, [&address, word])?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "2"];
    // The mail server was started before it.
    unknown(stage, &words)?
        .with("--target", format!("pid:{pid}"))
        .ready()
}

/// From <https://thesev1database.com/cookbook/wal-writefsync-degradation/>, where each commit waits for the sync of a slow disk,
/// and <https://rubel.dev/blog/database-performance-mitigating-hot-row-contention-in-postgres>, where one counter of an inventory
/// was what all transactions waited for, each until the one before had committed.
fn hot_row_and_commits(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    let disk = match stage.slow_disk() {
        Ok(disk) => disk,
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    let (commits, row) = match cause {
        Cause::Made => ("synchronous_commit=on", "1"),
        Cause::Removed => ("synchronous_commit=off", ":client_id"),
    };
    let server = stage.postgres_with_log_on(&disk, &[commits])?;
    server.execute("DROP TABLE IF EXISTS lab_counter")?;
    server
        .execute("CREATE TABLE lab_counter (id int PRIMARY KEY, n int) WITH (fillfactor = 10)")?;
    server.execute("INSERT INTO lab_counter SELECT n, 0 FROM generate_series(0, 9) AS n")?;
    let dsn = server.dsn();
    let count = format!("UPDATE lab_counter SET n = n + 1 WHERE id = {row};\n");
    let load = pgbench_script(stage, &["-c", "3", "-j", "1"], &count)?;
    load.with("--postgres", dsn).ready()
}
