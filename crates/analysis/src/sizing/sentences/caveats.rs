//! What is not known, and the commands that would measure it.

use model::SizedConfiguration;

use super::super::axes::named;
use super::super::demands::others_part;
use super::super::untested;
use super::Said;
use crate::number_format::percent;

impl Said<'_> {
    /// Commands that would measure what is not known.
    pub(in super::super) fn next(&self) -> Vec<String> {
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

    pub(in super::super) fn caveats(&self) -> Vec<String> {
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
