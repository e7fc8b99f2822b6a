//! Requests to servers that Stallscope knows nothing of, beside what those count who ask.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use analysis::RequestTimes;
use model::{Report, Role};

use crate::needs;
use crate::place::{JSON, Place};
use crate::postgres::{self, Postgres};
use crate::process::{Ended, HANGS, Running};

/// Each connection's.
const EACH: usize = 5_000;
const CONNECTIONS: usize = 4;
/// How long a client says nothing.
const PAUSE: Duration = Duration::from_millis(200);

/// What was recorded of a server from before it was asked anything until after the last reply.
struct Recorded {
    report: Report,
    served: RequestTimes,
    ended: Ended,
}

/// Records the server at a port while `load` runs and `asks` asks; `None` where programs are not allowed.
fn record(port: u16, load: &str, asks: impl FnOnce()) -> Option<Recorded> {
    let place = Place::new();
    let target = format!("port:{port}");
    let script = format!(
        "sleep 0.7; echo yes > begun; {load}; until [ -e asked ]; do sleep 0.1; done; sleep 0.3"
    );
    let words = [
        "run", "-q", "--json", JSON, "--target", &target, "--", "sh", "-c", &script,
    ];
    let running = Running::start(place.stallscope(&words));
    place.wait_for("begun");
    asks();
    place.write("asked", "yes");
    let ended = running.end();
    ended.status(0);
    let report = place.report();
    if let Some(why) = &report.cost.programs["requests"] {
        needs::skip(&format!("programs in the kernel: {why}"));
        return None;
    }
    let timeline = place.opened().timeline;
    let served = RequestTimes::over(&timeline, "requests", Role::Target, timeline.window);
    let served = served.expect("it was asked");
    println!(
        "{} requests, {} pipelined",
        served.requests, served.pipelined
    );
    Some(Recorded {
        report,
        served,
        ended,
    })
}

impl Recorded {
    #[track_caller]
    fn counts(&self, asked: usize) -> &Self {
        let (counted, asked) = (self.served.requests, asked as f64);
        let apart = (counted - asked).abs();
        assert!(apart <= asked / 1e3, "{counted} of {asked}");
        self
    }

    fn is_pipelined(&self) -> bool {
        let mut caveats = self.report.verdict.caveats.iter();
        caveats.any(|it| it.gate == "gate.pipelined")
    }
}

/// A port that nobody has.
pub fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there are ports");
    listener.local_addr().expect("it has one").port()
}

/// Starts a server and waits until it can be asked.
pub fn started(command: Command, port: u16) -> Running {
    let server = Running::start(command);
    let since = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(since.elapsed() < HANGS, "no server at {port}");
        std::thread::sleep(Duration::from_millis(20));
    }
    server
}

fn redis(folder: &Path, port: u16) -> Running {
    let mut command = Command::new("redis-server");
    command.args(["--port", &port.to_string(), "--bind", "127.0.0.1"]);
    command.args(["--save", "", "--dir"]).arg(folder);
    started(command, port)
}

#[test]
fn redis_is_asked_as_often_as_its_benchmark_says() {
    if !needs::root() || !needs::program("redis-server") || !needs::program("redis-benchmark") {
        return;
    }
    let _alone = postgres::alone();
    let (place, port) = (Place::new(), free_port());
    let _server = redis(place.path(), port);
    let load = |how: &str| format!("redis-benchmark -p {port} -c {CONNECTIONS} -t get,set {how}");
    // It asks for two settings before, both at once, and of each command so many.
    const AT_ONCE: f64 = 1.0;
    let Some(recorded) = record(port, &load(&format!("-n {EACH}")), || ()) else {
        return;
    };
    let done = recorded.ended.out_text();
    let done = done.matches(&format!("{EACH} requests completed")).count();
    assert_eq!(done, 2, "{}", recorded.ended);
    recorded.counts(1 + 2 * EACH);
    // Who asks again before the server's send has returned may be taken for one who did not wait.
    let pipelined = recorded.served.pipelined;
    assert!(
        (AT_ONCE..0.01 * EACH as f64).contains(&pipelined),
        "{pipelined}"
    );
    assert!(!recorded.is_pipelined(), "{:?}", recorded.report.verdict);

    // What comes in one piece and is answered in one is one request, of which it is told that it is several.
    let recorded = record(port, &load(&format!("-n {} -P 16", 16 * EACH)), || ());
    let recorded = recorded.expect("as before");
    recorded.counts(1 + 2 * EACH);
    let pipelined = recorded.served.pipelined;
    assert!(pipelined >= 0.999 * (2 * EACH) as f64, "{pipelined}");
    assert!(recorded.is_pipelined(), "{:?}", recorded.report.verdict);
}

#[test]
fn wrk_reports_and_its_failures_are_told() {
    if !needs::root() || !needs::program("nginx") || !needs::program("wrk") {
        return;
    }
    let _alone = postgres::alone();
    let (place, port) = (Place::new(), free_port());
    place.write("100", "x".repeat(100));
    let _server = nginx(&place, port, "");
    for (path, fails) in [("100", false), ("none", true)] {
        let place = Place::new();
        let url = format!("http://127.0.0.1:{port}/{path}");
        let words = [
            "run", "--json", JSON, "--", "wrk", "-t1", "-c4", "-d3s", &url,
        ];
        let ended = place.run(&words);
        ended.status(0);
        let said = ended.out_text();
        let own = said
            .lines()
            .find_map(|line| line.strip_prefix("Requests/sec:"));
        let own: f64 = own
            .and_then(|it| it.trim().parse().ok())
            .expect("wrk says it");
        let report = place.report();
        let workload = report.workload.as_ref().expect("wrk was run");
        assert_eq!(workload.adapter.as_deref(), Some("wrk"));
        assert_eq!(workload.load.clients, Some(4));
        let outcome = workload.outcome.as_ref().expect("it has ended");
        let summary = outcome.summary.as_ref().expect("it reported");
        assert_eq!((summary.complete, summary.throughput), (true, Some(own)));
        let (done, failed) = (summary.completed.unwrap(), summary.failed.unwrap());
        assert_eq!((done == 0, failed > 0), (fails, fails), "{summary:?}");
        let told = format!("wrk counts {failed} failed operations (exit status 0)");
        let is_told = outcome.remarks.iter().any(|it| it.to_string() == told);
        assert_eq!(is_told, fails, "{:?}", outcome.remarks);
    }
}

#[test]
fn nginx_is_asked_as_often_as_its_clients_do() {
    if !needs::root() || !needs::program("nginx") {
        return;
    }
    let _alone = postgres::alone();
    let (place, port) = (Place::new(), free_port());
    // Sent in one piece and, from the file, in several.
    let sizes = [100, 300_000];
    for size in sizes {
        place.write(&format!("{size}"), "x".repeat(size));
    }
    // Connections end in between, and the last reply on them with them.
    let _server = nginx(&place, port, "keepalive_requests 400;");
    let recorded = record(port, ":", || {
        std::thread::scope(|scope| {
            for number in 0..CONNECTIONS {
                scope.spawn(move || ask_for_files(port, EACH / 4, sizes[number % 2]));
            }
        });
    });
    if let Some(recorded) = recorded {
        recorded.counts(CONNECTIONS * (EACH / 4));
        assert!(!recorded.is_pipelined(), "{:?}", recorded.report.verdict);
    }
}

/// Nginx without a master process, with the files of a place.
pub fn nginx(place: &Place, port: u16, setting: &str) -> Running {
    let folder = place.path().display();
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .iter()
        .map(|it| format!("{it}_temp_path {folder}/{it};\n"))
        .collect();
    place.write(
        "nginx.conf",
        format!(
            "daemon off;\nmaster_process off;\npid {folder}/pid;\nevents {{}}\nhttp {{\n\
             access_log off;\nsendfile on;\n{setting}\n{temporary}\
             server {{ listen 127.0.0.1:{port}; root {folder}; }}\n}}\n"
        ),
    );
    let mut nginx = Command::new("nginx");
    nginx.args(["-e", "stderr", "-p"]).arg(place.path());
    nginx.arg("-c").arg(place.path().join("nginx.conf"));
    started(nginx, port)
}

#[test]
fn a_server_is_found_by_its_listening_socket_when_each_connection_carries_one_request() {
    if !needs::root() || !needs::program("nginx") || !needs::program("ab") {
        return;
    }
    let _alone = postgres::alone();
    let (place, port) = (Place::new(), free_port());
    place.write("100", "x".repeat(100));
    let _server = nginx(&place, port, "keepalive_timeout 0;");
    let url = format!("http://127.0.0.1:{port}/100");
    // Of one client alone a look hardly ever meets a connection.
    for clients in ["16", "1"] {
        let load = ["ab", "-q", "-t", "4", "-n", "10000000", "-c", clients, &url];
        let place = Place::new();
        let ended = place.run(&[&["run", "-q", "--json", JSON, "--"][..], &load].concat());
        ended.status(0).does_not_say("cannot find");
        let meta = place.opened().meta;
        let target = meta.targets.iter().find(|it| it.role == Role::Target);
        let target = target.unwrap_or_else(|| panic!("{:?} {ended}", meta.no_target));
        assert_eq!(target.name, "nginx");
        assert_eq!(target.found_by.to_string(), format!("port {port}"));
    }
}

/// A web server with a process for each connection, which waits before it answers.
fn slow_service(port: u16) -> Running {
    const PROGRAM: &str = r#"
        my $listener = IO::Socket::INET->new(Listen => 9, LocalAddr => "127.0.0.1", LocalPort => shift);
        while (my $connection = $listener->accept) {
            next if fork;
            while (my $line = <$connection>) {
                next if $line =~ /\S/;
                select undef, undef, undef, 0.02;
                syswrite $connection, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" . "x" x 100;
            }
            exit;
        }
    "#;
    let mut command = Command::new("perl");
    command.args(["-MIO::Socket::INET", "-e", PROGRAM, &port.to_string()]);
    started(command, port)
}

#[test]
fn a_proxy_waits_for_the_service_behind_it() {
    if !needs::root() || !needs::program("nginx") || !needs::program("perl") {
        return;
    }
    let _alone = postgres::alone();
    let (place, files, port, behind) = (Place::new(), free_port(), free_port(), free_port());
    let service = slow_service(behind);
    let proxy = format!(
        "server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://127.0.0.1:{behind}; }} }}"
    );
    let _server = nginx(&place, files, &proxy);
    const ASKED: usize = 100;
    let recorded = record(port, ":", || {
        std::thread::scope(|scope| {
            for _ in 0..CONNECTIONS {
                scope.spawn(move || ask_for_files(port, ASKED, 100));
            }
        });
    });
    let Some(recorded) = recorded else {
        return;
    };
    recorded.counts(CONNECTIONS * ASKED);
    let verdict = &recorded.report.verdict;
    let mut findings = verdict.findings.iter();
    let found = findings.find(|it| it.cause == "net.remote");
    let found = found.unwrap_or_else(|| panic!("{verdict:?}"));
    let peer = format!("pid:{}@", service.pid());
    assert!(found.entity.path.starts_with(&peer), "{found:?}");
    let address = format!("(127.0.0.1:{behind}), in 1 call of ");
    assert!(found.sentence.contains(&address), "{}", found.sentence);
}

/// One after the other over one connection, as long as the server keeps it.
fn ask_for_files(port: u16, count: usize, size: usize) {
    let connect = || TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    let mut stream = connect();
    let mut reply = vec![0; size + 4_096];
    for _ in 0..count {
        let request = format!("GET /{size} HTTP/1.1\r\nHost: localhost\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("it is there");
        let mut come = 0;
        let head = loop {
            let more = stream.read(&mut reply[come..]).expect("it is there");
            assert!(more > 0, "it answers");
            come += more;
            let found = reply[..come].windows(4).position(|it| it == b"\r\n\r\n");
            if let Some(head) = found {
                break head + 4;
            }
        };
        assert!(reply.starts_with(b"HTTP/1.1 200"), "it has the file");
        let rest = head + size - come;
        let end = stream.read_exact(&mut reply[come..come + rest]);
        end.expect("it sends all of it");
        let head = String::from_utf8_lossy(&reply[..head]).to_ascii_lowercase();
        if head.contains("connection: close") {
            stream = connect();
        }
    }
}

/// A server that takes what it is sent, as collectors of measurements do, and only says something when it is
/// asked for its version.
fn collector(port: u16) -> Running {
    const PROGRAM: &str = r#"
        my $listener = IO::Socket::INET->new(Listen => 9, LocalAddr => "127.0.0.1", LocalPort => shift);
        while (my $connection = $listener->accept) {
            next if fork;
            while (sysread $connection, my $text, 65536) { syswrite $connection, "1" if $text =~ /version/ }
            exit;
        }
    "#;
    let mut command = Command::new("perl");
    command.args(["-MIO::Socket::INET", "-e", PROGRAM, &port.to_string()]);
    started(command, port)
}

#[test]
fn what_is_never_answered_is_neither_throughput_nor_latency() {
    if !needs::root() || !needs::program("perl") {
        return;
    }
    let _alone = postgres::alone();
    let port = free_port();
    let _server = collector(port);
    let send = |last: &str| {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
        stream.set_nodelay(true).expect("it is TCP");
        for _ in 0..EACH {
            stream.write_all(b"requests:1|c\n").expect("it is there");
        }
        // Until what was sent is read, since when a first request of a port counts, and then on.
        std::thread::sleep(Duration::from_millis(100) + PAUSE);
        stream.write_all(last.as_bytes()).expect("it is there");
        if !last.is_empty() {
            stream.read_exact(&mut [0]).expect("it answers");
        }
    };
    let Some(recorded) = record(port, ":", || send("")) else {
        return;
    };
    recorded.counts(0);
    assert_eq!(recorded.served.timed, 0.0);
    let signals = recorded.report.signals.iter();
    let names: Vec<&str> = signals.map(|it| it.name.as_str()).collect();
    assert!(
        !names.contains(&"throughput") && !names.contains(&"latency"),
        "{names:?}"
    );

    // With an answer at last it is one request, as long as all of it took.
    let recorded = record(port, ":", || send("version\n")).expect("as before");
    recorded.counts(1);
    let mean_ns = recorded.served.mean_ns().expect("it was timed");
    assert!(mean_ns >= PAUSE.as_nanos() as f64, "{mean_ns}");
}

/// One message of PostgreSQL's protocol: how its front ends ask a statement.
const STATEMENT: &[u8] = b"Q\x00\x00\x00\x0dselect 1\x00";

/// A client of PostgreSQL that does not wait.
struct Impatient(TcpStream);

impl Impatient {
    fn connect(postgres: &Postgres) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", postgres.port()));
        let mut client = Self(stream.expect("it listens"));
        let words = format!("user\0{}\0database\0bench\0\0", postgres.user());
        let length = u32::try_from(8 + words.len()).expect("it is short");
        let mut hello = length.to_be_bytes().to_vec();
        hello.extend(0x3_0000_u32.to_be_bytes());
        hello.extend(words.as_bytes());
        client.0.write_all(&hello).expect("it is there");
        client.wait(1);
        client
    }

    fn ask(&mut self, statements: usize) {
        let all = STATEMENT.repeat(statements);
        self.0.write_all(&all).expect("it is there");
    }

    /// Until so many statements are done.
    fn wait(&mut self, mut statements: usize) {
        while statements > 0 {
            let mut head = [0; 5];
            self.0.read_exact(&mut head).expect("it answers");
            let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]);
            let mut rest = vec![0; length as usize - 4];
            self.0.read_exact(&mut rest).expect("it answers");
            assert_ne!(head[0], b'E', "{}", String::from_utf8_lossy(&rest));
            statements -= usize::from(head[0] == b'Z');
        }
    }
}

#[test]
fn statements_asked_for_before_the_ones_before_are_done_are_told_to_be_pipelined() {
    if !needs::root() {
        return;
    }
    let Some((postgres, _alone)) = postgres::running() else {
        return;
    };
    let recorded = record(postgres.port(), ":", || {
        let mut client = Impatient::connect(postgres);
        for _ in 0..100 {
            [250, 250, 50].iter().for_each(|it| client.ask(*it));
            client.wait(550);
            std::thread::sleep(Duration::from_millis(10));
        }
    });
    let Some(recorded) = recorded else {
        return;
    };
    let RequestTimes {
        requests,
        pipelined,
        ..
    } = recorded.served;
    assert!(pipelined > 0.5 * requests, "{pipelined} of {requests}");
    assert!(recorded.is_pipelined(), "{:?}", recorded.report.verdict);
    let mut signals = recorded.report.signals.iter();
    assert!(
        signals.all(|it| it.name != "throughput"),
        "no rate of what cannot be counted"
    );

    // The same statements one after the other are counted one by one.
    let recorded = record(postgres.port(), ":", || {
        let mut client = Impatient::connect(postgres);
        for _ in 0..EACH {
            client.ask(1);
            client.wait(1);
        }
    });
    let recorded = recorded.expect("as before");
    recorded.counts(1 + EACH);
    assert!(!recorded.is_pipelined(), "{:?}", recorded.report.verdict);
}
