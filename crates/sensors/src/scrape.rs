//! What an endpoint in Prometheus's format reports, and what asking it took. Who asks is elsewhere.
//!
//! The formats: <https://prometheus.io/docs/instrumenting/exposition_formats/> and
//! <https://prometheus.io/docs/specs/om/open_metrics_spec/>.

use model::{Column, EntityKind, Quality, Table, Unit};

/// What a recorded number is multiplied with: values of series are floating-point numbers, and a recording
/// holds integers. So a difference below 0.0000005 is lost, and a value beyond 9.2e12 has no place.
pub const SCALE: f64 = 1e6;

/// What the endpoint calls a series, in column `type`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(i64)]
pub enum SeriesType {
    /// It only grows.
    Counter = 1,
    /// It may do anything.
    Gauge = 2,
    /// The sum or the count of a histogram.
    Histogram = 3,
    /// The sum or the count of a summary.
    Summary = 4,
    /// The endpoint does not say.
    Unknown = 5,
}

impl SeriesType {
    /// Whether its numbers add up over time: then they stand in the column for counters.
    pub fn is_counter(self) -> bool {
        matches!(self, Self::Counter | Self::Histogram | Self::Summary)
    }
}

static SCRAPE_COLUMNS: &[Column] = &[
    Column::gauge(
        "duration_ns",
        Unit::Nanoseconds,
        "How long the answer took, from the request to its last byte.",
        "the recorder's clock",
    ),
    Column::gauge(
        "answer_bytes",
        Unit::Bytes,
        "Length of the answer.",
        "the answer",
    ),
    Column::gauge(
        "series",
        Unit::Count,
        "Series in the answer, without those that are never recorded: buckets, quantiles, times of creation.",
        "the answer",
    ),
];

/// A row per poll, about the process that listens there. For an endpoint without a process on this machine it
/// stands at the workload, or at the machine where there is none.
pub static SCRAPE: Table = Table::new(
    "scrape",
    EntityKind::Process,
    "What it took to ask the endpoint of `--scrape`.",
    SCRAPE_COLUMNS,
);

static SCRAPED_COLUMNS: &[Column] = &[
    Column::counter(
        "counter_millionths",
        Unit::Millionths,
        "The value of a counter, or of the sum or count of a histogram or summary; missing for others.",
        "the answer",
    )
    .quality(Quality::Sampled),
    Column::gauge(
        "gauge_millionths",
        Unit::Millionths,
        "The value of a gauge, and of a series of unknown type; missing for others.",
        "the answer",
    )
    .quality(Quality::Sampled),
    Column::gauge(
        "type",
        Unit::Code,
        "What the endpoint calls it: 1 counter, 2 gauge, 3 histogram, 4 summary, 5 unknown.",
        "the answer, # TYPE",
    ),
];

/// A row per series and change of its value, with a row at each end of a time without change.
pub static SCRAPED: Table = Table::new(
    "scraped",
    EntityKind::Series,
    "Values of the series that the endpoint of `--scrape` serves, in millionths of the unit that their names give.",
    SCRAPED_COLUMNS,
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_names_every_type() {
        let column = SCRAPED.position("type").map(|it| &SCRAPED.columns[it]);
        let help = &column.expect("there is one").help;
        for kind in [
            SeriesType::Counter,
            SeriesType::Gauge,
            SeriesType::Histogram,
            SeriesType::Summary,
            SeriesType::Unknown,
        ] {
            let words = format!("{} {}", kind as i64, format!("{kind:?}").to_lowercase());
            assert!(help.contains(&words), "{words}");
        }
    }
}
