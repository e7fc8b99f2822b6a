//! The ledger of every thread over time: bin by bin, for whoever draws it.
//!
//! The same arithmetic as for a whole window, with one difference. The kernel counts time on a CPU and
//! the wait for one when they end, so a short bin may show more of them than it is long: what does not
//! fit is moved into the bins before it, where it was spent. So the bins of a window add up to what is
//! said of the window.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use model::{
    Column, DecidedBy, EntityId, EntityKind, LedgerClass, Meta, Table, ThreadTimeClass, Timeline,
    Timestamp, Unit, Window,
};
use sensors::thread_time::THREAD_TIME;

use crate::coverage;
use crate::cpus::effective_cpus;
use crate::ledger::{self, Ledger};
use crate::monitored::{Measured, Monitored};
use crate::scene::{Roles, Scene, Scope};
use crate::serving::{Answering, Sleeps};
use crate::thresholds::SYNCED;
use crate::workload_metrics;

/// The number of classes that a thread's time can be in, the first of all; the others are parts of responses.
pub const THREAD_CLASSES: usize = LedgerClass::ALL.len() - LedgerClass::OUTSIDE.len();

/// `counted` is whether the scheduler's events were, and `is_sampled` whether not all the time.
fn table(counted: bool, is_sampled: bool) -> Table {
    let has_books = |class| {
        // Where the server's word cannot be read at its sleeps, samples divide them.
        let mut own = ThreadTimeClass::ALL
            .into_iter()
            .filter(|it| it.ledger() == class);
        counted && own.any(|it| it.decided_by() != DecidedBy::WaitEvent)
    };
    let source = match counted {
        true => "worked out from the tables thread_time, thread and session",
        false => "worked out from the tables thread and session",
    };
    let column = |class: LedgerClass| Column {
        name: format!("{}_ns", class.word()).into(),
        help: format!("Time {}.", class.label()).into(),
        ..Column::counter("", Unit::Nanoseconds, "", source).quality(match has_books(class) {
            true => ledger::quality_of_counted(class, is_sampled),
            false => ledger::quality(class),
        })
    };
    Table {
        columns: LedgerClass::ALL[..THREAD_CLASSES]
            .iter()
            .copied()
            .map(column)
            .collect(),
        ..Table::new(
            "ledger",
            EntityKind::Thread,
            "Where the time of each thread went; the classes add up to the time in which it was watched.",
            &[],
        )
    }
}

/// Where the time of threads went between instants.
pub struct LedgerOverTime<'a> {
    timeline: &'a Timeline,
    meta: &'a Meta,
    edges: &'a [Timestamp],
    idle: BTreeSet<EntityId>,
    answering: Answering,
    /// The threads that answer requests.
    serving: BTreeSet<EntityId>,
    /// The target's groups where CPU is limited.
    groups: Vec<EntityId>,
    /// CPUs that the target may use.
    cpus: u32,
    /// Made when the first of them is asked for.
    pool: OnceCell<Vec<Pool>>,
    bins: Vec<workload_metrics::Bin>,
}

/// What is worked out for all serving threads together, for one bin.
#[derive(Clone, Copy, Default, Debug)]
struct Pool {
    /// Part of their wait for a CPU that a quota caused.
    throttled: f64,
    /// Part of the time for which one of them synced, where the others waited for it.
    synced: f64,
}

/// One thread's time.
pub struct ThreadTime {
    /// The first bin in which it was watched.
    pub first_bin: usize,
    /// ns by class for each bin from there on; they add up to the time for which it was watched in it.
    pub bins: Vec<[i64; THREAD_CLASSES]>,
}

impl<'a> LedgerOverTime<'a> {
    /// Prepares the ledger of the bins between `edges`, which come in the order of time.
    pub fn new(timeline: &'a Timeline, meta: &'a Meta, edges: &'a [Timestamp]) -> Self {
        let roles = Roles::new(timeline, meta);
        let scene = Scene::new(&roles, timeline.window, Scope::Run);
        let cpus = effective_cpus(&scene);
        let answering = scene.answering;
        let mut idle = scene.target_idle;
        idle.extend(scene.generator_idle);
        Self {
            timeline,
            meta,
            edges,
            idle,
            answering,
            serving: roles.target.serving.into_iter().collect(),
            groups: roles.cpu_groups.all,
            cpus,
            pool: OnceCell::new(),
            bins: roles.bins,
        }
    }

    /// The table that this is, when it is written down: one counter per class.
    pub fn table(&self) -> Table {
        let counted = self.timeline.table(&THREAD_TIME.name).is_some();
        let is_sampled = coverage::off_part(self.timeline, self.timeline.window).is_some();
        table(counted, is_sampled)
    }

    /// What one thread did; `None` where it was not watched.
    pub fn of(&self, thread: EntityId) -> Option<ThreadTime> {
        let (first_bin, ledgers) = self.ledgers(thread)?;
        let serves = self.serving.contains(&thread);
        let pool = serves.then(|| self.pool.get_or_init(|| self.pooled()));
        let bins = ledgers.into_iter().enumerate().map(|(bin, mut ledger)| {
            if let Some(pool) = pool.and_then(|pool| pool.get(first_bin + bin)) {
                let throttled_ns = ledger.get(LedgerClass::CpuWait) * pool.throttled;
                ledger.shift(LedgerClass::CpuWait, LedgerClass::Throttled, throttled_ns);
                ledger.wait_behind(pool.synced, !self.bins.is_empty());
                ledger.write_through(pool.synced);
            }
            whole_ns(&ledger)
        });
        Some(ThreadTime {
            first_bin,
            bins: bins.collect(),
        })
    }

    /// A thread's ledger in each bin in which it was watched, before the pool is looked at.
    fn ledgers(&self, thread: EntityId) -> Option<(usize, Vec<Ledger>)> {
        let mut monitored = Monitored::new(self.timeline, self.meta, thread)?;
        let known = monitored.known()?;
        let first = self.edges.partition_point(|edge| *edge <= known.start);
        let first = first.saturating_sub(1);
        let bins = self.edges[first.min(self.edges.len())..].windows(2);
        let bins = bins.map(|pair| Window::new(pair[0], pair[1]));
        let lived = bins.take_while(|bin| bin.start < known.end);
        let mut measured: Vec<Measured> = lived.map_while(|bin| monitored.measured(bin)).collect();
        if measured.is_empty() {
            return None;
        }
        move_back(&mut measured);
        see_everywhere(&mut measured);
        let rests = self.idle.contains(&thread);
        let bins = self.edges[first..].windows(2);
        let bins = bins.map(|pair| Window::new(pair[0], pair[1]));
        let mut sleeps = self.sleeps(thread);
        let ledgers = measured.iter().zip(bins).map(|(measured, bin)| {
            let mut ledger = measured.ledger();
            if let Some(sleeps) = &mut sleeps {
                ledger.set_aside_each(&sleeps.outside(bin));
            }
            if rests {
                ledger.reclassify_idle();
            }
            ledger
        });
        Some((first, ledgers.collect()))
    }

    /// What is known of a target thread's sleeps inside and outside of requests.
    fn sleeps(&self, thread: EntityId) -> Option<Sleeps<'a>> {
        let is_told = self.answering == Answering::Itself && self.serving.contains(&thread);
        is_told.then(|| Sleeps::of(self.timeline, thread))?
    }

    /// What is worked out for the serving threads together: over the workload's own intervals or over
    /// seconds, as for a whole window; over a bin where that is longer.
    fn pooled(&self) -> Vec<Pool> {
        let count = self.edges.len().saturating_sub(1);
        let mut together = vec![Ledger::default(); count];
        for thread in &self.serving {
            let Some((first, ledgers)) = self.ledgers(*thread) else {
                continue;
            };
            for (own, ledger) in together[first..].iter_mut().zip(&ledgers) {
                own.merge(ledger);
            }
        }
        let pieces = if self.bins.is_empty() {
            ledger::seconds(self.timeline.window)
        } else {
            self.bins.iter().map(|bin| bin.window).collect()
        };
        let mut of_piece: BTreeMap<(bool, usize), Vec<usize>> = BTreeMap::new();
        for bin in 0..count {
            let middle = self.edges[bin] + self.edges[bin + 1].ns_since(self.edges[bin]) / 2;
            let piece = pieces.partition_point(|piece| piece.end <= middle);
            let inside = pieces.get(piece).is_some_and(|it| it.start <= middle);
            let key = if inside { piece } else { bin };
            of_piece.entry((inside, key)).or_default().push(bin);
        }
        let counted = together
            .iter()
            .any(|ledger| ledger.get(LedgerClass::Throttled) > 0.0);
        let groups = match counted {
            true => &[],
            false => self.groups.as_slice(),
        };
        let mut pool = vec![Pool::default(); count];
        for own in of_piece.values() {
            let (Some(first), Some(last)) = (own.first(), own.last()) else {
                continue;
            };
            let window = Window::new(self.edges[*first], self.edges[last + 1]);
            let mut sum = Ledger::default();
            own.iter().for_each(|bin| sum.merge(&together[*bin]));
            let of_piece = self.pool(&sum, window, groups);
            own.iter().for_each(|bin| pool[*bin] = of_piece);
        }
        pool
    }

    fn pool(&self, sum: &Ledger, window: Window, groups: &[EntityId]) -> Pool {
        let wait_ns = sum.get(LedgerClass::CpuWait);
        let held = groups.iter().filter_map(|group| {
            let throttled = self.timeline.series("cgroup_cpu", *group, "throttled_ns")?;
            throttled.growth(window)
        });
        let held_back_ns = held.fold(0.0, f64::max);
        let throttled_ns =
            ledger::throttled_part(wait_ns, held_back_ns, window, f64::from(self.cpus));
        Pool {
            throttled: if wait_ns > 0.0 {
                throttled_ns / wait_ns
            } else {
                0.0
            },
            synced: sum.synced(window.len_ns() as f64, SYNCED.value()),
        }
    }
}

/// Moves what does not fit into a bin into those before it.
fn move_back(bins: &mut [Measured]) {
    /// Whoever waits for longer than this does so because something is broken, or its count is. Time on a
    /// CPU is counted at each tick: so much of it at once was never spent.
    const LATEST_NS: f64 = 5e9;
    let (mut run_over, mut wait_over) = (0.0, 0.0);
    for bin in bins.iter_mut().rev() {
        if bin.counted.is_some() {
            // Books count in time.
            (run_over, wait_over) = (0.0, 0.0);
            continue;
        }
        let run = bin.run_ns + run_over;
        bin.run_ns = run.clamp(0.0, bin.wall_ns);
        run_over = (run - bin.wall_ns).max(0.0);
        if run_over > LATEST_NS {
            run_over = 0.0;
        }
        if let Some(wait_ns) = &mut bin.wait_ns {
            let room = bin.wall_ns - bin.run_ns;
            let wait = *wait_ns + wait_over;
            *wait_ns = wait.clamp(0.0, room);
            wait_over = (wait - room).clamp(0.0, LATEST_NS);
        }
    }
}

/// A bin in which no sample met the thread blocked is taken to be like the nearest one in which one did,
/// if that is near: what it was blocked in long ago or after says nothing.
fn see_everywhere(bins: &mut [Measured]) {
    fn carry<'a>(bins: impl Iterator<Item = &'a mut Measured>) {
        const NEAR_NS: f64 = 2e9;
        let nothing = |seen: &[f64]| seen.iter().all(|weight| *weight <= 0.0);
        let mut last = None;
        for bin in bins {
            let length_ns = match &bin.counted {
                Some(counted) => bin.wall_ns + counted.window.len_ns() as f64,
                None => bin.wall_ns,
            };
            if !nothing(&bin.seen) || !bin.words.is_empty() {
                last = Some((bin.seen, bin.words.clone(), 0.0));
            } else if let Some((seen, words, passed_ns)) = &mut last {
                *passed_ns += length_ns;
                if *passed_ns <= NEAR_NS {
                    bin.seen = *seen;
                    bin.words.clone_from(words);
                }
            }
        }
    }
    carry(bins.iter_mut());
    carry(bins.iter_mut().rev());
}

/// A ledger in whole nanoseconds that still add up: the largest class takes the difference.
fn whole_ns(ledger: &Ledger) -> [i64; THREAD_CLASSES] {
    let mut whole = [0; THREAD_CLASSES];
    for (own, class) in whole.iter_mut().zip(LedgerClass::ALL) {
        *own = ledger.get(class).round() as i64;
    }
    // A damaged recording may last for centuries.
    let sum = whole.iter().copied().fold(0, i64::wrapping_add);
    let left = (ledger.wall_ns.round() as i64).wrapping_sub(sum);
    if let Some(largest) = whole.iter_mut().max() {
        *largest = largest.wrapping_add(left);
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_that_jumps_is_not_spent_before() {
        let bin = |run_ns: f64| Measured {
            wall_ns: 0.1e9,
            run_ns,
            wait_ns: Some(0.0),
            ..Measured::default()
        };
        let ran = |counted: f64| {
            let mut bins: Vec<Measured> = (0..9).map(|_| bin(0.009e9)).collect();
            bins.push(bin(counted));
            move_back(&mut bins);
            bins.iter()
                .map(|bin| (bin.run_ns / 1e6).round())
                .collect::<Vec<_>>()
        };
        let late = [9.0, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0, 59.0, 100.0];
        assert_eq!(ran(0.15e9), late);
        let broken = [9.0, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0, 100.0];
        assert_eq!(ran(1e18), broken);
    }

    #[test]
    fn what_a_thread_was_met_in_is_believed_of_near_bins_only() {
        let bin = |weight: f64| {
            let mut seen = [0.0; LedgerClass::ALL.len()];
            seen[LedgerClass::Sync as usize] = weight;
            Measured {
                wall_ns: 0.5e9,
                run_ns: 0.0,
                wait_ns: Some(0.0),
                seen,
                ..Measured::default()
            }
        };
        // Met once, half a second into twelve.
        let mut bins: Vec<Measured> = (0..24).map(|number| bin(f64::from(number == 1))).collect();
        see_everywhere(&mut bins);
        let synced = |bin: &Measured| bin.ledger().get(LedgerClass::Sync) > 0.0;
        let known = bins.iter().filter(|bin| synced(bin)).count();
        assert_eq!(known, 1 + 1 + 4, "itself, the one before, and two seconds");
        assert!(bins[..6].iter().all(synced));
    }
}
