//! The places of sets: each has the series of what is counted there.

use model::{EntityId, GapReason, MISSING, Table, Timestamp};
use sensors::pressure;
use sensors::stall::{CGROUP_STALL, POOL_PRESSURE, POOL_STALL, PROCESS_PRESSURE, PROCESS_STALL};

use super::{Set, TOLD};
use crate::bpf::fold::STALLS;
use crate::bpf::ledger::Ledger;
use crate::bpf::ledger::sets::MOST_SETS;
use crate::gaps::Gaps;
use crate::intake::{Intake, LastSeen};

/// So many places at most are taken by pools: there is always room for services and groups.
const MOST_POOLS: usize = MOST_SETS / 2;

/// What a set is of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Service,
    Group,
    Pool,
}

impl Kind {
    /// The tables of stall density and of pressure.
    fn tables(self) -> [&'static Table; 2] {
        match self {
            Kind::Service => [&PROCESS_STALL, &PROCESS_PRESSURE],
            Kind::Group => [&CGROUP_STALL, pressure::CGROUP.table],
            Kind::Pool => [&POOL_STALL, &POOL_PRESSURE],
        }
    }

    fn beyond(self) -> &'static str {
        match self {
            Kind::Service => "services beyond those that there is room for",
            Kind::Group => "groups beyond those that there is room for",
            Kind::Pool => "pools of threads beyond those that there is room for",
        }
    }
}

/// What is told of one set.
struct Told {
    kind: Kind,
    set: Set,
    density: LastSeen,
    pressure: LastSeen,
}

impl Told {
    fn new(kind: Kind, entity: EntityId, set: Set) -> Self {
        let last = |table: &Table| LastSeen::new(entity, table.columns.len());
        let [density, pressure] = kind.tables().map(last);
        Self {
            kind,
            set,
            density,
            pressure,
        }
    }

    fn take_density(&mut self, at: Timestamp, programs: &Ledger, intake: &mut Intake) {
        let row = self.set.density(programs);
        match self.kind {
            Kind::Group => self.density.take(at, &with_interrupts(row), intake),
            _ => self.density.take(at, &row, intake),
        }
    }

    fn take_pressure(&mut self, at: Timestamp, programs: &Ledger, intake: &mut Intake) {
        let row = self.set.pressure(programs);
        match self.kind {
            Kind::Group => self.pressure.take(at, &with_interrupts(row), intake),
            _ => self.pressure.take(at, &row, intake),
        }
    }

    fn finish(&mut self, programs: &Ledger, [density, pressure]: &mut [Intake; 2]) {
        self.density.finish(density);
        if let Some(at) = self.set.end() {
            self.take_pressure(at, programs, pressure);
        }
        self.pressure.finish(pressure);
    }
}

/// A row of a group's table, which has a column for interrupts.
fn with_interrupts<const N: usize>(row: [i64; N]) -> [i64; STALLS + 1] {
    std::array::from_fn(|column| match column {
        TOLD => MISSING,
        _ => row
            .get(column - usize::from(column > TOLD))
            .copied()
            .unwrap_or(MISSING),
    })
}

/// Who is counted where.
pub(super) struct Places {
    /// A place that was left is used again as late as can be.
    places: Vec<Option<Told>>,
    next: usize,
    /// Rows of stall density and of pressure, by kind.
    pub(super) intakes: [[Intake; 2]; 3],
    full_said: [bool; 3],
}

impl Places {
    pub(super) fn new() -> Self {
        let kinds = [Kind::Service, Kind::Group, Kind::Pool];
        Self {
            places: (0..MOST_SETS).map(|_| None).collect(),
            next: 0,
            intakes: kinds.map(|kind| kind.tables().map(Intake::new)),
            full_said: [false; 3],
        }
    }

    /// Makes room for somebody; where there is none, that is said once.
    pub(super) fn take(
        &mut self,
        kind: Kind,
        entity: EntityId,
        programs: &Ledger,
        gaps: &mut Gaps,
    ) -> Option<usize> {
        let free = self.free(kind);
        let Some(place) = free else {
            if !std::mem::replace(&mut self.full_said[kind as usize], true) {
                let [density, _] = kind.tables();
                gaps.say(&density.name, kind.beyond(), GapReason::Dropped(1));
            }
            return None;
        };
        self.next = place + 1;
        let set = Set::new(programs, place);
        self.places[place] = Some(Told::new(kind, entity, set));
        Some(place)
    }

    fn free(&self, kind: Kind) -> Option<usize> {
        let taken = self.places.iter().flatten();
        let pools = taken.filter(|it| it.kind == Kind::Pool).count();
        if kind == Kind::Pool && pools >= MOST_POOLS {
            return None;
        }
        let mut places = (0..MOST_SETS).map(|it| (self.next + it) % MOST_SETS);
        places.find(|place| self.places[*place].is_none())
    }

    /// Ends what is told of a place's set.
    pub(super) fn leave(&mut self, place: usize, programs: &Ledger) {
        if let Some(mut told) = self.places[place].take() {
            let intakes = &mut self.intakes[told.kind as usize];
            told.finish(programs, intakes);
        }
    }

    /// Takes what the programs have read now.
    pub(super) fn sample(&mut self, programs: &Ledger, now: Timestamp, stretch: Option<f64>) {
        for (place, told) in self.places.iter_mut().enumerate() {
            let Some(told) = told else { continue };
            let [density, pressure] = &mut self.intakes[told.kind as usize];
            let folded = told.set.take(programs, place, now, stretch);
            told.take_density(now, programs, density);
            if let Some(at) = folded {
                told.take_pressure(at, programs, pressure);
            }
        }
    }

    pub(super) fn finish(&mut self, programs: &Ledger) {
        for told in self.places.iter_mut().flatten() {
            told.finish(programs, &mut self.intakes[told.kind as usize]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bpf::ledger::tests::loaded;

    #[test]
    fn pools_leave_room_for_others_and_what_has_none_is_said_once() {
        let Some((programs, _alone)) = loaded() else {
            return;
        };
        let (mut places, mut gaps) = (Places::new(), Gaps::default());
        let mut take = |kind| places.take(kind, EntityId(7), &programs, &mut gaps);
        let pools: Vec<_> = (0..MOST_SETS).filter_map(|_| take(Kind::Pool)).collect();
        assert_eq!(pools.len(), MOST_POOLS);
        let groups = (0..MOST_SETS).filter_map(|_| take(Kind::Group));
        assert_eq!(groups.count(), MOST_SETS - MOST_POOLS);
        assert_eq!(take(Kind::Service), None);
        places.leave(pools[3], &programs);
        let again = places.take(Kind::Service, EntityId(8), &programs, &mut gaps);
        assert_eq!(again, Some(pools[3]));
        let said: Vec<_> = gaps.take_fresh().map(|gap| gap.table).collect();
        assert_eq!(said, ["pool_stall", "cgroup_stall", "process_stall"]);
    }

    #[test]
    fn a_row_of_a_group_has_its_column_for_interrupts() {
        let row = with_interrupts([1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(row, [1, 2, 3, 4, 5, 6, MISSING, 7]);
        assert_eq!(
            with_interrupts([1, 2, 3, 4, 5, 6])[..TOLD],
            [1, 2, 3, 4, 5, 6]
        );
    }
}
