//! What collectors are opened with: settings, the output's tables, and BPF programs where they are available.

use model::{Cost, Sentence, Table, sentence};
use sensors::Scope;

use crate::handle::Settings;
use crate::output::{Output, Recorded};
use kernel::bpf::Refusal;
use kernel::bpf::flow::Flow;
use kernel::bpf::thread_time::wait_stacks::WaitStackRing;
use kernel::environment::Environment;
use kernel::file_limits::MORE_FILES;
use kernel::limits;
use kernel::root;

/// What collectors are opened with.
pub(crate) struct Opening<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) environment: &'a Environment,
    pub(crate) out: &'a mut Output,
    pub(crate) cost: &'a mut Cost,
    /// The programs that count who talks to whom, for the collector of flows.
    pub(crate) flow: Option<Flow>,
    /// Tables that a BPF program fills instead of sensors.
    replaced: Vec<&'static Table>,
    /// Where call stacks of waits come from, for the collector of call stacks.
    pub(crate) wait_stacks: Option<WaitStackRing>,
}

impl<'a> Opening<'a> {
    pub(crate) fn new(
        settings: &'a Settings,
        environment: &'a Environment,
        out: &'a mut Output,
        cost: &'a mut Cost,
    ) -> Self {
        Self {
            settings,
            environment,
            out,
            cost,
            flow: None,
            replaced: Vec::new(),
            wait_stacks: None,
        }
    }

    /// Loads a BPF program with its reader, and notes a refusal; not with another root, because it would
    /// report this machine.
    pub(crate) fn program<T>(
        &mut self,
        name: &str,
        load: impl FnOnce(&mut Output) -> Result<T, Refusal>,
    ) -> Option<T> {
        let loaded = self.load(load);
        let said = loaded.as_ref().err().map(Sentence::from);
        self.cost.programs.insert(name.to_owned(), said);
        loaded.ok()
    }

    fn load<T>(
        &mut self,
        load: impl FnOnce(&mut Output) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        if !root::is_own(&self.settings.root) {
            return Err(Refusal::new("the files of another root are read"));
        }
        let loaded = load(self.out)?;
        // Programs take many descriptors: maps, programs, links; with many CPUs a perf event for each.
        if !limits::is_half_free() {
            let why = sentence!("too few files may be open (ulimit -n); {}", MORE_FILES);
            return Err(Refusal::new(why));
        }
        Ok(loaded)
    }

    /// Notes that a program fills a table, so that no sensor is to.
    pub(crate) fn replace(&mut self, table: &'static Table) {
        self.replaced.push(table);
    }

    /// The sensors of a scope whose tables no program fills.
    pub(crate) fn sensors(&mut self, scope: Scope) -> Vec<Recorded> {
        let mut all = self.out.recorded_of(scope);
        let is_replaced = |table| self.replaced.iter().any(|it| std::ptr::eq(*it, table));
        all.retain(|it| !is_replaced(it.sensor.table));
        all
    }
}
