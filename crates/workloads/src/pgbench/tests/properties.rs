//! What holds for any output, however it is cut into reads.

use proptest::prelude::*;

use super::*;

fn prepared(words: &str) -> Prepared {
    super::super::PGBENCH
        .prepare(&argv(words), Adjust::Allowed)
        .unwrap()
}

/// Cuts a text at the given places; all of it arrives at once.
fn cut(text: &str, cuts: &[prop::sample::Index]) -> Vec<Read> {
    let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
    places.extend([0, text.len()]);
    places.sort_unstable();
    let read = |bytes: &[u8]| Read {
        stream: Stream::Stderr,
        bytes: bytes.to_vec(),
        arrived: Timestamp::from_seconds(200.0),
    };
    places
        .windows(2)
        .map(|ends| read(&text.as_bytes()[ends[0]..ends[1]]))
        .collect()
}

/// Lines like those of pgbench, whole, torn and strange.
fn output() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        4 => (0..9999_u32, 0..99999_u32).prop_map(|(t, tps)| format!("progress: {}.{} s, {tps}.0 tps, lat 1.000 ms stddev 0.500, 0 failed", t / 10, t % 10)),
        1 => Just("starting vacuum...end.".to_owned()),
        1 => Just("pgbench: error: client 1 aborted in command 1 (SQL) of script 0; gone".to_owned()),
        1 => Just("progress: 1.0 s, 2.0 tps, lat 1.000 ms stddev 0.500, 0 failedpgbench: error: x".to_owned()),
        1 => Just(format!("progress: {}", "9".repeat(300))),
        1 => "progress: [0-9. ,a-z]{0,40}|\\PC{0,20}",
    ];
    let end = prop_oneof![Just("\n"), Just("\r\n"), Just("\n\n")];
    (prop::collection::vec((line, end), 0..12), any::<bool>()).prop_map(|(lines, ended)| {
        let text: String = lines.into_iter().map(|(line, end)| line + end).collect();
        if ended {
            text
        } else {
            text.trim_end().to_owned()
        }
    })
}

proptest! {
    #[test]
    fn reads_may_be_cut_anywhere(text in output(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..20)) {
        for words in ["pgbench -c 4", "pgbench -c 4 -P 1"] {
            let whole = hear(prepared(words), &cut(&text, &[]), ExitKind::Code(0));
            let parts = hear(prepared(words), &cut(&text, &cuts), ExitKind::Code(0));
            prop_assert_eq!(&whole, &parts);
            if words.ends_with("-P 1") {
                prop_assert_eq!(&whole.stderr, &text);
            }
        }
    }

    #[test]
    fn no_bytes_make_it_panic(
        reads in prop::collection::vec((any::<bool>(), any::<i64>(), prop::collection::vec(any::<u8>(), 0..60)), 0..10),
        words in prop::collection::vec("[-a-zA-Z0-9=]{0,8}|\\PC{0,8}", 0..6),
    ) {
        let mut argv = vec![OsString::from("pgbench")];
        argv.extend(words.iter().map(OsString::from));
        if let Some(prepared) = super::super::PGBENCH.prepare(&argv, Adjust::Allowed) {
            let reads: Vec<Read> = reads.into_iter().map(|(out, at, bytes)| Read {
                stream: if out { Stream::Stdout } else { Stream::Stderr },
                bytes,
                arrived: Timestamp::from_ns(at),
            }).collect();
            hear(prepared, &reads, ExitKind::Code(1));
        }
    }

    #[test]
    fn no_numbers_make_it_panic(lines in prop::collection::vec(("[0-9]{1,20}", "[0-9]{1,20}", any::<i64>()), 0..6)) {
        for words in ["pgbench", "pgbench -P 2147483647 --progress-timestamp"] {
            let reads: Vec<Read> = lines.iter().map(|(t, n, at)| Read {
                stream: Stream::Stderr,
                bytes: format!("progress: {t}.5 s, {n}.0 tps, lat {n} ms stddev {n}, {n} failed\n").into_bytes(),
                arrived: Timestamp::from_ns(*at),
            }).chain(lines.iter().map(|(_, n, at)| Read {
                stream: Stream::Stdout,
                bytes: format!("number of transactions actually processed: {n}\nnumber of failed transactions: {n}\nlatency average = {n} ms\n").into_bytes(),
                arrived: Timestamp::from_ns(*at),
            })).collect();
            let heard = hear(prepared(words), &reads, ExitKind::Signal(9));
            prop_assert!(heard.bins.iter().all(|bin| bin.interval_ns > 0));
        }
    }
}
