//! What block devices do, and for whom, where programs in the kernel may count it.
//!
//! The programs keep an account for each device, control group, process, file and journal, and here the accounts are
//! read. What has been idle for long is forgotten when accounts become few.

mod owner;
mod paths;

use model::{EntityId, GapReason, Timestamp};
use sensors::block_io::{BLOCK_IO, BUCKETS_FROM, SIZES, TIMES, WIDTH};
use sensors::{TICK, block_io};

use crate::collector::{Collector, Scan};
use crate::opening::Opening;
use crate::output::{Output, TableId};
use crate::scene::Scene;
use crate::schedule::ticks_of;
use crate::table_buffer::RowDeduplicator;
use crate::tick::Tick;
use kernel::bpf::Refusal;
use kernel::bpf::block::{Account, Block, MOST_ACCOUNTS, MOST_FILES, Scope, scope_of};

use owner::{Disks, Owner};
use paths::Paths;

/// Period of reading, in ticks.
const PERIOD_TICKS: u64 = ticks_of(TICK);
/// Accounts that may change in each period; where more do, all are read less often.
const MOST_CHANGING: usize = 256;
/// Where fewer than this part of the accounts is free, idle ones are taken back: those in which nothing has changed for
/// so long, ns. A build reads a thousand files a second, each of them once.
const FEW_LEFT: usize = 4;
const IDLE_NS: i64 = 10_000_000_000;
/// The same where they are fewer still.
const NEXT_TO_NONE_LEFT: usize = 16;
const JUST_IDLE_NS: i64 = 500_000_000;

/// Opens it if its programs are available.
pub(crate) fn open(opening: &mut Opening<'_>) -> Option<Box<dyn Collector>> {
    let mut block_io = opening.program("block", BlockIo::load)?;
    block_io.paths = Paths::of(&opening.settings.root);
    Some(Box::new(block_io))
}

/// One whom a device works for.
struct Stream {
    entity: EntityId,
    scope: Scope,
    last: RowDeduplicator,
    /// When something was last counted.
    changed: Timestamp,
    /// Whether it is read again although nothing was counted: its gauges may have changed.
    is_active: bool,
    /// Whether it is not known yet what people call it.
    is_nameless: bool,
    /// Whether its account was taken from it at the last reading.
    is_leaving: bool,
}

struct BlockIo {
    programs: Block,
    table: TableId,
    /// By place.
    streams: Vec<Option<Stream>>,
    /// Whether an account was there when sampling began, by place.
    of_setup: Vec<bool>,
    disks: Disks,
    paths: Paths,
    /// The reading before.
    before: Timestamp,
    /// Factor of the period.
    stretch: u64,
    unplaced_said: u64,
    lost_said: u64,
}

impl BlockIo {
    /// # Errors
    /// Why the programs are not available here.
    fn load(out: &mut Output) -> Result<Self, Refusal> {
        Ok(Self {
            programs: Block::load()?,
            table: out.open(&BLOCK_IO),
            streams: (0..=MOST_ACCOUNTS).map(|_| None).collect(),
            of_setup: vec![false; MOST_ACCOUNTS + 1],
            disks: Disks::default(),
            paths: Paths::default(),
            before: Timestamp::default(),
            stretch: 1,
            unplaced_said: 0,
            lost_said: 0,
        })
    }

    fn read(&mut self, now: Timestamp, scene: &Scene, out: &mut Output) {
        let mut changing = 0;
        for place in 1..=MOST_ACCOUNTS {
            let is_active = self.streams[place].as_ref().is_some_and(|it| it.is_active);
            if !is_active && !self.programs.has_changed(place) {
                continue;
            }
            let account = self.programs.account(place);
            let Some((account, scope)) = account.and_then(|it| Some((it, scope_of(&it)?))) else {
                continue;
            };
            changing += usize::from(self.take(place, scope, &account, now, scene, out));
        }
        self.programs.next_reading();
        self.before = now;
        self.stretch = changing.div_ceil(MOST_CHANGING).max(1) as u64;
        self.forget_idle(1, MOST_FILES, now);
        self.forget_idle(MOST_FILES + 1, MOST_ACCOUNTS, now);
        self.report_lost(out);
    }

    /// Takes in an account; whether anything was counted there.
    fn take(
        &mut self,
        place: usize,
        scope: Scope,
        account: &Account,
        now: Timestamp,
        scene: &Scene,
        out: &mut Output,
    ) -> bool {
        let row = row(account, self.programs.most_in_flight(account));
        if self.streams[place].is_none() {
            let Some(owner) = self.disks.owner(account, scope, scene, now, out) else {
                return false;
            };
            self.streams[place] = Some(self.begin(place, account, owner, &row, now, out));
        }
        let Some(stream) = &mut self.streams[place] else {
            return false;
        };
        let requests = stream.last.values()[REQUESTS];
        stream.last.take(now, &row, &mut out.tables[self.table]);
        stream.is_active = requests != row[REQUESTS] || account.in_flight > 0 || stream.is_leaving;
        if requests != row[REQUESTS] {
            stream.changed = now;
        }
        let is_active = stream.is_active;
        if stream.is_leaving && account.in_flight == 0 {
            self.end(place, now, out);
        }
        is_active
    }

    fn begin(
        &mut self,
        place: usize,
        account: &Account,
        owner: Owner,
        row: &[i64; WIDTH],
        now: Timestamp,
        out: &mut Output,
    ) -> Stream {
        let entity = out.registry.add(owner.entity, owner.parent, now);
        if let Scope::File { .. } = owner.scope {
            self.paths.look_for(account, entity);
        }
        let mut last = RowDeduplicator::new(entity, WIDTH);
        // What was counted during the setup is no part of the recording.
        if !std::mem::take(&mut self.of_setup[place]) {
            last.begin(self.before, row, &mut out.tables[self.table]);
        }
        Stream {
            entity,
            scope: owner.scope,
            last,
            changed: now,
            is_active: true,
            is_nameless: owner.is_nameless,
            is_leaving: false,
        }
    }

    /// Takes accounts from those in which nothing happens; who comes back gets a new one.
    fn forget_idle(&mut self, first: usize, last: usize, now: Timestamp) {
        let places = last - first + 1;
        let own = &mut self.streams[first..=last];
        let free = own.iter().filter(|it| it.is_none()).count();
        let idle_ns = match free {
            _ if free < places / NEXT_TO_NONE_LEFT => JUST_IDLE_NS,
            _ if free < places / FEW_LEFT => IDLE_NS,
            _ => return,
        };
        for (place, stream) in (first..).zip(own) {
            let Some(stream) = stream else {
                continue;
            };
            let is_idle = now.ns_since(stream.changed) >= idle_ns;
            let stays = stream.is_leaving || stream.scope == Scope::Device;
            if is_idle
                && !stays
                && let Some(account) = self.programs.account(place)
            {
                stream.is_leaving =
                    account.in_flight == 0 && self.programs.forget(&account).is_ok();
                stream.is_active |= stream.is_leaving;
            }
        }
    }

    fn end(&mut self, place: usize, now: Timestamp, out: &mut Output) {
        if self.programs.free(place).is_err() {
            return;
        }
        if let Some(mut stream) = self.streams[place].take() {
            stream.last.finish(&mut out.tables[self.table]);
            self.paths.forget(stream.entity);
            out.registry.vanish(stream.entity, now);
        }
    }

    /// Says it anew when it has doubled: each gap is kept.
    fn report_lost(&mut self, out: &mut Output) {
        let all = [
            (
                self.programs.unplaced(),
                &mut self.unplaced_said,
                "requests of files, processes or control groups beyond those that there is room for",
            ),
            (
                self.programs.lost(),
                &mut self.lost_said,
                "requests for which there was no room, or whose end was not seen",
            ),
        ];
        for (lost, said, what) in all {
            if lost > 2 * *said {
                *said = lost;
                out.gaps
                    .report(&BLOCK_IO.name, what, GapReason::Dropped(lost));
            }
        }
    }
}

/// The column of requests.
const REQUESTS: usize = 3;

fn row(account: &Account, most: u32) -> [i64; WIDTH] {
    let mut row = [0; WIDTH];
    let key = &account.key;
    let words = [
        key.device.into(),
        key.scope.into(),
        key.operation.into(),
        account.requests,
        account.bytes,
        account.errors,
        account.sequential,
        account.synced,
        account.fua,
        account.queue_ns,
        account.device_ns,
        account.busy_ns,
        most.into(),
    ];
    const { assert!(TIMES == 25 && SIZES == 10, "as in bpf/block.h") };
    let buckets = account
        .requests_by_queue
        .iter()
        .chain(&account.requests_by_device)
        .chain(&account.requests_by_size);
    let (first, behind) = row.split_at_mut(BUCKETS_FROM);
    for (value, word) in first.iter_mut().zip(words) {
        *value = word.cast_signed();
    }
    for (value, count) in behind.iter_mut().zip(buckets) {
        *value = count.cast_signed();
    }
    row
}

impl Collector for BlockIo {
    fn begin(&mut self, now: Timestamp) {
        self.before = now;
        for (place, is_of_setup) in self.of_setup.iter_mut().enumerate() {
            let account = self.programs.account(place);
            *is_of_setup = account.is_some_and(|it| scope_of(&it).is_some());
        }
    }

    fn discover(&mut self, scan: Scan, now: Timestamp, scene: &mut Scene, out: &mut Output) {
        match scan {
            Scan::Processes => self.paths.look(&scene.processes, now, out),
            Scan::Groups => {}
        }
        for stream in self.streams.iter_mut().flatten() {
            if stream.is_nameless
                && let Some((name, owner)) = owner::found_later(stream.scope, scene, out)
            {
                stream.is_nameless = false;
                out.registry.change(stream.entity, now, |record| {
                    record.entity.name = name;
                    record.parent = Some(owner);
                });
            }
        }
    }

    fn sample(&mut self, tick: &Tick, scene: &mut Scene, out: &mut Output) {
        if tick.is_due(PERIOD_TICKS * self.stretch * tick.budget().tracked) {
            self.read(tick.stamp(), scene, out);
            self.paths.look_for_new(&scene.processes, self.before, out);
        }
    }

    fn finish(&mut self, _scene: &mut Scene, out: &mut Output) {
        for stream in self.streams.iter_mut().flatten() {
            stream.last.finish(&mut out.tables[self.table]);
        }
    }

    fn each_program(&self, _scene: &Scene, each: &mut dyn FnMut(&'static str, Option<u64>)) {
        each("block", self.programs.kernel_bytes());
    }
}

/// The word of an operation's code.
fn word(operation: u16) -> &'static str {
    let known = block_io::Operation::of(operation.into());
    known.unwrap_or(block_io::Operation::Other).word()
}
