//! The JSON of a range query: series with their labels, and a value at each instant that has one.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess, Visitor};

use super::questions::Subject;
use crate::NotUnderstood;

/// Series of one answer.
const MOST_SERIES: usize = 200_000;
const ADVICE: &str =
    "name a store that speaks Prometheus's query API: --prometheus http://HOST:PORT";

/// Answers by what they are about.
pub type Answers = Vec<(Subject, Vec<StoredSeries>)>;

/// A series as a store has it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct StoredSeries {
    /// Its labels, the metric's name among them.
    pub labels: BTreeMap<String, String>,
    /// Instants of the grid, ns since 1970, and the value that was the newest then.
    pub points: Vec<(i64, f64)>,
}

impl StoredSeries {
    /// A label's value; empty where there is none, as in a query.
    pub(super) fn label(&self, name: &str) -> &str {
        self.labels.get(name).map_or("", String::as_str)
    }
}

#[derive(Deserialize)]
struct Whole {
    status: String,
    data: Option<Data>,
    error: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Data {
    result_type: String,
    result: Vec<Series>,
}

#[derive(Deserialize)]
struct Series {
    #[serde(default)]
    metric: BTreeMap<String, String>,
    #[serde(default)]
    values: Points,
}

/// Read one by one: as values of JSON they would take five times the memory.
#[derive(Default)]
struct Points(Vec<(i64, f64)>);

impl<'de> Deserialize<'de> for Points {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Points;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("pairs of a time and a value")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<Points, A::Error> {
                let mut points = Vec::new();
                while let Some((seconds, value)) = all.next_element::<(f64, &'de str)>()? {
                    let known = value.parse::<f64>().ok().filter(|it| it.is_finite());
                    points.extend(instant(seconds).zip(known));
                }
                Ok(Points(points))
            }
        }
        deserializer.deserialize_seq(Each)
    }
}

/// Seconds since 1970 with milliseconds, as the API has them, as whole ns; `None` for what is no time of these centuries.
pub(super) fn instant(seconds: f64) -> Option<i64> {
    let is_time = (0.0..8e9).contains(&seconds);
    is_time.then(|| (seconds * 1e3).round() as i64 * 1_000_000)
}

/// Reads the answer to a range query; values that are no finite numbers are left out.
///
/// # Errors
/// What was expected, with the store's own words where it refused.
pub fn series(bytes: &[u8]) -> Result<Vec<StoredSeries>, NotUnderstood> {
    let whole: Whole = serde_json::from_slice(bytes).map_err(|error| {
        NotUnderstood::at(error.line(), "the JSON of Prometheus's query API", ADVICE)
    })?;
    let data = whole.data.filter(|_| whole.status == "success");
    let Some(data) = data else {
        let own: String = whole.error.unwrap_or_default().chars().take(300).collect();
        return Err(NotUnderstood::whole(
            format!("an answer, and the store says {own:?}"),
            ADVICE,
        ));
    };
    if data.result_type != "matrix" {
        return Err(NotUnderstood::whole(
            "series over time (a matrix)",
            "write a query that gives a number per instant",
        ));
    }
    if data.result.len() > MOST_SERIES {
        return Err(NotUnderstood::whole(
            format!("at most {MOST_SERIES} series"),
            "ask for less: narrow --instance or --also",
        ));
    }
    let series = data.result.into_iter().map(|it| StoredSeries {
        labels: it.metric,
        points: it.values.0,
    });
    Ok(series.collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn times_are_whole_milliseconds_and_what_is_no_number_is_left_out() {
        let text = br#"{"status":"success","data":{"resultType":"matrix","result":[
            {"metric":{"__name__":"up","instance":"n1"},"values":[[1700000000.123,"1"],[1700000015.123,"NaN"],[1700000030.123,"+Inf"],[1700000045,"0.5"]]}]}}"#;
        let read = series(text).expect("an answer");
        assert_eq!(read[0].label("instance"), "n1");
        assert_eq!(read[0].label("job"), "");
        assert_eq!(
            read[0].points,
            [
                (1_700_000_000_123_000_000, 1.0),
                (1_700_000_045_000_000_000, 0.5)
            ]
        );
    }

    #[test]
    fn a_refusal_is_quoted() {
        let text = br#"{"status":"error","errorType":"bad_data","error":"parse error at char 3"}"#;
        let said = series(text).expect_err("it refused").to_string();
        assert!(said.contains("parse error at char 3"), "{said}");
        let text = br#"{"status":"success","data":{"resultType":"scalar","result":[]}}"#;
        assert!(series(text).is_err());
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = series(&bytes);
        }
    }
}
