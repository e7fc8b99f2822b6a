//! k6's stream of results (`-o json=FILE`): a JSON document a line, each one number of one request. Requests are told
//! apart by the tag `name`, which is their URL where the script says nothing else.

use model::{Sentence, Summary};
use serde_json::Value;

use crate::reports::measure::rfc3339_ns;
use crate::results::{Kinds, Timed};
use crate::{Operations, ResultsReader};

/// Begins to read a file: k6 writes it anew, so that it holds one run.
pub(super) fn read(begun_unix_ns: i64) -> Box<dyn ResultsReader> {
    Box::new(Stream {
        requests: Kinds::default(),
        timed: Timed::new(begun_unix_ns),
    })
}

struct Stream {
    requests: Kinds,
    timed: Timed,
}

impl ResultsReader for Stream {
    fn line(&mut self, line: &[u8]) {
        // Most lines are of the parts of a request, which are not read.
        let Ok(text) = std::str::from_utf8(line) else {
            return;
        };
        if text.contains("http_req_failed") || text.contains("http_req_duration") {
            let _ = self.point(text);
        }
    }

    fn finish(self: Box<Self>, summary: &mut Option<Summary>) -> (Operations, Option<Sentence>) {
        let remark = self.requests.add_to(summary, true);
        (self.timed.finish(), remark)
    }
}

impl Stream {
    /// `{"metric":"http_req_failed","type":"Point","data":{"time":"...","value":0,"tags":{"name":"...",...}}}`; `None` for
    /// another one.
    fn point(&mut self, text: &str) -> Option<()> {
        let document: Value = serde_json::from_str(text).ok()?;
        if document["type"] != "Point" {
            return None;
        }
        let data = &document["data"];
        let name = data["tags"]["name"].as_str()?;
        let value = data["value"].as_f64()?;
        match document["metric"].as_str()? {
            "http_req_failed" => self.requests.ended(name, value == 0.0),
            // It is in ms.
            "http_req_duration" => {
                let took_ns = (value * 1e6) as i64;
                self.requests.took(name, took_ns);
                // The tag says what k6 counts as failed.
                let is_expected = data["tags"]["expected_response"] != "false";
                if let Some(at_ns) = data["time"].as_str().and_then(rfc3339_ns) {
                    self.timed
                        .ended(name, at_ns, is_expected.then_some(took_ns));
                }
            }
            _ => return None,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STREAM: &str = include_str!("../../fixtures/k6/json-csv-export/stream.json");

    fn summary_of(text: &[u8]) -> (Option<Summary>, Option<String>) {
        let mut reader = read(0);
        text.split(|byte| *byte == b'\n')
            .for_each(|line| reader.line(line));
        let mut summary = None;
        let (_, remark) = reader.finish(&mut summary);
        (summary, remark.map(|it| it.to_string()))
    }

    #[test]
    fn requests_are_told_apart_by_name() {
        let (summary, remark) = summary_of(STREAM.as_bytes());
        assert_eq!(remark, None);
        let kinds = summary.expect("there are requests").scripts.into_iter();
        let kinds: Vec<_> = kinds
            .map(|it| (it.name, it.completed, it.failed, it.latency_mean_ns))
            .collect();
        assert_eq!(
            kinds,
            [
                (
                    "http://127.0.0.1:58080/slow".to_owned(),
                    Some(17),
                    Some(0),
                    Some(48601955)
                ),
                (
                    "http://127.0.0.1:58080/flaky".to_owned(),
                    Some(15),
                    Some(0),
                    Some(46862212)
                )
            ]
        );
    }

    #[test]
    fn requests_are_placed_by_their_time() {
        // The file is cut off where it has the time of a last request, and not whether that failed.
        let begun = crate::reports::measure::rfc3339_ns("2026-11-21T18:49:19Z").unwrap();
        let mut reader = read(begun);
        STREAM.lines().for_each(|line| reader.line(line.as_bytes()));
        let (operations, _) = reader.finish(&mut None);
        let slow: f64 = operations
            .by_label
            .iter()
            .filter(|it| it.0 == 0)
            .map(|it| it.1.completed())
            .sum();
        assert_eq!(
            (
                operations.labels.len(),
                slow.round(),
                operations.sampled.len()
            ),
            (2, 17.0, 33)
        );
        let all: f64 = operations.of_all.iter().map(|it| it.completed()).sum();
        assert_eq!(all.round(), 33.0);
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..200), end in 0..STREAM.len()) {
            let text = [&STREAM.as_bytes()[..end], &bytes, b"\n{\"metric\":\"http_req_failed\",\"type\":\"Point\",\"data\":[1]}"].concat();
            summary_of(&text);
        }
    }
}
