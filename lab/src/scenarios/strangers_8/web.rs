//! nginx, HAProxy and Apache.

use anyhow::{Context, Result};

use super::programs::{AB, APACHE, HAPROXY, NGINX, PYTHON, ab, missing};
use super::{beside, cause, downstream, fifth, second, servers, seventh};
use crate::scenario::{Cause, Expect, Scenario, SetUp, Who};
use crate::scenarios::held_out::{free_port, here, nginx_with};
use crate::stage::{Stage, disk_name_of};

/// What is asked of nginx: many pieces.
const FILE: usize = 256 << 10;
/// As a setting that was made for films, and is paid by everything that is asked for often.
const DIRECT: &str = "directio 512; directio_alignment 4k; output_buffers 1 4k;";

/// Processes of Apache, each for one connection, and how many of them others keep.
const PROCESSES: u32 = 8;
const KEPT: &str = "6";

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        cause(
            [
                "nginx-direct-reads",
                "reads that a server's own settings lead past the page cache",
                "Four connections ask nginx for a file of 256 KB, which its settings have it read \
                 past the page cache and in pieces of 4 KB, each time from the disk; recorded without \
                 its load.",
            ],
            Expect::one("io.latency", Who::Disk),
            direct_reads,
        ),
        cause(
            [
                "haproxy-admission",
                "connections that wait in the kernel until the server lets them in",
                "ab asks HAProxy over sixteen connections, a new one for each request, which passes \
                 them on to a service that takes 10 ms to answer, and by its settings HAProxy has no \
                 more than two connections at a time.",
            ],
            Expect {
                // Two places for all: those who wait for one are connections.
                or: &[("limit.pool", Who::Target)],
                ..Expect::one("limit.connections", Who::Target)
            },
            admission,
        ),
        cause(
            [
                "apache-kept-connections",
                "processes of a pool that idle connections keep for themselves",
                "Six connections that have asked once and ask no more keep six of the eight processes \
                 of Apache, while ab asks it over eight connections, a new one for each request, \
                 for what a service behind it takes 10 ms to answer.",
            ],
            Expect {
                // A process of a pool is a connection here, and there is room for eight of them.
                or: &[("limit.connections", Who::Target)],
                ..Expect::one("limit.pool", Who::Target)
            },
            kept_connections,
        ),
    ]
}

fn direct_reads(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[NGINX]) {
        return Ok(SetUp::NotHere(why));
    }
    let file = second::large_file(stage, FILE)?;
    let disk = disk_name_of(&file)?;
    stage.cast.insert(Who::Disk, disk);
    let way = match cause {
        Cause::Made => DIRECT,
        Cause::Removed => {
            fifth::keep_in_memory(&file)?;
            ""
        }
    };
    let folder = file.parent().context("a file is in a folder")?;
    let places = format!("root {}; {way}", folder.display());
    let port = free_port()?.to_string();
    let pid = nginx_with(stage, 2, &port, "", &places)?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/file", "--connections", "4"];
    beside(stage, pid, &words)?.ready()
}

fn admission(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[HAPROXY, AB]) {
        return Ok(SetUp::NotHere(why));
    }
    let connections = match cause {
        Cause::Made => "2",
        Cause::Removed => "64",
    };
    let (_, service) = downstream(stage, 10_000)?;
    let (_, port) = servers::haproxy_admitting(stage, &service, connections)?;
    let url = format!("http://127.0.0.1:{port}/");
    ab(stage, &["-c", "16"], &url).ready()
}

fn kept_connections(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[APACHE, AB, PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let (_, service) = downstream(stage, 10_000)?;
    let directives = format!(
        "StartServers {PROCESSES}\nMinSpareServers 1\nMaxSpareServers {PROCESSES}\nServerLimit \
         {PROCESSES}\nMaxRequestWorkers {PROCESSES}\nKeepAliveTimeout 300\nProxyPass / \
         http://{service}/\n"
    );
    let modules = ["mpm_prefork", "proxy", "proxy_http"];
    let (_, port) = second::apache(stage, &modules, &directives)?;
    if cause == Cause::Made {
        let program = [
            "kept_alive.py",
            include_str!("../../../programs/kept_alive.py"),
        ];
        seventh::staying(stage, program, &[port.as_str(), KEPT])?;
    }
    let url = format!("http://127.0.0.1:{port}/");
    ab(stage, &["-c", "8"], &url).ready()
}
