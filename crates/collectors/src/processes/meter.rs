//! Source of a process's resource usage: its own files, or the walk over all processes by BPF programs.

use model::EntityId;
use sensors::{Facts, ProcessUsage};

use crate::output::{Output, TableId};
use crate::probe::Probe;
use crate::processes::split::Split;
use crate::table_buffer::RowDeduplicator;
use kernel::bpf::tasks::{Counts, or_missing};
use kernel::open_file::OpenFile;

/// Where a process's rows come from.
pub(super) enum Meter {
    Files(Probe),
    Walk(Counted),
}

impl Meter {
    /// The files that are kept open.
    pub(super) fn files(&self) -> impl Iterator<Item = &OpenFile> {
        let probe = match self {
            Self::Files(probe) => Some(probe),
            Self::Walk(_) => None,
        };
        probe.into_iter().flat_map(Probe::files)
    }

    /// Writes the last rows of unchanged values.
    pub(super) fn finish(&mut self, out: &mut Output) {
        match self {
            Self::Files(probe) => probe.finish(out),
            Self::Walk(counted) => counted.last.finish(&mut out.tables[counted.table]),
        }
    }
}

/// Distinguishes a process in the walk from another with the same pid, and shows a change of name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Identity {
    pub(super) start_ns: u64,
    pub(super) name: [u64; 2],
}

impl Identity {
    pub(super) fn of(counts: &Counts) -> Self {
        Self {
            start_ns: counts.start_ns,
            name: counts.name,
        }
    }
}

/// A process in the walk.
pub(super) struct Counted {
    pub(super) identity: Identity,
    pub(super) last: RowDeduplicator,
    /// Where its rows go.
    pub(super) table: TableId,
    /// Number of the last walk that had it.
    pub(super) round: u64,
    split: Option<Split>,
}

impl Counted {
    pub(super) fn new(identity: Identity, entity: EntityId, table: TableId) -> Self {
        Self {
            identity,
            last: RowDeduplicator::new(entity, ProcessUsage::WIDTH),
            table,
            round: 0,
            split: None,
        }
    }

    /// A row of the table of processes.
    pub(super) fn row(&mut self, counts: &Counts, facts: Facts) -> [i64; ProcessUsage::WIDTH] {
        let shown = (counts.shown_user_ns, counts.shown_system_ns);
        let split = self.split.get_or_insert(Split::shown(shown));
        split.advance((counts.user_ns, counts.system_ns), counts.run_ns);
        let usage = ProcessUsage {
            user_ns: or_missing(split.user_ns),
            system_ns: or_missing(split.system_ns),
            children_ns: or_missing(counts.children_ns),
            threads: i64::from(counts.threads),
            resident_bytes: or_missing(counts.resident_pages).saturating_mul(facts.page_bytes),
            read_bytes: or_missing(counts.read_bytes),
            write_bytes: or_missing(counts.write_bytes),
        };
        usage.row()
    }
}
