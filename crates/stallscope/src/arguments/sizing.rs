//! The options of `size`.

use std::path::PathBuf;

use clap::Args;
use model::Goal;

use crate::goal::parse_goal;
use crate::sweep::Parameter;

/// Examples of `size`.
const SIZE_HELP: &str = "\
Examples:
  stallscope size sweep-1
  stallscope size sweep-1 --rate 5000 --slo 'p99<10ms' --price prices.toml
  stallscope size sweep-1 --at nodes=3,4,6 --at cpus=8
  stallscope size 'small-*.stall' 'large-*.stall' --rate 5000

A sweep's folder, its JSON, or recordings: a pattern in quotes, and a folder of recordings, are runs of one configuration. \
What was not measured is predicted where that can be tried on what was, and refused where it cannot. More: docs/size.md.";

#[derive(Args, Debug)]
#[command(after_help = SIZE_HELP)]
pub(crate) struct Size {
    /// A sweep's folder or its JSON; or recordings, folders of recordings, patterns in quotes.
    #[arg(value_name = "PATH", required = true, num_args = 1..)]
    pub(crate) paths: Vec<String>,
    /// Name the smallest configuration that gives so many operations per second.
    #[arg(long, value_name = "N", value_parser = parse_rate)]
    pub(crate) rate: Option<f64>,
    /// Name the smallest that keeps this latency, at the rate where one is given: 'p99<10ms'.
    #[arg(long, value_name = "GOAL", value_parser = parse_goal)]
    pub(crate) slo: Option<Goal>,
    /// Predict these values of a sweep's parameter too: 'cpus=4,8'. Repeatable; of others the measured ones.
    #[arg(long, value_name = "NAME=LIST")]
    pub(crate) at: Vec<Parameter>,
    /// Read what configurations cost an hour from this file: docs/size.md.
    #[arg(long, value_name = "FILE")]
    pub(crate) price: Option<PathBuf>,
    /// Write the answer as JSON to FILE (- for standard output).
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Print every figure, and not only those that say something.
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

fn parse_rate(text: &str) -> Result<f64, String> {
    let rate: Option<f64> = text.replace(',', "").trim().parse().ok();
    rate.filter(|it| it.is_finite() && *it > 0.0)
        .ok_or_else(|| format!("`{text}` is no rate: write operations per second, as in 5000"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_numbers_above_0() {
        assert_eq!(parse_rate("5,000"), Ok(5_000.0));
        assert_eq!(parse_rate("0.5"), Ok(0.5));
        for wrong in ["", "0", "-1", "fast", "inf", "nan"] {
            assert!(parse_rate(wrong).is_err(), "{wrong}");
        }
    }
}
