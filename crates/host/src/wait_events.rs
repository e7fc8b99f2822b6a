//! What applications themselves say that they wait for, as rows: one entity for each word of a pool.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use model::{Entity, EntityId, EntityKind, GapReason};
use sensors::wait_event::{self, VERSIONS, WAIT_EVENT};

use crate::bpf::ledger::{Said, SaidRoom};
use crate::gaps::Gaps;
use crate::intake::{Intake, LastSeen};
use crate::stretched::Stretched;
use crate::wakeups::{Around, Wakeups};

/// Columns of the table.
const WIDTH: usize = 3;

/// What was counted of one word of a pool.
struct Counted {
    last: LastSeen,
    /// Time and waits, at this reading.
    sums: [i64; 2],
    stretched: Stretched<2>,
    word: i64,
}

/// The words of all pools.
pub(crate) struct WaitEvents {
    room: SaidRoom,
    said: Vec<Said>,
    counted: HashMap<(EntityId, u32), Counted>,
    /// Pools that were met, as the programs number them.
    met: HashSet<u64>,
    /// How often there was no room so far.
    drops: u64,
    pub(crate) intake: Intake,
}

impl WaitEvents {
    pub(crate) fn new() -> Self {
        Self {
            room: SaidRoom::new(),
            said: Vec::new(),
            counted: HashMap::new(),
            met: HashSet::new(),
            drops: 0,
            intake: Intake::new(&WAIT_EVENT),
        }
    }

    /// Reads all sums; after those pools have been let go that are no more.
    pub(crate) fn sample(&mut self, gaps: &mut Gaps, pools: &mut Wakeups, around: &mut Around<'_>) {
        self.let_go(around);
        self.said.clear();
        match around.programs.said(&mut self.room, &mut self.said) {
            Ok(drops) => {
                let lost = drops - std::mem::replace(&mut self.drops, drops);
                if lost > 0 {
                    let what = "waits with more different names than there is room for";
                    gaps.say(&WAIT_EVENT.name, what, GapReason::Dropped(lost));
                }
            }
            Err(why) => {
                let reason = GapReason::Unsupported(format!("the map that counts them: {why}"));
                gaps.say(&WAIT_EVENT.name, "", reason);
                return;
            }
        }
        for place in 0..self.said.len() {
            let said = self.said[place];
            match pools.pool(said.pool, around) {
                Some(pool) => self.add(pool, &said, around),
                // A pool that is not known yet will be.
                None if self.met.contains(&said.pool) => {
                    let _ = around.programs.forget_said(&said);
                }
                None => {}
            }
        }
        for counted in self.counted.values_mut() {
            let mut sums = std::mem::take(&mut counted.sums);
            let more = around.factors.map(|factor| factor - 1.0);
            counted.stretched.take_each(&mut sums, Some(more));
            let row = [sums[0], sums[1], counted.word];
            counted.last.take(around.now, &row, &mut self.intake);
        }
    }

    /// Adds to what a pool said; several of the programs' numbers may be one.
    fn add(&mut self, pool: EntityId, said: &Said, around: &mut Around<'_>) {
        self.met.insert(said.pool);
        let counted = match self.counted.entry((pool, said.word)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => match Counted::new(pool, said.word, around) {
                Some(new) => place.insert(new),
                None => return,
            },
        };
        counted.sums[0] += said.ns.cast_signed();
        counted.sums[1] += said.waits.cast_signed();
    }

    fn let_go(&mut self, around: &mut Around<'_>) {
        let intake = &mut self.intake;
        self.counted.retain(|(pool, _), counted| {
            let stays = around.registry.get(*pool).is_some();
            if !stays {
                counted.last.finish(intake);
                around.registry.vanish(counted.last.entity(), around.now);
            }
            stays
        });
    }

    /// Ends all series.
    pub(crate) fn finish(&mut self) {
        let intake = &mut self.intake;
        self.counted
            .values_mut()
            .for_each(|it| it.last.finish(intake));
    }
}

impl Counted {
    /// `None` for what is no wait of a version that is known.
    fn new(pool: EntityId, word: u32, around: &mut Around<'_>) -> Option<Self> {
        let name = wait_event::title(VERSIONS, word)?;
        let path = format!("{}/event:{word}", around.registry.get(pool)?.entity.path);
        let entity = Entity::new(EntityKind::WaitEvent, name, path);
        let entity = around.registry.add(entity, Some(pool), around.now);
        Some(Self {
            last: LastSeen::new(entity, WIDTH),
            sums: [0; 2],
            stretched: Stretched::new([0; 2]),
            word: word.into(),
        })
    }
}
