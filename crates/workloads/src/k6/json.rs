//! k6's stream of results (`-o json=FILE`): a JSON document a line, each one number of one request. Requests are told
//! apart by the tag `name`, which is their URL where the script says nothing else.

use model::{Sentence, Summary};
use serde_json::Value;

use crate::ResultsReader;
use crate::results::Kinds;

/// Begins to read a file: k6 writes it anew, so that it holds one run.
pub(super) fn read(_: i64) -> Box<dyn ResultsReader> {
    Box::new(Stream::default())
}

#[derive(Default)]
struct Stream {
    requests: Kinds,
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

    fn finish(self: Box<Self>, summary: &mut Option<Summary>) -> Option<Sentence> {
        self.requests.add_to(summary, true)
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
            "http_req_duration" => self.requests.took(name, (value * 1e6) as i64),
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
        let remark = reader.finish(&mut summary);
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

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..200), end in 0..STREAM.len()) {
            let text = [&STREAM.as_bytes()[..end], &bytes, b"\n{\"metric\":\"http_req_failed\",\"type\":\"Point\",\"data\":[1]}"].concat();
            summary_of(&text);
        }
    }
}
