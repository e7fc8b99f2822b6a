//! What is said of sizes in words.

use model::{SizedConfiguration, SizingAsk, Sweep};

use super::axes::{Axes, named};
use super::choice::{Group, Why};
use super::demands::others_part;
use super::measured::{TESTED, is_held};
use super::phrases::{MOST_NAMED, begun, in_words, limit, listed, with_interval};
use super::untested::{self, Untested};
use super::{Wanted, rate_unit};
use crate::number_format::{duration, percent, rate};

/// Think time below this part of the latency is none.
const THINKS: f64 = 0.1;

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

    /// What holds a configuration back while nothing is full.
    fn held(&self) -> Option<String> {
        let held = self.groups.iter().filter_map(|group| {
            let own = self.at(group);
            let point = self
                .sweep
                .points
                .iter()
                .find(|it| it.values == own.values)?;
            let is_full = own
                .nearest
                .as_ref()
                .is_none_or(|it| it.busy.value >= TESTED);
            let limit = own.limit.as_ref().filter(|_| !is_full && is_held(point))?;
            let name = self.name(group);
            Some(format!("{name} ({}, {})", limit.cause, limit.entity.name))
        });
        let held: Vec<String> = held.collect();
        (!held.is_empty()).then(|| {
            format!(
                "Nothing was full, and more load or a larger size brings no more by itself, where a wait limits: {}.",
                listed(&held, "and")
            )
        })
    }

    /// Loads that filled nothing.
    fn not_tested(&self) -> Option<String> {
        let busiest = self
            .untested
            .iter()
            .filter_map(|it| it.sized.nearest.as_ref());
        let busiest = busiest.max_by(|one, other| one.busy.value.total_cmp(&other.busy.value))?;
        let names: Vec<String> = self
            .untested
            .iter()
            .map(|it| self.name_of(&it.own))
            .collect();
        let filled = format!(
            "What {} can do was not tested: nothing was more than {} busy ({}).",
            listed(&names, "and"),
            percent(busiest.busy.value),
            busiest.label
        );
        let first = self.untested.first()?;
        Some(match self.asked_for(first) {
            Some(why) => format!("{filled} {why}"),
            None => filled,
        })
    }

    /// What set the throughput, where nothing was full.
    fn asked_for(&self, it: &Untested<'_>) -> Option<String> {
        let throughput = it.sized.throughput?;
        let setting = it.point.setting.as_ref();
        if let Some(wanted) = setting.and_then(|it| it.rate) {
            return Some(format!(
                "The load asked for {} {}.",
                rate(wanted),
                self.unit()
            ));
        }
        let clients = untested::asked(self.axes, it.point)?;
        let latency = it.sized.latency_ns?.value;
        let allowed = clients / latency * 1e9;
        let think = clients / throughput.value * 1e9 - latency;
        let name = self.name_of(&it.own);
        Some(match think > THINKS * latency {
            true => format!(
                "Throughput was set by the load: {clients} clients that each wait {} for an answer and {} before they ask again cannot ask for more than {} {} ({name}).",
                duration(latency),
                duration(think),
                rate(throughput.value),
                self.unit()
            ),
            false => format!(
                "Throughput was set by the load: {clients} clients that each wait {} for an answer cannot ask for more than {clients} / {} = {} {} ({name}).",
                duration(latency),
                duration(latency),
                rate(allowed),
                self.unit()
            ),
        })
    }

    /// What pressure does not say, where it was seen.
    fn waiting(&self) -> Option<String> {
        /// Pressure below this misleads nobody.
        const LEAST: f64 = 0.1;
        let named = self.enough.first().map(|it| self.groups[*it].at);
        let own = &self.configurations[named?];
        let (some, waiting) = own.cpu_some.filter(|it| *it >= LEAST).zip(own.waiting)?;
        let whose = match self.wanted.made.is_stored {
            true => "the nodes' tasks",
            false => "the server's threads",
        };
        Some(format!(
            "With {} at least one task waited for a CPU in {} of the time (CPU pressure, some). How many waited it does not say: of {} {} on average, by their run-queue delay.",
            self.full_name(own),
            percent(some),
            whose,
            rate(waiting.value)
        ))
    }

    /// Commands that would measure what is not known.
    pub(super) fn next(&self) -> Vec<String> {
        let made = &self.wanted.made;
        let more = untested::command(self.sweep, self.axes, made, self.untested);
        let mut next: Vec<String> = more.into_iter().collect();
        next.extend(self.refused_ones());
        next
    }

    /// The sweep that measures what could not be predicted.
    fn refused_ones(&self) -> Option<String> {
        let refused: Vec<&SizedConfiguration> = self
            .configurations
            .iter()
            .filter(|it| it.refused.is_some())
            .collect();
        if refused.is_empty() || self.sweep.command.is_empty() || !self.wanted.made.is_sweep {
            return None;
        }
        let wanted: Vec<&[String]> = refused.iter().map(|it| it.values.as_slice()).collect();
        let mut words = vec!["stallscope sweep".to_owned()];
        words.extend(untested::sets(self.sweep, &self.wanted.made, None, &wanted));
        words.extend(untested::options(&self.wanted.made));
        words.push(format!("-- {}", self.sweep.command));
        Some(words.join(" "))
    }

    pub(super) fn caveats(&self) -> Vec<String> {
        let mut caveats = Vec::new();
        let made = &self.wanted.made;
        if made.is_stored {
            caveats.push(
                "Each configuration is one stretch of time: whether its load or its caches were those of the others is not known"
                    .to_owned(),
            );
        } else if self.sweep.points.iter().all(|it| it.runs.len() < 2) {
            let more = match made.is_sweep {
                true => " (--repeat 3)",
                false => "",
            };
            caveats.push(format!(
                "Each configuration was run once: nothing is known of how far runs are apart{more}"
            ));
        }
        if self
            .configurations
            .iter()
            .any(|it| it.runs > 0 && it.nearest.is_none())
        {
            caveats.push(
                "How full CPUs and disks were is not in this file: it was made by an older version. Size from the folder with the recordings".to_owned(),
            );
        }
        if !self.next().is_empty() && untested::is_apply_missing(self.sweep, self.axes, made) {
            caveats.push(
                "The --apply that sets the configuration is not in this file: add it to the command, or size from the sweep's folder".to_owned(),
            );
        }
        let prices = self.wanted.prices.is_some();
        let without = self
            .configurations
            .iter()
            .filter(|it| it.per_hour.is_none());
        if let Some(first) = without.clone().next().filter(|_| prices) {
            caveats.push(format!(
                "{} of {} configurations have no price, {} among them: they stand behind all others",
                without.count(),
                self.configurations.len(),
                named(self.sweep, &first.values)
            ));
        }
        caveats.extend(self.others());
        if self.is_of_disk() {
            caveats.push(
                "A disk that works on several requests at once is not full when it is busy all the time: its headroom is a lower end".to_owned(),
            );
        }
        caveats
    }

    /// Neighbours fill CPUs too, and what they have is not there for the load.
    fn others(&self) -> Option<String> {
        /// Less than this is the recorder's, and the kernel's for both.
        const LEAST: f64 = 0.2;
        let parts = self.sweep.points.iter().filter_map(others_part);
        let most = parts.reduce(f64::max).filter(|it| *it >= LEAST)?;
        Some(format!(
            "Others than the server and the load generator had up to {} of the CPU time: alone a configuration may give more",
            percent(most)
        ))
    }

    fn is_of_disk(&self) -> bool {
        let mut nearest = self
            .configurations
            .iter()
            .filter_map(|it| it.nearest.as_ref());
        nearest.any(|it| it.key == crate::compare::used::DISK)
    }
}
