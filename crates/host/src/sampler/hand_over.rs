//! The sampler's output: rows in exchange for emptied buffers, and its end.

use model::{Timestamp, Window};

use super::Sampler;
use crate::clock::boottime;
use crate::connections::Connections;
use crate::filesystems::Filesystems;
use crate::handle::{Ending, SamplerEvent};
use crate::requests::RequestCollector;
use crate::schedule::{Look, TICK_NS};
use crate::table_buffer::{RowDeduplicator, TableBuffer};
use crate::thread_time::ThreadTimeCollector;

impl Sampler {
    fn take_spares(&mut self) {
        while let Ok((table, rows)) = self.spare.try_recv() {
            let own = own_buffers(
                [&mut self.recorder, &mut self.coverage],
                &mut self.clock,
                &mut self.filesystems,
                &mut self.connections,
                &mut self.density,
                &mut self.thread_times,
                &mut self.request_collector,
            );
            let buffer = self
                .buffers
                .iter_mut()
                .chain(own)
                // Several buffers may belong to the same table.
                .find(|buffer| std::ptr::eq(buffer.table, table) && buffer.spare.is_none());
            if let Some(buffer) = buffer {
                buffer.spare = Some(rows);
            }
        }
    }

    pub(super) fn flush(&mut self, sink: &mut dyn FnMut(SamplerEvent)) {
        self.take_spares();
        if let Some(thread_times) = &mut self.thread_times {
            thread_times.write_out();
        }
        if let Some(events) = self.registry.take_events() {
            sink(SamplerEvent::Entities(events));
        }
        for gap in self.scratch.gaps.take_fresh() {
            sink(SamplerEvent::Gap(gap));
        }
        if let Some(request_collector) = &mut self.request_collector {
            for (role, address) in request_collector.take_contacts() {
                sink(SamplerEvent::Contact(role, address));
            }
        }
        let own = own_buffers(
            [&mut self.recorder, &mut self.coverage],
            &mut self.clock,
            &mut self.filesystems,
            &mut self.connections,
            &mut self.density,
            &mut self.thread_times,
            &mut self.request_collector,
        );
        for buffer in self.buffers.iter_mut().chain(own) {
            if let Some(rows) = buffer.take_rows() {
                sink(SamplerEvent::Rows(buffer.table, rows));
            }
        }
    }

    /// Rows were lost on their way, so rows that would be left out as unchanged are written once.
    pub(super) fn force_full_rows(&mut self) {
        let own = own_buffers(
            [&mut self.recorder, &mut self.coverage],
            &mut self.clock,
            &mut self.filesystems,
            &mut self.connections,
            &mut self.density,
            &mut self.thread_times,
            &mut self.request_collector,
        );
        let buffers = self.buffers.iter_mut().chain(own);
        buffers.for_each(TableBuffer::force_full_rows);
    }

    /// `deadline` is the first one that was missed.
    pub(super) fn end(&mut self, deadline: Timestamp, sink: &mut dyn FnMut(SamplerEvent)) {
        // Processes that have started since the last scan and still run would not be reported at all.
        self.scan_processes(boottime());
        // A last reading, so that series reach the end. Reading pressure early triggers the kernel's fold for
        // all readers, as the kernel does itself every 2 s. The growth of the totals, which verdicts use,
        // loses only what is shorter than a jiffy.
        self.sample(Look::Last);
        self.filesystems.sample(boottime());
        // The tick with the stop command, or this reading, may have taken long.
        let late = Window::new(deadline, boottime());
        if let passed @ 1.. = late.len_ns() / TICK_NS {
            self.note_missed(passed as u64 + 1, late, sink);
        }
        self.measure_memory();
        self.note_self(boottime(), 0);
        for (index, probe) in &mut self.machine {
            probe.finish(&mut self.buffers[*index]);
            probe.end_parts(&mut self.registry);
        }
        self.cgroups
            .finish(boottime(), &mut self.scratch.gaps, &mut self.buffers);
        self.processes.finish(&mut self.scratch, &mut self.buffers);
        if let Some(stalls) = &mut self.stalls {
            stalls.finish(&mut self.scratch.gaps, &mut self.density, &mut self.buffers);
        }
        if let Some(request_collector) = &mut self.request_collector {
            request_collector.finish();
        }
        let thread_times = self.thread_times.as_mut();
        self.cost.cross_check =
            thread_times.map(|thread_times| thread_times.finish(&mut self.scratch.gaps));
        self.recorder.1.finish(&mut self.recorder.0);
        self.coverage.1.finish(&mut self.coverage.0);
        self.clock.1.finish(&mut self.clock.0);
        self.filesystems.finish();
        self.connections.finish();
        self.flush(sink);
        for buffer in self.buffers.iter().chain([&self.connections.buffer]) {
            for (column, count) in buffer
                .table
                .columns
                .iter()
                .zip(&buffer.corrections)
                .filter(|(_, count)| **count > 0)
            {
                self.cost
                    .corrections
                    .insert(format!("{}.{}", buffer.table.name, column.name), *count);
            }
        }
        sink(SamplerEvent::Ended(Ending {
            cost: self.cost.clone(),
            at: boottime(),
        }));
    }
}

/// The buffers of the tables that the sampler fills itself.
fn own_buffers<'a>(
    [recorder, coverage]: [&'a mut (TableBuffer, RowDeduplicator); 2],
    clock: &'a mut (TableBuffer, RowDeduplicator),
    filesystems: &'a mut Filesystems,
    connections: &'a mut Connections,
    [machine, groups]: &'a mut [TableBuffer; 2],
    thread_times: &'a mut Option<ThreadTimeCollector>,
    request_collector: &'a mut Option<RequestCollector>,
) -> impl Iterator<Item = &'a mut TableBuffer> {
    let own = [
        &mut recorder.0,
        &mut coverage.0,
        &mut clock.0,
        &mut filesystems.buffer,
        &mut connections.buffer,
        machine,
        groups,
    ];
    let thread_times = thread_times
        .iter_mut()
        .flat_map(ThreadTimeCollector::buffers);
    let request_collector = request_collector
        .iter_mut()
        .flat_map(|request_collector| &mut request_collector.buffers);
    own.into_iter().chain(thread_times).chain(request_collector)
}
