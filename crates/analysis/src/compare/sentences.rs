//! What a comparison says in words: who does more, why, and what that does not come from.

use model::{ComparedFigure, Difference, FigureFamily, IntervalMethod, PhaseVerdict, Provenance};

use super::measured::{ALONE, CPU};
use super::{Group, functions};
use crate::number_format::{duration, gain, percent, rate};
use crate::stats::median;

/// A wait that makes less of what a request takes longer is not named.
const LEAST_PART: f64 = 0.1;
/// Pressure that rises by less is not worth a sentence.
const PRESSURE_RISES: f64 = 0.2;
/// Load averages that are less apart do not tell runs apart.
const LOADS_ALIKE: f64 = 0.2;

/// Half of the widest interval around no difference by which two groups are called alike.
const ALIKE: f64 = 0.1;

/// One group beside the first.
struct Pair<'a> {
    baseline: &'a Group,
    other: &'a Group,
    /// Its place among the groups.
    place: usize,
    figures: &'a [ComparedFigure],
}

/// Some sentences for each group but the first.
pub(super) fn answers(groups: &[Group], figures: &[ComparedFigure]) -> Vec<Vec<String>> {
    let Some((baseline, others)) = groups.split_first() else {
        return Vec::new();
    };
    let answer = |(at, other)| {
        let pair = Pair {
            baseline,
            other,
            place: at + 1,
            figures,
        };
        let load = match pair.of(ALONE) {
            Some(_) => pair.as_if_alone(),
            None => pair.load(),
        };
        let said = [
            pair.why(),
            functions::sentence(pair.figures, |key| pair.of(key)),
            pair.bottlenecks(),
            pair.pressure(),
            pair.load_average(),
        ];
        load.into_iter().chain(said.into_iter().flatten()).collect()
    };
    others.iter().enumerate().map(answer).collect()
}

impl Pair<'_> {
    fn figure(&self, key: &str) -> Option<&ComparedFigure> {
        self.figures.iter().find(|it| it.key == key)
    }

    /// A figure's values in both, and its difference.
    fn of(&self, key: &str) -> Option<(f64, f64, Difference)> {
        let figure = self.figure(key)?;
        let (before, after) = (figure.values.first()?, figure.values.get(self.place)?);
        let difference = figure.differences.get(self.place - 1)?;
        Some(((*before)?, (*after)?, (*difference)?))
    }

    /// Throughput, and latency where throughput does not differ.
    fn load(&self) -> Vec<String> {
        let (one, other) = (&self.baseline.name, &self.other.name);
        let throughput = self.does("", "throughput");
        let latency = self.of("latency").and_then(|(before, after, difference)| {
            let (by, interval) = match times(&difference) {
                Some((by, interval)) => (format!("{by} times as long"), interval),
                None => {
                    let by = in_words(&difference, "longer", "less time")?;
                    (by, interval(&difference))
                }
            };
            Some(format!(
                "A request takes {by}: {} instead of {} on average{interval}.",
                duration(after),
                duration(before),
            ))
        });
        let unknown =
            || format!("No throughput is known of {one} or of {other}: who does more is not said.");
        let first = throughput.unwrap_or_else(unknown);
        std::iter::once(first).chain(latency).collect()
    }

    /// Who does more by the figure of this key; `alone` begins the sentence.
    fn does(&self, alone: &str, key: &str) -> Option<String> {
        let (before, after, difference) = self.of(key)?;
        let (one, other) = (&self.baseline.name, &self.other.name);
        let runs = &self.other.runs;
        let unit = runs.first().map_or("", |it| it.run.rate_unit.as_str());
        let both = format!("{} instead of {} {unit}", rate(after), rate(before));
        let interval = interval(&difference);
        Some(match in_words(&difference, "more", "less") {
            Some(by) => format!("{alone}{other} does {by} than {one}: {both}{interval}."),
            None if is_alike(&difference) => {
                format!("{alone}{other} does as much as {one}: {both}{interval}.")
            }
            None => {
                let whether = match alone.is_empty() {
                    true => format!("Whether {other} does"),
                    false => format!("Whether {other} alone does"),
                };
                format!(
                    "{whether} more or less than {one} cannot be told from these runs: {both}{interval}."
                )
            }
        })
    }

    /// Of runs that took turns: throughput as if alone, CPU time per request, and what others took of both.
    fn as_if_alone(&self) -> Vec<String> {
        let said = [self.does("Alone, ", ALONE), self.needs(), self.taken()];
        said.into_iter().flatten().collect()
    }

    /// Who needs more CPU time for a request.
    fn needs(&self) -> Option<String> {
        let (before, after, difference) = self.of(CPU)?;
        if self.baseline.runs.iter().any(|it| it.requests.is_none()) {
            return None;
        }
        let (one, other) = (&self.baseline.name, &self.other.name);
        let both = format!("{} instead of {}", duration(after), duration(before));
        let interval = interval(&difference);
        let said = match in_words(&difference, "more", "less") {
            Some(by) => format!("{other} needs {by} CPU per request than {one}"),
            None if is_alike(&difference) => {
                format!("{other} needs as much CPU per request as {one}")
            }
            None => format!(
                "Whether {other} needs more or less CPU per request than {one} cannot be told from these runs"
            ),
        };
        Some(format!(
            "{said}: {both} of server and load generator{interval}."
        ))
    }

    /// What others took of both.
    fn taken(&self) -> Option<String> {
        let of = |group: &Group| {
            let exposed = group.runs.iter().filter_map(|it| it.exposed());
            let lost: Vec<f64> = exposed.map(|it| it.lost()).collect();
            median(&lost).map(percent)
        };
        let (one, other) = (&self.baseline.name, &self.other.name);
        let (before, after, _) = self.of("throughput")?;
        Some(format!(
            "Neighbours, steal and the host took {} of the throughput of {one} and {} of that of {other}: as measured it is {} and {}.",
            of(self.baseline)?,
            of(self.other)?,
            rate(before),
            rate(after)
        ))
    }

    /// The waits that a request takes longer or shorter by, most first, where a difference is shown.
    fn why(&self) -> Option<String> {
        let (before, after, difference) = self.of("latency")?;
        let shown = self.of("throughput").is_some_and(|it| it.2.is_shown());
        if !difference.is_shown() && !shown {
            return None;
        }
        let whole = after - before;
        let waits = self
            .figures
            .iter()
            .filter(|it| it.family == FigureFamily::Wait);
        let changed = waits.filter_map(|it| {
            let value = |at: usize| it.values.get(at).copied().flatten();
            let by = value(self.place).unwrap_or(0.0) - value(0).unwrap_or(0.0);
            let part = by / whole;
            (part.is_finite() && part >= LEAST_PART).then_some((it.label.as_str(), by, part))
        });
        let mut changed: Vec<(&str, f64, f64)> = changed.collect();
        changed.sort_by(|a, b| b.2.total_cmp(&a.2));
        let parts: Vec<String> = changed
            .iter()
            .take(3)
            .map(|(label, by, part)| {
                format!(
                    "{label} {} ({})",
                    duration(by.abs()),
                    percent(part.min(1.0))
                )
            })
            .collect();
        let named = (!parts.is_empty()).then(|| parts.join(", "))?;
        let word = if whole > 0.0 { "more" } else { "less" };
        Some(format!("Of the {} {word}: {named}.", duration(whole.abs())))
    }

    /// What limits each.
    fn bottlenecks(&self) -> Option<String> {
        let (one, other) = (verdicts(self.baseline), verdicts(self.other));
        let (first, second) = (one.first()?, other.first()?);
        let (baseline, name) = (&self.baseline.name, &self.other.name);
        Some(
            match one.len() == 1
                && other.len() == 1
                && first.cause == second.cause
                && first.entity.name == second.entity.name
            {
                true => format!("The bottleneck is the same in both: {}.", verdict(second)),
                false => format!(
                    "The bottleneck of {baseline} is {}; of {name} {}.",
                    all(&one),
                    all(&other)
                ),
            },
        )
    }

    /// Pressure that is much higher where nothing is lost.
    fn pressure(&self) -> Option<String> {
        let is_worse = |(_, _, it): (f64, f64, Difference)| {
            it.is_shown() && it.relative.is_some_and(|by| by > 0.0)
        };
        let throughput = self.of("throughput")?.2;
        let is_more = throughput.is_shown() && throughput.relative.is_some_and(|by| by > 0.0);
        let is_sure = is_more || is_alike(&throughput);
        if !(is_sure || self.is_held_back_alike(&throughput))
            || self.of("latency").is_some_and(is_worse)
        {
            return None;
        }
        let figures = self
            .figures
            .iter()
            .filter(|it| it.key.starts_with("pressure."));
        let risen = figures.filter_map(|it| {
            let by = it.differences.get(self.place - 1)?.as_ref()?.absolute;
            (by >= PRESSURE_RISES).then_some((it, by))
        });
        let (most, _) = risen.max_by(|a, b| a.1.total_cmp(&b.1))?;
        let (before, after) = (
            most.values.first()?.as_ref()?,
            most.values.get(self.place)?.as_ref()?,
        );
        let lost = match is_sure {
            true => "nothing is lost by it: throughput is not lower, and requests take no longer",
            false => "no loss by it is seen: the bottleneck is the same in both",
        };
        Some(format!(
            "{} is {} instead of {}, and {lost}.",
            most.label,
            percent(*after),
            percent(*before)
        ))
    }

    /// Whether the same holds back both, and throughput is as high as far as the runs tell.
    fn is_held_back_alike(&self, throughput: &Difference) -> bool {
        let (one, other) = (verdicts(self.baseline), verdicts(self.other));
        let [first, second] = [one.as_slice(), other.as_slice()].map(|all| match all {
            [only] => Some((&only.cause, &only.entity.name)),
            _ => None,
        });
        let is_near = throughput.relative.is_some_and(|by| by.abs() < ALIKE);
        let is_unsure = throughput.interval.is_some() && !throughput.is_shown();
        first.is_some() && first == second && is_near && is_unsure
    }

    /// Whether load average would have told the same.
    fn load_average(&self) -> Option<String> {
        let (before, after, difference) = self.of("load1")?;
        let apart = difference.relative?.abs() >= LOADS_ALIKE;
        let throughput = self.of("throughput")?.2;
        let both = format!("{} and {}", rate(before), rate(after));
        match (throughput.is_shown(), apart) {
            (true, false) => Some(format!(
                "Load average does not tell them apart: it is {both}."
            )),
            (false, true) if is_alike(&throughput) => {
                Some(format!("Load average is {both}, though both do as much."))
            }
            _ => None,
        }
    }
}

/// Whether the interval holds no difference, and no large one.
fn is_alike(difference: &Difference) -> bool {
    let interval = difference.interval.filter(|_| !difference.is_shown());
    interval.is_some_and(|it| -ALIKE < it.low && it.high < ALIKE)
}

/// The verdicts of a group, each cause with its entity once, most frequent first.
fn verdicts(group: &Group) -> Vec<&PhaseVerdict> {
    let mut counted: Vec<(&PhaseVerdict, usize)> = Vec::new();
    for own in group.runs.iter().filter_map(|it| it.run.verdict.as_ref()) {
        let same = |it: &&mut (&PhaseVerdict, usize)| {
            it.0.cause == own.cause && it.0.entity.name == own.entity.name
        };
        match counted.iter_mut().find(same) {
            Some(known) => known.1 += 1,
            None => counted.push((own, 1)),
        }
    }
    counted.sort_by_key(|it| std::cmp::Reverse(it.1));
    counted.into_iter().map(|it| it.0).collect()
}

fn all(verdicts: &[&PhaseVerdict]) -> String {
    let each: Vec<String> = verdicts.iter().map(|it| verdict(it)).collect();
    each.join(" or ")
}

/// `cpu.saturated (postgres, 93 %, measured)`.
fn verdict(own: &PhaseVerdict) -> String {
    match own.cause.as_str() {
        "healthy" => "none that was found".to_owned(),
        "undetermined" => "undetermined".to_owned(),
        cause => {
            let share = own
                .share
                .map_or(String::new(), |share| format!(", {}", percent(share)));
            let there = own.at_peer.as_ref();
            let there = there.map_or(String::new(), |cause| format!(", there {cause}"));
            format!(
                "{cause} ({}{share}, {}{there})",
                own.entity.name,
                own.confidence.word()
            )
        }
    }
}

/// `63 % less`; `None` where no difference is shown.
fn in_words(difference: &Difference, more: &str, less: &str) -> Option<String> {
    let by = difference.relative.filter(|_| difference.is_shown())?;
    let word = if by > 0.0 { more } else { less };
    Some(format!("{} {word}", percent(by.abs())))
}

/// `13.4` and ` (95 % interval: 8.10 to 20.6 times)` for what is at least three times as much; `None` for less, and where
/// no difference is shown.
fn times(difference: &Difference) -> Option<(String, String)> {
    const LEAST: f64 = 3.0;
    let by = 1.0 + difference.relative.filter(|_| difference.is_shown())?;
    let interval = difference.interval.filter(|_| by >= LEAST)?;
    let [low, high] = [interval.low, interval.high].map(|it| rate(1.0 + it));
    let interval = format!(" (95 % interval: {low} to {high} times)");
    Some((rate(by), interval))
}

/// ` (95 % interval of the difference: -66 to -60 %)`.
fn interval(difference: &Difference) -> String {
    match difference.interval {
        Some(it) => format!(
            " (95 % interval of the difference: {} to {})",
            signed(it.low),
            signed(it.high)
        ),
        None => " (too little data for an interval)".to_owned(),
    }
}

/// A difference as a percentage with its sign: `+3.2 %`, `-60 %`, `0`.
pub fn signed(part: f64) -> String {
    let percent = gain(part.abs());
    match percent.as_str() {
        "0" => percent,
        _ => format!("{}{percent}", if part < 0.0 { "-" } else { "+" }),
    }
}

/// What should be known before the figures are believed.
pub(super) fn caveats(groups: &[Group], figures: &[ComparedFigure]) -> Vec<String> {
    let mut caveats = Vec::new();
    let differences = || {
        figures
            .iter()
            .flat_map(|it| it.differences.iter().flatten())
    };
    if differences().any(|it| it.method == IntervalMethod::WithinRuns) {
        caveats.push("With one recording each, intervals hold what varies within a run, not what varies from run to run. Several of each tell more: stallscope compare 'A-*.stall' 'B-*.stall'.".to_owned());
    }
    let runs = || groups.iter().flat_map(|it| &it.runs);
    let sources: Vec<Provenance> = runs().map(|it| it.latency).collect();
    if sources.iter().any(|it| Some(it) != sources.first()) {
        caveats.push(
            "Latency was not measured in the same place in all of them: compare throughput."
                .to_owned(),
        );
    }
    let uncounted = runs().filter(|it| it.requests.is_none());
    let uncounted: Vec<&str> = uncounted.map(|it| it.run.name.as_str()).collect();
    if !uncounted.is_empty() {
        caveats.push(format!(
            "Requests were not counted in {}: what was used is given per second.",
            uncounted.join(", ")
        ));
    }
    caveats
}
