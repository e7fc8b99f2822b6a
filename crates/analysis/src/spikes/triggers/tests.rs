//! What comes before made-up spikes.

use model::TriggerKind;

use super::super::trains::trains;
use super::*;

const SPAN: f64 = 240.0;

fn stream(name: &str, times: Vec<f64>) -> Stream {
    let mut times: Vec<f64> = times
        .into_iter()
        .filter(|it| (0.0..SPAN).contains(it))
        .collect();
    times.sort_by(f64::total_cmp);
    Stream {
        kind: TriggerKind::Program,
        name: name.to_owned(),
        parent: None,
        node: None,
        entity: None,
        times,
        resolution: 0.001,
    }
}

/// From -1 to 1.
fn noise(random: &mut Xorshift) -> f64 {
    random.below(2_001) as f64 / 1_000.0 - 1.0
}

/// Spikes every 15 s with jitter, 40 to 140 ms after what starts them; one in five starts is missed.
fn scene(seed: u64) -> (Vec<Stream>, Vec<f64>) {
    let mut random = Xorshift::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let starts: Vec<f64> = (0..16)
        .filter_map(|cycle| {
            let time = 3.0 + 15.0 * f64::from(cycle) + 0.3 * noise(&mut random);
            (random.below(5) > 0).then_some(time)
        })
        .collect();
    let onsets = starts
        .iter()
        .map(|it| ((it + 0.09 + 0.05 * noise(&mut random)) / 0.1).floor() * 0.1)
        .collect();
    let mut streams = vec![stream("the trigger", starts)];
    for decoy in 0..25 {
        let period = match decoy {
            // Within a fifth of the true period, and some with the very same.
            0..8 => 12.0 + 6.0 * f64::from(decoy) / 7.0,
            _ => 2.0 + 3.0 * f64::from(decoy),
        };
        let start = period * random.below(1_000) as f64 / 1_000.0;
        let times = (0..(SPAN / period) as i64)
            .map(|cycle| start + period * cycle as f64 + 0.2 * noise(&mut random));
        let times = times.collect();
        streams.push(stream(&format!("decoy {decoy}"), times));
    }
    (streams, onsets)
}

#[test]
fn what_starts_them_is_first_among_others_of_nearly_the_same_period() {
    let mut first = 0;
    for seed in 1..=30 {
        let (streams, onsets) = scene(seed);
        let found = trains(&onsets, SPAN, 0.5);
        let (triggers, compared) = of(&streams, &onsets, &found, SPAN, 0.1);
        assert_eq!(compared, 26);
        let top = triggers.first();
        if top.is_none_or(|it| it.name != "the trigger") {
            println!("{seed}: {triggers:#?}");
        }
        first +=
            usize::from(top.is_some_and(|it| {
                it.name == "the trigger" && it.confidence == Confidence::Consistent
            }));
    }
    assert!(first >= 27, "{first} of 30");
}

#[test]
fn where_nothing_starts_them_hardly_anything_is_named() {
    let mut named = 0;
    for seed in 1..=40 {
        let (mut streams, onsets) = scene(seed);
        streams.remove(0);
        let found = trains(&onsets, SPAN, 0.5);
        let (triggers, _) = of(&streams, &onsets, &found, SPAN, 0.1);
        named += usize::from(
            triggers
                .iter()
                .any(|it| it.confidence == Confidence::Consistent),
        );
    }
    assert!(named <= 4, "{named} of 40");
}

#[test]
fn a_chain_begins_with_its_first_link() {
    let (mut streams, onsets) = scene(5);
    let starts = streams[0].times.clone();
    let later = |by: f64| starts.iter().map(|it| it + by).collect();
    streams[0] = stream("later", later(0.02));
    streams.push(stream("the script", later(-0.4)));
    let found = trains(&onsets, SPAN, 0.5);
    let (triggers, _) = of(&streams, &onsets, &found, SPAN, 0.1);
    assert_eq!(triggers[0].name, "the script");
    assert_eq!(triggers[1].name, "later");
}

#[test]
fn the_hypergeometric_tail_is_that_of_the_formula() {
    // Of 5 balls, 3 red, 2 drawn: both red in 3 of 10, at least one in 9 of 10.
    assert!((at_least_together(5, 3, 2, 2) - 0.3).abs() < 1e-9);
    assert!((at_least_together(5, 3, 2, 1) - 0.9).abs() < 1e-9);
    assert!((at_least_together(5, 5, 5, 5) - 1.0).abs() < 1e-9);
}

#[test]
fn what_starts_a_train_is_named_beside_nearly_as_many_other_spikes() {
    let (mut named, mut trained) = (0, 0);
    for seed in 1..=30 {
        let (mut streams, own) = scene(seed);
        let mut random = Xorshift::new(seed.wrapping_mul(0x1234_5679) | 1);
        // Some starts are not seen, so that fewer than half of all spikes have one.
        streams[0].times.truncate(own.len() - 4);
        let others = (1..own.len()).map(|_| random.below(2_400) as f64 / 10.0);
        let mut onsets: Vec<f64> = own.iter().copied().chain(others).collect();
        onsets.sort_by(f64::total_cmp);
        onsets.dedup();
        let found = trains(&onsets, SPAN, 0.5);
        let is_trained = found
            .first()
            .is_some_and(|it| (it.period - 15.0).abs() < 0.3);
        if !is_trained {
            continue;
        }
        trained += 1;
        let (triggers, _) = of(&streams, &onsets, &found, SPAN, 0.1);
        named += usize::from(triggers.iter().any(|it| it.name == "the trigger"));
    }
    assert!(
        trained >= 10 && 10 * named >= 9 * trained,
        "{named} of {trained}"
    );
}

#[test]
fn a_trigger_is_found_though_other_stalls_run_into_some_of_its_spikes() {
    let starts: Vec<f64> = (0..9).map(|cycle| 7.0 + 15.0 * f64::from(cycle)).collect();
    let mut onsets: Vec<f64> = starts.iter().map(|it| it + 0.05).collect();
    onsets[3] -= 0.5;
    onsets[7] -= 0.5;
    let found = trains(&onsets, 150.0, 0.8);
    let streams = [stream("the trigger", starts)];
    let (triggers, compared) = of(&streams, &onsets, &found, 150.0, 0.1);
    assert_eq!((triggers.len(), compared), (1, 1));
    assert!(
        (triggers[0].lag_ns / 1e9 - 0.05).abs() < 0.001,
        "{triggers:?}"
    );
}

#[test]
fn a_trigger_in_the_interval_of_the_onsets_is_found_though_one_of_these_is_an_interval_earlier() {
    let starts: Vec<f64> = (0..10).map(|it| 7.05 + 15.0 * f64::from(it)).collect();
    let mut onsets: Vec<f64> = starts.iter().map(|it| it - 0.05).collect();
    onsets[4] -= 0.1;
    let found = trains(&onsets, 150.0, 0.7);
    let (triggers, _) = of(
        &[stream("the trigger", starts)],
        &onsets,
        &found,
        150.0,
        0.1,
    );
    let [trigger] = &*triggers else {
        panic!("{triggers:?}");
    };
    assert_eq!((trigger.recall, trigger.precision), (1.0, 1.0));
}
