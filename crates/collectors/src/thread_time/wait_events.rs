//! Waits by the application's wait event, as rows: one entity per wait event of a pool.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use model::{Entity, EntityId, EntityKind, GapReason, Timestamp, sentence};
use sensors::wait_event::{self, VERSIONS, WAIT_EVENT};

use crate::output::{Output, TableId};
use crate::table_buffer::RowDeduplicator;
use crate::thread_time::wakeups::{Around, Wakeups};
use kernel::bpf::thread_time::{WaitEventBuffer, WaitEventSum};

/// Columns of the table.
const WIDTH: usize = 3;

/// Waits of one pool in one wait event.
struct Counted {
    last: RowDeduplicator,
    /// Time, ns, and number of waits, as of this reading.
    sums: [i64; 2],
    wait_event: i64,
}

/// The wait events of all pools.
pub(crate) struct WaitEvents {
    batch: WaitEventBuffer,
    sums: Vec<WaitEventSum>,
    counted: HashMap<(EntityId, u32), Counted>,
    /// Known pools, by the programs' numbers.
    known_pools: HashSet<u64>,
    /// Additions that found no room so far.
    drops: u64,
    table: TableId,
}

impl WaitEvents {
    pub(crate) fn new(out: &mut Output) -> Self {
        Self {
            batch: WaitEventBuffer::default(),
            sums: Vec::new(),
            counted: HashMap::new(),
            known_pools: HashSet::new(),
            drops: 0,
            table: out.open(&WAIT_EVENT),
        }
    }

    /// Reads all sums, after removing those of pools that are gone.
    pub(crate) fn sample(&mut self, pools: &mut Wakeups, around: &mut Around<'_>) {
        self.evict(around);
        self.sums.clear();
        let gaps = &mut around.out.gaps;
        match around.programs.wait_events(&mut self.batch, &mut self.sums) {
            Ok(drops) => {
                let lost = drops - std::mem::replace(&mut self.drops, drops);
                if lost > 0 {
                    let what = "waits with more different names than there is room for";
                    gaps.report(&WAIT_EVENT.name, what, GapReason::Dropped(lost));
                }
            }
            Err(why) => {
                let reason =
                    GapReason::Unsupported(sentence!("the map that counts them: {}", &why));
                gaps.report(&WAIT_EVENT.name, "", reason);
                return;
            }
        }
        for place in 0..self.sums.len() {
            let sum = self.sums[place];
            match pools.pool(sum.pool, around) {
                Some(pool) => self.add(pool, &sum, around),
                // An unknown pool will be found later, a known one is gone.
                None if self.known_pools.contains(&sum.pool) => {
                    let _ = around.programs.forget_wait_event(&sum);
                }
                None => {}
            }
        }
        let buffer = &mut around.out.tables[self.table];
        for counted in self.counted.values_mut() {
            let sums = std::mem::take(&mut counted.sums);
            let row = [sums[0], sums[1], counted.wait_event];
            counted.last.take(around.now, &row, buffer);
        }
    }

    /// Adds to a pool's wait event; several of the programs' numbers may belong to one pool.
    fn add(&mut self, pool: EntityId, sum: &WaitEventSum, around: &mut Around<'_>) {
        self.known_pools.insert(sum.pool);
        let counted = match self.counted.entry((pool, sum.wait_event)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => match Counted::new(pool, sum.wait_event, around) {
                Some(new) => place.insert(new),
                None => return,
            },
        };
        counted.sums[0] += sum.ns.cast_signed();
        counted.sums[1] += sum.waits.cast_signed();
    }

    fn evict(&mut self, around: &mut Around<'_>) {
        let Output {
            tables, registry, ..
        } = &mut *around.out;
        let buffer = &mut tables[self.table];
        self.counted.retain(|(pool, _), counted| {
            let stays = registry.get(*pool).is_some();
            if !stays {
                counted.last.finish(buffer);
                registry.vanish(counted.last.entity(), around.now);
            }
            stays
        });
    }

    /// Notes that nothing has changed up to `at`.
    pub(crate) fn unchanged(&mut self, at: Timestamp) {
        let counted = self.counted.values_mut();
        counted.for_each(|it| it.last.unchanged(at));
    }

    /// Ends all series.
    pub(crate) fn finish(&mut self, out: &mut Output) {
        let buffer = &mut out.tables[self.table];
        self.counted
            .values_mut()
            .for_each(|it| it.last.finish(buffer));
    }
}

impl Counted {
    /// `None` for a value that is no wait event of a known PostgreSQL version.
    fn new(pool: EntityId, wait_event: u32, around: &mut Around<'_>) -> Option<Self> {
        let name = wait_event::title(VERSIONS, wait_event)?;
        let path = format!(
            "{}/event:{wait_event}",
            around.out.registry.get(pool)?.entity.path
        );
        let entity = Entity::new(EntityKind::WaitEvent, name, path);
        let entity = around.out.registry.add(entity, Some(pool), around.now);
        Some(Self {
            last: RowDeduplicator::new(entity, WIDTH),
            sums: [0; 2],
            wait_event: wait_event.into(),
        })
    }
}
