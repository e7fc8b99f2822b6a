//! The limits that each run gives the cgroup of a server that already runs.

use std::collections::HashSet;
use std::path::Path;

use anyhow::{Result, bail};
use capacity::{Entry, Held, Limit};
use kernel::Hierarchies;
use targets::NamedTarget;

use super::plan::Plan;
use crate::outputs;
use crate::prove::{Guarded, with_ancestors};

/// A server whose limits are lowered for runs. Dropped, or killed, it has those that it had.
pub(super) struct Server<'a> {
    target: &'a NamedTarget,
    guarded: Guarded,
}

impl<'a> Server<'a> {
    /// The one that a plan lowers; `None` where it lowers none.
    ///
    /// # Errors
    /// Nobody can watch over its limits: nothing may be changed then.
    pub(super) fn of(plan: &'a Plan) -> Result<Option<Self>> {
        let Some(target) = plan.lowered() else {
            return Ok(None);
        };
        let guarded = Guarded::new()?;
        Ok(Some(Self { target, guarded }))
    }

    /// Gives its group these limits, beside those that it has.
    ///
    /// # Errors
    /// It does not run, has no group of its own, or may use less already. Its limits are as they were then.
    pub(super) fn lower(&mut self, limits: &[Limit]) -> Result<()> {
        // Found anew for each run: it may have been started again.
        let held = self.held()?;
        for limit in limits {
            self.is_alone(&held, limit)?;
        }
        let changes = limits.iter().map(|it| held.limited(it));
        let changes = changes.collect::<Result<Vec<_>, _>>()?;
        self.guarded.note(Entry {
            changes: changes.clone(),
            ..Entry::default()
        })?;
        let applied = changes.iter().try_for_each(capacity::Change::apply);
        if applied.is_err() {
            self.guarded.restore()?;
        }
        Ok(applied?)
    }

    /// Puts back what its group had.
    ///
    /// # Errors
    /// The kernel refuses it.
    pub(super) fn restore(&mut self) -> Result<()> {
        self.guarded.restore()
    }

    fn held(&self) -> Result<Held> {
        let mounts = std::fs::read("/proc/self/mountinfo").unwrap_or_default();
        let mounts = Hierarchies::from_mountinfo(&mounts, Path::new("/")).mounts();
        let own = HashSet::from([std::process::id()]);
        let roots = targets::resolve(Path::new("/proc"), &mounts, &self.target.spec, &own)?;
        let Some(first) = roots.first() else {
            bail!("no process of {} is there", self.target.text);
        };
        Ok(Held::of(*first)?)
    }

    /// Refuses a group in which this program, and so the load generator, would be slowed down too.
    fn is_alone(&self, held: &Held, limit: &Limit) -> Result<()> {
        let controller = limit.kind().controller();
        let members = held.members(controller)?;
        let own = with_ancestors(std::process::id());
        if members.iter().any(|it| own.contains(it)) {
            bail!(
                "this program is itself in the cgroup of {}, {}: its limits are not lowered. Start the server as a service, or move it to a cgroup of its own",
                self.target.text,
                held.group(controller)?.display()
            );
        }
        Ok(())
    }
}

/// What would be done to it.
pub(super) fn intention(plan: &Plan, target: &NamedTarget) -> String {
    let names: Vec<&str> = plan.limited();
    format!(
        "This would set {} of the cgroup of {} for each run, lower than what it has, and put back what was there after each run; also when it is killed. Nothing was changed: add --yes to begin.",
        names.join(", "),
        outputs::harmless(&target.text.to_string())
    )
}
