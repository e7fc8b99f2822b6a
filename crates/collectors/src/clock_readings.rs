//! How the clocks run against each other, so that times of other clocks can be placed in a recording.

use sensors::CLOCK;

use crate::collector::Collector;
use crate::opening::Opening;
use crate::output::{Output, TableId};
use crate::registry;
use crate::scene::Scene;
use crate::schedule::ticks_of;
use crate::table_buffer::RowDeduplicator;
use crate::tick::Tick;
use kernel::clock::Clocks;

/// Period of reading, in ticks.
const PERIOD_TICKS: u64 = ticks_of(sensors::CLOCK_PERIOD);

struct ClockReadings {
    table: TableId,
    last: RowDeduplicator,
}

/// Opens it; needs nothing.
pub(crate) fn open(opening: &mut Opening<'_>) -> Option<Box<dyn Collector>> {
    Some(Box::new(ClockReadings {
        table: opening.out.open(&CLOCK),
        last: RowDeduplicator::new(registry::MACHINE, CLOCK.columns.len()),
    }))
}

impl Collector for ClockReadings {
    fn sample(&mut self, tick: &Tick, _scene: &mut Scene, out: &mut Output) {
        if tick.passes(PERIOD_TICKS) {
            let clocks = Clocks::read();
            let values = [
                clocks.realtime_ns,
                clocks.monotonic_raw_ns,
                clocks.uncertainty_ns,
            ];
            let buffer = &mut out.tables[self.table];
            self.last.take(clocks.boottime, &values, buffer);
        }
    }

    fn finish(&mut self, _scene: &mut Scene, out: &mut Output) {
        self.last.finish(&mut out.tables[self.table]);
    }
}
