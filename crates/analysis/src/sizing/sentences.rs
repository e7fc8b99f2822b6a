//! What is said of sizes in words.

mod caveats;
mod load;

use model::{SizedConfiguration, SizingAsk, Sweep};

use super::axes::{Axes, named};
use super::choice::{Group, Why};
use super::phrases::{MOST_NAMED, begun, in_words, limit, listed, with_interval};
use super::untested::Untested;
use super::{Wanted, rate_unit};
use crate::number_format::{duration, percent, rate};

/// Everything that sentences are about.
pub(super) struct Said<'a> {
    pub(super) sweep: &'a Sweep,
    pub(super) axes: &'a Axes,
    pub(super) wanted: &'a Wanted,
    pub(super) configurations: &'a [SizedConfiguration],
    pub(super) groups: &'a [Group],
    /// Those that are enough, the smallest first.
    pub(super) enough: &'a [usize],
    pub(super) untested: &'a [Untested<'a>],
}

impl Said<'_> {
    pub(super) fn answers(&self) -> Vec<String> {
        let chosen = match (self.wanted.asked, self.enough.first()) {
            (
                SizingAsk {
                    rate: None,
                    goal: None,
                },
                Some(first),
            ) => Some(self.most(*first)),
            (asked, Some(first)) => Some(self.smallest(asked, *first)),
            (asked, None) => self.none(asked),
        };
        let mut answers: Vec<String> = chosen.into_iter().collect();
        answers.extend(self.held());
        answers.extend(self.not_tested());
        answers.extend(self.waiting());
        answers.into_iter().map(|it| begun(&it)).collect()
    }

    fn unit(&self) -> &str {
        rate_unit(self.sweep)
    }

    /// A group's name, without the load.
    fn name(&self, group: &Group) -> String {
        self.name_of(&self.axes.without_load(&self.at(group).values))
    }

    fn name_of(&self, own: &[String]) -> String {
        let places = (0..self.sweep.parameters.len()).filter(|it| self.axes.load != Some(*it));
        let parameters = places.map(|it| self.sweep.parameters[it].name.as_str());
        match (self.wanted.made.is_sweep, own) {
            (_, []) => "this configuration".to_owned(),
            (false, _) => own.join(", "),
            (true, _) => {
                let each = parameters.zip(own).map(|(name, it)| format!("{name}={it}"));
                each.collect::<Vec<_>>().join(", ")
            }
        }
    }

    /// A configuration's name with its load.
    fn full_name(&self, it: &SizedConfiguration) -> String {
        match self.wanted.made.is_sweep {
            true => named(self.sweep, &it.values),
            false => it.values.join(", "),
        }
    }

    fn at(&self, group: &Group) -> &SizedConfiguration {
        &self.configurations[group.at]
    }

    /// `13,119 tps (95 % interval: 12,900 to 13,300) at clients=10`
    fn gives(&self, group: &Group) -> String {
        let own = self.at(group);
        let throughput = own
            .throughput
            .map_or("a throughput that is not known".to_owned(), |it| {
                with_interval(&it, self.unit())
            });
        let load = self.axes.load.and_then(|place| {
            let value = own.values.get(place)?;
            Some(format!(" at {}={value}", self.sweep.parameters[place].name))
        });
        let predicted = own.model.as_ref().map(|it| {
            format!(
                ", predicted by {} and not measured ({} configurations that were held back are missed by {})",
                it.name,
                it.held_back,
                percent(it.missed_by)
            )
        });
        format!(
            "{throughput}{}{}",
            load.unwrap_or_default(),
            predicted.unwrap_or_default()
        )
    }

    fn currency(&self) -> String {
        let prices = self.wanted.prices.as_ref();
        prices.map_or(String::new(), |it| match it.currency.is_empty() {
            true => String::new(),
            false => format!(" {}", it.currency),
        })
    }

    /// What more a configuration is: `24 instead of 12 (nodes x cpus)`, `0.96 EUR instead of 0.48 EUR an hour`.
    fn instead(&self, it: &SizedConfiguration, of: &SizedConfiguration) -> Option<String> {
        if let Some((own, other)) = it.per_hour.zip(of.per_hour) {
            let currency = self.currency();
            return (own != other).then(|| {
                format!(
                    "{}{currency} an hour instead of {}{currency}",
                    rate(own),
                    rate(other)
                )
            });
        }
        let (own, other) = it.units.zip(of.units)?;
        let of_what = match self.axes.sizes().as_slice() {
            [] => "CPUs".to_owned(),
            places => {
                let names = places
                    .iter()
                    .map(|it| self.sweep.parameters[*it].name.as_str());
                names.collect::<Vec<_>>().join(" x ")
            }
        };
        (own != other).then(|| format!("{of_what} = {own} instead of {other}"))
    }

    fn costs(&self, it: &SizedConfiguration) -> String {
        it.per_hour.map_or(String::new(), |price| {
            format!(" It costs {}{} an hour.", rate(price), self.currency())
        })
    }

    /// Where nothing is asked for: what gives most, and what is as good and larger.
    fn most(&self, first: usize) -> String {
        let own = &self.groups[first];
        let (name, gives) = (self.name(own), self.gives(own));
        let costs = format!("{}{}", limit(self.at(own)), self.costs(self.at(own)));
        if self.groups.len() == 1 {
            return format!("{name} gives {gives}.{costs}");
        }
        let alike = self.enough.iter().skip(1).map(|it| {
            let other = &self.groups[*it];
            let throughput = self.at(other).throughput;
            let throughput = throughput.map_or(String::new(), |it| {
                format!(" ({} {})", rate(it.value), self.unit())
            });
            let instead = self.instead(self.at(other), self.at(own));
            let instead = instead.map_or(String::new(), |it| format!(" with {it}"));
            format!("{}{throughput}{instead}", self.name(other))
        });
        let alike: Vec<String> = alike.collect();
        match alike.is_empty() {
            true => format!("{name} gives most: {gives}.{costs}"),
            false => format!(
                "{name} is best: {gives}.{costs} The same throughput, as far as runs tell, has {}.",
                listed(&alike, "and")
            ),
        }
    }

    /// What is asked for, in words: `5,000 tps with p99 < 10 ms`.
    fn wish(&self, asked: SizingAsk) -> String {
        let goal = asked.goal.map(in_words);
        match (asked.rate, goal) {
            (Some(wanted), Some(goal)) => format!("{} {} with {goal}", rate(wanted), self.unit()),
            (Some(wanted), None) => format!("{} {}", rate(wanted), self.unit()),
            (None, Some(goal)) => goal,
            (None, None) => String::new(),
        }
    }

    fn smallest(&self, asked: SizingAsk, first: usize) -> String {
        let own = &self.groups[first];
        let is_priced = self.at(own).per_hour.is_some();
        let word = match (self.groups.len(), is_priced) {
            (1, _) => "enough",
            (_, true) => "the cheapest that is enough",
            (_, false) => "the smallest that is enough",
        };
        let latency = self
            .latency(asked, own)
            .map_or(String::new(), |it| format!("; {it}"));
        let next = self.enough.get(1).map(|it| {
            let other = &self.groups[*it];
            let instead = self.instead(self.at(other), self.at(own));
            let instead = instead.map_or(String::new(), |it| format!(", {it}"));
            format!(
                " Next is {}: {}{instead}.",
                self.name(other),
                self.gives(other)
            )
        });
        let next = next.or_else(|| self.others_fail(own));
        format!(
            "{} is {word} for {}: {}{latency}.{}{}",
            self.name(own),
            self.wish(asked),
            self.gives(own),
            format_args!("{}{}", limit(self.at(own)), self.costs(self.at(own))),
            next.unwrap_or_default()
        )
    }

    /// `p99 at 5,000 tps 3.10 ms`
    fn latency(&self, asked: SizingAsk, group: &Group) -> Option<String> {
        let goal = asked.goal?;
        match (asked.rate, group.latency_ns) {
            (Some(wanted), Some(it)) => Some(format!(
                "{} at {} {} is {} or less",
                goal.of,
                rate(wanted),
                self.unit(),
                duration(it.interval.map_or(it.value, |it| it.high))
            )),
            _ => {
                let it = self.at(group).goal_latency_ns?;
                Some(format!("{} is {}", goal.of, duration(it.value)))
            }
        }
    }

    /// Why the others are not enough, where there are some.
    fn others_fail(&self, own: &Group) -> Option<String> {
        let others: Vec<&Group> = self.groups.iter().filter(|it| *it != own).collect();
        (!others.is_empty()).then(|| format!(" {}.", self.why(&others)))
    }

    fn why(&self, groups: &[&Group]) -> String {
        let each = groups.iter().take(MOST_NAMED).map(|it| {
            let throughput = self
                .at(it)
                .throughput
                .map(|it| format!("{} {}", rate(it.value), self.unit()));
            let throughput = throughput.unwrap_or_default();
            let latency = it.latency_ns.or(self.at(it).goal_latency_ns);
            let latency = latency.map_or(String::new(), |it| duration(it.value));
            let why = match it.why {
                Some(Why::TooLittle) => format!("gives {throughput}"),
                Some(Why::NotTested) => format!("gave {throughput} to a load that did not fill it"),
                Some(Why::TooSlow) => format!("takes {latency}"),
                Some(Why::NotSure) => format!("cannot be told from these runs ({throughput})"),
                Some(Why::NoLatency) => {
                    let goal = self.wanted.asked.goal.map(|it| it.of.to_string());
                    format!("has no {} that was measured", goal.unwrap_or_default())
                }
                Some(Why::NoThroughput) => "is not known".to_owned(),
                None => format!("gives {throughput}"),
            };
            format!("{} {why}", self.name(it))
        });
        let mut each: Vec<String> = each.collect();
        if groups.len() > MOST_NAMED {
            each.push(format!(
                "{} others are not enough either",
                groups.len() - MOST_NAMED
            ));
        }
        each.join("; ")
    }

    fn none(&self, asked: SizingAsk) -> Option<String> {
        if asked == SizingAsk::default() {
            return None;
        }
        let all: Vec<&Group> = self.groups.iter().collect();
        let advice = match all.iter().any(|it| it.why == Some(Why::NotTested)) {
            true => " Test those first.",
            false if all.iter().all(|it| it.why == Some(Why::TooLittle)) => {
                " Measure larger ones, or name them with --at."
            }
            false => "",
        };
        Some(format!(
            "No configuration is known to be enough for {}: {}.{advice}",
            self.wish(asked),
            self.why(&all)
        ))
    }
}
