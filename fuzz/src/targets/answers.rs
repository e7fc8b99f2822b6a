//! What servers answer that are asked: Redis's replies, tables of PostgreSQL, MySQL and PgBouncer's console, and
//! Prometheus's text.

use std::path::Path;

use anyhow::Result;
use sources::fuzz_targets;

use super::{PART, parts};
use crate::{Seed, Target, seeds};

pub const TARGET: Target = Target {
    name: "answers",
    feed,
    seeds: from_fixtures,
    affordable: 4_000,
};

fn feed(bytes: &[u8]) {
    fuzz_targets::redis(bytes);
    fuzz_targets::prometheus(bytes);
    let texts: Vec<String> = parts(bytes)
        .map(|part| String::from_utf8_lossy(part).into_owned())
        .collect();
    let text = |part: usize| texts.get(part).map_or("", String::as_str);
    fuzz_targets::pgbouncer([text(0), text(1), text(2)]);
    fuzz_targets::postgres([text(0), text(1)]);
    fuzz_targets::mysql([text(0), text(1), text(2), text(3)]);
}

fn from_fixtures(repository: &Path) -> Result<Vec<Seed>> {
    let sources = repository.join("crates/sources/src");
    let mut all = vec![
        Seed::new("latency-latest", SPIKES),
        Seed::new("sessions", SESSIONS),
        Seed::new("mysql", MYSQL),
    ];
    for info in seeds::files(&sources.join("redis/fixtures"))? {
        let length = format!("${}\r\n", info.bytes.len());
        let reply = [length.as_bytes(), &info.bytes, b"\r\n"].concat();
        all.push(Seed::new(info.name, reply));
    }
    all.extend(seeds::files(&sources.join("prometheus/fixtures"))?);
    let console = seeds::files(&sources.join("pgbouncer/fixtures"))?;
    // Pools, statistics, lists: in the order in which they are asked for.
    let table = |start: &str| console.iter().find(|it| it.name.contains(start));
    let tables = ["pools", "stats", "lists"].map(|start| table(start).map(|it| it.bytes.clone()));
    let tables: Vec<Vec<u8>> = tables.into_iter().flatten().collect();
    all.push(Seed::new("console", tables.join(&PART)));
    Ok(all)
}

const SPIKES: &[u8] = b"*1\r\n*4\r\n$7\r\ncommand\r\n:1795581569\r\n:6\r\n:6\r\n";

const SESSIONS: &[u8] = b"10|client backend|active|Lock|1500|11,12\n12|client backend|idle in transaction|Client|2000000|\n13|||||\x1e5|1|2|3|0|0|";

const MYSQL: &[u8] = b"Threads_connected|3\nInnodb_row_lock_current_waits|1\x1e6|190|Sleep|\n7|191|Query|Updating\x1e41|6|0|2978097\n42|7|1|5\x1e42|41";
