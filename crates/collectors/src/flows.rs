//! Who talks to whom, where programs in the kernel may count it: every 100 ms what each process has exchanged with each
//! peer at each port, by TCP, UDP and unix sockets.
//!
//! The programs keep an account for each flow. A reading has the kernel walk over the sockets that it knows, which adds
//! up what TCP has transferred, and then takes in the accounts that have changed. With very many sockets readings are
//! less frequent, so that they stay within their share of a CPU. Flows that are over are forgotten when their process
//! has ended, or when accounts become few.

use std::net::{Ipv4Addr, Ipv6Addr};

use model::{Entity, EntityId, EntityKind, GapReason, MISSING, Timestamp, name_of, sentence};
use sensors::TICK;
use sensors::flow::{FLOW, FlowName, OPEN, OPENED_NS, Peer, Protocol, Side, WIDTH};

use crate::collector::{Collector, Scan};
use crate::opening::Opening;
use crate::output::{Output, TableId};
use crate::registry::MACHINE;
use crate::scene::Scene;
use crate::schedule::ticks_of;
use crate::table_buffer::RowDeduplicator;
use crate::tick::Tick;
use kernel::bpf::flow::{Account, Flow, MOST_ACCOUNTS, MOST_FLOWS, Names};
use kernel::clock::thread_cpu_ns;

/// Period of reading, in ticks.
const PERIOD_TICKS: u64 = ticks_of(TICK);
/// Readings take at most one part in this many of a CPU's time.
const SHARE: i64 = 400;
/// Accounts that may change in each period; where more do, all are read less often.
const MOST_CHANGING: usize = 256;
/// Where fewer than this part of the accounts is free, idle ones are taken back: those without a socket in which nothing
/// has changed for so long, ns.
const FEW_LEFT: usize = 4;
const IDLE_NS: i64 = 10_000_000_000;
/// The same where they are fewer still, and where the process has ended.
const NEXT_TO_NONE_LEFT: usize = 16;
const JUST_IDLE_NS: i64 = 500_000_000;
/// What a process is called that nobody knows: its connections ended before it was seen to have them.
const NOBODY: &str = "nobody";

/// Opens it if its programs are available.
pub(crate) fn open(opening: &mut Opening<'_>) -> Option<Box<dyn Collector>> {
    // They were loaded with the programs beside which they count (`events`).
    let programs = opening.flow.take()?;
    Some(Box::new(Flows::new(programs, opening.out)))
}

/// What one process exchanges with one peer.
struct Series {
    entity: EntityId,
    pid: u32,
    last: RowDeduplicator,
    /// When something was last counted.
    changed: Timestamp,
    /// Whether its process was not known yet.
    is_orphan: bool,
    /// Whether its account was taken from it at the last reading.
    is_leaving: bool,
}

struct Flows {
    programs: Flow,
    table: TableId,
    /// By place.
    series: Vec<Option<Series>>,
    /// Whether an account was there when sampling began, by place.
    of_setup: Vec<bool>,
    /// Flows so far: their paths differ by it.
    count: u64,
    /// The reading before.
    before: Timestamp,
    /// No reading before.
    next: Timestamp,
    /// Factor of the period.
    stretch: u64,
    unplaced_said: u64,
}

impl Flows {
    fn new(programs: Flow, out: &mut Output) -> Self {
        Self {
            programs,
            table: out.open(&FLOW),
            series: (0..=MOST_ACCOUNTS).map(|_| None).collect(),
            of_setup: vec![false; MOST_ACCOUNTS + 1],
            count: 0,
            before: Timestamp::default(),
            next: Timestamp::default(),
            stretch: 1,
            unplaced_said: 0,
        }
    }

    fn read(&mut self, now: Timestamp, scene: &Scene, out: &mut Output) {
        let began = thread_cpu_ns();
        if let Err(refusal) = self.programs.walk() {
            let why = sentence!("the walk over sockets failed: {}", refusal.to_string());
            out.gaps.report(&FLOW.name, "", GapReason::Unsupported(why));
        }
        let mut changing = 0;
        for place in 1..=MOST_ACCOUNTS {
            if self.series[place].is_none() && !self.programs.has_changed(place) {
                continue;
            }
            let Some(account) = self.programs.account(place) else {
                continue;
            };
            changing += usize::from(self.take(place, &account, now, scene, out));
        }
        self.programs.next_reading();
        self.before = now;
        self.stretch = changing.div_ceil(MOST_CHANGING).max(1) as u64;
        self.forget_idle(1, MOST_FLOWS, now, scene);
        self.forget_idle(MOST_FLOWS + 1, MOST_ACCOUNTS, now, scene);
        self.report_unplaced(out);
        self.next = now + (thread_cpu_ns() - began) * SHARE;
    }

    /// Takes in an account; whether anything has changed there.
    fn take(
        &mut self,
        place: usize,
        account: &Account,
        now: Timestamp,
        scene: &Scene,
        out: &mut Output,
    ) -> bool {
        let (sockets, open) = self.programs.sockets(account);
        let row = row(account, open);
        if self.series[place].is_none() {
            self.series[place] = Some(self.begin(place, account, &row, now, scene, out));
        }
        let Some(series) = &mut self.series[place] else {
            return false;
        };
        let has_changed = series.last.values() != row;
        if has_changed {
            // Nothing had changed up to the reading before.
            if series.last.time() < self.before {
                series.last.unchanged(self.before);
            }
            series.last.take(now, &row, &mut out.tables[self.table]);
            series.changed = now;
        } else if series.last.time() == self.before {
            series.last.unchanged(now);
        }
        if series.is_leaving && sockets == 0 {
            self.end(place, now, out);
        }
        has_changed
    }

    fn begin(
        &mut self,
        place: usize,
        account: &Account,
        row: &[i64; WIDTH],
        now: Timestamp,
        scene: &Scene,
        out: &mut Output,
    ) -> Series {
        let pid = account.key.tgid;
        let process = scene.processes.entity(pid);
        self.count += 1;
        let name = name(account, &self.programs.names(place)).to_string();
        let entity = Entity::new(EntityKind::Flow, name, format!("flow:{}", self.count));
        let entity = out
            .registry
            .add(entity, Some(process.unwrap_or(MACHINE)), now);
        let mut last = RowDeduplicator::new(entity, WIDTH);
        // What was counted during the setup is no part of the recording.
        if !std::mem::take(&mut self.of_setup[place]) {
            let mut first = *row;
            first[OPEN] = 0;
            first[OPENED_NS] = MISSING;
            last.begin(self.before, &first, &mut out.tables[self.table]);
        }
        Series {
            entity,
            pid,
            last,
            changed: now,
            is_orphan: process.is_none(),
            is_leaving: false,
        }
    }

    /// Takes accounts from those in which nothing happens; who comes back gets a new one.
    fn forget_idle(&mut self, first: usize, last: usize, now: Timestamp, scene: &Scene) {
        let places = last - first + 1;
        let own = &mut self.series[first..=last];
        let free = own.iter().filter(|it| it.is_none()).count();
        let idle_ns = match free {
            _ if free < places / NEXT_TO_NONE_LEFT => JUST_IDLE_NS,
            _ if free < places / FEW_LEFT => IDLE_NS,
            _ => i64::MAX,
        };
        for (place, series) in (first..).zip(own) {
            let Some(series) = series.as_mut().filter(|it| !it.is_leaving) else {
                continue;
            };
            let has_ended = !series.is_orphan && scene.processes.entity(series.pid).is_none();
            let idle_ns = if has_ended { JUST_IDLE_NS } else { idle_ns };
            if now.ns_since(series.changed) >= idle_ns
                && let Some(account) = self.programs.account(place)
            {
                let (sockets, _) = self.programs.sockets(&account);
                series.is_leaving = sockets == 0 && self.programs.forget(&account).is_ok();
            }
        }
    }

    fn end(&mut self, place: usize, now: Timestamp, out: &mut Output) {
        if self.programs.free(place).is_err() {
            return;
        }
        if let Some(mut series) = self.series[place].take() {
            series.last.finish(&mut out.tables[self.table]);
            out.registry.vanish(series.entity, now);
        }
    }

    /// Says it anew when it has doubled: each gap is kept.
    fn report_unplaced(&mut self, out: &mut Output) {
        let unplaced = self.programs.unplaced();
        if unplaced > 2 * self.unplaced_said {
            self.unplaced_said = unplaced;
            let what = "connections beyond those that there is room for";
            out.gaps
                .report(&FLOW.name, what, GapReason::Dropped(unplaced));
        }
    }
}

impl Collector for Flows {
    fn begin(&mut self, now: Timestamp) {
        self.before = now;
        for (place, is_of_setup) in self.of_setup.iter_mut().enumerate() {
            *is_of_setup = self.programs.account(place).is_some();
        }
    }

    fn discover(&mut self, scan: Scan, now: Timestamp, scene: &mut Scene, out: &mut Output) {
        if scan != Scan::Processes {
            return;
        }
        for series in self.series.iter_mut().flatten().filter(|it| it.is_orphan) {
            if let Some(process) = scene.processes.entity(series.pid) {
                series.is_orphan = false;
                out.registry.change(series.entity, now, |record| {
                    record.parent = Some(process);
                });
            }
        }
    }

    fn sample(&mut self, tick: &Tick, scene: &mut Scene, out: &mut Output) {
        let is_due = tick.is_due(PERIOD_TICKS * self.stretch * tick.budget().tracked);
        if is_due && (tick.is_last() || tick.stamp() >= self.next) {
            self.read(tick.stamp(), scene, out);
        }
    }

    fn finish(&mut self, _scene: &mut Scene, out: &mut Output) {
        for series in self.series.iter_mut().flatten() {
            series.last.finish(&mut out.tables[self.table]);
        }
    }

    fn each_program(&self, _scene: &Scene, each: &mut dyn FnMut(&'static str, Option<u64>)) {
        each("flow", self.programs.kernel_bytes());
    }
}

fn row(account: &Account, open: u32) -> [i64; WIDTH] {
    let key = &account.key;
    let words: [u64; WIDTH] = [
        key.protocol.into(),
        key.side.into(),
        key.port.into(),
        key.net.into(),
        open.into(),
        account.opened_ns,
        account.sent_bytes,
        account.received_bytes,
        account.sends,
        account.receives,
        account.requests,
        account.opened,
        account.closed,
        account.short_lived,
        account.refused,
        account.reset,
        account.timed_out,
        account.failed,
        account.turned_away,
        account.retransmitted,
        account.rtt_ns,
        account.rtts,
        account.connect_ns,
        account.connects,
        account.answer_ns,
        account.answers,
    ];
    const { assert!(OPEN == 4 && OPENED_NS == 5, "behind the four codes") };
    let mut row = words.map(u64::cast_signed);
    if account.opened_ns == 0 {
        row[OPENED_NS] = MISSING;
    }
    row
}

fn name(account: &Account, names: &Names) -> FlowName {
    let key = &account.key;
    let protocol = Protocol::of(key.protocol.into()).unwrap_or(Protocol::Tcp);
    FlowName {
        process: match names.process.is_empty() {
            true => NOBODY.to_owned(),
            false => name_of(&names.process).into_owned(),
        },
        pid: key.tgid,
        side: Side::of(key.side.into()).unwrap_or(Side::Neither),
        protocol,
        port: key.port,
        peer: peer(account, protocol, &names.path),
    }
}

fn peer(account: &Account, protocol: Protocol, path: &[u8]) -> Peer {
    const AF_INET: u16 = 2;
    let key = &account.key;
    let [a, b, c, d, ..] = key.peer;
    match (protocol, path) {
        _ if key.is_rest != 0 => Peer::Others,
        (Protocol::Unix, []) => Peer::Pair,
        (Protocol::Unix, [0, name @ ..]) => Peer::Path(format!("@{}", name_of(name))),
        (Protocol::Unix, path) => Peer::Path(name_of(path).into_owned()),
        _ if key.family == 0 => Peer::Any,
        _ if key.family == AF_INET => Peer::Address(Ipv4Addr::new(a, b, c, d).to_string()),
        _ => Peer::Address(Ipv6Addr::from(key.peer).to_string()),
    }
}
