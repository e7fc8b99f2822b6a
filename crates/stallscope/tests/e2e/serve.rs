//! `report --serve` over a real socket: who is answered, with what, and how it ends.

use std::fs;
use std::io::Write;
use std::net::{Ipv4Addr, TcpListener};
use std::time::Duration;

use rustix::process::Signal;

use crate::http::{Reply, connect, reply, say};
use crate::place::{JSON, Place};
use crate::process::Running;

/// More than are served at once.
const CROWD: usize = 100;

/// The program while it serves.
struct Serving {
    running: Running,
    port: u16,
    token: String,
}

impl Serving {
    /// Serves the newest recording of a place, and waits until it does.
    fn start(place: &Place, options: &str) -> Self {
        let text = format!("exec \"$0\" report --serve {options} > address");
        let running = Running::start(place.shell(&text));
        let said = place.wait_for("address");
        let url = said.strip_suffix("/\n").expect("the address alone");
        let url = url.strip_prefix("http://127.0.0.1:").expect("loopback");
        let (port, token) = url.split_once('/').expect("a secret");
        Self {
            running,
            port: port.parse().expect("a port"),
            token: token.to_owned(),
        }
    }

    /// As a browser asks.
    fn get(&self, name: &str) -> Reply {
        say(self.port, &self.head(name))
    }

    fn head(&self, name: &str) -> String {
        let Self { port, token, .. } = self;
        format!("GET /{token}/{name} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n")
    }

    fn ask(&self, method: &str, target: &str, host: &str) -> Reply {
        let head = format!("{method} {target} HTTP/1.1\r\nHost: {host}\r\n\r\n");
        say(self.port, &head)
    }

    fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }
}

/// A place with a recording of so many seconds.
fn recorded(seconds: &str) -> Place {
    let place = Place::new();
    place.run(&["run", "-q", "--", "sleep", seconds]).status(0);
    place
}

/// What `explain --json` writes.
fn explained(place: &Place, options: &[&str]) -> String {
    let words = [&["explain", "--json", JSON], options].concat();
    place.run(&words).status(0);
    place.read(JSON)
}

#[test]
fn the_page_and_any_window_of_it_are_served() {
    let place = recorded("3");
    let serving = Serving::start(&place, "");
    let page = serving.get("");
    assert_eq!(page.status, 200);
    assert_eq!(
        page.header("content-type"),
        Some("text/html; charset=utf-8")
    );
    assert!(page.body.contains("\"served\":true"));
    let policy = page.header("content-security-policy").unwrap_or_default();
    let policy = policy.strip_suffix("; frame-ancestors 'none'");
    let policy = policy.expect("what only a header can say");
    assert!(policy.starts_with("default-src 'none'; "), "{policy}");
    assert!(policy.contains("connect-src 'self'"), "{policy}");
    assert!(
        page.body.contains(policy),
        "the page says the same of itself"
    );

    let window = serving.get("report.json?from=1000000000&to=2500000000");
    assert_eq!(window.status, 200);
    assert_eq!(window.header("content-type"), Some("application/json"));
    assert_eq!(
        window.body,
        explained(&place, &["--from", "1s", "--to", "2500ms"])
    );
    let rest = serving.get("report.json?from=1000000000");
    assert_eq!(rest.body, explained(&place, &["--from", "1s"]));
    let whole = serving.get("report.json");
    assert_eq!(whole.body, explained(&place, &[]));
    // A recording begins before its workload.
    let before = serving.get("report.json?from=-1000000000&to=2000000000");
    assert_eq!(before.status, 200, "{before:?}");
}

#[test]
fn a_window_that_is_not_there_is_told_in_a_sentence() {
    let place = recorded("1");
    let serving = Serving::start(&place, "");
    for (query, sentence) in [
        (
            "from=2000000000&to=1000000000",
            "the start is not before the end",
        ),
        (
            "from=1000000000&to=1000000000",
            "the start is not before the end",
        ),
        (
            "from=900000000000",
            "the recording holds nothing there: it covers",
        ),
        (
            "from=-9223372036854775808&to=-9223372036854775807",
            "the recording holds nothing there: it covers",
        ),
        (
            "from=1s",
            "write from and to once each, as whole nanoseconds",
        ),
        ("from=1&from=2", "write from and to once each"),
        ("%3Cscript%3E", "write from and to once each"),
    ] {
        let refused = serving.get(&format!("report.json?{query}"));
        assert_eq!(refused.status, 400, "{query}: {refused:?}");
        assert_eq!(refused.header("content-type"), Some("application/json"));
        let error: serde_json::Value = serde_json::from_str(&refused.body).expect("JSON");
        let said = error["error"].as_str().expect("a sentence");
        assert!(said.contains(sentence), "{query}: {said}");
        assert!(!refused.body.contains("script"), "it quotes nothing");
    }
}

#[test]
fn only_who_knows_the_address_is_answered() {
    let place = recorded("1");
    let serving = Serving::start(&place, "");
    let host = serving.host();
    let wrong = "0".repeat(serving.token.len());
    let nothing = serving.ask("GET", "/", &host);
    assert_eq!(nothing.status, 404);
    for target in [
        format!("/{wrong}/"),
        format!("/{wrong}/report.json"),
        "/report.json".to_owned(),
        format!("/{}", &serving.token[1..]),
        format!("/{}/page", serving.token),
        format!("/{}/../", serving.token),
    ] {
        let refused = serving.ask("GET", &target, &host);
        assert_eq!(refused.status, 404, "{target}");
        assert_eq!(refused.body, nothing.body, "{target}");
    }
    // A page from elsewhere whose name was made to point here.
    let page = format!("/{}/", serving.token);
    for host in ["evil.example", "127.0.0.1", "127.0.0.1:1", "[::1]"] {
        assert_eq!(serving.ask("GET", &page, host).status, 421, "{host}");
    }
    let nameless = say(serving.port, &format!("GET {page} HTTP/1.0\r\n\r\n"));
    assert_eq!(nameless.status, 421);
    let local = format!("localhost:{}", serving.port);
    assert_eq!(serving.ask("GET", &page, &local).status, 200);

    let again = Serving::start(&recorded("1"), "");
    assert_ne!(again.token, serving.token, "a secret is made at each start");
}

#[test]
fn nothing_can_be_changed_and_nothing_is_lent_to_other_pages() {
    let place = recorded("1");
    let serving = Serving::start(&place, "");
    let page = format!("/{}/", serving.token);
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"] {
        let refused = serving.ask(method, &page, &serving.host());
        assert_eq!(refused.status, 405, "{method}");
        assert_eq!(refused.header("allow"), Some("GET, HEAD"));
    }
    let head = serving.ask("HEAD", &page, &serving.host());
    assert_eq!((head.status, &*head.body), (200, ""));
    let length = serving.get("").body.len().to_string();
    assert_eq!(head.header("content-length"), Some(&*length));

    for answer in [
        serving.get(""),
        serving.get("report.json"),
        serving.get("report.json?x"),
        serving.ask("GET", "/", &serving.host()),
        serving.ask("GET", &page, "evil.example"),
        serving.ask("POST", &page, &serving.host()),
    ] {
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("cache-control", "no-store"),
            ("x-frame-options", "DENY"),
            ("cross-origin-resource-policy", "same-origin"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{name}: {}", answer.head);
        }
        let policy = answer.header("content-security-policy").unwrap_or_default();
        assert!(policy.contains("frame-ancestors 'none'"), "{}", answer.head);
        let head = answer.head.to_lowercase();
        assert!(!head.contains("access-control"), "{head}");
    }
}

#[test]
fn heads_have_an_end() {
    let place = recorded("1");
    let serving = Serving::start(&place, "");
    let page = format!("GET /{}/", serving.token);
    let host = format!("Host: {}", serving.host());
    let long = "x".repeat(20_000);
    let many = "X: y\r\n".repeat(200);
    for (head, status) in [
        (
            format!("{page} HTTP/1.1\r\n{host}\r\nX: {long}\r\n\r\n"),
            431,
        ),
        (format!("{page} HTTP/1.1\r\n{host}\r\n{many}\r\n"), 431),
        (format!("{page}?{long} HTTP/1.1\r\n{host}\r\n\r\n"), 431),
        (format!("{page} HTTP/9\r\n{host}\r\n\r\n"), 400),
        ("\0\0\0\0 nonsense\r\n\r\n".to_owned(), 400),
    ] {
        let refused = say(serving.port, &head);
        assert_eq!(refused.status, status, "{:.60}", head);
        // The library's own answers lack our headers, so there must be nothing in them.
        assert_eq!(refused.body, "", "{:.60}", head);
        assert_eq!(refused.header("connection"), Some("close"), "{:.60}", head);
    }
    assert_eq!(serving.get("").status, 200);
}

#[test]
fn slow_and_many_clients_do_not_keep_others_out() {
    let place = recorded("1");
    let serving = Serving::start(&place, "");
    let slow: Vec<_> = (0..20)
        .map(|_| {
            let mut stream = connect(serving.port);
            stream.write_all(b"GET / HTTP/1.1\r\n").expect("it listens");
            stream
        })
        .collect();
    let whole = serving.get("report.json");
    assert_eq!(whole.status, 200);
    let crowd: Vec<_> = (0..CROWD)
        .map(|_| {
            let mut stream = connect(serving.port);
            let head = serving.head("");
            stream.write_all(head.as_bytes()).expect("it listens");
            stream
        })
        .collect();
    for stream in crowd {
        assert_eq!(reply(stream).status, 200);
    }
    // Who asked for a window and went away is not waited for.
    for _ in 0..CROWD {
        let head = serving.head("report.json");
        let sent = connect(serving.port).write_all(head.as_bytes());
        sent.expect("it listens");
    }
    assert_eq!(serving.get("report.json").body, whole.body);
    drop(slow);
}

#[test]
fn nothing_listens_beyond_loopback() {
    let place = recorded("1");
    let serving = Serving::start(&place, "");
    let port = format!(":{:04X}", serving.port);
    let listening = |table: &str| {
        let table = fs::read_to_string(table).unwrap_or_default();
        let rows = table.lines().skip(1).map(str::split_whitespace);
        let rows = rows.map(|mut row| (row.nth(1), row.nth(1)));
        rows.filter(|(_, state)| *state == Some("0A"))
            .filter_map(|(local, _)| local.map(str::to_owned))
            .filter(|local| local.ends_with(&port))
            .collect::<Vec<_>>()
    };
    let loopback = u32::from_ne_bytes(Ipv4Addr::LOCALHOST.octets());
    assert_eq!(
        listening("/proc/net/tcp"),
        [format!("{loopback:08X}{port}")]
    );
    assert!(listening("/proc/net/tcp6").is_empty());
    assert_eq!(serving.get("").status, 200);
}

#[test]
fn an_interrupt_ends_it_well_and_frees_the_port() {
    let place = recorded("1");
    for signal in [Signal::INT, Signal::TERM] {
        let serving = Serving::start(&place, "");
        assert_eq!(serving.get("").status, 200);
        let _idle = connect(serving.port);
        let port = serving.port;
        serving.running.signal(signal);
        let ended = serving.running.end();
        ended
            .status(0)
            .says("Serving sleep-1.stall to this machine only");
        TcpListener::bind((Ipv4Addr::LOCALHOST, port)).expect("the port is free");
        fs::remove_file(place.path().join("address")).expect("it was written");
    }
}

#[test]
fn a_port_can_be_named_and_one_that_is_taken_is_told() {
    let place = recorded("1");
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let port = taken.local_addr().expect("it is bound").port();
    let named = port.to_string();
    place
        .run(&["report", "--serve", "--port", &named])
        .status(2)
        .says(&format!(
            "port {port} is in use. Choose another, or leave --port out"
        ));
    drop(taken);
    // What `run` wrote.
    let page = place.recording().join("report.html");
    fs::remove_file(&page).expect("it was written");
    let serving = Serving::start(&place, &format!("--port {port}"));
    assert_eq!(serving.port, port);
    assert!(!page.exists(), "a page that is served is not written");
    place
        .run(&["report", "--port", "7000"])
        .status(2)
        .says("--serve");
}

#[test]
fn a_recording_that_is_still_written_is_served_as_far_as_it_is() {
    let place = Place::new();
    let own = format!("pid:{}", std::process::id());
    let recording = Running::start(place.stallscope(&["record", "-q", "--target", &own]));
    place.wait_for_rows();
    std::thread::sleep(Duration::from_millis(3_000));
    let serving = Serving::start(&place, "");
    let whole = serving.get("report.json");
    assert_eq!(whole.status, 200, "{whole:?}");
    serving.running.signal(Signal::INT);
    let ended = serving.running.end();
    ended
        .status(0)
        .says("record-1.stall is not complete: it is still being written");
    recording.signal(Signal::INT);
    recording.end().status(0);
}
