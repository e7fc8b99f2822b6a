//! What was found over all runs, as a table that can be kept.

use super::judge::Judgement;
use super::situation::Variant;
use crate::statistics::Proportion;

/// What must be reached.
const SPIKES_PERCENT: u32 = 95;
const FIRST_PERCENT: u32 = 90;

/// A run, as far as it was made.
pub struct Row {
    /// Its name.
    pub name: String,
    /// Which variant.
    pub variant: Variant,
    /// Part of the CPUs that others took, 0 to 1; the lab's own, what it started, and the kernel are left out.
    pub outside: Option<f64>,
    /// `Err` says why there is none.
    pub judged: Result<Judgement, String>,
}

/// The table in Markdown.
pub fn lines(rows: &[Row]) -> Vec<String> {
    let mut lines = vec![
        "| run | spikes found | other spikes | period, s | found, s (95 %) | error | true trigger | named \
         first | others' CPU |"
            .to_owned(),
        "|---|---|---|---|---|---|---|---|---|".to_owned(),
    ];
    lines.extend(rows.iter().map(line));
    lines
}

fn line(row: &Row) -> String {
    let outside = row
        .outside
        .map_or(String::new(), |it| format!("{:.0} %", it * 100.0));
    let judged = match &row.judged {
        Ok(judged) => judged,
        Err(reason) => return format!("| {} | {reason} | | | | | | | {outside} |", row.name),
    };
    let seconds = |it: f64| format!("{it:.3}");
    let train = judged.train.map_or("none".to_owned(), |it| {
        format!("{:.3} ({:.3} to {:.3})", it.period, it.low, it.high)
    });
    let error = judged
        .error()
        .map_or(String::new(), |it| format!("{:+.2} %", it * 100.0));
    let place = judged
        .place
        .map_or("not named".to_owned(), |it| (it + 1).to_string());
    let first = judged.first.as_deref().unwrap_or("none");
    format!(
        "| {} | {} of {} | {} | {} | {train} | {error} | {place} | {} | {outside} |",
        row.name,
        judged.found,
        judged.events,
        judged.false_spikes,
        judged.period.map_or("none".to_owned(), seconds),
        first.replace('|', "\\|"),
    )
}

/// What it comes to, and whether all of it is as it must be.
pub fn summary(rows: &[Row]) -> (Vec<String>, bool) {
    let judged = |variants: &'static [Variant]| {
        let own = rows.iter().filter(|it| variants.contains(&it.variant));
        own.filter_map(|it| it.judged.as_ref().ok())
    };
    const RECURRING: &[Variant] = &[Variant::Jitter, Variant::Missed];
    const ALL: &[Variant] = &[Variant::Jitter, Variant::Missed, Variant::Aperiodic];
    let count = |variants, is: &dyn Fn(&Judgement) -> u32| judged(variants).map(is).sum::<u32>();
    let [events, found, strays] = [
        count(ALL, &|it| it.events),
        count(ALL, &|it| it.found),
        count(ALL, &|it| it.false_spikes),
    ];
    let runs = count(RECURRING, &|_| 1);
    let periods = count(RECURRING, &|it| u32::from(it.is_period_right()));
    let trains = count(RECURRING, &|it| u32::from(it.train.is_some()));
    let errors = judged(RECURRING).filter_map(Judgement::error);
    let worst = errors.fold(0.0, |worst: f64, it| worst.max(it.abs()));
    let first = count(RECURRING, &|it| u32::from(it.is_first_right()));
    let three = count(RECURRING, &|it| u32::from(it.is_in_top_three()));
    let aperiodic = count(&[Variant::Aperiodic], &|_| 1);
    let called = count(&[Variant::Aperiodic], &|it| u32::from(it.train.is_some()));
    let fewest = judged(ALL).map(|it| it.compared).filter(|it| *it > 0).min();
    let lines = vec![
        format!(
            "Spikes: {}; {strays} others.",
            Proportion::new(found, events).counted("events have their spike")
        ),
        format!(
            "Period: {periods} of {runs} right to 1 %; called periodic {trains}, their largest error {:.2} %.",
            worst * 100.0
        ),
        format!(
            "Trigger: {}, {three} in the first three; at least {} streams were compared.",
            Proportion::new(first, runs).counted("right"),
            fewest.unwrap_or(0)
        ),
        format!("Without a period: {called} of {aperiodic} called periodic."),
    ];
    let is_met = rows.iter().all(|it| it.judged.is_ok())
        && found * 100 >= events * SPIKES_PERCENT
        && periods == runs
        && first * 100 >= runs * FIRST_PERCENT
        && called == 0;
    (lines, is_met)
}

#[cfg(test)]
mod tests {
    use super::super::judge::Train;
    use super::*;

    fn row(variant: Variant, period: Option<f64>, place: Option<usize>) -> Row {
        let train = |period| Train {
            period,
            low: period - 0.01,
            high: period + 0.01,
        };
        Row {
            name: format!("a.{}", variant.word()),
            variant,
            outside: Some(0.031),
            judged: Ok(Judgement {
                events: 12,
                found: 12,
                spikes: 13,
                false_spikes: 1,
                period: (variant != Variant::Aperiodic).then_some(6.0),
                train: period.map(train),
                first: Some("sh a|b (consistent)".to_owned()),
                place,
                compared: 24,
            }),
        }
    }

    #[test]
    fn a_run_is_a_line() {
        assert_eq!(
            line(&row(Variant::Jitter, Some(6.03), Some(0))),
            "| a.jitter | 12 of 12 | 1 | 6.000 | 6.030 (6.020 to 6.040) | +0.50 % | 1 | sh a\\|b \
             (consistent) | 3 % |"
        );
        let mut missing = row(Variant::Missed, None, None);
        missing.judged = Err("not made".to_owned());
        assert_eq!(line(&missing), "| a.missed | not made | | | | | | | 3 % |");
    }

    #[test]
    fn each_requirement_counts() {
        let good = || {
            vec![
                row(Variant::Jitter, Some(6.03), Some(0)),
                row(Variant::Aperiodic, None, None),
            ]
        };
        assert!(summary(&good()).1);
        let with = |change: fn(&mut Row)| {
            let mut rows = good();
            change(&mut rows[0]);
            summary(&rows).1
        };
        let judged = |row: &mut Row, change: fn(&mut Judgement)| {
            if let Ok(judged) = &mut row.judged {
                change(judged);
            }
        };
        assert!(!with(|it| it.judged = Err(String::new())));
        let mut rows = good();
        judged(&mut rows[0], |it| it.found = 9);
        assert!(!summary(&rows).1, "spikes");
        let mut rows = good();
        judged(&mut rows[0], |it| it.place = Some(1));
        assert!(!summary(&rows).1, "trigger");
        let mut rows = good();
        judged(&mut rows[0], |it| it.train = None);
        assert!(!summary(&rows).1, "period");
        let mut rows = good();
        rows[1] = row(Variant::Aperiodic, Some(6.0), None);
        assert!(!summary(&rows).1, "called periodic");
    }
}
