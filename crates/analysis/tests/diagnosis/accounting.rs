//! Parts add up to their whole, whatever is drawn.

use model::{ReportSubject, ThreadsAccount};
use proptest::prelude::*;

use crate::drawing::{Drawn, drawn};

fn cells() -> impl Strategy<Value = String> {
    proptest::string::string_regex("[0-9#]{12}|[0-5]{12}|[0-3-]{12}|0{12}").expect("a pattern")
}

fn blocked() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "S232",
        "D75 S232",
        "S",
        "R-1",
        "S202 D0 S35",
        "R-1 D S-1",
        "Z S9999",
    ])
}

fn runs() -> impl Strategy<Value = Drawn> {
    let lanes = [
        "busy",
        "run x3",
        "wait",
        "gen x2",
        "genwait",
        "tps",
        "ms",
        "lag",
        "throttled",
        // Where more is drawn than fits into a second the accounts are not believed.
        "thread_time.queued_rest_ns *1e9",
        "thread_time.futex_ns worker1 *1e9",
        "thread_time.throttled_ns *1e9",
        "thread_time.queued_target_ns loader1 *1e9",
    ];
    let drawn_lanes = prop::collection::vec((cells(), any::<bool>()), lanes.len());
    (drawn_lanes, blocked(), any::<bool>()).prop_map(move |(cells, blocked, wait_seen)| {
        let mut text = format!("cpus 2  clients 3\nblocked {blocked}\n");
        for (lane, (cells, there)) in lanes.iter().zip(&cells) {
            let wanted = match *lane {
                "run x3" => true,
                "wait" => wait_seen,
                name if name.contains("loader") => *there && text.contains("\ngen x2"),
                _ => *there,
            };
            if wanted {
                text += &format!("{lane} {cells}\n");
            }
        }
        drawn(&text)
    })
}

fn adds_up(account: &ThreadsAccount) -> Result<(), TestCaseError> {
    let parts: i64 = account.items.iter().map(|item| item.ns).sum();
    let tolerance = 1_000 * i64::from(account.threads.max(1));
    prop_assert!(
        (parts - account.wall_ns).abs() <= tolerance,
        "{parts} of {}",
        account.wall_ns
    );
    prop_assert!(account.items.iter().all(|item| item.ns >= 0));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_parts_of_threads_time_add_up_to_their_lives(run in runs()) {
        let report = run.diagnose();
        for ReportSubject { threads, .. } in &report.subjects {
            threads.as_ref().map_or(Ok(()), adds_up)?;
        }
        report.verdict.generator.as_ref().map_or(Ok(()), adds_up)?;
        let account = report.verdict.account.iter().flat_map(|account| &account.items);
        for item in account.filter(|item| !item.parts.is_empty()) {
            let parts: i64 = item.parts.iter().map(|part| part.ns).sum();
            prop_assert!((parts - item.ns).abs() <= 10 && item.parts.iter().all(|it| it.ns > 0), "{item:?}");
        }
    }

    #[test]
    fn the_parts_of_each_threads_time_add_up_to_its_life(run in runs()) {
        for it in run.diagnose().threads {
            let queued = it.run_queue_ns.unwrap_or(0);
            let parts = [it.on_cpu_ns, queued, it.blocked_ns, it.sleep_ns, it.unseen_ns];
            prop_assert!(parts.iter().all(|part| *part >= 0), "{:?}", it);
            prop_assert_eq!(parts.iter().sum::<i64>(), it.wall_ns);
        }
    }

    #[test]
    fn shares_of_the_response_time_add_up_to_one_or_a_law_is_said_to_be_broken(run in runs()) {
        let report = run.diagnose();
        let Some(account) = &report.verdict.account else {
            return Ok(());
        };
        let sum: f64 = account.items.iter().map(|item| item.share).sum();
        let broken = report.verdict.caveats.iter().any(|caveat| caveat.gate == "gate.law");
        // Up to 5 % of excess is noise between two clocks.
        prop_assert!(sum > 1.0 - 1e-6, "{sum}");
        prop_assert!(sum < 1.0 + 1e-6 || broken || (sum < 1.05 + 1e-6), "{sum}");
        for finding in &report.verdict.findings {
            let share = finding.share.unwrap_or(0.0);
            prop_assert!((-1e-9..=1.0 + 1e-6).contains(&share) || broken || share < 1.06, "{finding:?}");
        }
    }

    #[test]
    fn judging_twice_gives_the_same_report(run in runs()) {
        prop_assert_eq!(run.diagnose(), run.diagnose());
    }
}
