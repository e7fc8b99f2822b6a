//! What looks bad and costs nothing: the same load alone is as fast, in its mean and in its tail.

use std::process::Command;

use anyhow::Result;

use super::programs::{APACHE, CC, GO, NGINX, PYTHON, missing};
use super::{cause, first, second, servers, seventh, sixth, twelfth, unknown};
use crate::scenario::{Cause, Costs, Expect, Kind, Scenario, SetUp, Who};
use crate::scenarios::held_out::{
    MARIADB, MARIADB_PACKAGES, here, mariadb_server, sysbench, sysbench_load,
};
use crate::stage::{Limit, Stage};

/// Connections that are closed before the load begins.
const CLOSED: &str = "12000";
/// Processes that the kernel counts as load.
const WAITING: &str = "40";
/// Sessions of others: nearly as many as MariaDB lets in.
const SLEEPING: &str = "120";
/// Memory of a container, and the log that somebody has read in it.
const MEMORY: u64 = 128 << 20;
const LOG: usize = 200 << 20;

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
                "nginx-time-wait",
                "thousands of connections that are closed and kept for a minute",
                "Twelve thousand connections to nginx have just been closed, and the kernel keeps what is \
                 left of them, while two connections with 3 ms to think ask for a small file.",
            ],
            time_wait,
        ),
        decoy(
            [
                "go-full-container",
                "memory limit that only pages run into which nobody needs again",
                "The container of a Go service is at its memory limit, nearly all of it page cache of a log \
                 that somebody has read in it once, while two connections with 3 ms to think ask the \
                 service.",
            ],
            full_container,
        ),
        decoy(
            [
                "apache-load-average",
                "load average of processes that use no CPU",
                "Forty processes wait without being interruptible and use no CPU, so that the load average \
                 climbs from minute to minute, while two connections with 3 ms to think ask Apache for a list.",
            ],
            load_average,
        ),
        decoy(
            [
                "mariadb-sleeping-connections",
                "idle sessions and time to think",
                "A hundred and twenty sessions of MariaDB sleep, nearly as many as it lets in, while two \
                 sysbench threads with 4 ms to think sum up some rows.",
            ],
            sleeping_connections,
        ),
    ]
}

/// From <https://stackoverflow.com/questions/1803566/what-is-the-cost-of-many-time-wait-on-the-server-side>: thousands of sockets
/// in `TIME_WAIT` alarm who looks at `netstat`, and cost next to nothing.
fn time_wait(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[NGINX, PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    // What those connections ask for is not there, which is no news.
    let listens = "reuseport; log_not_found off";
    let (_, port) = twelfth::nginx_accepting(stage, "", listens)?;
    let closed = match cause {
        Cause::Made => CLOSED,
        Cause::Removed => "0",
    };
    let program = ["closing.py", include_str!("../../../programs/closing.py")];
    seventh::staying(stage, program, &[port.as_str(), closed])?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/list.txt"];
    let pace = ["--connections", "2", "--think", "3000"];
    unknown(stage, &[&words[..], &pace].concat())?.ready()
}

/// From <https://www.besthub.dev/articles/why-does-container-memory-hover-at-99-decoding-rss-pagecache-and-cgroup-limits-in-k8s-e6a8fc2c592a>
/// and kubernetes/kubernetes#43916: the memory of a container hovers at its limit, since page cache counts, and alarms go off.
fn full_container(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[GO, PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let (pid, port) = first::go(stage, ["0", "0"])?;
    if let Err(error) = stage.confine("container", pid, &[Limit::Memory(MEMORY)]) {
        return Ok(SetUp::NotHere(format!("{error:#}")));
    }
    if cause == Cause::Made {
        let file = second::large_file(stage, LOG)?;
        servers::read_once_beside(stage, pid, &file)?;
    }
    let address = here(&port);
    let words = ["load", &address, "--http", "/"];
    let pace = ["--connections", "2", "--think", "3000"];
    unknown(stage, &[&words[..], &pace].concat())?.ready()
}

/// From <https://www.explinux.com/2021/04/cpu-is-idle-but-load-average-is-still-high-solution-for-all-linux-environment.html> and
/// <https://tanelpoder.com/posts/high-system-load-low-cpu-utilization-on-linux>: what waits without being interruptible counts as
/// load, on a dead share of NFS for example, and takes nothing from anybody.
fn load_average(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[APACHE, CC]) {
        return Ok(SetUp::NotHere(why));
    }
    let (_, port) = servers::apache_with_list(stage)?;
    if cause == Cause::Made {
        sixth::uninterruptible(stage, WAITING)?;
    }
    let address = here(&port);
    let words = ["load", &address, "--http", "/list.txt"];
    let pace = ["--connections", "2", "--think", "3000"];
    unknown(stage, &[&words[..], &pace].concat())?.ready()
}

/// From <http://www.kouhan.cn/en/article/00038759>, after a question that is asked again and again: hundreds of sessions of MySQL
/// are in `Sleep` for hours, and none of them makes it slow.
fn sleeping_connections(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = crate::scenarios::missing(&MARIADB, MARIADB_PACKAGES) {
        return Ok(SetUp::NotHere(why));
    }
    if let Some(why) = missing(&[PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let (_, port) = mariadb_server(stage, &[], None)?;
    let mut prepare = Command::new("sysbench");
    prepare.args(sysbench("oltp_point_select", &port, "1", "prepare"));
    stage.step(prepare)?;
    if cause == Cause::Made {
        let program = ["sleeping.py", include_str!("../../../programs/sleeping.py")];
        seventh::staying(stage, program, &[port.as_str(), SLEEPING])?;
    }
    let text = include_str!("../../../programs/thinking.lua");
    let test = stage.script("thinking.lua", text)?;
    let words = sysbench(&test.to_string_lossy(), &port, "2", "run");
    Ok(SetUp::Ready(sysbench_load(stage, words)))
}
