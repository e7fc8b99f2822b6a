//! The instances of a configuration: the command of each, and its cgroup.

use std::ffi::OsString;

use anyhow::Result;
use capacity::Group;
use workloads::Instance;

use super::plan::Plan;
use crate::turns::{OWN, Shell};

/// The instances that a run has; dropped, their groups are removed.
pub(super) struct Instances<'a> {
    plan: &'a Plan,
    values: &'a [String],
    /// One for each instance; empty where the command runs as it is.
    each: Vec<Option<Group>>,
    /// Removed after those in it.
    _above: Option<Group>,
}

impl<'a> Instances<'a> {
    /// Makes the groups of a configuration's instances, in one of the sweep's for the run of this number: what an earlier
    /// run could not remove is not in the way.
    ///
    /// # Errors
    /// Groups cannot be made, or do not take the limits. Where no limit was asked for, instances do without a group that
    /// they may not have.
    pub(super) fn of(plan: &'a Plan, values: &'a [String], run: usize) -> Result<Self> {
        let number = plan.instances(values).unwrap_or(0);
        let limits = plan.limits(values);
        let above = match number {
            0 => None,
            _ => match Group::create(&format!("sweep-{run}")) {
                Ok(group) => Some(group),
                Err(error) if !limits.is_empty() => return Err(error.into()),
                Err(_) => None,
            },
        };
        let mut each = Vec::new();
        for number in 1..=number {
            let group = match &above {
                Some(above) => Some(above.below(&format!("instance-{number}"))?),
                None => None,
            };
            for limit in &limits {
                group.iter().try_for_each(|it| it.set(limit))?;
            }
            each.push(group);
        }
        Ok(Self {
            plan,
            values,
            each,
            _above: above,
        })
    }

    /// The command of the run.
    pub(super) fn argv(&self) -> Vec<OsString> {
        if self.each.is_empty() {
            return self.plan.command(self.values, None);
        }
        let instances = self.each.iter().enumerate();
        let instances = instances.map(|(place, group)| Instance {
            group: group
                .iter()
                .flat_map(Group::folders)
                .map(Into::into)
                .collect(),
            argv: self.plan.command(self.values, Some(place + 1)),
        });
        let instances: Vec<Instance> = instances.collect();
        [vec![OWN.into()], Instance::arguments(&instances)].concat()
    }

    /// Shell commands: once where the command runs as it is, else for each instance in its group.
    pub(super) fn shells(&self, texts: &[String]) -> Vec<Shell> {
        if self.each.is_empty() {
            let texts = self.plan.shells(texts, self.values, None);
            return texts.into_iter().map(Shell::anywhere).collect();
        }
        let each = self.each.iter().enumerate();
        let shells = each.flat_map(|(place, group)| {
            let inside = group.as_ref().map_or(Vec::new(), Group::inside);
            let texts = self.plan.shells(texts, self.values, Some(place + 1));
            texts.into_iter().map(move |text| Shell {
                text,
                inside: inside.clone(),
            })
        });
        shells.collect()
    }
}
