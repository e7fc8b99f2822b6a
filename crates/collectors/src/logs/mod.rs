//! Logs that were named with `--log`: ten times a second how many lines of each template and how many calls they have
//! reported. What a line says goes no further than its template (`sensors::log`).

mod journal;
mod reading;
mod source;
mod tail;
mod worker;

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::time::Duration;

use model::{Entity, EntityId, EntityKind, GapReason, Part, Timestamp, sentence};
use sensors::log::{Change, LOG, LOG_TEMPLATE, LOGGED_CALL, Subject};

pub use self::source::LogSource;
use self::worker::{Batch, Worker};
use crate::collector::Collector;
use crate::opening::Opening;
use crate::output::{Output, TableId};
use crate::registry::MACHINE;
use crate::scene::Scene;
use crate::table_buffer::RowDeduplicator;
use crate::tick::Tick;

/// Batches on their way to the sampler.
const BATCHES: usize = 64;
/// How long the sampler waits at the end for the last of them.
const PATIENCE: Duration = Duration::from_secs(2);

/// A log that was named.
#[derive(Clone)]
struct Named {
    source: LogSource,
    /// Whether it is a file that was not there when the recording began.
    is_awaited: bool,
}

/// Opens it where logs were named.
pub(crate) fn open(opening: &mut Opening<'_>) -> Option<Box<dyn Collector>> {
    let named = |source: &LogSource| Named {
        source: source.clone(),
        is_awaited: matches!(source, LogSource::File(path) if !path.exists()),
    };
    let logs: Vec<Named> = opening.settings.logs.iter().map(named).collect();
    for log in logs.iter().filter(|it| it.is_awaited) {
        let why = "it did not exist when the recording began: it is read from its beginning as soon as it is there";
        let gap = GapReason::Unsupported(why.into());
        opening.out.gaps.report(&LOG.name, log.name(), gap);
    }
    (!logs.is_empty()).then(|| {
        let tables = [&LOG, &LOG_TEMPLATE, &LOGGED_CALL];
        let tables = tables.map(|it| opening.out.open(it));
        Box::new(Logs::new(logs, tables)) as Box<dyn Collector>
    })
}

impl Named {
    fn name(&self) -> Part {
        Part::name(EntityKind::Log, self.source.to_string())
    }

    fn entity(&self) -> Entity {
        let name = self.source.to_string();
        let path = match &self.source {
            LogSource::File(path) => std::path::absolute(path).ok(),
            LogSource::Journal(_) => None,
        };
        let path = path.map_or_else(|| name.clone(), |it| it.display().to_string());
        Entity::new(EntityKind::Log, name, path)
    }
}

struct Logs {
    named: Vec<Named>,
    /// Of logs, templates and calls.
    tables: [TableId; 3],
    /// By the number of the log.
    series: HashMap<(usize, Subject), Series>,
    /// Templates and calls so far: their paths differ by it.
    count: u64,
    /// The last reading of which something is known, by log.
    read: Vec<Timestamp>,
    /// Closed to end the worker.
    stop: Option<Sender<()>>,
    batches: Option<Receiver<Batch>>,
}

struct Series {
    entity: EntityId,
    table: TableId,
    last: RowDeduplicator,
}

impl Logs {
    fn new(named: Vec<Named>, tables: [TableId; 3]) -> Self {
        Self {
            read: vec![Timestamp::default(); named.len()],
            named,
            tables,
            series: HashMap::new(),
            count: 0,
            stop: None,
            batches: None,
        }
    }

    fn take(&mut self, mut batch: Batch, out: &mut Output) {
        for change in &mut batch.changes {
            if change.subject == Subject::Log {
                change.counts.push(batch.rotations.cast_signed());
            }
        }
        for change in &batch.changes {
            self.write(&batch, change, out);
        }
        self.read[batch.log] = batch.at;
        let name = || self.named[batch.log].name();
        if let Some(trouble) = batch.trouble {
            let why = GapReason::Unsupported(trouble.into());
            out.gaps.report(&LOG.name, name(), why);
        }
        if let Some(lines) = batch.unmined_lines {
            let what = sentence!("lines of {} that were counted only", name());
            let lost = GapReason::Dropped(lines);
            out.gaps.report(&LOG_TEMPLATE.name, what, lost);
        }
        if let Some(bytes) = batch.skipped_bytes {
            let what = sentence!("bytes of {} that were not read", name());
            out.gaps.report(&LOG.name, what, GapReason::Dropped(bytes));
        }
    }

    fn write(&mut self, batch: &Batch, change: &Change, out: &mut Output) {
        let key = (batch.log, change.subject);
        if !self.series.contains_key(&key) {
            let begun = self.begin(batch.log, change, batch.before, out);
            self.series.insert(key, begun);
        } else if let Some(name) = &change.name
            && let Some(series) = self.series.get(&key)
        {
            out.registry.change(series.entity, batch.at, |record| {
                record.entity.name.clone_from(name);
            });
        }
        if let Some(Series { table, last, .. }) = self.series.get_mut(&key) {
            // Nothing had changed up to the reading before.
            if last.time() < batch.before {
                last.unchanged(batch.before);
            }
            last.take(batch.at, &change.counts, &mut out.tables[*table]);
        }
    }

    /// Begins to count from 0 at the reading before.
    fn begin(
        &mut self,
        log: usize,
        change: &Change,
        before: Timestamp,
        out: &mut Output,
    ) -> Series {
        let [of_log, of_template, of_call] = self.tables;
        let (kind, table) = match change.subject {
            Subject::Log => (EntityKind::Log, of_log),
            Subject::Template(_) => (EntityKind::LogTemplate, of_template),
            Subject::Call(_) => (EntityKind::LoggedCall, of_call),
        };
        let parent = self.series.get(&(log, Subject::Log)).map(|it| it.entity);
        let entity = match change.subject {
            Subject::Log => self.named[log].entity(),
            _ => {
                self.count += 1;
                let name = change.name.clone().unwrap_or_default();
                Entity::new(kind, name, format!("{kind}:{}", self.count))
            }
        };
        let parent = Some(parent.unwrap_or(MACHINE));
        let entity = out.registry.add(entity, parent, before);
        let width = out.tables[table].table.columns.len();
        let mut last = RowDeduplicator::new(entity, width);
        last.take(before, &vec![0; width], &mut out.tables[table]);
        Series {
            entity,
            table,
            last,
        }
    }
}

impl Collector for Logs {
    fn begin(&mut self, now: Timestamp) {
        let (stop, stopped) = channel();
        let (filled, batches) = sync_channel(BATCHES);
        let named = self.named.clone();
        let run = move || Worker::new(&named, now).run(&stopped, &filled);
        // Without a thread nothing is read, and `finish` says so.
        let thread = std::thread::Builder::new().name("logs".to_owned());
        if thread.spawn(run).is_ok() {
            self.batches = Some(batches);
        }
        self.stop = Some(stop);
        self.read.fill(now);
    }

    fn sample(&mut self, _tick: &Tick, _scene: &mut Scene, out: &mut Output) {
        while let Some(batch) = self.batches.as_ref().and_then(|it| it.try_recv().ok()) {
            self.take(batch, out);
        }
    }

    fn finish(&mut self, _scene: &mut Scene, out: &mut Output) {
        drop(self.stop.take());
        match self.batches.take() {
            // The worker drops its end when it has sent the last one.
            Some(batches) => {
                while let Ok(batch) = batches.recv_timeout(PATIENCE) {
                    self.take(batch, out);
                }
            }
            None => {
                let why = GapReason::Unsupported("no thread could be started to read logs".into());
                out.gaps.report(&LOG.name, "", why);
            }
        }
        let now = kernel::clock::boottime();
        for series in self.series.values_mut() {
            series.last.unchanged(now);
            series.last.finish(&mut out.tables[series.table]);
        }
    }
}
