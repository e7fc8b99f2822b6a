//! Prometheus's text format 0.0.4 and OpenMetrics 1.0, as far as values of series need them.
//!
//! <https://prometheus.io/docs/instrumenting/exposition_formats/>. As Prometheus does, an answer with one line that
//! cannot be read is refused whole. Kept are counters, gauges, and of histograms and summaries the sum and the
//! count; buckets, quantiles and times of creation are not, and neither are help, units, timestamps and exemplars.

use std::collections::HashSet;

use sensors::scrape::SeriesType;

use crate::{MOST_SERIES, Sample};

/// Bytes of a metric's name with its labels.
const LONGEST_SERIES: usize = 1_000;
/// What parts the words of a line.
const BLANKS: [char; 2] = [' ', '\t'];

/// What an answer holds.
#[derive(PartialEq, Debug, Default)]
pub(crate) struct Read {
    /// In the order of the answer, each series once.
    pub(crate) samples: Vec<Sample>,
    /// Samples beyond `MOST_SERIES`, and those with names beyond `LONGEST_SERIES`.
    pub(crate) left_out: usize,
}

/// A line that is none of the format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Malformed {
    /// Counted from 1.
    pub(crate) line: usize,
    /// What is wrong with it: `has no value`.
    pub(crate) what: &'static str,
}

/// Reads an answer.
///
/// # Errors
/// The first line that is none of the format.
pub(crate) fn read(answer: &[u8]) -> Result<Read, Malformed> {
    let text = std::str::from_utf8(answer).map_err(|error| Malformed {
        line: 1 + answer[..error.valid_up_to()]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count(),
        what: "is no text",
    })?;
    let mut reader = Reader::default();
    let mut number = 0;
    for line in text.split_inclusive('\n') {
        number += 1;
        let taken = match line.strip_suffix('\n') {
            Some(line) => reader.take(line),
            None => Err("is cut off"),
        };
        taken.map_err(|what| Malformed { line: number, what })?;
    }
    match number {
        0 => Err(Malformed {
            line: 1,
            what: "is not there",
        }),
        _ => Ok(reader.read),
    }
}

/// What is known while an answer is gone through.
#[derive(Default)]
struct Reader<'a> {
    read: Read,
    seen: HashSet<String>,
    /// The metric that the lines are about, and what it is called.
    family: Option<(&'a str, Family)>,
    has_ended: bool,
}

/// The types of both formats.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Family {
    Counter,
    Gauge,
    Histogram,
    GaugeHistogram,
    Summary,
    Unknown,
}

impl<'a> Reader<'a> {
    fn take(&mut self, line: &'a str) -> Result<(), &'static str> {
        let line = line.trim_matches(BLANKS);
        if line.is_empty() {
            return Ok(());
        }
        if self.has_ended {
            return Err("comes after the end, # EOF");
        }
        match line.strip_prefix('#') {
            Some(comment) => self.comment(comment),
            None => self.sample(line),
        }
    }

    fn comment(&mut self, comment: &'a str) -> Result<(), &'static str> {
        let mut words = comment.split(BLANKS).filter(|word| !word.is_empty());
        match (words.next(), words.next(), words.next()) {
            (Some("TYPE"), Some(metric), Some(word)) => {
                self.family = Some((metric, family(word).ok_or("names an unknown type")?));
            }
            (Some("TYPE"), ..) => return Err("names no type"),
            (Some("EOF"), None, None) => self.has_ended = true,
            _ => {}
        }
        Ok(())
    }

    fn sample(&mut self, line: &str) -> Result<(), &'static str> {
        let (metric, rest) = name(line, ":").ok_or("begins with no name")?;
        let (labels, rest) = match rest.trim_start_matches(BLANKS).strip_prefix('{') {
            Some(rest) => labels(rest)?,
            None if rest.starts_with(BLANKS) => (String::new(), rest),
            None => return Err("has no value"),
        };
        let value = value(rest)?;
        let Some(kind) = self.kind(metric) else {
            return Ok(());
        };
        let series = format!("{metric}{labels}");
        if series.len() > LONGEST_SERIES || self.read.samples.len() >= MOST_SERIES {
            self.read.left_out += 1;
        } else if self.seen.insert(series.clone()) {
            self.read.samples.push(Sample {
                series,
                kind,
                value,
            });
        }
        Ok(())
    }

    /// What a sample is called; `None` for those that are not kept.
    fn kind(&self, metric: &str) -> Option<SeriesType> {
        let family = self.family.as_ref();
        let part = family.and_then(|(name, family)| Some((*family, metric.strip_prefix(name)?)));
        match part {
            Some((Family::Counter, "" | "_total")) => Some(SeriesType::Counter),
            Some((Family::Gauge, "") | (Family::GaugeHistogram, "_gsum" | "_gcount")) => {
                Some(SeriesType::Gauge)
            }
            Some((Family::Histogram, "_sum" | "_count")) => Some(SeriesType::Histogram),
            Some((Family::Summary, "_sum" | "_count")) => Some(SeriesType::Summary),
            Some(
                (Family::Histogram | Family::GaugeHistogram, "_bucket")
                | (Family::Summary, "")
                | (Family::Counter | Family::Histogram | Family::Summary, "_created"),
            ) => None,
            _ => Some(SeriesType::Unknown),
        }
    }
}

fn family(word: &str) -> Option<Family> {
    Some(match word {
        "counter" => Family::Counter,
        "gauge" => Family::Gauge,
        "histogram" => Family::Histogram,
        "gaugehistogram" => Family::GaugeHistogram,
        "summary" => Family::Summary,
        "untyped" | "unknown" | "info" | "stateset" => Family::Unknown,
        _ => return None,
    })
}

/// A name at the beginning of a text, and what follows.
fn name<'a>(text: &'a str, also: &str) -> Option<(&'a str, &'a str)> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || also.contains(c);
    let (name, rest) = text.split_at(text.find(|c| !is_part(c)).unwrap_or(text.len()));
    let starts_well = !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit());
    starts_well.then_some((name, rest))
}

/// The labels behind a `{`, as the series is called by them, and what follows.
fn labels(text: &str) -> Result<(String, &str), &'static str> {
    const ODD: &str = "has labels that cannot be read";
    let mut found = String::new();
    let mut rest = text.trim_start_matches(BLANKS);
    while !rest.starts_with('}') {
        let (label, behind) = name(rest, "").ok_or(ODD)?;
        let behind = behind.trim_start_matches(BLANKS).strip_prefix('=');
        let behind = behind.map(|it| it.trim_start_matches(BLANKS));
        let quoted = behind.and_then(|it| it.strip_prefix('"')).ok_or(ODD)?;
        let (value, behind) = quoted.split_at(closing_quote(quoted).ok_or(ODD)?);
        let parted = if found.is_empty() { '{' } else { ',' };
        found.push(parted);
        found.push_str(&format!("{label}=\"{value}\""));
        rest = behind[1..].trim_start_matches(BLANKS);
        match rest.strip_prefix(',') {
            Some(behind) => rest = behind.trim_start_matches(BLANKS),
            None if rest.starts_with('}') => {}
            None => return Err(ODD),
        }
    }
    if !found.is_empty() {
        found.push('}');
    }
    Ok((found, &rest[1..]))
}

/// Where the quote stands that ends a value: the first that no backslash is before.
fn closing_quote(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    text.bytes().position(|byte| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    })
}

/// The value behind a series; a timestamp and an exemplar may follow it.
fn value(text: &str) -> Result<f64, &'static str> {
    let mut words = text.split(BLANKS).filter(|word| !word.is_empty());
    let value = words.next().ok_or("has no value")?;
    let value = value.parse().map_err(|_| "has a value that is no number")?;
    let mut next = words.next();
    if next.is_some_and(|word| word.parse::<f64>().is_ok()) {
        next = words.next();
    }
    match next {
        None | Some("#") => Ok(value),
        Some(_) => Err("has something behind its value"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(text: &str) -> Vec<(String, SeriesType, f64)> {
        let read = read(text.as_bytes()).unwrap_or_else(|error| panic!("{error:?}"));
        let samples = read.samples.into_iter();
        samples.map(|it| (it.series, it.kind, it.value)).collect()
    }

    fn one(series: &str, kind: SeriesType, value: f64) -> (String, SeriesType, f64) {
        (series.to_owned(), kind, value)
    }

    #[test]
    fn each_type_is_kept_by_its_sums_and_counts() {
        use SeriesType::{Counter, Gauge, Histogram, Summary, Unknown};
        let text = "\
# HELP c Anything, # TYPE g gauge.
# TYPE c counter
c_total{code=\"200\",path=\"a, \\\"}{b\\\\\"} 3 # {trace=\"x\"} 0.5 1.25
c_created 1.7e9
# TYPE g gauge
g{ a = \"1\" , } -2.5e-3\t1795581569000
g_else 7
# TYPE h histogram
h_bucket{le=\"+Inf\"} 4
h_sum 1.5
h_count 4
# TYPE s summary
s{quantile=\"0.5\"} NaN
s_sum 9
s_count 2
#TYPE q gaugehistogram
q_gcount 5
q_bucket{le=\"1\"} 5
# TYPE i info
i_info{version=\"1\"} 1
  loose   +Inf
";
        let expected = [
            one(r#"c_total{code="200",path="a, \"}{b\\"}"#, Counter, 3.0),
            one(r#"g{a="1"}"#, Gauge, -0.0025),
            one("g_else", Unknown, 7.0),
            one("h_sum", Histogram, 1.5),
            one("h_count", Histogram, 4.0),
            one("s_sum", Summary, 9.0),
            one("s_count", Summary, 2.0),
            one("q_gcount", Gauge, 5.0),
            one(r#"i_info{version="1"}"#, Unknown, 1.0),
            one("loose", Unknown, f64::INFINITY),
        ];
        assert_eq!(found(text), expected);
    }

    const PLAIN: &str = include_str!("fixtures/node-exporter-1.5.0.txt");
    const OPEN_METRICS: &str = include_str!("fixtures/node-exporter-1.5.0-openmetrics.txt");
    const PYTHON: &str = include_str!("fixtures/python-client-0.26.0-openmetrics.txt");

    /// What prometheus-node-exporter 1.5.0 served in either format, a moment apart.
    #[test]
    fn a_node_exporters_series_are_the_same_in_both_formats() {
        let named = |text| -> Vec<(String, SeriesType)> {
            let series = found(text).into_iter();
            series.map(|(series, kind, _)| (series, kind)).collect()
        };
        let plain = named(PLAIN);
        assert_eq!(plain, named(OPEN_METRICS));
        let lines = PLAIN.lines().filter(|line| !line.starts_with('#'));
        let quantiles = PLAIN.matches("{quantile=").count();
        assert_eq!(plain.len(), lines.count() - quantiles);
        let counters = plain.iter().filter(|it| it.1 == SeriesType::Counter);
        assert!(counters.count() > 20);
        assert_eq!(plain[0].0, "go_gc_duration_seconds_sum");
    }

    /// What prometheus_client 0.26.0 for Python served, with exemplars and every kind of escape.
    #[test]
    fn what_a_python_client_serves() {
        let lines = found(PYTHON).into_iter();
        let lines = lines.map(|(series, kind, value)| format!("{kind:?} {value} {series}\n"));
        expect_test::expect![[r#"
            Counter 3 shop_requests_total{code="200",path="/a \"b\"\\c\nd"}
            Counter 1 shop_requests_total{code="500",path="/é"}
            Gauge -0.25 shop_depth
            Histogram 2 shop_latency_seconds_count
            Histogram 0.55 shop_latency_seconds_sum
            Summary 1 shop_size_bytes_count
            Summary 1234.5 shop_size_bytes_sum
            Unknown 1 shop_build_info{version="1.2.3"}
            Unknown 1 shop_state{shop_state="open"}
            Unknown 0 shop_state{shop_state="closed"}
            Gauge NaN shop_ratio
        "#]]
        .assert_eq(&lines.collect::<String>());
    }

    #[test]
    fn a_line_that_is_none_of_the_format_is_named() {
        for (text, line, what) in [
            ("", 1, "is not there"),
            ("a 1\nb 2", 2, "is cut off"),
            ("<!DOCTYPE html>\n", 1, "begins with no name"),
            ("1a 2\n", 1, "begins with no name"),
            ("a\n", 1, "has no value"),
            ("a{}\n", 1, "has no value"),
            ("a=1\n", 1, "has no value"),
            ("a one\n", 1, "has a value that is no number"),
            ("a 1 2 3\n", 1, "has something behind its value"),
            ("a{b=\"c} 1\n", 1, "has labels that cannot be read"),
            ("a{b=\"c\\\"} 1\n", 1, "has labels that cannot be read"),
            ("a{b=c} 1\n", 1, "has labels that cannot be read"),
            ("a{b=\"c\"d=\"e\"} 1\n", 1, "has labels that cannot be read"),
            ("a{b=\"c\"\n", 1, "has labels that cannot be read"),
            ("\n# TYPE a\n", 2, "names no type"),
            ("# TYPE a speed\n", 1, "names an unknown type"),
            ("a 1\n# EOF\na 2\n", 3, "comes after the end, # EOF"),
        ] {
            let expected = Malformed { line, what };
            assert_eq!(read(text.as_bytes()), Err(expected), "{text:?}");
        }
        let binary = Malformed {
            line: 2,
            what: "is no text",
        };
        assert_eq!(read(b"a 1\nb{c=\"\xff\"} 1\n"), Err(binary));
    }

    #[test]
    fn what_exceeds_a_limit_is_counted_and_what_comes_twice_is_taken_once() {
        let many: String = (0..MOST_SERIES + 2)
            .map(|it| format!("m{it} 1\n"))
            .collect();
        let answer = format!(
            "m0 7\nlong{{l=\"{}\"}} 1\n{many}",
            "x".repeat(LONGEST_SERIES)
        );
        let read = read(answer.as_bytes()).expect("it is one");
        assert_eq!((read.samples.len(), read.left_out), (MOST_SERIES, 3));
        assert_eq!(read.samples[0].value, 7.0);
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[a#{}\"\\\\=, 1\n\u{e9}]{0,60}") {
            let _ = read(text.as_bytes());
        }

        #[test]
        fn what_was_written_is_read(
            values in prop::collection::vec(prop::num::f64::NORMAL, 1..20),
            label in "[^\n\"\\\\]{0,12}",
        ) {
            let lines = values.iter().enumerate();
            let series = |number: usize| format!("m{number}{{l=\"{label}\"}}");
            let text: String = lines
                .map(|(number, value)| format!("{} {value:e}\n", series(number)))
                .collect();
            let expected: Vec<_> = values
                .iter()
                .enumerate()
                .map(|(number, value)| one(&series(number), SeriesType::Unknown, *value))
                .collect();
            prop_assert_eq!(found(&text), expected);
        }
    }
}
