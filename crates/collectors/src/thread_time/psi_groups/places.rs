//! Places of PSI groups in the programs, each with the series recorded for it.

use model::{EntityId, GapReason, Table, Timestamp, Window};
use sensors::stall::{
    COUNTED_CGROUP_PRESSURE, COUNTED_CGROUP_STALL, PROCESS_PRESSURE, PROCESS_STALL,
};

use crate::gaps::Gaps;
use crate::output::Output;
use crate::psi_series::{Columns, PsiSeries, PsiTables};
use crate::table_buffer::RowDeduplicator;
use kernel::bpf::fold::STALLS;
use kernel::bpf::psi_group::{PsiGroup, StallSource as _};
use kernel::bpf::thread_time::ThreadTime;
use kernel::bpf::thread_time::psi_groups::MOST_PSI_GROUPS;

/// Kinds of PSI groups.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Service,
    Group,
}

impl Kind {
    /// The tables of stall density and of pressure.
    fn tables(self) -> [&'static Table; 2] {
        match self {
            Kind::Service => [&PROCESS_STALL, &PROCESS_PRESSURE],
            Kind::Group => [&COUNTED_CGROUP_STALL, &COUNTED_CGROUP_PRESSURE],
        }
    }

    fn beyond(self) -> &'static str {
        match self {
            Kind::Service => "services beyond those that there is room for",
            Kind::Group => "groups beyond those that there is room for",
        }
    }
}

/// Columns of the scheduler's events: there is none for interrupts (between the other stalls and `nonidle`).
fn counted<'a>(row: &'a mut [i64], programs: &ThreadTime) -> &'a [i64] {
    const IRQ: usize = STALLS - 1;
    programs.mark_missing(row);
    row.copy_within(IRQ + 1.., IRQ);
    &row[..row.len() - 1]
}

/// All places.
pub(super) struct Places {
    /// Indexed by place. A free place is reused as late as possible.
    places: Vec<Option<PsiSeries>>,
    next: usize,
    /// By kind.
    tables: [PsiTables; 2],
    /// When the programs were last read.
    before: Timestamp,
    full_reported: [bool; 2],
}

impl Places {
    pub(super) fn new(out: &mut Output) -> Self {
        let kinds = [Kind::Service, Kind::Group];
        Self {
            places: (0..MOST_PSI_GROUPS).map(|_| None).collect(),
            next: 0,
            tables: kinds.map(|kind| {
                let [density, pressure] = kind.tables().map(|table| out.open(table));
                PsiTables { density, pressure }
            }),
            before: Timestamp::default(),
            full_reported: [false; 2],
        }
    }

    /// Assigns a place; if there is none, that is reported once per kind.
    pub(super) fn take(
        &mut self,
        kind: Kind,
        entity: EntityId,
        programs: &ThreadTime,
        gaps: &mut Gaps,
    ) -> Option<usize> {
        let free = self.free();
        let Some(place) = free else {
            if !std::mem::replace(&mut self.full_reported[kind as usize], true) {
                let [density, _] = kind.tables();
                gaps.report(&density.name, kind.beyond(), GapReason::Dropped(1));
            }
            return None;
        };
        self.next = place + 1;
        let group = PsiGroup::new(programs, place, [0; STALLS], Timestamp::default());
        let [density, pressure] = kind.tables().map(|table| table.columns.len());
        let pressure = RowDeduplicator::new(entity, pressure);
        let tables = self.tables[kind as usize];
        self.places[place] = Some(PsiSeries::new(group, pressure, density, tables));
        Some(place)
    }

    fn free(&self) -> Option<usize> {
        let mut places = (0..MOST_PSI_GROUPS).map(|it| (self.next + it) % MOST_PSI_GROUPS);
        places.find(|place| self.places[*place].is_none())
    }

    /// Frees a place and ends its series.
    pub(super) fn leave(&mut self, place: usize, programs: &ThreadTime, out: &mut Output) {
        if let Some(mut series) = self.places[place].take() {
            let columns: &Columns<'_> = &|row| counted(row, programs);
            series.finish(self.before, columns, &mut out.tables);
        }
    }

    /// Takes in the programs' last reading.
    pub(super) fn sample(&mut self, programs: &ThreadTime, now: Timestamp, out: &mut Output) {
        let before = std::mem::replace(&mut self.before, now);
        let is_first = before == Timestamp::default();
        let since = Window::new(if is_first { now } else { before }, now);
        for series in self.places.iter_mut().flatten() {
            let columns: &Columns<'_> = &|row| counted(row, programs);
            series.group.take(programs);
            series.write_density(now, columns, &mut out.tables);
            if let Some(at) = series.group.fold(since, None) {
                series.write_pressure(at, columns, &mut out.tables);
            }
        }
    }

    /// Notes that nothing was counted up to `at`.
    pub(super) fn unchanged(&mut self, at: Timestamp) {
        self.before = at;
        let series = self.places.iter_mut().flatten();
        series.for_each(|it| it.unchanged(at));
    }

    pub(super) fn finish(&mut self, programs: &ThreadTime, out: &mut Output) {
        for series in self.places.iter_mut().flatten() {
            let columns: &Columns<'_> = &|row| counted(row, programs);
            series.finish(self.before, columns, &mut out.tables);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::requirement::needed;

    #[test]
    fn a_lack_of_places_is_reported_once_per_kind_and_a_free_one_is_reused() {
        let loaded = ThreadTime::load(std::env::consts::ARCH);
        let Some(programs) = needed("thread-time accounting", loaded) else {
            return;
        };
        let mut out = Output::default();
        let mut places = Places::new(&mut out);
        let mut take = |kind| places.take(kind, EntityId(7), &programs, &mut out.gaps);
        let groups = (0..=MOST_PSI_GROUPS).filter_map(|_| take(Kind::Group));
        let groups: Vec<_> = groups.collect();
        assert_eq!(groups, (0..MOST_PSI_GROUPS).collect::<Vec<_>>());
        assert_eq!([Kind::Group, Kind::Service].map(take), [None; 2]);
        places.leave(groups[3], &programs, &mut out);
        let again = places.take(Kind::Service, EntityId(8), &programs, &mut out.gaps);
        assert_eq!(again, Some(groups[3]));
        let reported: Vec<_> = out.gaps.take_fresh().map(|gap| gap.table).collect();
        assert_eq!(reported, ["counted_cgroup_stall", "process_stall"]);
    }
}
