//! Places of PSI groups in the programs, each with the series recorded for it.

use model::{EntityId, GapReason, Table, Timestamp};
use sensors::stall::{
    COUNTED_CGROUP_PRESSURE, COUNTED_CGROUP_STALL, PROCESS_PRESSURE, PROCESS_STALL,
};

use crate::gaps::Gaps;
use crate::output::{Output, TableId, Tables};
use crate::table_buffer::{RowDeduplicator, TableBuffer};
use kernel::bpf::psi_group::PsiGroup;
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

/// Series of one PSI group.
struct GroupSeries {
    kind: Kind,
    group: PsiGroup,
    density: RowDeduplicator,
    pressure: RowDeduplicator,
}

impl GroupSeries {
    fn new(kind: Kind, entity: EntityId, group: PsiGroup) -> Self {
        let last = |table: &Table| RowDeduplicator::new(entity, table.columns.len());
        let [density, pressure] = kind.tables().map(last);
        Self {
            kind,
            group,
            density,
            pressure,
        }
    }

    fn take_density(&mut self, at: Timestamp, programs: &ThreadTime, buffer: &mut TableBuffer) {
        let row = self.group.density(programs);
        self.density.take(at, &row, buffer);
    }

    fn take_pressure(&mut self, at: Timestamp, programs: &ThreadTime, buffer: &mut TableBuffer) {
        let row = self.group.pressure(programs);
        self.pressure.take(at, &row, buffer);
    }

    fn finish(&mut self, programs: &ThreadTime, of_kind: [TableId; 2], tables: &mut Tables) {
        let [density, pressure] = of_kind;
        self.density.finish(&mut tables[density]);
        let pressure = &mut tables[pressure];
        if let Some(at) = self.group.end() {
            self.take_pressure(at, programs, pressure);
        }
        self.pressure.finish(pressure);
    }
}

/// All places.
pub(super) struct Places {
    /// Indexed by place. A free place is reused as late as possible.
    places: Vec<Option<GroupSeries>>,
    next: usize,
    /// Tables of stall density and of pressure, by kind.
    tables: [[TableId; 2]; 2],
    full_reported: [bool; 2],
}

impl Places {
    pub(super) fn new(out: &mut Output) -> Self {
        let kinds = [Kind::Service, Kind::Group];
        Self {
            places: (0..MOST_PSI_GROUPS).map(|_| None).collect(),
            next: 0,
            tables: kinds.map(|kind| kind.tables().map(|table| out.open(table))),
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
        let group = PsiGroup::new(programs, place);
        self.places[place] = Some(GroupSeries::new(kind, entity, group));
        Some(place)
    }

    fn free(&self) -> Option<usize> {
        let mut places = (0..MOST_PSI_GROUPS).map(|it| (self.next + it) % MOST_PSI_GROUPS);
        places.find(|place| self.places[*place].is_none())
    }

    /// Frees a place and ends its series.
    pub(super) fn leave(&mut self, place: usize, programs: &ThreadTime, out: &mut Output) {
        if let Some(mut series) = self.places[place].take() {
            let of_kind = self.tables[series.kind as usize];
            series.finish(programs, of_kind, &mut out.tables);
        }
    }

    /// Takes in the programs' last reading.
    pub(super) fn sample(&mut self, programs: &ThreadTime, now: Timestamp, out: &mut Output) {
        for (place, series) in self.places.iter_mut().enumerate() {
            let Some(series) = series else { continue };
            let [density, pressure] = self.tables[series.kind as usize];
            let folded = series.group.take(programs, place, now);
            series.take_density(now, programs, &mut out.tables[density]);
            if let Some(at) = folded {
                series.take_pressure(at, programs, &mut out.tables[pressure]);
            }
        }
    }

    /// Notes that nothing was counted up to `at`.
    pub(super) fn unchanged(&mut self, at: Timestamp) {
        for series in self.places.iter_mut().flatten() {
            series.group.unchanged(at);
            series.density.unchanged(at);
        }
    }

    pub(super) fn finish(&mut self, programs: &ThreadTime, out: &mut Output) {
        for series in self.places.iter_mut().flatten() {
            let of_kind = self.tables[series.kind as usize];
            series.finish(programs, of_kind, &mut out.tables);
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
