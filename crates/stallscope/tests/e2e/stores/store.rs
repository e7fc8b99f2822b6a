//! Real stores of metrics: Prometheus, VictoriaMetrics.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use super::history::in_milliseconds;
use crate::http;
use crate::other_servers::{free_port, started};
use crate::place::Place;
use crate::process::{HANGS, Running};

pub const PROMETHEUS: &str = "prometheus";
pub const VICTORIA: &str = "victoria-metrics";

/// A store that holds a text; it is gone with the process.
pub struct Store {
    pub port: u16,
    _server: Running,
}

impl Store {
    pub fn prometheus(place: &Place, text: &str, further: &[&str]) -> Self {
        place.write("history", text);
        let made = Command::new("promtool")
            .args([
                "tsdb",
                "create-blocks-from",
                "openmetrics",
                "history",
                "data",
            ])
            .current_dir(place.path())
            .output()
            .expect("it is installed with Prometheus");
        assert!(
            made.status.success(),
            "{}",
            String::from_utf8_lossy(&made.stderr)
        );
        place.write("prometheus.yml", "global: {scrape_interval: 15s}\n");
        Self::started(place, Path::new(PROMETHEUS), further)
    }

    /// A Prometheus with the configuration and the data that lie there.
    pub fn started(place: &Place, program: &Path, further: &[&str]) -> Self {
        let port = free_port();
        let mut command = Command::new(program);
        command
            .args(["--config.file=prometheus.yml", "--storage.tsdb.path=data"])
            .arg("--storage.tsdb.retention.time=100y")
            .arg(format!("--web.listen-address=127.0.0.1:{port}"))
            .args(further)
            .current_dir(place.path());
        let store = Self {
            port,
            _server: started(command, port),
        };
        let ready = "GET /-/ready HTTP/1.1\r\nHost: p\r\nConnection: close\r\n\r\n";
        let since = Instant::now();
        // Over TLS it does not answer this; its data are read by the time it listens, nearly always.
        while !further.iter().any(|it| it.contains("web.config"))
            && http::say(port, ready).status != 200
        {
            assert!(since.elapsed() < HANGS, "it does not become ready");
            std::thread::sleep(Duration::from_millis(50));
        }
        store
    }

    pub fn victoria(place: &Place, text: &str) -> Self {
        let port = free_port();
        let mut command = Command::new(VICTORIA);
        command
            .args(["-storageDataPath=victoria", "-retentionPeriod=100y"])
            .arg(format!("-httpListenAddr=127.0.0.1:{port}"))
            .current_dir(place.path());
        let store = Self {
            port,
            _server: started(command, port),
        };
        let text = in_milliseconds(text);
        let head = format!(
            "POST /api/v1/import/prometheus HTTP/1.1\r\nHost: v\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{text}",
            text.len()
        );
        assert_eq!(http::say(port, &head).status, 204);
        let flush = "GET /internal/force_flush HTTP/1.1\r\nHost: v\r\nConnection: close\r\n\r\n";
        assert_eq!(http::say(port, flush).status, 200);
        store
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// What the store answers itself to a query at an instant: one number.
    pub fn says(&self, query: &str, at_s: i64) -> f64 {
        let query: String = query
            .bytes()
            .map(|it| match it.is_ascii_alphanumeric() {
                true => char::from(it).to_string(),
                false => format!("%{it:02X}"),
            })
            .collect();
        let head = format!(
            "GET /api/v1/query?query={query}&time={at_s} HTTP/1.1\r\nHost: v\r\nConnection: close\r\n\r\n"
        );
        let body = http::say(self.port, &head).body;
        let from = body.find('{').expect("JSON");
        let to = body.rfind('}').expect("JSON");
        let answer: serde_json::Value = serde_json::from_str(&body[from..=to]).expect("JSON");
        let value = answer
            .pointer("/data/result/0/value/1")
            .and_then(|it| it.as_str());
        value
            .unwrap_or_else(|| panic!("{answer}"))
            .parse()
            .expect("a number")
    }
}
