//! `--scrape`: what an endpoint in Prometheus's format serves, from one that the test serves itself, so that it
//! knows every number, and from a real node exporter.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use model::{EntityId, EntityKind, GapReason, Timeline};

use crate::needs;
use crate::other_servers::{free_port, started};
use crate::place::{JSON, Place};
use crate::postgres_word::{pid_of, sentences, values};
use crate::process::{Ended, HANGS, Running};
use crate::secrets::keeps;

const TOKEN: &str = "Tk5Rz9QwNeverToBeSeen";
const MILLION: i64 = 1_000_000;

/// Status and body for the request of that number, counted from 0, with this head; after `None` nobody listens.
type Answer = dyn Fn(usize, &str) -> Option<(&'static str, String)> + Send + Sync;

/// An endpoint in this process.
struct Endpoint {
    port: u16,
    served: Arc<AtomicUsize>,
}

impl Endpoint {
    fn serving(answer: Box<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there are ports");
        let port = listener.local_addr().expect("it has one").port();
        let served = Arc::new(AtomicUsize::new(0));
        let count = served.clone();
        std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let number = count.fetch_add(1, Ordering::SeqCst);
                if !serve(&connection, |head| answer(number, head)) {
                    return;
                }
            }
        });
        Self { port, served }
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/metrics", self.port)
    }

    /// Records in a place until it was asked so often.
    fn recorded(&self, place: &Place, url: &str, asked: usize) -> Ended {
        let script = "until [ -e enough ]; do sleep 0.1; done";
        let words = ["run", "-o", "r.stall", "--json", JSON, "--scrape", url];
        let words = [&words[..], &["--", "sh", "-c", script]].concat();
        let mut command = place.stallscope(&words);
        command.env("STALLSCOPE_SCRAPE_TOKEN", TOKEN);
        let running = Running::start(command);
        let since = Instant::now();
        while self.served.load(Ordering::SeqCst) < asked {
            assert!(since.elapsed() < HANGS, "it was not asked so often");
            std::thread::sleep(Duration::from_millis(20));
        }
        place.write("enough", "");
        running.end()
    }
}

/// Gives one answer, and with it ends the connection; false where there was none.
fn serve(
    mut connection: &TcpStream,
    answer: impl Fn(&str) -> Option<(&'static str, String)>,
) -> bool {
    let mut head = String::new();
    let mut reader = BufReader::new(connection);
    while reader.read_line(&mut head).is_ok_and(|bytes| bytes > 2) {}
    let Some((status, body)) = answer(&head) else {
        return false;
    };
    let length = body.len();
    // Who asked may be gone.
    let _ = write!(
        connection,
        "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    );
    true
}

fn entity(timeline: &Timeline, series: &str) -> EntityId {
    let mut all = timeline.entities.of_kind(EntityKind::Series);
    let found = all.find(|record| record.entity.name == series);
    found.unwrap_or_else(|| panic!("{series} is recorded")).id
}

fn recorded(timeline: &Timeline, series: &str, column: &str) -> Vec<i64> {
    values(timeline, "scraped", entity(timeline, series), column)
}

/// What the endpoint of the first test serves at a request.
fn exposition(number: usize) -> String {
    let (requests, depth) = (number * 1_000, 0.25 * (number % 3) as f64);
    format!(
        "# HELP shop_requests_total Requests.\n# TYPE shop_requests_total counter\n\
         shop_requests_total{{code=\"200\",path=\"/a b\"}} {requests}\n\
         # TYPE shop_depth gauge\nshop_depth {depth}\nshop_other -1.5\n\
         # TYPE shop_seconds histogram\n\
         shop_seconds_bucket{{le=\"+Inf\"}} {number}\n\
         shop_seconds_sum {number}.000125\nshop_seconds_count {number}\n"
    )
}

#[test]
fn every_value_is_recorded_as_it_was_served() {
    if !needs::root() {
        return;
    }
    let place = Place::new();
    let endpoint = Endpoint::serving(Box::new(|number, _| Some(("200 OK", exposition(number)))));
    let ended = endpoint.recorded(&place, &endpoint.url(), 6);
    ended.status(0);
    let recording = place.opened();
    let (timeline, meta) = (&recording.timeline, &recording.meta);
    assert_eq!(sentences(&meta.gaps, "scraped"), [""; 0]);
    assert_eq!(meta.environment["scrape.host"], "127.0.0.1");
    // The first answer is the one by which it was seen that there is an endpoint.
    let asked = endpoint.served.load(Ordering::SeqCst) as i64;
    let counts = recorded(timeline, "shop_seconds_count", "counter_millionths");
    let polls = counts.len() as i64;
    assert!((asked - 2..asked).contains(&polls), "{polls} of {asked}");
    let numbers: Vec<i64> = (1..=polls).collect();
    let times = |factor: i64| -> Vec<i64> { numbers.iter().map(|it| it * factor).collect() };
    assert_eq!(counts, times(MILLION));
    let requests = r#"shop_requests_total{code="200",path="/a b"}"#;
    let requests = recorded(timeline, requests, "counter_millionths");
    assert_eq!(requests, times(1_000 * MILLION));
    let sums = recorded(timeline, "shop_seconds_sum", "counter_millionths");
    let expected: Vec<i64> = numbers.iter().map(|it| it * MILLION + 125).collect();
    assert_eq!(sums, expected);
    let depths = recorded(timeline, "shop_depth", "gauge_millionths");
    let expected: Vec<i64> = numbers.iter().map(|it| it % 3 * 250_000).collect();
    assert_eq!(depths, expected);
    // Nothing changed: a row at each end.
    let other = recorded(timeline, "shop_other", "gauge_millionths");
    assert_eq!(other, [-1_500_000; 2]);
    assert_eq!(timeline.entities.of_kind(EntityKind::Series).count(), 5);

    let data = timeline.table("scrape").expect("it was asked");
    let owner = data.key(0).1;
    assert_eq!(pid_of(timeline, owner), std::process::id());
    assert_eq!(values(timeline, "scrape", owner, "series")[0], 5);
    let own = timeline.entities.get(entity(timeline, "shop_depth"));
    assert_eq!(own.and_then(|record| record.parent), Some(owner));
}

#[test]
fn an_endpoint_that_goes_away_is_a_gap_and_nonsense_ends_nothing() {
    let place = Place::new();
    let answer = |number, _: &str| match number {
        0..3 => Some(("200 OK", exposition(number))),
        3 => Some(("200 OK", "<!DOCTYPE html>\n".to_owned())),
        4 => Some(("503 Busy", String::new())),
        5..8 => Some(("200 OK", exposition(number))),
        _ => None,
    };
    let endpoint = Endpoint::serving(Box::new(answer));
    let ended = endpoint.recorded(&place, &endpoint.url(), 9);
    ended
        .status(0)
        .says("line 1 of the answer begins with no name");
    let recording = place.opened();
    let said = sentences(&recording.meta.gaps, "scraped");
    let [nonsense, away] = &said[..] else {
        panic!("{said:?}")
    };
    assert!(nonsense.contains("Prometheus's text format"), "{nonsense}");
    assert!(away.contains(&endpoint.url()), "{away}");
    // What was served before and after it is there, and nothing is in between.
    let counts = recorded(
        &recording.timeline,
        "shop_seconds_count",
        "counter_millionths",
    );
    assert_eq!(counts, [1, 2, 6, 7].map(|it| it * MILLION));
    let gaps = recording
        .meta
        .gaps
        .iter()
        .filter(|it| it.table == "scraped");
    let windows: Vec<_> = gaps.filter_map(|gap| gap.window).collect();
    let id = entity(&recording.timeline, "shop_seconds_count");
    let series = recording
        .timeline
        .series("scraped", id, "counter_millionths");
    let times: Vec<_> = series
        .expect("it has rows")
        .values()
        .map(|it| it.0)
        .collect();
    assert!(windows[0].start <= times[2] && windows[0].end >= times[1]);
    assert!(windows[1].end >= times[3]);
}

#[test]
fn what_is_beyond_the_limits_is_counted_and_said() {
    let place = Place::new();
    let answer = |_, _: &str| {
        let series = (0..5_003).map(|it| format!("many{{number=\"{it}\"}} 1e13\n"));
        Some(("200 OK", series.collect()))
    };
    let endpoint = Endpoint::serving(Box::new(answer));
    let ended = endpoint.recorded(&place, &endpoint.url(), 4);
    ended
        .status(0)
        .says("serves 3 series that are not recorded: 5000 are");
    let recording = place.opened();
    let series = recording.timeline.entities.of_kind(EntityKind::Series);
    assert_eq!(series.count(), 5_000);
    let gaps = recording
        .meta
        .gaps
        .iter()
        .filter(|it| it.table == "scraped");
    let dropped: Vec<u64> = gaps
        .map(|gap| match gap.reason {
            GapReason::Dropped(count) => count,
            _ => panic!("{gap:?}"),
        })
        .collect();
    let [beyond, too_large] = dropped[..] else {
        panic!("{dropped:?}")
    };
    assert!(beyond >= 3 && beyond % 3 == 0, "{beyond}");
    assert_eq!(too_large, beyond / 3 * 5_000);
}

#[test]
fn the_token_is_sent_and_seen_nowhere_and_labels_are_in_no_bundle() {
    const SECRET: &str = "Lb4Xw7YtNeverToBeSent";
    let answer = |_, head: &str| {
        let is_known = head
            .to_lowercase()
            .contains(&format!("bearer {TOKEN}").to_lowercase());
        Some(match is_known {
            true => ("200 OK", format!("shop{{key=\"{SECRET}\"}} 1\n")),
            false => ("401 Unauthorized", String::new()),
        })
    };
    let endpoint = Endpoint::serving(Box::new(answer));
    let place = Place::new();
    let url = format!("{}?token={TOKEN}", endpoint.url());
    let ended = endpoint.recorded(&place, &url, 3);
    ended.status(0);
    keeps(TOKEN, &place, &ended);
    assert_eq!(sentences(&place.opened().meta.gaps, "scraped"), [""; 0]);
    for words in [
        &["export", "r.stall", "--format", "bundle", "-o", "b"][..],
        &["export", "b", "--format", "csv", "-o", "sent"],
    ] {
        place.run(words).status(0);
    }
    let names = place.read("sent/entities.csv");
    assert!(
        names.contains("series-1") && !names.contains(SECRET),
        "{names}"
    );

    let wrong = format!("http://user:{TOKEN}@127.0.0.1:{}/metrics", endpoint.port);
    let place = Place::new();
    let ended = endpoint.recorded(&place, &wrong, 4);
    ended
        .says("status 401")
        .says("STALLSCOPE_SCRAPE_TOKEN_FILE");
    keeps(TOKEN, &place, &ended);
    let gaps = place.opened().meta.gaps;
    let mut own = gaps.iter().filter(|gap| gap.table == "scraped");
    assert!(own.all(|gap| matches!(gap.reason, GapReason::Denied(_))));
}

#[test]
fn an_endpoint_that_is_not_there_or_wants_tls_is_told_with_the_way_out() {
    let place = Place::new();
    let words = ["run", "--scrape", "127.0.0.1:1", "--", "sleep", "1"];
    let ended = place.run(&words);
    ended
        .status(0)
        .says("http://127.0.0.1:1/metrics")
        .says("refused");
    assert_eq!(sentences(&place.opened().meta.gaps, "scraped").len(), 1);
    let place = Place::new();
    let words = ["record", "--scrape", "https://h/metrics", "--for", "1s"];
    place.run(&words).says("socat");
    assert!(place.recordings().is_empty());
}

#[test]
fn a_node_exporters_memory_is_the_machines() {
    const PROGRAM: &str = "prometheus-node-exporter";
    if !needs::root() || !needs::program(PROGRAM) {
        return;
    }
    let (place, port) = (Place::new(), free_port());
    let mut command = Command::new(PROGRAM);
    command.arg(format!("--web.listen-address=127.0.0.1:{port}"));
    let server = started(command, port);
    let url = format!("http://127.0.0.1:{port}/metrics");
    place
        .run(&["run", "--scrape", &url, "--", "sleep", "5"])
        .status(0);
    let recording = place.opened();
    let timeline = &recording.timeline;
    // Its largest limits have no place: process_virtual_memory_max_bytes is 2^64.
    let mut gaps = recording.meta.gaps.iter();
    let odd =
        gaps.find(|it| it.table == "scraped" && !it.what.to_string().starts_with("values beyond"));
    assert_eq!(odd, None);
    let memory = std::fs::read_to_string("/proc/meminfo").expect("it can be read");
    let total = memory
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"));
    let total = total.and_then(|it| it.trim().strip_suffix(" kB")?.parse::<i64>().ok());
    let total = total.expect("it has one") * 1_024 * MILLION;
    let said = recorded(timeline, "node_memory_MemTotal_bytes", "gauge_millionths");
    assert_eq!(said, [total; 2]);
    // It counts the requests that it has answered: one a poll.
    let answered = r#"promhttp_metric_handler_requests_total{code="200"}"#;
    let answered = recorded(timeline, answered, "counter_millionths");
    let steps = answered.windows(2).map(|pair| pair[1] - pair[0]);
    assert!(
        answered.len() > 1 && steps.clone().all(|it| it == MILLION),
        "{answered:?}"
    );
    let owner = timeline.table("scrape").expect("it was asked").key(0).1;
    assert_eq!(pid_of(timeline, owner), server.pid());
}
