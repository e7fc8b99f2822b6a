//! Where sizes come from: a sweep's folder, its JSON, or recordings.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use analysis::sizing::{Made, of_cluster};
use analysis::sweep::{Asked, Configuration};
use anyhow::{Context, Result, anyhow, bail};
use model::{CLUSTER_SCHEMA, ClusterReport, SWEEP_SCHEMA, Sweep, SweptParameter};
use recording::bundle;
use serde::Deserialize;

use super::apart::apart;
use crate::outputs::RECORDING;
use crate::{compare, sweep};

/// A file of more bytes is no sweep.
const MOST_BYTES: u64 = 64 << 20;

/// Runs of configurations, and how they were made.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) sweep: Sweep,
    pub(super) made: Made,
}

/// The name of a JSON's form.
#[derive(Deserialize)]
struct Form {
    schema: Option<String>,
}

/// # Errors
/// One sentence: what was typed is none of these, or cannot be read.
pub(super) fn read(typed: &[String]) -> Result<Source> {
    if let [only] = typed {
        let path = Path::new(only);
        if path.is_dir()
            && !recording::is_recording(path)
            && let Some(again) = sweep::again(path)?
        {
            let mut sweep = again.sweep;
            let together = apart(&mut sweep);
            return Ok(Source {
                sweep,
                made: Made {
                    options: again.options,
                    is_sweep: true,
                    is_complete: true,
                    together,
                    is_stored: false,
                },
            });
        }
        if path.is_file() && !recording::is_recording(path) && !bundle::is_bundle(path) {
            return of_json(path);
        }
    }
    of_recordings(typed)
}

/// A sweep that was written, or a report on several nodes.
fn of_json(path: &Path) -> Result<Source> {
    let shown = path.display();
    let file = File::open(path).with_context(|| format!("cannot open {shown}"))?;
    let mut text = String::new();
    file.take(MOST_BYTES + 1)
        .read_to_string(&mut text)
        .with_context(|| format!("cannot read {shown}"))?;
    if text.len() as u64 > MOST_BYTES {
        bail!("{shown} is too long for a sweep");
    }
    let what = "Name a sweep's folder, the JSON that `stallscope sweep --json` or, of several nodes, `stallscope explain --json` writes, or recordings";
    let form: Form = serde_json::from_str(&text)
        .map_err(|error| anyhow!("{shown} is neither a recording nor JSON ({error}). {what}"))?;
    match form.schema.as_deref() {
        Some(SWEEP_SCHEMA) => of_sweep(&text, path),
        Some(CLUSTER_SCHEMA) => of_nodes(&text, path),
        Some(other) => bail!("{shown} is no sweep, but {other}. {what}"),
        None => bail!("{shown} is no sweep. {what}"),
    }
}

fn of_nodes(text: &str, path: &Path) -> Result<Source> {
    let shown = path.display();
    let report: ClusterReport = serde_json::from_str(text)
        .map_err(|error| anyhow!("{shown} is a damaged report on several nodes: {error}"))?;
    let sweep = of_cluster(&report).map_err(|why| anyhow!("{shown}: {why}"))?;
    Ok(Source {
        sweep,
        made: Made {
            is_sweep: true,
            is_stored: true,
            ..Made::default()
        },
    })
}

fn of_sweep(text: &str, path: &Path) -> Result<Source> {
    let shown = path.display();
    let mut sweep: Sweep = serde_json::from_str(text)
        .map_err(|error| anyhow!("{shown} is a damaged sweep: {error}"))?;
    let width = sweep.parameters.len();
    if sweep.points.iter().any(|it| it.values.len() != width) {
        bail!("{shown} is a damaged sweep: a point has not as many values as there are parameters");
    }
    if sweep.points.is_empty() {
        bail!("{shown} has no run that counts, so nothing is known of any configuration");
    }
    let together = apart(&mut sweep);
    Ok(Source {
        sweep,
        made: Made {
            is_sweep: true,
            together,
            ..Made::default()
        },
    })
}

fn of_recordings(typed: &[String]) -> Result<Source> {
    let groups = compare::groups(typed)?;
    let known = groups.iter().flat_map(|it| &it.runs);
    if known
        .clone()
        .all(|it| it.throughput().is_none_or(|it| it <= 0.0))
    {
        bail!(
            "no requests were counted in these recordings, so what one needs is not known. Record a load: stallscope run -- COMMAND, or its throughput: --metric"
        );
    }
    let mut commands = known.map(|it| it.command().unwrap_or_default());
    let first = commands.next().unwrap_or_default().to_owned();
    let command = match commands.all(|it| it == first) {
        true => first,
        false => String::new(),
    };
    let names = groups.iter().map(|it| it.name.clone());
    let asked = Asked {
        command,
        parameters: vec![SweptParameter {
            name: RECORDING.to_owned(),
            values: names.collect(),
        }],
        goal: None,
    };
    let configurations = groups.into_iter().map(|it| Configuration {
        values: vec![it.name],
        runs: it.runs,
    });
    Ok(Source {
        sweep: analysis::sweep::sweep(asked, configurations.collect()),
        made: Made::default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        let home = tempfile::tempdir().expect("a temporary folder");
        let path = home.path().join("it.json");
        std::fs::write(&path, text).expect("the folder is ours");
        let read = read(&[path.display().to_string()]);
        read.expect_err("it is no sweep").to_string()
    }

    fn kept(path: &str) -> Result<Source> {
        read(&[format!("{}/{path}", env!("CARGO_MANIFEST_DIR"))])
    }

    #[test]
    fn a_recording_is_a_sweep_of_one_and_without_requests_it_is_refused() {
        let source = kept("fixtures/machine.stallbundle").expect("it has requests");
        assert!(!source.made.is_sweep);
        let json = serde_json::to_string_pretty(&source.sweep).expect("it is JSON");
        expect_test::expect_file!["../../fixtures/sweeps/recording.json"]
            .assert_eq(&format!("{json}\n"));
        let said = kept("../recording/fixtures/format-7.stall").expect_err("it has none");
        assert!(
            said.to_string().contains("no requests were counted"),
            "{said}"
        );
    }

    #[test]
    fn what_is_no_sweep_is_told() {
        assert!(refused("no").contains("neither a recording nor JSON"));
        assert!(refused(r#"{"schema":"stallscope.report/2"}"#).contains("but stallscope.report/2"));
        assert!(refused("{}").contains("is no sweep"));
        assert!(refused(r#"{"schema":"stallscope.sweep/1"}"#).contains("damaged"));
        let mut sweep: serde_json::Value =
            serde_json::from_str(include_str!("../../fixtures/sweeps/clients.json")).expect("JSON");
        sweep["points"][0]["values"] = serde_json::json!([]);
        assert!(refused(&sweep.to_string()).contains("not as many values"));
        sweep["points"] = serde_json::json!([]);
        assert!(refused(&sweep.to_string()).contains("no run that counts"));
    }
}
