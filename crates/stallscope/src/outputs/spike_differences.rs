//! What is different in spikes, as a table that is read in a minute.

use std::collections::BTreeMap;

use analysis::{percent, rate, storage};
use model::{MeasureKind, SpikeDifference, SpikeReport, Unit};

use super::layout::{cut, table};
use super::on_one_line;

/// Rows at most, and of each kind.
const MOST: usize = 10;
const MOST_OF_KIND: usize = 2;
/// Characters of what is different.
const LONGEST: usize = 52;
pub(super) const HEADINGS: [&str; 6] =
    ["In spikes", "in them", "calm", "change", "spikes", "share"];

/// Nothing where nothing is clearly different.
pub(super) fn lines(spikes: &SpikeReport, width: usize) -> String {
    let note = "share: of the time that spikes add to the target's threads; of functions on a CPU, of the \
         CPU time that they add";
    told(&spikes.differences, Some(note), width)
}

/// The same of another node's, below a table that explains itself.
pub(super) fn bare(differences: &[SpikeDifference], width: usize) -> String {
    told(differences, None, width)
}

fn told(differences: &[SpikeDifference], note: Option<&str>, width: usize) -> String {
    let shown = rows(differences);
    if shown.is_empty() {
        return String::new();
    }
    let more = differences.len() - shown.len();
    let mut rows = vec![HEADINGS.map(str::to_owned)];
    rows.extend(shown);
    let mut notes: Vec<String> = note.into_iter().map(str::to_owned).collect();
    if more > 0 {
        notes.push(format!("{more} more (--json)"));
    }
    table(&rows, &notes, width)
}

/// The rows of such a table.
pub(super) fn rows(differences: &[SpikeDifference]) -> Vec<[String; 6]> {
    shown(differences).into_iter().map(row).collect()
}

/// What rises, and of what belongs together the clearest.
fn shown(differences: &[SpikeDifference]) -> Vec<&SpikeDifference> {
    let mut by_kind: BTreeMap<MeasureKind, Vec<&str>> = BTreeMap::new();
    let rises = differences.iter().filter(|it| it.inside > it.outside);
    let mut shown: Vec<&SpikeDifference> = Vec::new();
    for it in rises {
        let own = by_kind.entry(it.kind).or_default();
        let is_same = has_one_line_each(it.kind) && own.contains(&&*it.who);
        if own.len() < MOST_OF_KIND && !is_same && shown.len() < MOST {
            own.push(&it.who);
            shown.push(it);
        }
    }
    shown
}

/// Whether measures of one owner say much the same.
fn has_one_line_each(kind: MeasureKind) -> bool {
    !matches!(
        kind,
        MeasureKind::Time | MeasureKind::Calls | MeasureKind::Waits | MeasureKind::Statement
    )
}

fn row(it: &SpikeDifference) -> [String; 6] {
    let text = cut(&on_one_line(&what(it)), LONGEST);
    let change = match it.inside / it.outside {
        factor if factor < 100.0 => format!("x {}", rate(factor)),
        factor if factor.is_finite() => format!("x {factor:.0}"),
        _ => "new".to_owned(),
    };
    [
        format!("  {text}"),
        amount(it, it.inside),
        amount(it, it.outside),
        change,
        format!("{}/{}", it.spikes, it.of_spikes),
        it.share.map_or_else(|| "-".to_owned(), percent),
    ]
}

/// `postgres: waiting for a CPU`, `master: in find_schema < answer`
pub(super) fn what(it: &SpikeDifference) -> String {
    let SpikeDifference { who, what, .. } = it;
    match it.kind {
        MeasureKind::Code => format!("{who}: on CPU in {}", innermost(what)),
        MeasureKind::Waits => format!("{who}: waiting in {}", innermost(what)),
        MeasureKind::Group => format!("group {who}: {what}"),
        MeasureKind::Kernel => format!("kernel: {} ({who})", readable(what)),
        _ => format!("{who}: {}", readable(what)),
    }
}

/// The two innermost functions of a path.
fn innermost(path: &str) -> String {
    let functions: Vec<&str> = path.split(" < ").take(2).collect();
    functions.join(" < ")
}

/// A column's name without its unit.
fn readable(what: &str) -> String {
    let units = ["_ns", "_bytes"];
    let bare = units.iter().find_map(|it| what.strip_suffix(it));
    bare.unwrap_or(what).replace('_', " ")
}

/// An amount per second, as a person counts it.
fn amount(it: &SpikeDifference, value: f64) -> String {
    let parts = value / 1e9;
    match (it.unit, it.kind) {
        (_, _) if value <= 0.0 => "0".to_owned(),
        (
            Unit::Nanoseconds,
            MeasureKind::Time | MeasureKind::Calls | MeasureKind::Waits | MeasureKind::Statement,
        ) => {
            format!("{} threads", rate(parts))
        }
        (Unit::Nanoseconds, MeasureKind::Code | MeasureKind::Cpu | MeasureKind::Group) => {
            format!("{} CPUs", rate(parts))
        }
        (Unit::Nanoseconds, _) => format!("{} s/s", rate(parts)),
        (Unit::Bytes, _) => format!("{}/s", storage(value)),
        (Unit::Millionths, _) => format!("{}/s", rate(value / 1e6)),
        (Unit::Hundredths, _) => format!("{}/s", rate(value / 1e2)),
        _ => format!("{}/s", rate(value)),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn difference(kind: MeasureKind, who: &str, what: &str, unit: Unit) -> SpikeDifference {
        SpikeDifference {
            kind,
            who: who.to_owned(),
            what: what.to_owned(),
            entity: None,
            unit,
            inside: 1.8e10,
            outside: 0.0,
            spikes: 11,
            of_spikes: 12,
            share: None,
            p_value: 0.02,
        }
    }

    #[test]
    fn of_each_kind_the_clearest_are_shown_and_what_falls_is_not() {
        let calls = SpikeDifference {
            share: Some(0.91),
            ..difference(
                MeasureKind::Calls,
                "postgres",
                "waiting for master",
                Unit::Nanoseconds,
            )
        };
        let waits = SpikeDifference {
            outside: 2e8,
            share: Some(0.9),
            ..difference(
                MeasureKind::Waits,
                "postgres",
                "fetch < start < run",
                Unit::Nanoseconds,
            )
        };
        let traffic = |what: &str, unit| SpikeDifference {
            inside: 4_810.0,
            outside: 12.0,
            ..difference(MeasureKind::Traffic, "postgres -> :7155", what, unit)
        };
        let falls = SpikeDifference {
            inside: 1e7,
            outside: 9e8,
            ..difference(MeasureKind::Cpu, "pgbench", "on CPU", Unit::Nanoseconds)
        };
        let all = [
            calls,
            waits,
            traffic("requests", Unit::Count),
            traffic("sent and received", Unit::Bytes),
            difference(MeasureKind::Kernel, "cpu", "system_ns", Unit::Nanoseconds),
            falls,
        ];
        let rows = shown(&all).into_iter().map(|it| row(it).join(" | "));
        let rows: Vec<String> = rows.map(|it| it.trim_start().to_owned()).collect();
        expect![[r#"
            postgres: waiting for master | 18.0 threads | 0 | new | 11/12 | 91 %
            postgres: waiting in fetch < start | 18.0 threads | 0.200 threads | x 90.0 | 11/12 | 90 %
            postgres -> :7155: requests | 4,810/s | 12.0/s | x 401 | 11/12 | -
            kernel: system (cpu) | 18.0 s/s | 0 | new | 11/12 | -"#]]
        .assert_eq(&rows.join("\n"));
    }
}
