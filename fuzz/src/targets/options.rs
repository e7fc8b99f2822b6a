//! What is typed behind options: targets, patterns, connection strings with what surrounds them.

use std::path::Path;

use anyhow::Result;
use sources::{Application, Surroundings};
use targets::NamedTarget;
use workloads::Rule;

use super::parts;
use crate::{Seed, Target};

pub const TARGET: Target = Target {
    name: "options",
    feed,
    seeds,
    affordable: 4_000,
};

/// The first part is typed, the others are the environment's: by the order of `NAMES`, then the user,
/// then the password file.
fn feed(bytes: &[u8]) {
    let parts: Vec<String> = parts(bytes)
        .map(|part| String::from_utf8_lossy(part).into_owned())
        .collect();
    let typed = parts.first().map_or("", String::as_str);
    let sentence = |said: String| assert!(!said.is_empty() && said.len() < 2_000 + 4 * typed.len());
    match typed.parse::<NamedTarget>() {
        Ok(target) => assert_eq!(target.text, typed),
        Err(error) => sentence(error.to_string()),
    }
    if let Err(error) = typed.parse::<Rule>() {
        sentence(error);
    }
    for application in Application::ALL {
        match application.source(typed, &Around(&parts)) {
            Ok(source) => sentence(source.place()),
            Err(error) => sentence(error),
        }
    }
}

struct Around<'a>(&'a [String]);

const NAMES: [&str; 12] = [
    "PGHOST",
    "PGPORT",
    "PGUSER",
    "PGDATABASE",
    "PGPASSWORD",
    "PGSSLMODE",
    "PGHOSTADDR",
    "HOME",
    "REDISCLI_AUTH",
    "MYSQL_PWD",
    "STALLSCOPE_SCRAPE_TOKEN",
    "STALLSCOPE_SCRAPE_TOKEN_FILE",
];

impl Surroundings for Around<'_> {
    fn variable(&self, name: &str) -> Option<String> {
        let place = NAMES.iter().position(|it| *it == name)?;
        self.0.get(1 + place).cloned()
    }

    fn user(&self) -> Option<String> {
        self.0.get(1 + NAMES.len()).cloned()
    }

    fn secret_file(&self, _: &Path) -> Option<String> {
        self.0.get(2 + NAMES.len()).cloned()
    }

    fn exists(&self, _: &Path) -> bool {
        self.0.len().is_multiple_of(2)
    }
}

fn seeds(_: &Path) -> Result<Vec<Seed>> {
    const TYPED: [&str; 21] = [
        "port:5432",
        "dependency=port:6379",
        "cgroup:/system.slice/a.service",
        "unit:postgresql@15-main",
        "pid:4711",
        "name:^postgres$",
        "5432",
        "throughput=([0-9.,]+) req/s",
        "latency:us=it's \\d+",
        "failed:total=(a|b) errors: ([0-9]+)",
        "postgresql://u:s3cret@h1:1,h2:2/db?sslmode=disable&connect_timeout=3",
        "postgres://%2Fvar%2Frun/db",
        "host=/run/postgresql port=5432 user=u password='s3 \\' cret' dbname=d",
        "hostaddr=::1 sslmode=require",
        "bench",
        "redis://mon:s%40cret@[::1]:6380/3",
        "/run/redis/redis-server.sock",
        "mysql://u:s3cret@db7:3307/x",
        "http://mon:s3cret@[::1]:9100/metrics?collect[]=cpu#top",
        "\u{1e}\u{1e}\u{1e}\u{1e}\u{1e}\u{1e}\u{1e}\u{1e}/root\u{1e}\u{1e}m\u{1e}t0ken\u{1e}\u{1e}me\u{1e}[client]\nuser=u\npassword='p\\s'\nsocket=/s\n",
        "\u{1e}h,i\u{1e}5433\u{1e}u\u{1e}d\u{1e}\u{1e}prefer\u{1e}::1\u{1e}/root\u{1e}r\u{1e}m\u{1e}\u{1e}/t\u{1e}me\u{1e}h:*:d\\:b:u:p\\\\w\n*:*:*:*:x\n",
    ];
    let named = TYPED.into_iter().enumerate();
    Ok(named
        .map(|(at, text)| Seed::new(format!("typed-{at}"), text))
        .collect())
}
