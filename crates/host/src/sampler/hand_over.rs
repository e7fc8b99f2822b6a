//! What the sampler hands on: rows in exchange for emptied buffers, and the end.

use model::{Timestamp, Window};

use super::Sampler;
use crate::clock::boottime;
use crate::connections::Connections;
use crate::filesystems::Filesystems;
use crate::handle::{Ending, Harvest};
use crate::intake::{Intake, LastSeen};
use crate::ledger::Books;
use crate::requests::RequestCollector;
use crate::schedule::{Look, TICK_NS};

impl Sampler {
    fn take_spares(&mut self) {
        while let Ok((table, rows)) = self.spare.try_recv() {
            let own = own_intakes(
                &mut self.recorder,
                &mut self.clock,
                &mut self.filesystems,
                &mut self.connections,
                &mut self.density,
                &mut self.books,
                &mut self.request_collector,
            );
            let intake = self
                .intakes
                .iter_mut()
                .chain(own)
                // Several may fill one table.
                .find(|intake| std::ptr::eq(intake.table, table) && intake.spare.is_none());
            if let Some(intake) = intake {
                intake.spare = Some(rows);
            }
        }
    }

    pub(super) fn flush(&mut self, sink: &mut dyn FnMut(Harvest)) {
        self.take_spares();
        if let Some(books) = &mut self.books {
            books.write_out();
        }
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
            &mut self.density,
            &mut self.books,
            &mut self.request_collector,
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
            &mut self.density,
            &mut self.books,
            &mut self.request_collector,
        );
        let intakes = self.intakes.iter_mut().chain(own);
        intakes.for_each(Intake::restate);
    }

    /// `deadline` is the first that was not served.
    pub(super) fn end(&mut self, deadline: Timestamp, sink: &mut dyn FnMut(Harvest)) {
        // Who has come since the last look and is still there would be told of by nobody.
        self.scan_processes(boottime());
        // A last look, so that series reach the end. Reading pressure early folds it once more for
        // everybody, as the kernel itself does every 2 s at times of its own: of the total's growth, which
        // is what is judged, nothing is lost but what a jiffy hides.
        self.sample(Look::Last);
        self.filesystems.sample(boottime());
        // The tick that was told to stop, or this look, may have taken long.
        let late = Window::new(deadline, boottime());
        if let passed @ 1.. = late.len_ns() / TICK_NS {
            self.note_missed(passed as u64 + 1, late, sink);
        }
        self.weigh();
        self.note_self(boottime(), 0);
        for (index, probe) in &mut self.machine {
            probe.finish(&mut self.intakes[*index]);
            probe.end_parts(&mut self.registry);
        }
        self.cgroups
            .finish(boottime(), &mut self.scratch.gaps, &mut self.intakes);
        self.processes.finish(&mut self.scratch, &mut self.intakes);
        if let Some(stalls) = &mut self.stalls {
            stalls.finish(&mut self.scratch.gaps, &mut self.density, &mut self.intakes);
        }
        if let Some(request_collector) = &mut self.request_collector {
            request_collector.finish();
        }
        let books = self.books.as_mut();
        self.cost.ledger = books.map(|books| books.finish(&mut self.scratch.gaps));
        self.recorder.1.finish(&mut self.recorder.0);
        self.clock.1.finish(&mut self.clock.0);
        self.filesystems.finish();
        self.connections.finish();
        self.flush(sink);
        for intake in self.intakes.iter().chain([&self.connections.intake]) {
            for (column, count) in intake
                .table
                .columns
                .iter()
                .zip(&intake.corrections)
                .filter(|(_, count)| **count > 0)
            {
                self.cost
                    .corrections
                    .insert(format!("{}.{}", intake.table.name, column.name), *count);
            }
        }
        sink(Harvest::Ended(Ending {
            cost: self.cost.clone(),
            at: boottime(),
        }));
    }
}

/// The intakes of the tables that the sampler fills itself.
fn own_intakes<'a>(
    recorder: &'a mut (Intake, LastSeen),
    clock: &'a mut (Intake, LastSeen),
    filesystems: &'a mut Filesystems,
    connections: &'a mut Connections,
    [machine, groups]: &'a mut [Intake; 2],
    books: &'a mut Option<Books>,
    request_collector: &'a mut Option<RequestCollector>,
) -> impl Iterator<Item = &'a mut Intake> {
    let own = [
        &mut recorder.0,
        &mut clock.0,
        &mut filesystems.intake,
        &mut connections.intake,
        machine,
        groups,
    ];
    let books = books.iter_mut().flat_map(Books::intakes);
    let request_collector = request_collector
        .iter_mut()
        .flat_map(|request_collector| &mut request_collector.intakes);
    own.into_iter().chain(books).chain(request_collector)
}
