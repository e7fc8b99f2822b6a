//! The account second by second, for intervals and for what must be worked out piecewise.

use model::{EntityId, LedgerClass, Window};

use crate::in_line::Line;
use crate::ledger::{self, Ledger};
use crate::monitored::Monitored;
use crate::scene::Scene;
use crate::thread_times::ShortLived;
use crate::waits_for::Ends;
use crate::workload_metrics::{self, Bin};

/// One second of the account.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Slice {
    pub(crate) window: Window,
    /// Time that requests took, or busy time, ns.
    pub(crate) total_ns: f64,
    /// What the serving threads did, with what stood in line behind it.
    pub(crate) ledger: Ledger,
    /// How many times as long that is as what they did: an estimate.
    lengthened: f64,
    /// Of the delay, what is taken to be a quota's doing where nobody counted it, ns.
    estimated_ns: f64,
    /// Time for which the group's queues were held back, ns, added up over CPUs.
    pub(crate) held_back_ns: f64,
    /// Time of the CPUs that the target may use, ns.
    pub(crate) cpu_time_ns: f64,
}

impl Slice {
    /// Time of the serving threads themselves in some classes, without what stood in line behind it, ns.
    pub(crate) fn own_ns(&self, classes: &[LedgerClass]) -> f64 {
        self.ledger.sum(classes) / self.lengthened
    }

    /// Adds what stood in line at the target's sockets to what its threads did meanwhile.
    pub(crate) fn add_line(&mut self, line: &Line) {
        let inside_ns = self.ledger.inside().iter().sum();
        self.lengthened = line.lengthens(inside_ns, self.total_ns);
        self.ledger.lengthen(self.lengthened);
    }
}

/// Delay that a quota caused, where it is not counted but estimated, over a span of which the slices may
/// cover a part.
pub(crate) fn throttled_over(slices: &[Slice], span: Window) -> f64 {
    let sum = |of: fn(&Slice) -> f64| slices.iter().map(of).sum::<f64>();
    let covered = sum(|slice| slice.window.len_ns() as f64);
    if covered > 0.0 {
        sum(|slice| slice.estimated_ns) / covered * span.len_ns() as f64
    } else {
        0.0
    }
}

/// What the slices of a window are made from.
pub(crate) struct Slicing<'a> {
    pub(crate) scene: &'a Scene<'a>,
    /// Whether the bins say how long requests took.
    pub(crate) has_signal: bool,
    /// CPUs that the target may use.
    pub(crate) cpus: u32,
    /// Part of the time for which some thread must sync for others to be waiting behind it.
    pub(crate) synced: f64,
    /// Where waits for locks end, if that was told.
    pub(crate) ends: Option<&'a Ends>,
}

impl Slicing<'_> {
    /// The slices: the bins of the signal, or seconds.
    pub(crate) fn slices(&self) -> Vec<Slice> {
        let scene = self.scene;
        let pieces = self.pieces();
        let mut ledgers = vec![Ledger::default(); pieces.len()];
        let longest = pieces.iter().map(|(piece, _)| piece.len_ns()).max();
        let longest = longest.unwrap_or(0);
        // Thread by thread, so that each one's rows are read once, and those who lived for a moment
        // concern the seconds in which they lived.
        for thread in &scene.roles.target.serving {
            let Some(mut monitored) = Monitored::new(scene.timeline, scene.meta, *thread) else {
                self.add_short_lived(*thread, pieces.iter().zip(&mut ledgers));
                continue;
            };
            let Some(known) = monitored.known() else {
                continue;
            };
            let mut sleeps = scene.sleeps(*thread);
            // In the order of their ends; where they begin is only known to that far before.
            let up_to = |end| pieces.partition_point(|(piece, _)| piece.end <= end);
            let first = up_to(known.start);
            // A recording from elsewhere may have a thread end before it began.
            let lived = first..up_to(known.end + longest).max(first);
            for ((piece, _), ledger) in pieces[lived.clone()].iter().zip(&mut ledgers[lived]) {
                if let Some(mut own) = monitored.ledger(*piece) {
                    if let Some(sleeps) = &mut sleeps {
                        own.set_aside_each(&sleeps.outside(*piece));
                    }
                    if scene.target_idle.contains(thread) {
                        own.reclassify_idle();
                    }
                    ledger.merge(&own);
                }
            }
        }
        let is_counted = |ledger: &Ledger| ledger.get(LedgerClass::Throttled) > 0.0;
        let counted = ledgers.iter().any(is_counted);
        let pieces = pieces.into_iter().zip(ledgers);
        pieces
            .filter_map(|((window, response_ns), ledger)| {
                self.slice(window, response_ns, ledger, counted)
            })
            .collect()
    }

    /// Adds what those had in each piece who are reported as one thread.
    fn add_short_lived<'a>(
        &self,
        thread: EntityId,
        pieces: impl Iterator<Item = (&'a (Window, Option<f64>), &'a mut Ledger)>,
    ) {
        let Some(mut short_lived) = ShortLived::of(self.scene.timeline, thread) else {
            return;
        };
        for ((piece, _), ledger) in pieces {
            if let Some(counted) = short_lived.over(*piece) {
                ledger.merge(&Ledger::of_short_lived(&counted));
            }
        }
    }

    fn pieces(&self) -> Vec<(Window, Option<f64>)> {
        if !self.has_signal {
            let seconds = ledger::seconds(self.scene.window).into_iter();
            return seconds.map(|slice| (slice, None)).collect();
        }
        let bins = workload_metrics::inside(&self.scene.roles.bins, self.scene.window);
        let response = |bin: &Bin| bin.latency_ns.unwrap_or(0.0) * bin.completed();
        bins.map(|bin| (bin.window, Some(response(bin)))).collect()
    }

    fn slice(
        &self,
        window: Window,
        response_ns: Option<f64>,
        mut ledger: Ledger,
        quota_counted: bool,
    ) -> Option<Slice> {
        // A second in which the delay was not recorded is no second without delay.
        if ledger.wait_unseen_ns * 2.0 > ledger.wall_ns {
            return None;
        }
        let groups = &self.scene.roles.cpu_groups.all;
        let held = |group: &EntityId| {
            let throttled = self
                .scene
                .timeline
                .series("cgroup_cpu", *group, "throttled_ns")?;
            throttled.growth(window)
        };
        let held_back_ns = groups.iter().filter_map(held).fold(0.0, f64::max);
        let wait_ns = ledger.get(LedgerClass::CpuWait);
        let estimated_ns = match quota_counted {
            true => 0.0,
            false => ledger::throttled_part(wait_ns, held_back_ns, window, f64::from(self.cpus)),
        };
        ledger.shift(LedgerClass::CpuWait, LedgerClass::Throttled, estimated_ns);
        ledger.spread_unsampled();
        let synced = ledger.synced(window.len_ns() as f64, self.synced);
        match self.ends {
            Some(ends) => ledger.pass_on(ends, synced),
            None => ledger.wait_behind(synced, response_ns.is_some()),
        }
        ledger.write_through(synced);
        Some(Slice {
            window,
            total_ns: response_ns.unwrap_or_else(|| ledger.busy_ns()),
            ledger,
            lengthened: 1.0,
            estimated_ns,
            held_back_ns,
            cpu_time_ns: window.len_ns() as f64 * f64::from(self.cpus.max(1)),
        })
    }
}
