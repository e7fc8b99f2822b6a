//! What the load filled and what it left untested.

use super::super::measured::{TESTED, is_held};
use super::super::phrases::listed;
use super::super::untested::{self, Untested};
use super::Said;
use crate::number_format::{duration, percent, rate};

/// Think time below this part of the latency is none.
const THINKS: f64 = 0.1;

impl Said<'_> {
    /// What holds a configuration back while nothing is full.
    pub(super) fn held(&self) -> Option<String> {
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
    pub(super) fn not_tested(&self) -> Option<String> {
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
    pub(super) fn waiting(&self) -> Option<String> {
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
}
