//! Whether configurations do what is asked for, and which is the smallest that does.

use model::{Goal, SizedConfiguration, SizingAsk, SizingEstimate};

use super::axes::Axes;

/// What brings less than this beside the best is as good as it.
const ALIKE: f64 = 0.03;

/// A configuration at all its loads.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Group {
    /// The places of its members, from the lowest load on.
    pub(super) members: Vec<usize>,
    /// The member that stands for it.
    pub(super) at: usize,
    /// Whether it does what was asked for; `None` where that cannot be told, or nothing was asked.
    pub(super) meets: Option<bool>,
    /// Why not, or why that cannot be told: a clause.
    pub(super) why: Option<Why>,
    /// The latency that the goal is about at the rate that was asked for, ns.
    pub(super) latency_ns: Option<SizingEstimate>,
}

/// Why a configuration does not do what is asked for, or why that cannot be told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Why {
    /// Its throughput is below the rate.
    TooLittle,
    /// Its throughput is below the rate, and nothing was full.
    NotTested,
    /// Its latency misses the goal.
    TooSlow,
    /// Its throughput, or its latency, has the limit within its interval.
    NotSure,
    /// The latency was not measured.
    NoLatency,
    /// Its throughput is not known.
    NoThroughput,
}

/// The configurations in groups, in the order of their first members.
pub(super) fn groups(
    axes: &Axes,
    configurations: &[SizedConfiguration],
    asked: SizingAsk,
) -> Vec<Group> {
    let mut groups: Vec<(Vec<String>, Vec<usize>)> = Vec::new();
    for (place, it) in configurations.iter().enumerate() {
        let own = axes.without_load(&it.values);
        match groups.iter_mut().find(|(values, _)| *values == own) {
            Some((_, members)) => members.push(place),
            None => groups.push((own, vec![place])),
        }
    }
    let load = |place: &usize| axes.load_of(&configurations[*place].values).unwrap_or(0.0);
    let judged = groups.into_iter().map(|(_, mut members)| {
        members.sort_by(|one, other| load(one).total_cmp(&load(other)));
        judge(configurations, members, asked)
    });
    judged.collect()
}

fn judge(all: &[SizedConfiguration], members: Vec<usize>, asked: SizingAsk) -> Group {
    let rate = |place: &usize| all[*place].throughput.map_or(0.0, |it| it.value);
    let keeps = |place: &&usize| {
        let goal = asked.goal.is_none_or(|goal| is_within(&all[**place], goal));
        goal && all[**place].throughput.is_some()
    };
    let highest = |places: &[usize]| {
        let most = places.iter().map(rate).fold(0.0, f64::max);
        places.iter().copied().find(|it| rate(it) >= most)
    };
    let known: Vec<usize> = members.iter().filter(keeps).copied().collect();
    let fallback = highest(&members).unwrap_or_default();
    let at = highest(&known).unwrap_or(fallback);
    let (verdict, latency_ns) = match (asked.rate, asked.goal) {
        (Some(rate), goal) => at_rate(all, &members, rate, goal),
        (None, Some(goal)) => (keeps_goal(all, &members, &known, goal), None),
        (None, None) => (Err(None), None),
    };
    Group {
        at: match asked.rate {
            // The lowest load that is enough is the one to look at.
            Some(wanted) => enough(all, &members, wanted).unwrap_or(at),
            None => at,
        },
        members,
        meets: match verdict {
            Ok(()) => Some(true),
            Err(Some(Why::TooLittle | Why::TooSlow)) => Some(false),
            Err(_) => None,
        },
        why: verdict.err().flatten(),
        latency_ns,
    }
}

type Verdict = Result<(), Option<Why>>;

fn low(it: &SizingEstimate) -> f64 {
    it.interval.map_or(it.value, |it| it.low)
}

fn high(it: &SizingEstimate) -> f64 {
    it.interval.map_or(it.value, |it| it.high)
}

/// Whether a latency keeps a goal with its whole interval.
fn is_within(it: &SizedConfiguration, goal: Goal) -> bool {
    it.goal_latency_ns
        .is_some_and(|it| high(&it) < goal.below_ns as f64)
}

fn enough(all: &[SizedConfiguration], members: &[usize], rate: f64) -> Option<usize> {
    let is_enough = |it: &&usize| all[**it].throughput.is_some_and(|it| low(&it) >= rate);
    members.iter().find(is_enough).copied()
}

/// Of a goal alone: whether any load keeps it.
fn keeps_goal(
    all: &[SizedConfiguration],
    members: &[usize],
    kept: &[usize],
    goal: Goal,
) -> Verdict {
    if !kept.is_empty() {
        return Ok(());
    }
    let mut known = members.iter().filter_map(|it| all[*it].goal_latency_ns);
    let below = goal.below_ns as f64;
    Err(Some(match known.clone().next() {
        None => Why::NoLatency,
        Some(_) if known.all(|it| low(&it) >= below) => Why::TooSlow,
        Some(_) => Why::NotSure,
    }))
}

/// Whether a rate is reached and the goal kept at it, with the latency there.
fn at_rate(
    all: &[SizedConfiguration],
    members: &[usize],
    rate: f64,
    goal: Option<Goal>,
) -> (Verdict, Option<SizingEstimate>) {
    let known: Vec<SizingEstimate> = members
        .iter()
        .filter_map(|it| all[*it].throughput)
        .collect();
    let Some(most) = known.iter().map(low).reduce(f64::max) else {
        return (Err(Some(Why::NoThroughput)), None);
    };
    let mut measured = members.iter().filter(|it| all[**it].runs > 0).peekable();
    let is_measured = measured.peek().is_some();
    let untested = is_measured && measured.all(|it| all[*it].tested == Some(false));
    if most < rate {
        let why = match known.iter().any(|it| high(it) >= rate) {
            true => Why::NotSure,
            false if untested => Why::NotTested,
            false => Why::TooLittle,
        };
        return (Err(Some(why)), None);
    }
    let Some(goal) = goal else {
        return (Ok(()), None);
    };
    let Some((latency, is_at_most)) = latency_at(all, members, rate) else {
        return (Err(Some(Why::NoLatency)), None);
    };
    let below = goal.below_ns as f64;
    let verdict = match () {
        () if high(&latency) < below => Ok(()),
        () if low(&latency) >= below && !is_at_most => Err(Some(Why::TooSlow)),
        () => Err(Some(Why::NotSure)),
    };
    (verdict, Some(latency))
}

/// The latency at a rate, between the loads beside it; and whether it is known to be at most that, where even the lowest
/// load gives more. Only up to the load that gives most: beyond it the same throughput has another latency.
fn latency_at(
    all: &[SizedConfiguration],
    members: &[usize],
    rate: f64,
) -> Option<(SizingEstimate, bool)> {
    let known = members.iter().filter_map(|it| {
        let own = &all[*it];
        Some((own.throughput?.value, own.goal_latency_ns?))
    });
    let mut rising: Vec<(f64, SizingEstimate)> = Vec::new();
    for (throughput, latency) in known {
        if rising.last().is_none_or(|it| throughput > it.0) {
            rising.push((throughput, latency));
        }
    }
    let above = rising.iter().position(|it| it.0 >= rate)?;
    let (most, end) = rising[above];
    let Some((least, begin)) = above.checked_sub(1).map(|it| rising[it]) else {
        return Some((end, true));
    };
    let part = (rate - least) / (most - least);
    let between = |one: f64, other: f64| one + (other - one) * part;
    let intervals = begin.interval.zip(end.interval);
    let latency = SizingEstimate {
        value: between(begin.value, end.value),
        interval: intervals.map(|(one, other)| model::Interval {
            low: between(one.low, other.low),
            high: between(one.high, other.high),
        }),
    };
    Some((latency, false))
}

/// The groups that are enough, the smallest first: by price, else by size, else in their order. Where no rate is asked for
/// they are those whose throughput cannot be told from the highest.
pub(super) fn enough_groups(
    all: &[SizedConfiguration],
    groups: &[Group],
    asked: SizingAsk,
) -> Vec<usize> {
    let throughput = |it: &usize| all[groups[*it].at].throughput;
    let meets = |it: &usize| match asked {
        SizingAsk {
            rate: None,
            goal: None,
        } => throughput(it).is_some(),
        _ => groups[*it].meets == Some(true),
    };
    let mut enough: Vec<usize> = (0..groups.len()).filter(meets).collect();
    if asked.rate.is_none() {
        let most = enough.iter().filter_map(throughput);
        let most = most.max_by(|one, other| one.value.total_cmp(&other.value));
        enough.retain(|it| {
            throughput(it)
                .zip(most)
                .is_some_and(|(it, most)| is_as_good(&it, &most))
        });
    }
    let cost = |it: &usize| {
        let own = &all[groups[*it].at];
        (
            own.per_hour.unwrap_or(f64::INFINITY),
            own.units.unwrap_or(f64::INFINITY),
        )
    };
    let more = |it: &usize| throughput(it).map_or(0.0, |it| -it.value);
    enough.sort_by(|one, other| {
        let (a, b) = (cost(one), cost(other));
        a.0.total_cmp(&b.0)
            .then(a.1.total_cmp(&b.1))
            .then(more(one).total_cmp(&more(other)))
    });
    enough
}

/// Whether a throughput cannot be told from the highest, or is so little below that it does not matter.
pub(super) fn is_as_good(it: &SizingEstimate, best: &SizingEstimate) -> bool {
    let half = |it: &SizingEstimate| (high(it) - it.value) / it.value;
    let margin = half(it).hypot(half(best)).max(ALIKE);
    it.value >= best.value * (1.0 - margin)
}
