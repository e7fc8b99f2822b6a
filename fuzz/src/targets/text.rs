//! JSON: `meta.json`, a table's description of itself, and reports.

use std::path::Path;

use anyhow::Result;
use model::{Meta, Report, Table};
use serde_json::Value;

use crate::{Seed, Target, seeds};

pub const TARGET: Target = Target {
    name: "text",
    feed,
    seeds: from_fixtures,
    affordable: 2_000,
};

/// What is understood can be written, and means the same when it is read again.
fn feed(bytes: &[u8]) {
    again::<Meta>(bytes);
    again::<Table>(bytes);
    again::<Report>(bytes);
}

fn again<T: serde::Serialize + serde::de::DeserializeOwned>(bytes: &[u8]) {
    let Ok(read) = serde_json::from_slice::<T>(bytes) else {
        return;
    };
    let written = serde_json::to_value(&read).expect("what was read is JSON");
    let again: T = serde_json::from_value(written.clone()).expect("what was written can be read");
    let twice: Value = serde_json::to_value(&again).expect("and written once more");
    assert_eq!(written, twice);
}

fn from_fixtures(repository: &Path) -> Result<Vec<Seed>> {
    let mut found = seeds::files(&repository.join("crates/stallscope/fixtures/reports"))?;
    found.extend(seeds::files(&repository.join("crates/recording/fixtures"))?);
    found.retain(|seed| seed.name.ends_with(".json"));
    found.push(Seed::new("deep", "[".repeat(100_000)));
    found.push(Seed::new(
        "deep-in-what-nobody-reads",
        format!("{{\"x\":{}", "[".repeat(100_000)),
    ));
    found.push(Seed::new("number-too-large", "{\"format_version\":1e400}"));
    for table in sensors::tables() {
        found.push(Seed::new(
            format!("table-{}", table.name),
            serde_json::to_vec(table)?,
        ));
    }
    Ok(found)
}
