//! Apache, lighttpd and nginx, and a generator before Redis.

use std::ffi::OsString;
use std::process::Command;

use anyhow::Result;

use super::programs::{AB, APACHE, LIGHTTPD, NGINX, NODE, REDIS, WRK, ab, missing};
use super::servers::{self, GZIP, children, site};
use super::{cause, downstream};
use crate::scenario::{Cause, Expect, Load, Scenario, SetUp, Who};
use crate::scenarios::held_out::{free_port, nginx_with, redis};
use crate::server::two_cpus;
use crate::stage::Stage;

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        cause(
            [
                "apache-few-processes",
                "pool full while its workers wait",
                "ab asks Apache over twenty connections, a new one for each request, and each of its \
                 four processes waits 20 ms for a service behind it.",
            ],
            Expect::one("limit.pool", Who::Target),
            few_processes,
        ),
        cause(
            [
                "lighttpd-compression",
                "one thread serves all",
                "ab asks lighttpd, which is one thread, for a text that it compresses anew for each \
                 of eight connections.",
            ],
            Expect::one("cpu.single_thread", Who::Thread),
            compression,
        ),
        cause(
            [
                "nginx-pinned-workers",
                "threads pinned to one CPU",
                "wrk asks nginx for a text that it compresses, and both of its processes were pinned \
                 to one CPU, while wrk leaves most of the other.",
            ],
            Expect::one("cpu.imbalance", Who::Cpu),
            pinned_workers,
        ),
        cause(
            [
                "redis-slow-client",
                "generator without time left",
                "An event loop in Node.js asks Redis over sixteen connections and computes 1 ms with \
                 each answer.",
            ],
            Expect::one("load.client", Who::Generator),
            slow_client,
        ),
    ]
}

fn few_processes(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[APACHE, AB]) {
        return Ok(SetUp::NotHere(why));
    }
    let workers = match cause {
        Cause::Made => 4,
        Cause::Removed => 20,
    };
    let (_, service) = downstream(stage, 20_000)?;
    let directives = format!(
        "StartServers {workers}\nMinSpareServers 1\nMaxSpareServers {workers}\nServerLimit \
         {workers}\nMaxRequestWorkers {workers}\nProxyPass / http://{service}/\n"
    );
    let modules = ["mpm_prefork", "proxy", "proxy_http"];
    let (_, port) = servers::apache(stage, &modules, &directives)?;
    let url = format!("http://127.0.0.1:{port}/");
    ab(stage, &["-c", "20"], &url).ready()
}

fn compression(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[LIGHTTPD, AB]) {
        return Ok(SetUp::NotHere(why));
    }
    let processes = match cause {
        Cause::Made => 0,
        Cause::Removed => 2,
    };
    let (pid, port) = servers::lighttpd(stage, processes)?;
    stage.cast.insert(Who::Thread, format!("/tid:{pid}"));
    let url = format!("http://127.0.0.1:{port}/list.txt");
    ab(stage, &["-k", "-c", "8", "-H", GZIP], &url).ready()
}

fn pinned_workers(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[NGINX, WRK]) {
        return Ok(SetUp::NotHere(why));
    }
    let Some((crowded, free)) = two_cpus()? else {
        return Ok(SetUp::NotHere("it needs a second CPU".to_owned()));
    };
    let (crowded, free) = (crowded.to_string(), free.to_string());
    let (port, unused) = (free_port()?.to_string(), free_port()?.to_string());
    // With `reuseport` connections are dealt out; else the first who wakes may take them all.
    let compressed = format!(
        "server {{ listen 127.0.0.1:{port} reuseport; root {}; gzip on; gzip_comp_level 6; \
         gzip_types text/plain; }}",
        site(stage)?.display()
    );
    let pid = nginx_with(stage, 2, &unused, &compressed, "")?;
    if cause == Cause::Made {
        for worker in children(pid, 2)? {
            let mut pin = Command::new("taskset");
            pin.args(["-p", "-c", &crowded, &worker.to_string()]);
            stage.step(pin)?;
        }
    }
    stage.cast.insert(Who::Cpu, format!("cpu{crowded}"));
    let seconds = format!("-d{}s", stage.seconds);
    let url = format!("http://127.0.0.1:{port}/list.txt");
    let below = ["taskset", "-c", &free, "wrk", "-t1", "-c16", "--latency"];
    Load::new([&below[..], &["-H", GZIP, &seconds, &url]].concat()).ready()
}

fn slow_client(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[REDIS, NODE]) {
        return Ok(SetUp::NotHere(why));
    }
    let compute_us = match cause {
        Cause::Made => "1000",
        Cause::Removed => "0",
    };
    let (_, port) = redis(stage)?;
    let file = stage.script("client.js", include_str!("../../../programs/client.js"))?;
    let seconds = stage.seconds.to_string();
    let words = [&port, "16", &seconds, compute_us].map(OsString::from);
    Load::new([OsString::from("node"), file].into_iter().chain(words)).ready()
}
