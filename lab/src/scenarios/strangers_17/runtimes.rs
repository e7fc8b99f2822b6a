//! Servers in JavaScript, Perl, Python and Java.

use anyhow::Result;

use super::programs::{AB, JAVA, NODE, PERL, PYTHON, REDIS, ab, missing};
use super::{cause, downstream, far, fifteenth, ninth, servers, unknown};
use crate::scenario::{Cause, Expect, Scenario, SetUp, Who};
use crate::scenarios::held_out::here;
use crate::stage::Stage;

/// Processes of an application, and as many as there are visitors.
const FEW: &str = "2";
const ENOUGH: &str = "12";
/// How long the service behind it takes, us.
const SERVICE_US: u32 = 10_000;

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        cause(
            [
                "node-settings-file",
                "event loop that reads a file and parses it with each request",
                "Four connections ask a Node.js service, which reads a file with the settings of 3,000 \
                 tenants and parses it for each request, to look up one of them.",
            ],
            Expect::one("cpu.single_thread", Who::Thread),
            settings_file,
        ),
        cause(
            [
                "perl-few-workers",
                "pool full while its workers wait",
                "ab asks an application in Perl over twelve connections, a new one for each request, and it \
                 has two processes, each of which waits 10 ms for a service with each request.",
            ],
            Expect::one("limit.pool", Who::Target),
            few_workers,
        ),
        cause(
            [
                "python-question-for-each-row",
                "many small questions that a page asks a far cache one after the other",
                "Four connections ask a Python service for a list of 20 rows, and it asks a store 1 ms away \
                 in each direction for each row by itself.",
            ],
            Expect {
                // The store answers at once; it is the way to it.
                or: &[("net.rtt", Who::Peer)],
                ..Expect::one("net.remote", Who::Peer)
            },
            question_for_each_row,
        ),
        cause(
            [
                "java-write-ahead-log",
                "fsync on a slow disk",
                "Four connections ask a Java service, each request of which is written to a transaction log \
                 and answered when the disk has it, on a disk that takes its time.",
            ],
            Expect::one("io.sync", Who::Target),
            transaction_log,
        ),
    ]
}

/// From <https://www.darshanturakhia.com/blog/nodejs-event-loop-invisible-bottleneck>, where an interface in Node.js read and
/// parsed its file of feature flags with each request, which took longer with each new tenant.
fn settings_file(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[NODE]) {
        return Ok(SetUp::NotHere(why));
    }
    let word = match cause {
        Cause::Made => "each",
        Cause::Removed => "once",
    };
    let (pid, port) = servers::with_settings(stage, word)?;
    // The event loop is the first thread of Node.js.
    stage.cast.insert(Who::Thread, format!("/tid:{pid}"));
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "4"];
    unknown(stage, &words)?.ready()
}

/// From <https://wpsauce.com/when-a-hosting-providers-php-fpm-pool-starved-long-queries-and-the-configuration-tune-that-restored-stability>
/// and <https://www.simplefastwebsites.com/errors/hosting/php-fpm-server-reached-pm-max-children/>: "server reached
/// `pm.max_children`", with the CPUs calm, since all workers wait for something and there are too few of them.
fn few_workers(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[PERL, AB]) {
        return Ok(SetUp::NotHere(why));
    }
    let processes = match cause {
        Cause::Made => FEW,
        Cause::Removed => ENOUGH,
    };
    let (_, service) = downstream(stage, SERVICE_US)?;
    let (pid, port) = servers::of_workers(stage, [&service, processes])?;
    let load = ab(stage, &["-c", "12"], &format!("http://127.0.0.1:{port}/"));
    // The service was started before it.
    load.with("--target", format!("pid:{pid}")).ready()
}

/// From <https://www.scanmycode.dev/blog/performance-optimization-n-plus-one-queries>, where a dashboard took 14 s for 847
/// questions of its object-relational mapper, and
/// <https://awesome-everything.pages.dev/en/learn/performance/05-n-plus-one/01-what-is-nplus1/>: each pays for the way.
fn question_for_each_row(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[PYTHON, REDIS]) {
        return Ok(SetUp::NotHere(why));
    }
    let redis = ninth::redis_for_all(stage)?;
    // The store stays where it is.
    let (server, store) = match far(stage, &redis, Cause::Made, 1)? {
        Ok(it) => it,
        Err(why) => return Ok(SetUp::NotHere(why)),
    };
    // It is known by its process too.
    let peers = format!("pid:{server}@ {store}");
    stage.cast.insert(Who::Peer, peers);
    let word = match cause {
        Cause::Made => "each",
        Cause::Removed => "once",
    };
    let (pid, port) = servers::of_rows(stage, [&store, word])?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "4"];
    // The store was started before it.
    unknown(stage, &words)?
        .with("--target", format!("pid:{pid}"))
        .ready()
}

/// From <https://postgresqlblog.com/posts/2026-01-05_Case-Study--How-a-7-Second-Disk-Latency-Caused-a-Database-Outage--Patroni---etcd--a1169f328616.html>,
/// where a disk took seconds for `fdatasync` and a cluster lost its leader, and
/// <https://schema.ai/technologies/apache-zookeeper/insights/disk-fsync-latency-blocks-transaction-processing>: ZooKeeper
/// answers when its transaction log is on the disk.
fn transaction_log(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[JAVA]) {
        return Ok(SetUp::NotHere(why));
    }
    let disk = match stage.slow_disk() {
        Ok(disk) => disk,
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    fifteenth::wear_in(stage, &disk)?;
    let word = match cause {
        Cause::Made => "sync",
        Cause::Removed => "later",
    };
    let (_, port) = servers::writing(stage, "none", &disk, [word, "1"])?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "4"];
    unknown(stage, &words)?.ready()
}
