//! Wakers, as rows: the pool of each thread, and which pools or processes ended the waits of each pool.

use std::collections::HashMap;

use model::{
    Entity, EntityId, EntityKind, GapReason, MISSING, ThreadTimeClass, Timestamp, sentence,
};
use sensors::wakeup::{self, By, CLASSES, THREAD_POOL, WAKEUP, WIDTH};

use crate::output::{Output, TableId};
use crate::processes::Processes;
use crate::table_buffer::RowDeduplicator;
use kernel::bpf::thread_time::{Pair, Sum, ThreadTime, WakeupBuffer};

/// Indices of the columns after the classes.
const WAIT: usize = CLASSES.len();
const WAITS: usize = WAIT + 1;
const ON_CPU: usize = 0;
const READY: usize = 1;

/// One pool of threads.
struct Pool {
    tgid: u32,
    process: EntityId,
    name: String,
    /// Number of wakers of its waits so far.
    wakers: u32,
}

/// Key of waits that are reported together: woken pool, class, waker, whether inside requests.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Between {
    woken: EntityId,
    class: usize,
    by: u8,
    /// A pool or a process; `None` for other kinds, and for a process that exited before it was looked up.
    waker: Option<EntityId>,
    /// enum serving_state
    serving: u8,
}

/// Sums of these waits so far.
struct Counted {
    last: RowDeduplicator,
    sums: [i64; WIDTH],
    changed: bool,
}

/// A thread's pool, as rows.
struct Member {
    last: RowDeduplicator,
    seen: Timestamp,
}

/// Context for resolving pools and processes.
pub(crate) struct Around<'a> {
    pub(crate) now: Timestamp,
    pub(crate) processes: &'a Processes,
    pub(crate) out: &'a mut Output,
    pub(crate) programs: &'a mut ThreadTime,
}

/// All wakers.
pub(crate) struct Wakeups {
    batch: WakeupBuffer,
    /// Pools by the programs' numbers; `w9` and `w10` are the same pool with two numbers.
    numbers: HashMap<u64, EntityId>,
    pools: HashMap<EntityId, Pool>,
    /// Number of pools so far; they are numbered.
    pool_count: u32,
    counted: HashMap<Between, Counted>,
    members: HashMap<u32, Member>,
    /// Waits that found no room so far.
    drops: u64,
    /// Where rows of wakers go.
    wakers: TableId,
    /// Where rows of threads' pools go.
    thread_pools: TableId,
}

impl Wakeups {
    pub(crate) fn new(out: &mut Output) -> Self {
        Self {
            batch: WakeupBuffer::default(),
            numbers: HashMap::new(),
            pools: HashMap::new(),
            pool_count: 0,
            counted: HashMap::new(),
            members: HashMap::new(),
            drops: 0,
            wakers: out.open(&WAKEUP),
            thread_pools: out.open(&THREAD_POOL),
        }
    }

    /// Forgets pools and threads whose process has exited.
    pub(crate) fn evict(&mut self, around: &mut Around<'_>) {
        let Around {
            now,
            processes,
            out,
            ..
        } = around;
        let Output {
            tables, registry, ..
        } = &mut **out;
        let Self {
            numbers,
            pools,
            counted,
            wakers,
            ..
        } = self;
        let buffer = &mut tables[*wakers];
        pools.retain(|entity, pool| {
            let stays = processes.entity(pool.tgid) == Some(pool.process);
            if !stays {
                registry.vanish(*entity, *now);
            }
            stays
        });
        numbers.retain(|_, pool| pools.contains_key(pool));
        counted.retain(|between, counted| {
            // Vanished entities are not in the registry.
            let is_there = |who| registry.get(who).is_some();
            let stays = is_there(between.woken) && between.waker.is_none_or(is_there);
            if !stays {
                counted.last.finish(buffer);
                registry.vanish(counted.last.entity(), *now);
            }
            stays
        });
    }

    /// Notes the pool of each thread in the last reading; `thread` returns the entity of a tid.
    pub(crate) fn place(
        &mut self,
        thread: impl Fn(u32) -> Option<EntityId>,
        around: &mut Around<'_>,
    ) {
        for place in 0.. {
            let Some(record) = around.programs.record(place) else {
                break;
            };
            let (Some(entity), Some(pool)) = (thread(record.tid), self.pool(record.pool, around))
            else {
                continue;
            };
            let buffer = &mut around.out.tables[self.thread_pools];
            let members = self.members.entry(record.tid);
            let member = members.or_insert_with(|| Member::of(entity));
            if member.last.entity() != entity {
                member.last.finish(buffer);
                *member = Member::of(entity);
            }
            member.seen = around.now;
            member.last.take(around.now, &[i64::from(pool.0)], buffer);
        }
        let buffer = &mut around.out.tables[self.thread_pools];
        self.members.retain(|_, member| {
            let stays = member.seen == around.now;
            if !stays {
                member.last.finish(buffer);
            }
            stays
        });
    }

    /// Reads the sums since the last time.
    pub(crate) fn sample(&mut self, around: &mut Around<'_>) {
        let gaps = &mut around.out.gaps;
        match around.programs.take_wakeups(&mut self.batch) {
            Ok(drops) => {
                let lost = drops - std::mem::replace(&mut self.drops, drops);
                if lost > 0 {
                    let what = "wake-ups between more pools than there is room for";
                    gaps.report(&WAKEUP.name, what, GapReason::Dropped(lost));
                }
            }
            Err(why) => {
                let reason =
                    GapReason::Unsupported(sentence!("the map that counts them: {}", &why));
                gaps.report(&WAKEUP.name, "", reason);
            }
        }
        for place in 0.. {
            let Some((pair, sum)) = self.batch.get(place) else {
                break;
            };
            self.add(&pair, &sum, around);
        }
        let buffer = &mut around.out.tables[self.wakers];
        for counted in self.counted.values_mut() {
            if std::mem::take(&mut counted.changed) {
                counted.last.take(around.now, &counted.sums, buffer);
            } else {
                counted.last.unchanged(around.now);
            }
        }
    }

    fn add(&mut self, pair: &Pair, sum: &Sum, around: &mut Around<'_>) {
        let (Some(class), Some(before)) = (column(pair.class), column(pair.before)) else {
            return;
        };
        // If the process has exited, the pool is unknown.
        let Some(woken) = self.pool(pair.woken, around) else {
            return;
        };
        let waker = match By::new(pair.by.into()) {
            Some(By::Pool) => self.pool(pair.waker, around),
            Some(By::Background) => around.processes.entity(pair.waker as u32),
            _ => None,
        };
        let between = Between {
            woken,
            class,
            by: pair.by,
            waker,
            serving: pair.serving,
        };
        if !self.counted.contains_key(&between) {
            self.track(between, around);
        }
        let Some(counted) = self.counted.get_mut(&between) else {
            return;
        };
        counted.sums[WAITS] += sum.waits.cast_signed();
        let mut add = |column: usize, more: u64| {
            counted.sums[column] += more.cast_signed();
        };
        add(WAIT, sum.ns);
        add(ON_CPU, sum.on_cpu_ns);
        add(READY, sum.ready_ns);
        add(before, sum.blocked_ns);
        counted.changed = true;
    }

    fn track(&mut self, between: Between, around: &mut Around<'_>) {
        let Some(pool) = self.pools.get_mut(&between.woken) else {
            return;
        };
        let known = |who| around.out.registry.get(who).map(|it| &it.entity);
        let Some(woken) = known(between.woken) else {
            return;
        };
        let waker = between.waker.and_then(known);
        let name = match By::new(between.by.into()) {
            _ if waker.is_some() => waker.map_or("", |it| &it.name),
            Some(By::Interrupt) => "interrupt",
            Some(By::Kernel) => "kernel",
            _ => "ended",
        };
        pool.wakers += 1;
        let path = format!("{}/waker:{}", woken.path, pool.wakers);
        let entity = Entity::new(EntityKind::Waker, name, path);
        let entity = around
            .out
            .registry
            .add(entity, Some(between.woken), around.now);
        let mut sums = [0; WIDTH];
        sums[WAITS + 1..].copy_from_slice(&[
            between.class as i64,
            between.by.into(),
            between.waker.map_or(MISSING, |it| it.0.into()),
            between.serving.into(),
        ]);
        let counted = Counted {
            last: RowDeduplicator::new(entity, WIDTH),
            sums,
            changed: false,
        };
        self.counted.insert(between, counted);
    }

    /// The pool of a number; `None` for 0, and if its process has exited.
    pub(crate) fn pool(&mut self, number: u64, around: &mut Around<'_>) -> Option<EntityId> {
        if let Some(known) = self.numbers.get(&number) {
            return Some(*known);
        }
        // A lookup in the map allocates, which must not happen for each thread without a pool at each
        // reading.
        if number == 0 {
            return None;
        }
        let (tgid, name) = around.programs.pool(number)?;
        let process = around.processes.entity(tgid)?;
        let mut pools = self.pools.iter();
        let same = pools.find(|(_, pool)| pool.process == process && pool.name == name);
        let entity = match same {
            Some((same, _)) => *same,
            None => {
                self.pool_count += 1;
                let of = around.out.registry.get(process)?;
                let path = format!("{}/pool:{}", of.entity.path, self.pool_count);
                let entity = Entity::new(EntityKind::Pool, &*name, path);
                let entity = around.out.registry.add(entity, Some(process), around.now);
                let new = Pool {
                    tgid,
                    process,
                    name,
                    wakers: 0,
                };
                self.pools.insert(entity, new);
                entity
            }
        };
        self.numbers.insert(number, entity);
        Some(entity)
    }

    /// Notes that nothing has changed up to `at`.
    pub(crate) fn unchanged(&mut self, at: Timestamp) {
        let counted = self.counted.values_mut();
        counted.for_each(|it| it.last.unchanged(at));
    }

    /// Ends all series.
    pub(crate) fn finish(&mut self, out: &mut Output) {
        let wakers = &mut out.tables[self.wakers];
        self.counted
            .values_mut()
            .for_each(|it| it.last.finish(wakers));
        let thread_pools = &mut out.tables[self.thread_pools];
        self.members
            .values_mut()
            .for_each(|it| it.last.finish(thread_pools));
    }
}

impl Member {
    fn of(thread: EntityId) -> Self {
        Self {
            last: RowDeduplicator::new(thread, THREAD_POOL.columns.len()),
            seen: Timestamp::default(),
        }
    }
}

/// The column of a class (enum thread_time_class).
fn column(class: u8) -> Option<usize> {
    let class = ThreadTimeClass::ALL.get(usize::from(class))?;
    wakeup::place(class.ledger())
}
