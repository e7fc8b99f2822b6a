//! Speedscope's own format (file-format-schema.json of jlfwong/speedscope): a profile for each program.

use std::collections::{BTreeMap, HashMap};
use std::io::Write;

use analysis::stacks::Frame;
use anyhow::Result;
use serde::Serialize;

use super::Profile;

#[derive(Serialize)]
struct Document<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    exporter: &'static str,
    shared: Shared<'a>,
    profiles: Vec<Sampled<'a>>,
}

#[derive(Serialize)]
struct Shared<'a> {
    frames: Vec<SharedFrame<'a>>,
}

#[derive(Serialize)]
struct SharedFrame<'a> {
    name: String,
    #[serde(skip_serializing_if = "str::is_empty")]
    file: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Sampled<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    name: &'a str,
    unit: &'static str,
    start_value: i64,
    end_value: i64,
    /// Frames of each sample, the outermost first.
    samples: Vec<Vec<usize>>,
    weights: Vec<i64>,
}

pub(super) fn write(profile: &Profile<'_>, out: &mut dyn Write) -> Result<()> {
    let mut numbers: HashMap<Frame<'_>, usize> = HashMap::new();
    let mut frames = Vec::new();
    let mut programs: BTreeMap<&str, Sampled<'_>> = BTreeMap::new();
    for sample in &profile.samples {
        let name = &*sample.process.entity.name;
        let program = programs.entry(name).or_insert_with(|| Sampled {
            kind: "sampled",
            name,
            unit: "nanoseconds",
            start_value: 0,
            end_value: 0,
            samples: Vec::new(),
            weights: Vec::new(),
        });
        let of_sample = profile.frames(sample).iter().rev().map(|frame| {
            *numbers.entry(*frame).or_insert_with(|| {
                frames.push(SharedFrame {
                    name: frame.to_string(),
                    file: frame.module,
                });
                frames.len() - 1
            })
        });
        program.samples.push(of_sample.collect());
        program.weights.push(sample.ns);
        program.end_value = program.end_value.saturating_add(sample.ns);
    }
    let mut profiles: Vec<Sampled<'_>> = programs.into_values().collect();
    profiles.sort_by_key(|program| std::cmp::Reverse(program.end_value));
    let document = Document {
        schema: "https://www.speedscope.app/file-format-schema.json",
        exporter: concat!("stallscope ", env!("CARGO_PKG_VERSION")),
        shared: Shared { frames },
        profiles,
    };
    serde_json::to_writer(out, &document)?;
    Ok(())
}
