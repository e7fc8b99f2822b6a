//! Time by statement of a database server, as rows: one entity per statement of a pool.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use model::{Entity, EntityId, EntityKind, GapReason, MISSING, Timestamp, sentence};
use sensors::statement::{
    CALLS, NO_STATEMENT, OTHER_STATEMENTS, Rare, STATEMENT, WIDTH, path_of, since_unix_us, unknown,
    without_values,
};

use crate::output::{Output, TableId};
use crate::table_buffer::{RowDeduplicator, TableBuffer};
use crate::thread_time::wakeups::{Around, Wakeups};
use kernel::Clocks;
use kernel::bpf::thread_time::{StatementBuffer, StatementSum, ThreadTime};

/// Statements of a recording with an entity of their own; more are one.
const MOST_STATEMENTS: usize = 2_000;
/// From so many entries in the programs on, those are removed that have not changed for so many readings.
const MANY: usize = 3_000;
const READINGS_IDLE: u32 = 30;
/// Readings for which the text of a new statement is looked for.
const MOST_LOOKS: u32 = 5;
/// Stands for all statements beyond `MOST_STATEMENTS`. One may have this hash, as likely as any other.
const OTHERS: u64 = u64::MAX;

/// Sums of one statement: its parts, then how often it began.
type Sums = [i64; CALLS + 1];

/// One statement of one pool.
struct Counted {
    last: RowDeduplicator,
    /// As of this reading, and of entries that were removed from the programs.
    sums: Sums,
    removed: Sums,
    started_us: i64,
    id: u64,
    rare: i64,
    /// Readings in which its text was looked for, or `MOST_LOOKS` once it is known.
    looks: u32,
    /// Readings without a change.
    idle: u32,
}

/// The statements of all pools.
pub(crate) struct Statements {
    batch: StatementBuffer,
    sums: Vec<StatementSum>,
    counted: HashMap<(EntityId, u64), Counted>,
    /// Additions that found no room so far.
    drops: u64,
    table: TableId,
}

impl Statements {
    pub(crate) fn new(out: &mut Output) -> Self {
        Self {
            batch: StatementBuffer::default(),
            sums: Vec::new(),
            counted: HashMap::new(),
            drops: 0,
            table: out.open(&STATEMENT),
        }
    }

    /// Reads all sums, after removing statements of pools that are gone.
    pub(crate) fn sample(&mut self, pools: &mut Wakeups, around: &mut Around<'_>) {
        self.evict(around);
        self.sums.clear();
        let gaps = &mut around.out.gaps;
        match around.programs.statements(&mut self.batch, &mut self.sums) {
            Ok(losses) => {
                let lost = losses.drops - std::mem::replace(&mut self.drops, losses.drops);
                if lost > 0 {
                    let what = "time of more statements than there is room for";
                    gaps.report(&STATEMENT.name, what, GapReason::Dropped(lost));
                }
            }
            Err(why) => {
                let reason =
                    GapReason::Unsupported(sentence!("the map that counts them: {}", &why));
                gaps.report(&STATEMENT.name, "", reason);
                return;
            }
        }
        for place in 0..self.sums.len() {
            let sum = self.sums[place];
            // An unknown pool will be found later.
            if let Some(pool) = pools.pool(sum.pool, around) {
                self.add(pool, &sum, around);
            }
        }
        let ahead_ns = realtime_ahead_ns();
        let buffer = &mut around.out.tables[self.table];
        for counted in self.counted.values_mut() {
            counted.write(around.now, ahead_ns, buffer);
        }
    }

    /// Adds to a statement of a pool; several of the programs' numbers may belong to one pool.
    fn add(&mut self, pool: EntityId, sum: &StatementSum, around: &mut Around<'_>) {
        let is_many = self.sums.len() >= MANY;
        let is_full = self.counted.len() >= MOST_STATEMENTS;
        let is_other = is_full && !self.counted.contains_key(&(pool, sum.id));
        let id = if is_other { OTHERS } else { sum.id };
        let counted = match self.counted.entry((pool, id)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => match Counted::new(pool, id, around) {
                Some(new) => place.insert(new),
                None => return,
            },
        };
        counted.find_text(around);
        counted.started_us = counted.started_us.max(sum.started_us);
        let is_over = is_other || (is_many && counted.idle >= READINGS_IDLE);
        let into = match is_over && around.programs.forget_statement(sum).is_ok() {
            true => &mut counted.removed,
            false => &mut counted.sums,
        };
        for (total, part) in into.iter_mut().zip(sum.ns.iter().chain([&sum.calls])) {
            *total += part.cast_signed();
        }
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

    /// Ends all series; says where statements have no ids, and what samples would have added.
    pub(crate) fn finish(&mut self, programs: &ThreadTime, out: &mut Output) {
        let buffer = &mut out.tables[self.table];
        self.counted
            .values_mut()
            .for_each(|it| it.last.finish(buffer));
        self.sums.clear();
        let losses = programs.statements(&mut self.batch, &mut self.sums);
        let has_ids = self.sums.iter().any(|it| it.id != 0);
        if losses.is_ok_and(|it| it.unnumbered > 0) && !has_ids && !self.counted.is_empty() {
            let reason = GapReason::Unsupported(sentence!(
                "PostgreSQL gives them no ids: ALTER SYSTEM SET compute_query_id = on; SELECT pg_reload_conf();"
            ));
            out.gaps.report(&STATEMENT.name, "", reason);
        }
        if let Some(why) = programs.unsampled_statements().filter(|_| has_ids) {
            let reason = GapReason::Unsupported(sentence!(
                "what runs on a CPU is not sampled, so statements that follow each other without a sleep are not told apart: {}",
                why
            ));
            out.gaps.report(&STATEMENT.name, "", reason);
        }
    }
}

impl Counted {
    /// `None` where the pool is gone.
    fn new(pool: EntityId, id: u64, around: &mut Around<'_>) -> Option<Self> {
        let of = &around.out.registry.get(pool)?.entity.path;
        let path = format!("{of}/{}", path_of(id.cast_signed()));
        let name = match id {
            0 => NO_STATEMENT.to_owned(),
            OTHERS => OTHER_STATEMENTS.to_owned(),
            id => unknown(id.cast_signed()),
        };
        let entity = Entity::new(EntityKind::Statement, name, path);
        let entity = around.out.registry.add(entity, Some(pool), around.now);
        Some(Self {
            last: RowDeduplicator::new(entity, WIDTH),
            sums: [0; CALLS + 1],
            removed: [0; CALLS + 1],
            started_us: i64::MIN,
            id,
            rare: 0,
            looks: if matches!(id, 0 | OTHERS) {
                MOST_LOOKS
            } else {
                0
            },
            idle: 0,
        })
    }

    /// Calls the statement after its text, as soon as that is known.
    fn find_text(&mut self, around: &mut Around<'_>) {
        if self.looks >= MOST_LOOKS {
            return;
        }
        self.looks += 1;
        let Some(text) = around.programs.take_statement_text(self.id) else {
            return;
        };
        self.looks = MOST_LOOKS;
        let text = without_values(&text);
        self.rare = Rare::of(&text).map_or(0, |rare| rare as i64);
        if !text.is_empty() {
            let entity = self.last.entity();
            let registry = &mut around.out.registry;
            registry.change(entity, around.now, |it| it.entity.name = text);
        }
    }

    fn write(&mut self, now: Timestamp, ahead_ns: i64, buffer: &mut TableBuffer) {
        let sums = std::mem::take(&mut self.sums);
        let mut row = [MISSING; WIDTH];
        for ((value, sum), removed) in row.iter_mut().zip(sums).zip(self.removed) {
            *value = sum + removed;
        }
        let is_same = row[..=CALLS] == self.last.values()[..=CALLS];
        self.idle = if is_same {
            self.idle.saturating_add(1)
        } else {
            0
        };
        let started = since_unix_us(self.started_us).checked_mul(1_000);
        let started = started.filter(|it| *it > 0 && self.id != 0);
        // A clock that was set meanwhile must not change what is known.
        row[CALLS + 1] = match is_same {
            true => self.last.values()[CALLS + 1],
            false => started.map_or(MISSING, |it| it - ahead_ns),
        };
        row[CALLS + 2] = if self.id == OTHERS {
            MISSING
        } else {
            self.id.cast_signed()
        };
        row[CALLS + 3] = self.rare;
        self.last.take(now, &row, buffer);
    }
}

/// CLOCK_REALTIME less CLOCK_BOOTTIME, ns.
fn realtime_ahead_ns() -> i64 {
    let clocks = Clocks::read();
    clocks.realtime_ns - clocks.boottime.as_ns()
}
