//! The options of `prove`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use model::Capacity;
use regex::Regex;
use targets::NamedTarget;

use super::experimenting::typed;
use crate::duration::parse_duration;

/// Examples of `prove`.
const PROVE_HELP: &str = "\
Examples:
  stallscope prove --target port:5432
  stallscope prove --target port:5432 --yes
  stallscope prove --target unit:nginx --capacity cpu --at-most 1.5x --for 1m --yes
  stallscope prove --target port:5432 --without '^logrotate' --cycle 15s --yes

Without --yes it says what it would do and changes nothing. The target must be in a cgroup of its own. Every limit is put \
back and every process goes on at the end, on Ctrl-C, within 1 s when this program is killed, and with the next stallscope \
command when that could not be. More: docs/prove.md.";

#[derive(Args, Debug)]
#[command(after_help = PROVE_HELP)]
pub(crate) struct Prove {
    /// Whose capacity is lowered: a server under load, as in record.
    #[arg(long, value_name = "TARGET", required = true, value_parser = typed::<NamedTarget>)]
    pub(crate) target: Vec<String>,
    /// Lower these, one at a time: cpu, disk, memory, clients. [default: cpu,disk; none with --without]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = parse_capacity)]
    pub(crate) capacity: Vec<Capacity>,
    /// The processes of the load, for --capacity clients: a pattern of names or command lines. A quarter of them or more is stopped.
    #[arg(long, value_name = "PATTERN", value_parser = parse_pattern)]
    pub(crate) clients: Option<Regex>,
    /// Stop processes whose name or command line matches, for every second cycle: does the target do better without them?
    #[arg(long, value_name = "PATTERN", value_parser = parse_pattern)]
    pub(crate) without: Option<Regex>,
    /// The length of a cycle of --without: the period of the spikes.
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "5s", requires = "without")]
    pub(crate) cycle: Duration,
    /// Cycles without them.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=1000), default_value = "4", requires = "without")]
    pub(crate) cycles: u32,
    /// Take so long at most, all together.
    #[arg(long = "for", value_name = "TIME", value_parser = parse_duration, default_value = "3m")]
    pub(crate) budget: Duration,
    /// Put everything back as soon as the target's latency is so many times what it was.
    #[arg(long, value_name = "TIMES", value_parser = parse_times, default_value = "2x")]
    pub(crate) at_most: f64,
    /// Begin. Without it nothing is changed.
    #[arg(long)]
    pub(crate) yes: bool,
    /// Keep the recording here. [default: prove-N.stall here]
    #[arg(short, long, value_name = "FOLDER")]
    pub(crate) output: Option<PathBuf>,
    /// Write the proof as JSON to FILE (- for standard output).
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

fn parse_capacity(text: &str) -> Result<Capacity, String> {
    Capacity::named(text).ok_or_else(|| {
        format!("`{text}` is no capacity that can be lowered: cpu, disk, memory, clients")
    })
}

/// A pattern that matches something: an empty one would match every process of the machine.
fn parse_pattern(text: &str) -> Result<Regex, String> {
    let pattern = Regex::new(text).map_err(|error| format!("`{text}` is no pattern: {error}"))?;
    match pattern.is_match("") {
        true => Err(format!("`{text}` matches every process")),
        false => Ok(pattern),
    }
}

/// `2x`
fn parse_times(text: &str) -> Result<f64, String> {
    let times: Option<f64> = text.trim().trim_end_matches(['x', 'X']).parse().ok();
    times
        .filter(|it| (1.1..=100.0).contains(it))
        .ok_or_else(|| format!("`{text}` is no number of times: write 1.5x or 2x"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_match_or_allow_everything_is_refused() {
        assert!(parse_pattern("").is_err() && parse_pattern(".*").is_err());
        assert!(parse_pattern("(").is_err() && parse_pattern("^pgbench$").is_ok());
        assert_eq!(parse_times("2x"), Ok(2.0));
        assert_eq!(parse_times("1.5"), Ok(1.5));
        for wrong in ["1x", "0.5x", "", "x", "nan", "inf", "-2x"] {
            assert!(parse_times(wrong).is_err(), "{wrong}");
        }
        assert_eq!(parse_capacity("cpu"), Ok(Capacity::Cpu));
        assert!(parse_capacity("gpu").is_err());
    }
}
