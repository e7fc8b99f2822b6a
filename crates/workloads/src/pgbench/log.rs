//! pgbench's log of single transactions (`-l`), sampled so that writing it costs next to nothing.
//!
//! A line is `client transaction time script epoch_s epoch_us [lag] [retries]`, with times in us. For a
//! transaction without a latency a word stands in the place of its time. The log is block buffered,
//! so it is read when pgbench has ended; a pgbench that was killed leaves a part of it.

use model::sentence;

use super::options::{Options, Script};
use crate::{LatencyLog, LogOffer, Logged};

/// Lines per second that the log may have.
const MOST_PER_SECOND: f64 = 2_000.0;
/// Lines that it may have in all: some 40 MB.
const MOST_LINES: f64 = 1e6;
/// What the fastest server is taken to do, transactions per second.
const FASTEST: f64 = 200_000.0;

/// The log that this command can be made to write. How fast the server is turns out only later, so
/// the rate is what clients on the same machine could reach at most; less is then logged.
pub(super) fn offer(tool: &'static str, options: &Options) -> LogOffer {
    if options.log {
        return LogOffer::Refused(sentence!(
            "{} writes a log of its own (-l), which is left alone: without -l, --quantiles adds one",
            tool
        ));
    }
    if options.log_detail {
        return LogOffer::Refused(sentence!(
            "{} was given options of a log without -l: without them, --quantiles adds one",
            tool
        ));
    }
    let share = sampling_rate(options);
    let mut words = vec!["-l".into()];
    if share < 1.0 {
        words.push(format!("--sampling-rate={}", decimal(share)).into());
    }
    LogOffer::Possible(LatencyLog {
        behind: 1,
        options: words,
        prefix_option: "--log-prefix",
        parse: line,
    })
}

fn sampling_rate(options: &Options) -> f64 {
    let clients = f64::from(options.clients.unwrap_or(1).max(1));
    let reachable = (clients * per_client(options)).min(FASTEST);
    let rate = options.rate.map_or(reachable, |rate| rate.min(reachable));
    let lines = match (options.duration_s, options.transactions) {
        (Some(seconds), _) => rate * f64::from(seconds),
        (None, Some(each)) => clients * f64::from(each),
        // pgbench's default: 10 transactions for each client.
        (None, None) => clients * 10.0,
    };
    let by_rate = MOST_PER_SECOND / rate;
    by_rate.min(MOST_LINES / lines.max(1.0)).clamp(1e-6, 1.0)
}

/// Transactions per second of one client over a unix socket: that of the quickest script.
fn per_client(options: &Options) -> f64 {
    if options.connect {
        return 1_000.0;
    }
    match options.script {
        Script::SelectOnly | Script::Own => 15_000.0,
        Script::SimpleUpdate => 5_000.0,
        Script::TpcB => 3_000.0,
    }
}

/// Two digits that count, never more than the share itself: `0.013`.
fn decimal(share: f64) -> String {
    let digits = (1.0 - share.log10().floor()).clamp(0.0, 7.0) as usize;
    let scale = 10_f64.powi(digits as i32);
    let text = format!("{:.digits$}", ((share * scale).floor() / scale).max(1e-7));
    text.trim_end_matches('0').to_owned()
}

/// Reads a line.
fn line(line: &[u8]) -> Logged {
    parsed(line).unwrap_or(Logged::Unknown)
}

fn parsed(line: &[u8]) -> Option<Logged> {
    let text = std::str::from_utf8(line).ok()?;
    let mut fields = text.trim_end().split(' ');
    let mut number = || fields.next()?.parse::<i64>().ok().filter(|it| *it >= 0);
    let (_client, _transaction) = (number()?, number()?);
    let time = fields.next()?;
    let mut number = || fields.next()?.parse::<i64>().ok().filter(|it| *it >= 0);
    let (_script, seconds, us) = (number()?, number()?, number()?);
    if us >= 1_000_000 {
        return None;
    }
    match time {
        "skipped" | "failed" | "serialization" | "deadlock" | "other" => {
            return Some(Logged::NotCompleted);
        }
        _ => {}
    }
    let latency_us: i64 = time.parse().ok().filter(|it| *it >= 0)?;
    Some(Logged::Completed {
        at_unix_ns: seconds.checked_mul(1_000_000_000)?.checked_add(us * 1000)?,
        latency_ns: latency_us.checked_mul(1000)?,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn offered(words: &str) -> String {
        let words: Vec<std::ffi::OsString> = words.split(' ').map(Into::into).collect();
        match offer("pgbench", &Options::parse(&words)) {
            LogOffer::Possible(log) => {
                let mut argv = vec!["pgbench".into(), "bench".into()];
                let said = log.add_to(&mut argv, "a b/tx".as_ref());
                let all = argv.join(" ".as_ref());
                assert_eq!(
                    all.to_str(),
                    Some(&*format!("pgbench {said} --log-prefix=a b/tx bench"))
                );
                said
            }
            LogOffer::Refused(why) => why.to_string(),
        }
    }

    #[test]
    fn the_share_follows_from_what_could_be_reached() {
        for (words, options) in [
            ("-c 10 -S -T 30", "-l --sampling-rate=0.013"),
            ("-c 10 -T 30", "-l --sampling-rate=0.066"),
            ("-c 10 -N -T 30", "-l --sampling-rate=0.04"),
            (
                "-c 1 -b tpcb-like@2 -b select@1 -T 30",
                "-l --sampling-rate=0.13",
            ),
            ("-c 1 -f mine.sql -T 30", "-l --sampling-rate=0.13"),
            ("-c 500 -S -T 30", "-l --sampling-rate=0.01"),
            ("-c 10 -S -C -T 30", "-l --sampling-rate=0.2"),
            ("-c 10 -S -R 4000 -T 30", "-l --sampling-rate=0.5"),
            ("-c 10 -S -R 1000 -T 30", "-l"),
            ("-c 10 -R 1000 -T 36000", "-l --sampling-rate=0.027"),
            ("-c 500 -S -T 36000", "-l --sampling-rate=0.00013"),
            ("-c many -t 100000000", "-l --sampling-rate=0.01"),
        ] {
            assert_eq!(offered(words), options, "{words}");
        }
    }

    #[test]
    fn a_log_of_the_users_is_left_alone() {
        for words in ["-l -c 4", "-nSlT5", "--log", "--log --log-prefix=a"] {
            assert!(offered(words).starts_with("pgbench writes a log of its own"));
        }
        // pgbench refuses these, and must be seen to.
        for words in [
            "--log-prefix a",
            "--sampling-rate=0.1",
            "--aggregate-interval=1",
        ] {
            assert!(offered(words).contains("without -l: "), "{words}");
        }
    }

    #[test]
    fn lines_of_every_version() {
        let completed = Logged::Completed {
            at_unix_ns: 1_795_306_505_558_013_000,
            latency_ns: 7_543_000,
        };
        for (text, logged) in [
            ("1 1 7543 0 1795306505 558013", completed),
            ("1 1 7543 0 1795306505 558013 478", completed),
            ("1 1 7543 0 1795306505 558013 478 0\r", completed),
            (
                "1 2 serialization 0 1795306505 585029 0 1",
                Logged::NotCompleted,
            ),
            ("1 2 deadlock 0 1795306505 585029", Logged::NotCompleted),
            ("1 2 other 0 1795306505 585029", Logged::NotCompleted),
            ("1 2 failed 0 1795306505 585029", Logged::NotCompleted),
            ("1 2 skipped 0 1795306505 585029 12", Logged::NotCompleted),
            ("1 1 7543 0 1795306505", Logged::Unknown),
            ("1 1 -7 0 1795306505 558013", Logged::Unknown),
            ("1 1 7 0 9223372036854775807 1", Logged::Unknown),
            ("1 1 9223372036854775807 0 1 1", Logged::Unknown),
            ("", Logged::Unknown),
        ] {
            assert_eq!(line(text.as_bytes()), logged, "{text}");
        }
    }

    #[test]
    fn real_logs_are_read_whole() {
        let read = |text: &str| {
            let (mut completed, mut not) = (Vec::new(), 0);
            for text in text.lines() {
                match line(text.as_bytes()) {
                    Logged::Completed { latency_ns, .. } => completed.push(latency_ns),
                    Logged::NotCompleted => not += 1,
                    Logged::Unknown => panic!("{text}"),
                }
            }
            completed.sort_unstable();
            (completed.len(), not, completed[completed.len() / 2])
        };
        let sampled = include_str!("../../fixtures/pgbench/tx-log-sampled/tx.23999");
        let retries = include_str!("../../fixtures/pgbench/log-retries/retry.15159");
        let other = include_str!("../../fixtures/pgbench/log-retries/retry.15159.1");
        let failed = include_str!("../../fixtures/pgbench/log-failed/plain.15382");
        let all = [sampled, retries, other, failed].map(read);
        expect_test::expect![[r#"
            [
                (
                    21,
                    0,
                    10144000,
                ),
                (
                    86,
                    33,
                    2937000,
                ),
                (
                    84,
                    35,
                    3034000,
                ),
                (
                    26,
                    174,
                    1149000,
                ),
            ]
        "#]]
        .assert_debug_eq(&all);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..80), text in "([0-9]{1,20}|skipped)( ([0-9]{1,20}|skipped|\\PC)){0,9}") {
            line(&bytes);
            line(text.as_bytes());
        }

        #[test]
        fn the_share_is_one_that_pgbench_takes(clients in 0..99999_u32, seconds in 0..u32::MAX, rate in 0.001..1e7_f64) {
            let said = offered(&format!("-c {clients} -T {seconds} -R {rate} -S"));
            if let Some(share) = said.strip_prefix("-l --sampling-rate=") {
                let share: f64 = share.parse().unwrap();
                prop_assert!(share > 0.0 && share < 1.0, "{}", said);
            }
        }
    }
}
