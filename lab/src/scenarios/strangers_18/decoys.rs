//! What looks bad and costs nothing: the same load alone is as fast, in its mean and in its tail.

use anyhow::{Context, Result};

use super::programs::{CC, HAPROXY, NGINX, PGBOUNCER, PYTHON, REDIS, missing};
use super::{cause, first, servers, seventh, sixth, unknown};
use crate::postgres::DATABASE;
use crate::scenario::{Cause, Costs, Expect, Kind, Scenario, SetUp, Who};
use crate::scenarios::held_out::{here, nginx};
use crate::scenarios::loads::pgbench_script;
use crate::stage::Stage;

/// Processes that the kernel counts as load.
const WAITING: &str = "40";
/// Connections that are closed before the load begins.
const CLOSED: &str = "12000";
/// Clients that do nothing.
const IDLE: &str = "300";
/// Longer than any run, s and ms.
const LONG: &str = "600";
const LONG_MS: &str = "600000";
/// A page that is not there, and how the answer of nginx to that ends.
const SCAN: [&str; 4] = [
    "--text",
    "GET /wp-login.php HTTP/1.1\r\nHost: lab\r\n\r\n",
    "--ends",
    "</html>\r\n",
];
/// What is asked of PostgreSQL, with 4 ms to think.
const READ: &str = "\\set id random(1, 1000)\n\\sleep 4 ms\n\
    SELECT abalance FROM pgbench_accounts WHERE aid = :id;\n";

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    let decoy = |words, set_up| Scenario {
        kind: Kind::Decoy,
        costs: Costs::Little,
        ..cause(words, Expect::one("healthy", Who::Target), set_up)
    };
    vec![
        decoy(
            [
                "haproxy-load-average",
                "load average of processes that use no CPU",
                "Forty processes wait without being interruptible and use no CPU, so that the load average \
                 climbs, while two connections with 4 ms to think ask HAProxy for a small answer.",
            ],
            load_average,
        ),
        decoy(
            [
                "redis-time-wait",
                "thousands of connections that are closed and kept for a minute",
                "Twelve thousand connections to Redis have just been closed, and the kernel keeps what is left of \
                 most of them, while two connections with 4 ms to think ask it for a key.",
            ],
            time_wait,
        ),
        decoy(
            [
                "pgbouncer-idle-clients",
                "idle sessions and time to think",
                "Three hundred clients of PgBouncer, which takes 500, are connected and do nothing, while two \
                 pgbench clients with 4 ms to think ask for an account.",
            ],
            idle_clients,
        ),
        decoy(
            [
                "nginx-scanners",
                "requests of scanners for pages that are not there",
                "Scanners ask nginx for a page of WordPress, which is not there, a hundred times per second, \
                 while two connections with 4 ms to think ask for a file.",
            ],
            scanners,
        ),
    ]
}

/// From <https://tanelpoder.com/posts/high-system-load-low-cpu-utilization-on-linux> and
/// <https://krishnakathari.dev/writing/when-cpu-is-low-but-load-average-is-high>: the load average counts those that wait
/// without being interruptible, whether or not anybody waits for them.
fn load_average(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[HAPROXY, CC]) {
        return Ok(SetUp::NotHere(why));
    }
    let (_, port) = first::haproxy(stage)?;
    if cause == Cause::Made {
        sixth::uninterruptible(stage, WAITING)?;
    }
    thinking(stage, &port, &["--http", "/"])
}

/// From <https://github.com/vincentbernat/vincent.bernat.ch/blob/master/content/en/blog/2014-tcp-time-wait-state-linux.html>, which
/// answers the many guides that want them away, and
/// <https://sobrelinux.info/questions/663399/real-benefits-of-tcp-time-wait-and-implications-in-production-environment>: "do not
/// worry", they cost next to nothing.
fn time_wait(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[REDIS, PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let folder = stage.unprivileged_folder("redis")?;
    let (_, port) = first::redis(stage, &[], &folder, &[])?;
    let closed = match cause {
        Cause::Made => CLOSED,
        Cause::Removed => "0",
    };
    let program = ["closing.py", include_str!("../../../programs/closing.py")];
    seventh::staying(stage, program, &[port.as_str(), closed, "QUIT"])?;
    let get = ["--text", "GET key\r\n", "--ends", "\r\n"];
    thinking(stage, &port, &get)
}

/// From <https://nwos.com/daily/when-pgbouncer-becomes-the-bottleneck-instead-of-the-fix>: hundreds of connections of applications
/// that nearly all do nothing are what a pooler is there for, and cost the database nothing.
fn idle_clients(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[PGBOUNCER]) {
        return Ok(SetUp::NotHere(why));
    }
    stage.postgres(&[])?;
    let user = stage.started()?.user().to_owned();
    let (port, socket) = servers::pgbouncer_for_many(stage)?;
    if cause == Cause::Made {
        let socket = socket.to_str().context("a path of our own is text")?;
        let words = ["sessions", socket, "--user", &user, "--database", DATABASE];
        let idle = ["--workers", IDLE, "--keep", LONG_MS, "--seconds", LONG];
        stage.beside(stage.own(&[&words[..], &idle].concat())?)?;
    }
    let words = ["-h", "127.0.0.1", "-p", &port, "-U", &user];
    let clients = ["-c", "2", "-j", "1"];
    pgbench_script(stage, &[&words[..], &clients].concat(), READ)?.ready()
}

/// From <https://blog.wedos.com/one-day-with-wp-login-php-4-3-million-blocked-requests-in-24-hours>: the log of any server on the
/// internet is full of requests for what it has not got.
fn scanners(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[NGINX]) {
        return Ok(SetUp::NotHere(why));
    }
    let (_, port) = nginx(stage, 2)?;
    if cause == Cause::Made {
        let address = here(&port);
        let first = ["load", &address, "--connections", "2", "--think", "20000"];
        let rest = ["--seconds", LONG, "--quiet"];
        stage.beside(stage.own_as("scanner", &[&first[..], &rest, &SCAN].concat())?)?;
    }
    thinking(stage, &port, &["--http", "/file"])
}

/// Two connections with 4 ms to think that ask for this.
fn thinking(stage: &Stage, port: &str, words: &[&str]) -> Result<SetUp> {
    let address = here(port);
    let first = ["load", &address, "--connections", "2", "--think", "4000"];
    unknown(stage, &[&first[..], words].concat())?.ready()
}
