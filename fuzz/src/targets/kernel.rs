//! Files of `/proc`, `/sys` and control groups: every sensor, every fact, and the tables in which
//! sockets, groups and mounts are looked up. The counters that a Java virtual machine maps.
//!
//! An input is one file, given to all of them, or several parts, one for each source of a sensor.

use std::path::Path;

use anyhow::Result;
use sensors::{Facts, Reading, Subject};

use super::{PART, parts};
use crate::{Seed, Target, seeds};

pub const TARGET: Target = Target {
    name: "kernel",
    feed,
    seeds: from_fixtures,
    affordable: 4_000,
};

fn feed(bytes: &[u8]) {
    let given: Vec<&[u8]> = parts(bytes).collect();
    for sensor in sensors::all() {
        read(sensor, &given);
    }
    for fact in sensors::environment::FACTS {
        (fact.read)(bytes);
    }
    let _ = sensors::parse_stat(bytes);
    let _ = sensors::jvm::parse(bytes);
    for line in bytes.split(|byte| *byte == b'\n') {
        targets::parse_proc_net_tcp(line);
        targets::parse_proc_net_unix(line);
    }
    kernel::fuzz_targets::stat(bytes);
    targets::fuzz_targets::addresses(bytes);
    let text = String::from_utf8_lossy(bytes);
    kernel::fuzz_targets::stated_version(&text);
    let _ = sensors::jvm::mapped_file(&text);
    let mut halves = bytes.splitn(2, |byte| *byte == PART);
    let mounts = halves.next().unwrap_or_default();
    let groups = halves.next().unwrap_or(mounts);
    kernel::fuzz_targets::groups(mounts, groups);
}

fn read(sensor: &sensors::Sensor, given: &[&[u8]]) {
    let sources: Vec<Option<&[u8]>> = (0..sensor.sources.len())
        .map(|source| match given {
            [one] => Some(*one),
            several => several.get(source).copied().filter(|it| !it.is_empty()),
        })
        .collect();
    let reading = Reading {
        bytes: &sources,
        facts: Facts::default(),
    };
    let _ = (sensor.parse)(&reading, &mut |subject, values| {
        assert_eq!(values.len(), sensor.table.columns.len());
        if let Subject::Part(_, name) = subject {
            assert!(!name.is_empty(), "{}: a part has a name", sensor.table.name);
        }
    });
}

fn from_fixtures(repository: &Path) -> Result<Vec<Seed>> {
    let mut found = seeds::files(&repository.join("crates/sensors/fixtures/kernel"))?;
    let sensors_of: Vec<(String, Vec<u8>)> = sensors::all()
        .iter()
        .filter(|sensor| sensor.sources.len() > 1)
        .map(|sensor| {
            let texts = sensor.sources.iter().map(|source| {
                let file = found.iter().find(|seed| seed.name.ends_with(source.path));
                file.map_or(&b""[..], |seed| &seed.bytes)
            });
            (
                sensor.table.name.to_string(),
                texts.collect::<Vec<_>>().join(&PART),
            )
        })
        .collect();
    found.extend(
        sensors_of
            .into_iter()
            .map(|(name, bytes)| Seed::new(name, bytes)),
    );
    found.extend(seeds::files(
        &repository.join("crates/sensors/fixtures/jvm"),
    )?);
    found.extend(TABLES.map(|(name, text)| Seed::new(name, text)));
    Ok(found)
}

/// What no fixture of a sensor holds: files in which sockets, groups and mounts are looked up.
const TABLES: [(&str, &str); 7] = [
    (
        "net.tcp",
        "  11: 0100007F:BF3A 0100007F:D88D 01 0000003E:00000000 01:00000014 00000000     0        0 22581 4 000000001a80d75b 20 4 1 18 -1\n",
    ),
    (
        "net.tcp6",
        "   1: 00000000000000000000000001000000:DABF 00000000000000000000000001000000:DBA4 01 00000000:00000000 00:00000000 00000000     0        0 7 1 00000000ee746cae 20 0 0 10 -1\n",
    ),
    (
        "net.unix",
        "00000000cbf93b31: 00000002 00000000 00010000 0001 01 20515 /tmp/a b/.s.PGSQL.5432\n",
    ),
    (
        "net.fib_trie",
        "Main:\n  +-- 0.0.0.0/0 3 0 5\n     |-- 10.0.0.7\n        /32 host LOCAL\n",
    ),
    (
        "net.if_inet6",
        "fe80000000000000505400fffe123456 02 40 20 80     eth0\n",
    ),
    (
        "groups",
        "30 24 0:26 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n31 24 0:27 /a /sys/fs/c\\040d rw - cgroup cgroup rw,cpu,cpuacct\n\u{1e}5:cpu,cpuacct:/a/b\n0::/../c\n",
    ),
    ("postgres.version", "9.6\n"),
];
