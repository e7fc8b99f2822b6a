//! Who woke whom, as rows: which pool each thread is of, and who ended the waits of each pool.

use std::collections::HashMap;

use model::{Entity, EntityId, EntityKind, GapReason, MISSING, Timestamp};
use sensors::ledger::THREAD_LEDGER;
use sensors::wakeup::{self, CLASSES, THREAD_POOL, WAKEUP, WIDTH};

use crate::bpf::ledger::{Ledger, Pair, Room, Sum};
use crate::gaps::Gaps;
use crate::intake::{Intake, LastSeen};
use crate::processes::Processes;
use crate::registry::Registry;

/// Places of the columns behind the classes.
const WAIT: usize = CLASSES.len();
const WAITS: usize = WAIT + 1;
const ON_CPU: usize = 0;
const READY: usize = 1;

/// Who ended waits, as the programs say it (enum wakeup_by).
mod by {
    pub(super) const POOL: u8 = 1;
    pub(super) const OTHER: u8 = 2;
    pub(super) const INTERRUPT: u8 = 3;
    pub(super) const KERNEL: u8 = 4;
}

/// One pool of threads.
struct Pool {
    entity: EntityId,
    tgid: u32,
    process: EntityId,
    /// How many there were who ended its waits.
    wakers: u32,
}

/// Which waits are told as one: those of a pool, in a class, by whom.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Between {
    woken: u64,
    class: usize,
    by: u8,
    waker: u64,
}

/// What was counted of them so far.
struct Counted {
    last: LastSeen,
    sums: [i64; WIDTH],
    /// Who ends them, where that is an entity.
    waker: Option<EntityId>,
    changed: bool,
}

/// A thread's place.
struct Member {
    last: LastSeen,
    seen: Timestamp,
}

/// What is needed to tell who somebody is.
pub(crate) struct Around<'a> {
    pub(crate) now: Timestamp,
    pub(crate) processes: &'a Processes,
    pub(crate) registry: &'a mut Registry,
    pub(crate) programs: &'a mut Ledger,
}

/// Who woke whom.
pub(crate) struct Wakeups {
    room: Room,
    pools: HashMap<u64, Pool>,
    /// How many pools were met; they are numbered.
    met: u32,
    counted: HashMap<Between, Counted>,
    members: HashMap<u32, Member>,
    /// For how many there was no room so far.
    drops: u64,
    pub(crate) intakes: [Intake; 2],
}

impl Wakeups {
    pub(crate) fn new() -> Self {
        Self {
            room: Room::new(),
            pools: HashMap::new(),
            met: 0,
            counted: HashMap::new(),
            members: HashMap::new(),
            drops: 0,
            intakes: [Intake::new(&WAKEUP), Intake::new(&THREAD_POOL)],
        }
    }

    /// Lets those go whose process has ended.
    pub(crate) fn let_go(&mut self, around: &mut Around<'_>) {
        let Around {
            now,
            processes,
            registry,
            ..
        } = around;
        let Self {
            pools,
            counted,
            intakes: [intake, _],
            ..
        } = self;
        pools.retain(|_, pool| {
            let stays = processes.entity(pool.tgid) == Some(pool.process);
            if !stays {
                registry.vanish(pool.entity, *now);
            }
            stays
        });
        counted.retain(|between, counted| {
            let waker_stays = match between.by {
                by::POOL => pools.contains_key(&between.waker),
                by::OTHER if between.waker != 0 => {
                    processes.entity(between.waker as u32) == counted.waker
                }
                _ => true,
            };
            let stays = waker_stays && pools.contains_key(&between.woken);
            if !stays {
                counted.last.finish(intake);
                registry.vanish(counted.last.entity(), *now);
            }
            stays
        });
    }

    /// Notes which pool each thread is of that was read; `thread` knows their entities.
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
            let [_, intake] = &mut self.intakes;
            let members = self.members.entry(record.tid);
            let member = members.or_insert_with(|| Member::of(entity));
            if member.last.entity() != entity {
                member.last.finish(intake);
                *member = Member::of(entity);
            }
            member.seen = around.now;
            member.last.take(around.now, &[i64::from(pool.0)], intake);
        }
        let [_, intake] = &mut self.intakes;
        self.members.retain(|_, member| {
            let stays = member.seen == around.now;
            if !stays {
                member.last.finish(intake);
            }
            stays
        });
    }

    /// Reads what was counted since the last time.
    pub(crate) fn sample(&mut self, gaps: &mut Gaps, around: &mut Around<'_>) {
        match around.programs.take_wakeups(&mut self.room) {
            Ok(drops) => {
                let lost = drops - std::mem::replace(&mut self.drops, drops);
                if lost > 0 {
                    let what = "wake-ups between more pools than there is room for";
                    gaps.say(&WAKEUP.name, what, GapReason::Dropped(lost));
                }
            }
            Err(why) => {
                let reason = GapReason::Unsupported(format!("the map that counts them: {why}"));
                gaps.say(&WAKEUP.name, "", reason);
            }
        }
        for place in 0.. {
            let Some((pair, sum)) = self.room.get(place) else {
                break;
            };
            self.add(&pair, &sum, around);
        }
        let [intake, _] = &mut self.intakes;
        for counted in self.counted.values_mut() {
            if std::mem::take(&mut counted.changed) {
                counted.last.take(around.now, &counted.sums, intake);
            } else {
                counted.last.unchanged(around.now);
            }
        }
    }

    fn add(&mut self, pair: &Pair, sum: &Sum, around: &mut Around<'_>) {
        let (Some(class), Some(before)) = (column(pair.class), column(pair.before)) else {
            return;
        };
        // Who ended before it was looked for is nobody in particular.
        let is_nobody = pair.by == by::OTHER
            && around.processes.entity(pair.waker as u32).is_none();
        let between = Between {
            woken: pair.woken,
            class,
            by: pair.by,
            waker: if is_nobody { 0 } else { pair.waker },
        };
        if !self.counted.contains_key(&between) && !self.meet(between, around) {
            return;
        }
        let Some(counted) = self.counted.get_mut(&between) else {
            return;
        };
        let mut add = |column: usize, more: u64| counted.sums[column] += more.cast_signed();
        add(WAIT, sum.ns);
        add(WAITS, sum.waits);
        add(ON_CPU, sum.on_cpu_ns);
        add(READY, sum.ready_ns);
        add(before, sum.blocked_ns);
        counted.changed = true;
    }

    /// Whether it is known who they are; a process may have ended before it was looked for.
    fn meet(&mut self, between: Between, around: &mut Around<'_>) -> bool {
        let Some(woken) = self.pool(between.woken, around) else {
            return false;
        };
        let waker = match between.by {
            by::POOL => self.pool(between.waker, around),
            by::OTHER if between.waker != 0 => around.processes.entity(between.waker as u32),
            _ => None,
        };
        let name = match (between.by, waker) {
            (_, Some(waker)) => {
                let known = around.registry.get(waker);
                known.map_or(String::new(), |it| it.entity.name.clone())
            }
            (by::INTERRUPT, _) => "interrupt".to_owned(),
            (by::KERNEL, _) => "kernel".to_owned(),
            (by::OTHER, _) => "ended".to_owned(),
            _ => return false,
        };
        let Some(pool) = self.pools.get_mut(&between.woken) else {
            return false;
        };
        pool.wakers += 1;
        let known = around.registry.get(woken);
        let path = known.map_or(String::new(), |it| it.entity.path.clone());
        let path = format!("{path}/waker:{}", pool.wakers);
        let entity = Entity::new(EntityKind::Waker, name, path);
        let entity = around.registry.add(entity, Some(woken), around.now);
        let mut sums = [0; WIDTH];
        sums[WAITS + 1..].copy_from_slice(&[
            between.class as i64,
            between.by.into(),
            waker.map_or(MISSING, |it| it.0.into()),
        ]);
        let counted = Counted {
            last: LastSeen::new(entity, WIDTH),
            sums,
            waker,
            changed: false,
        };
        self.counted.insert(between, counted);
        true
    }

    /// The pool of a number; `None` for 0, and where its process has ended.
    fn pool(&mut self, number: u64, around: &mut Around<'_>) -> Option<EntityId> {
        if let Some(known) = self.pools.get(&number) {
            return Some(known.entity);
        }
        let pool = around.programs.pool(number)?;
        let process = around.processes.entity(pool.tgid)?;
        self.met += 1;
        let of = around.registry.get(process)?;
        let path = format!("{}/pool:{}", of.entity.path, self.met);
        let entity = Entity::new(EntityKind::Pool, pool.name, path);
        let entity = around.registry.add(entity, Some(process), around.now);
        let new = Pool {
            entity,
            tgid: pool.tgid,
            process,
            wakers: 0,
        };
        self.pools.insert(number, new);
        Some(entity)
    }

    /// Ends all series.
    pub(crate) fn finish(&mut self) {
        let [pairs, members] = &mut self.intakes;
        self.counted
            .values_mut()
            .for_each(|it| it.last.finish(pairs));
        self.members
            .values_mut()
            .for_each(|it| it.last.finish(members));
    }
}

impl Member {
    fn of(thread: EntityId) -> Self {
        Self {
            last: LastSeen::new(thread, THREAD_POOL.columns.len()),
            seen: Timestamp::default(),
        }
    }
}

/// The column of a class of the programs' (enum ledger_class).
fn column(class: u8) -> Option<usize> {
    let column = THREAD_LEDGER.columns.get(usize::from(class))?;
    wakeup::place(sensors::ledger::class(&column.name)?)
}
