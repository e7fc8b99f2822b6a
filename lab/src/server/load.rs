//! `load`: a closed loop on a few connections, each a thread that waits for its answer. It computes
//! nothing unless asked to, so that it is not the bottleneck. A line per second, as any generator prints.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::Args;

use super::cpus::pin;
use super::latencies::Latencies;
use super::{http, request};

/// How `stallscope run` finds the throughput in a line of `progress`.
pub const THROUGHPUT: &str = r"throughput=progress: .* s, ([0-9.]+) tps";
/// How it finds the latency.
pub const LATENCY: &str = r"latency:ms=progress: .* lat ([0-9.]+) ms";

/// Arguments of `load`.
#[derive(Args)]
pub struct LoadArguments {
    /// Where the server listens
    address: String,
    /// Connections, each with one request at a time
    #[arg(long, default_value_t = 8)]
    connections: u32,
    /// How long
    #[arg(long, default_value_t = 10)]
    seconds: u32,
    /// Requests per second of all connections together; as many as possible without it
    #[arg(long)]
    rate: Option<f64>,
    /// The one CPU that it may use
    #[arg(long)]
    cpu: Option<usize>,
    /// Ask a web server for this path instead of a server of our own
    #[arg(long)]
    http: Option<String>,
    /// Send this header with it; may be given again
    #[arg(long, requires = "http")]
    header: Vec<String>,
    /// Send this text, as servers with a text protocol want it, instead of a request of our own
    #[arg(long, requires = "ends")]
    text: Option<String>,
    /// With what the answer to it ends
    #[arg(long)]
    ends: Option<String>,
    /// Sleep between an answer and the next request, us
    #[arg(long, default_value_t = 0)]
    think: u64,
    /// Print nothing before the end
    #[arg(long)]
    quiet: bool,
    /// Compute between an answer and the next request, us of CPU
    #[arg(long, default_value_t = 0)]
    compute: u64,
}

/// What has been done, by all threads.
#[derive(Default)]
pub struct Tally {
    done: AtomicU64,
    latency_ns: AtomicU64,
    latencies: Latencies,
    failed: AtomicU64,
    ended: AtomicBool,
}

impl Tally {
    /// One more operation that took this long.
    pub fn done(&self, took: Duration) {
        let ns = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.latency_ns.fetch_add(ns, Ordering::Relaxed);
        self.latencies.add(took);
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    /// One that did not succeed.
    pub fn failed(&self) {
        self.failed.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether the time is over.
    pub fn ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    fn read(&self) -> [u64; 3] {
        [&self.done, &self.latency_ns, &self.failed].map(|count| count.load(Ordering::Relaxed))
    }

    /// Prints a line per second until the time is over, unless it is to be quiet; then the sum.
    pub fn report(&self, seconds: u32, quiet: bool) {
        let start = Instant::now();
        let (first, mut before) = (self.read(), self.read());
        let mut last = start;
        for second in 1..=seconds {
            let due = start + Duration::from_secs(u64::from(second));
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            let (now, at) = (self.read(), Instant::now());
            let span = (at - last).as_secs_f64();
            if !quiet {
                println!(
                    "progress: {:.1} s, {}",
                    (at - start).as_secs_f64(),
                    words(before, now, span)
                );
            }
            (before, last) = (now, at);
        }
        self.ended.store(true, Ordering::Relaxed);
        let span = (last - start).as_secs_f64();
        let p99 = self.latencies.quantile_ms(0.99);
        let words = words(first, before, span);
        println!("total: {span:.1} s, {words}, p99 {p99:.3} ms");
    }
}

fn words(before: [u64; 3], now: [u64; 3], seconds: f64) -> String {
    let [done, latency, failed] = [0, 1, 2].map(|at| now[at].saturating_sub(before[at]) as f64);
    let mean_ms = if done > 0.0 {
        latency / done / 1e6
    } else {
        0.0
    };
    format!(
        "{:.1} tps, lat {mean_ms:.3} ms, {failed:.0} failed",
        done / seconds.max(1e-3)
    )
}

/// Runs the load.
pub fn load(arguments: &LoadArguments) -> Result<u8> {
    // Threads inherit it.
    arguments.cpu.map(pin).transpose()?;
    let tally = Arc::new(Tally::default());
    let pace = Pace::of(arguments);
    for _ in 0..arguments.connections {
        let stream = TcpStream::connect(&arguments.address)
            .with_context(|| format!("cannot reach a server at {}", arguments.address))?;
        stream.set_nodelay(true).context("cannot set up a socket")?;
        let tally = Arc::clone(&tally);
        let thread = std::thread::Builder::new().name("connection".to_owned());
        let question = Question::of(arguments);
        thread
            .spawn(move || ask(stream, &question, &tally, pace))
            .context("cannot start a thread")?;
    }
    tally.report(arguments.seconds, arguments.quiet);
    // The threads end with the process: one may wait for a server that has gone without a word.
    Ok(0)
}

/// What is asked of the server, again and again.
enum Question {
    Own,
    Http(http::Question),
    Text { text: String, ends: String },
}

impl Question {
    fn of(arguments: &LoadArguments) -> Self {
        let text = arguments.text.clone().zip(arguments.ends.clone());
        match (&arguments.http, text) {
            (Some(path), _) => {
                let (address, headers) = (&arguments.address, &arguments.header);
                Self::Http(http::Question::new(address, path, headers))
            }
            (None, Some((text, ends))) => Self::Text { text, ends },
            (None, None) => Self::Own,
        }
    }

    /// Asks once; false when the server has closed or does not answer as it should.
    fn put(&self, stream: &mut TcpStream) -> bool {
        match self {
            Self::Own => request::send(stream) && request::receive(stream),
            Self::Http(question) => question.put(stream),
            Self::Text { text, ends } => {
                stream.write_all(text.as_bytes()).is_ok() && read_until(stream, ends.as_bytes())
            }
        }
    }
}

/// Reads an answer that is the last before the next request; false when the server has closed.
fn read_until(stream: &mut impl Read, ends: &[u8]) -> bool {
    let mut answer = Vec::new();
    let mut buffer = [0; 4096];
    while !answer.ends_with(ends) {
        match stream.read(&mut buffer) {
            Ok(count) if count > 0 => answer.extend_from_slice(&buffer[..count]),
            _ => return false,
        }
    }
    true
}

/// What is between an answer and the next request of a connection.
#[derive(Clone, Copy)]
struct Pace {
    /// From one request to the next; as soon as possible without it.
    interval: Option<Duration>,
    think: Duration,
    compute: Duration,
}

impl Pace {
    fn of(arguments: &LoadArguments) -> Self {
        let interval = |rate| Duration::from_secs_f64(f64::from(arguments.connections) / rate);
        Self {
            interval: arguments.rate.map(interval),
            think: Duration::from_micros(arguments.think),
            compute: Duration::from_micros(arguments.compute),
        }
    }
}

fn ask(mut stream: TcpStream, question: &Question, tally: &Tally, pace: Pace) {
    let mut due = Instant::now();
    while !tally.ended() {
        if !pace.think.is_zero() {
            std::thread::sleep(pace.think);
        }
        request::compute(pace.compute);
        if let Some(pause) = pace.interval {
            due += pause;
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
        }
        let start = Instant::now();
        if !question.put(&mut stream) {
            tally.failed();
            return;
        }
        tally.done(start.elapsed());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_may_come_in_pieces() {
        assert!(read_until(
            &mut b"VALUE k\r\n1\r\nEND\r\n".chain(&b""[..]),
            b"END\r\n"
        ));
        assert!(!read_until(&mut &b"VALUE k\r\n"[..], b"END\r\n"));
    }

    #[test]
    fn a_line_has_rate_and_mean() {
        let said = words([0, 0, 0], [1000, 2_000_000_000, 3], 2.0);
        assert_eq!(said, "500.0 tps, lat 2.000 ms, 3 failed");
        assert_eq!(
            words([5, 5, 0], [5, 5, 0], 1.0),
            "0.0 tps, lat 0.000 ms, 0 failed"
        );
    }
}
