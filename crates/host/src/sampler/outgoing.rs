//! What the sampler hands on once a second, and the buffers that come back.

use super::Sampler;
use crate::connections::Connections;
use crate::filesystems::Filesystems;
use crate::handle::Harvest;
use crate::intake::{Intake, LastSeen};

impl Sampler {
    pub(super) fn flush(&mut self, sink: &mut dyn FnMut(Harvest)) {
        self.take_spares();
        if let Some(events) = self.registry.take_events() {
            sink(Harvest::Entities(events));
        }
        for gap in self.scratch.gaps.take_fresh() {
            sink(Harvest::Gap(gap));
        }
        let own = own_intakes(
            &mut self.recorder,
            &mut self.clock,
            &mut self.filesystems,
            &mut self.connections,
        );
        for intake in self.intakes.iter_mut().chain(own) {
            if let Some(rows) = intake.take_rows() {
                sink(Harvest::Rows(intake.table, rows));
            }
        }
    }

    /// Rows were lost on their way: those that are left out for being as before are written once.
    pub(super) fn restate(&mut self) {
        let own = own_intakes(
            &mut self.recorder,
            &mut self.clock,
            &mut self.filesystems,
            &mut self.connections,
        );
        let intakes = self.intakes.iter_mut().chain(own);
        intakes.for_each(Intake::restate);
    }

    fn take_spares(&mut self) {
        while let Ok((table, rows)) = self.spare.try_recv() {
            let own = own_intakes(
                &mut self.recorder,
                &mut self.clock,
                &mut self.filesystems,
                &mut self.connections,
            );
            let intake = self
                .intakes
                .iter_mut()
                .chain(own)
                .find(|intake| std::ptr::eq(intake.table, table));
            if let Some(intake) = intake {
                intake.spare = Some(rows);
            }
        }
    }
}

/// The intakes of the tables that the sampler fills itself.
fn own_intakes<'a>(
    recorder: &'a mut (Intake, LastSeen),
    clock: &'a mut (Intake, LastSeen),
    filesystems: &'a mut Filesystems,
    connections: &'a mut Connections,
) -> [&'a mut Intake; 4] {
    [
        &mut recorder.0,
        &mut clock.0,
        &mut filesystems.intake,
        &mut connections.intake,
    ]
}
