//! What a change would bring, from its low to its high end: arithmetic on a load, which knows nothing of recordings.
//!
//! The throughput of a closed loop grows until the wait that goes is made up for, until the CPUs are full, or until one
//! thread is (asymptotic bounds), less what requests then stand in line for that (mean value analysis). Four things are
//! not known: how much CPU time a request takes under load, how much of what others do grows with the load, how long the
//! line is, and how large a part of the response time goes. The estimate has each in its middle. For its ends one after the
//! other is put at its own end, and the squares of what that changes are added up, for they are independent: where each
//! range holds 90 % of what is measured, so does the interval.
//! `docs/decisions/gains.md` says where the numbers come from.

use model::{GainOf, Interval};

use crate::closed_loop::ClosedLoop;

/// A load as it was seen, or as it would be.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Load {
    /// Requests per second.
    pub(crate) throughput: f64,
    /// Mean response time, ns.
    pub(crate) response_ns: f64,
    /// Part of it that is lag behind the generator's schedule.
    pub(crate) late: f64,
    /// Clients of a closed loop, where they are known.
    pub(crate) clients: Option<u32>,
    /// Whether requests come at a rate of their own, whatever they find.
    pub(crate) is_fixed_rate: bool,
    /// CPU time of a request in target and generator on this machine, ns.
    pub(crate) own_ns: f64,
    /// CPU time of the target alone, ns.
    pub(crate) target_ns: f64,
    /// CPU time of everybody else a request, ns.
    pub(crate) others_ns: f64,
    /// The part of a request's CPU time that one thread of the target has to do, ns.
    pub(crate) target_thread_ns: f64,
    /// The same of the generator.
    pub(crate) generator_thread_ns: f64,
    /// CPUs for all of that.
    pub(crate) cpus: f64,
    /// What half of the requests take at most, ns.
    pub(crate) usual_ns: f64,
    /// How many times as busy as the average CPU those are on which there is something to do: 1 where all do alike.
    pub(crate) uneven: f64,
    /// CPUs of the target's quota.
    pub(crate) quota: Option<f64>,
}

/// What a change takes away, as part of the response time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Goes {
    /// A wait, from its least to its most.
    Wait(Interval),
    /// The line for the CPUs, as far as these allow.
    Line(f64),
}

/// What is gained, as a part of what there is, and by which model.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Gain {
    pub(crate) of: GainOf,
    pub(crate) estimate: f64,
    /// From its low to its high end.
    pub(crate) interval: Interval,
    pub(crate) model: &'static str,
}

/// How far counts and times of requests may be apart, as part of either: of some, one of the two falls beyond the window.
const EDGES: f64 = 0.02;
/// How much the throughput of one situation varies from run to run within minutes, in logarithms, in 90 of 100 runs.
const VARIES: f64 = 0.08;
/// What is left under load of the CPU time that a request takes on CPUs that have nothing else to do, from the least to the
/// most that is seen.
const ON_IDLE_CPUS: (f64, f64) = (0.33, 0.85);
/// The same for a request that a quota let through in bursts: these are a full load already, but all of a burst is read at
/// one look.
const AFTER_BURSTS: (f64, f64) = (0.6, 1.15);

impl Goes {
    /// From its least to its most, each of the response time.
    fn part(self) -> Interval {
        let (low, high) = match self {
            Self::Wait(Interval { low, high }) => (low, high + EDGES),
            Self::Line(share) => (share, share + EDGES),
        };
        // Idle threads of a pool can make it more than all of the time.
        let [low, high] = [low, high].map(|end| end.clamp(0.0, 1.0));
        Interval {
            low: low.min(high),
            high: low.max(high),
        }
    }
}

/// What is assumed of that which is not known, each from what makes the gain least, 0, to what makes it most, 1.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Assumed {
    /// Of CPU time: as much as now, or as little as under a full load.
    cheap: f64,
    /// Of what others do: that it grows with the load, or stays.
    alone: f64,
    /// Of the line: as long as random times make it, or none.
    orderly: f64,
    /// Of what goes: its least, or its most.
    goes: f64,
}

impl Assumed {
    const MIDDLE: Self = Self {
        cheap: 0.5,
        alone: 0.5,
        orderly: 0.5,
        goes: 0.5,
    };

    /// Each of them at an end, the others in the middle.
    fn each(end: f64) -> [Self; 4] {
        let middle = Self::MIDDLE;
        [
            Self {
                cheap: end,
                ..middle
            },
            Self {
                alone: end,
                ..middle
            },
            Self {
                orderly: end,
                ..middle
            },
            Self {
                goes: end,
                ..middle
            },
        ]
    }
}

/// A load after a change, of which something is assumed.
struct Then {
    closed: ClosedLoop,
    orderly: f64,
    /// What is full first, once anything is.
    law: &'static str,
}

impl Then {
    /// Requests per second.
    fn throughput(&self) -> f64 {
        let (most, least) = (self.closed.at_most(), self.closed.with_line());
        least + (most - least) * self.orderly
    }

    /// What limits it.
    fn model(&self) -> &'static str {
        match self.closed.is_full() {
            true => self.law,
            false => "waits removed, closed loop",
        }
    }
}

impl Load {
    /// The gain by what makes of this load another one; `None` where nothing sound can be said.
    pub(crate) fn gain(&self, after: &Self, goes: Goes) -> Option<Gain> {
        let gain = match self.is_fixed_rate {
            true => self.in_response(after, goes),
            false => self.in_throughput(after, goes),
        };
        let Interval { low, high } = gain.interval;
        (low.is_finite() && high.is_finite()).then_some(gain)
    }

    /// The gain by as many clients as it takes to fill the CPUs or one thread.
    pub(crate) fn filled(&self) -> Option<Gain> {
        let full = |cheap, alone| {
            let (ns, law) = self.bottleneck(self.cost(self, cheap), alone, self.throughput);
            (1e9 / ns / self.throughput - 1.0, law)
        };
        let (estimate, model) = full(0.5, 0.5);
        let [estimate, low, high] =
            [estimate, full(0.0, 0.0).0, full(1.0, 1.0).0].map(|it| it.max(0.0));
        let is_known = high.is_finite() && !self.is_fixed_rate;
        is_known.then_some(Gain {
            of: GainOf::Throughput,
            estimate,
            // Where all three are the same, rounding may set them apart.
            interval: Interval {
                low: low.min(estimate),
                high: high.max(estimate),
            },
            model,
        })
    }

    /// The response time falls by what goes; of a line for the CPUs by at least as much as these are less busy, since a
    /// line grows faster than the use of what it is for.
    fn in_response(&self, after: &Self, goes: Goes) -> Gain {
        let part = goes.part();
        let high = (part.high + self.late.max(0.0)).min(1.0);
        let (low, model) = match goes {
            Goes::Wait(_) => (part.low, "waits removed, fixed rate"),
            Goes::Line(_) => (
                high * (1.0 - after.used() / self.used()),
                "queue, fixed rate",
            ),
        };
        let low = low.max(0.0).min(high);
        Gain {
            of: GainOf::ResponseTime,
            estimate: (low + high) / 2.0,
            interval: Interval { low, high },
            model,
        }
    }

    /// The throughput of a closed loop grows until something else is full.
    fn in_throughput(&self, after: &Self, goes: Goes) -> Gain {
        let part = goes.part();
        let then = |assumed| self.then(after, part, assumed);
        // How long the line for the CPUs is now is known: only what becomes of it is not.
        let scale = match goes {
            Goes::Wait(_) => 1.0,
            Goes::Line(_) => self.throughput / self.then(self, part, Assumed::MIDDLE).throughput(),
        };
        let middle = then(Assumed::MIDDLE);
        let estimate = middle.throughput();
        // Ratios multiply, so it is their logarithms that are added.
        let apart = |end| {
            let each = Assumed::each(end).map(|it| (then(it).throughput() / estimate).ln().abs());
            let squares = each.iter().chain([&VARIES]).map(|it| it * it);
            squares.sum::<f64>().sqrt()
        };
        // A gain is of no more than the wait that goes, with what its requests are spared where they came in bursts, and
        // never a loss.
        let cycle_ns = self.cycle_ns();
        let spared_ns = match (self.quota, after.quota) {
            (Some(_), None) => self.own_ns * (1.0 - AFTER_BURSTS.0),
            _ => 0.0,
        };
        let goes_ns = part.high * self.response_ns + spared_ns;
        let most = cycle_ns / (cycle_ns - goes_ns).max(0.0);
        let gain = |times: f64| {
            (estimate * scale * times / self.throughput)
                .min(most)
                .max(1.0)
                - 1.0
        };
        Gain {
            of: GainOf::Throughput,
            estimate: gain(1.0),
            interval: Interval {
                low: gain((-apart(0.0)).exp()),
                high: gain(apart(1.0).exp()),
            },
            model: middle.model(),
        }
    }

    /// The clients of this load beside the CPUs of another, without a part of the response time.
    fn then(&self, after: &Self, part: Interval, assumed: Assumed) -> Then {
        let Assumed {
            cheap,
            alone,
            orderly,
            goes,
        } = assumed;
        let cost = self.cost(after, cheap);
        let (bottleneck_ns, law) = after.bottleneck(cost, alone, self.throughput);
        let goes = part.low + (part.high - part.low) * goes;
        // CPU time that the change takes away was others' or is in what goes: requests had none of it to wait for.
        let waits_ns = (self.cycle_ns() - goes * self.response_ns - after.own_ns).max(0.0);
        // What one request takes of several CPUs is a line for a faster one, and a delay (Seidmann's approximation).
        let own_ns = after.own_ns * cost;
        let closed = ClosedLoop {
            clients: self.clients(),
            delay_ns: waits_ns + (own_ns - bottleneck_ns).max(0.0),
            bottleneck_ns,
        };
        Then {
            closed,
            orderly,
            law,
        }
    }

    /// The time for which a request has what is full first to itself, ns, with that; `cost` is its CPU time as a part of
    /// that now, `alone` the part of the others' work that goes on as at `throughput` now.
    fn bottleneck(&self, cost: f64, alone: f64, throughput: f64) -> (f64, &'static str) {
        let per_second = throughput / 1e9;
        let kept = self.others_ns * alone * per_second;
        let work_ns = self.own_ns + self.others_ns * (1.0 - alone);
        let cpus = (self.cpus - kept)
            .max(work_ns * per_second)
            .max(f64::MIN_POSITIVE);
        let limits = [
            (work_ns / cpus, "CPU law"),
            (
                self.target_thread_ns.max(self.generator_thread_ns),
                "CPU law, one thread",
            ),
            (
                self.quota.map_or(0.0, |cpus| self.target_ns / cpus),
                "CPU law, quota",
            ),
        ];
        let most = limits.into_iter().max_by(|a, b| a.0.total_cmp(&b.0));
        most.map_or((0.0, ""), |(ns, law)| (ns * cost, law))
    }

    /// The CPU time of a request after a change, as a part of that now, from the most (0) to the least (1) of what is
    /// seen. When the CPUs are full it is spared wake-ups, caches are warm, and several requests are read at a look; who
    /// does not rest even now is spared nothing.
    fn cost(&self, after: &Self, cheap: f64) -> f64 {
        let (least, most) = match (self.quota, after.quota) {
            (Some(_), None) => AFTER_BURSTS,
            _ => {
                let per_ns = self.throughput / 1e9;
                let thread_ns = self.target_thread_ns.max(self.generator_thread_ns);
                let used = (self.own_ns / self.cpus).max(thread_ns) * per_ns * self.crowding();
                let idle = 1.0 - used.clamp(0.0, 1.0);
                let (least, most) = ON_IDLE_CPUS;
                (1.0 - (1.0 - least) * idle, 1.0 - (1.0 - most) * idle)
            }
        };
        most * (least / most).powf(cheap)
    }

    /// How many times as busy as on average a CPU is where and while requests are worked on: where all clients wait at times
    /// for one who holds everybody up, CPUs are idle then and full in between.
    fn crowding(&self) -> f64 {
        let cycle_ns = self.cycle_ns();
        let usual_ns = (cycle_ns - self.response_ns + self.usual_ns).max(f64::MIN_POSITIVE);
        (cycle_ns / usual_ns).max(1.0) * self.uneven
    }

    /// How busy the CPUs are at this load, as part of them.
    fn used(&self) -> f64 {
        (self.own_ns + self.others_ns) / self.cpus
    }

    /// Who waits for an answer is a client; how many think meanwhile only the load can say.
    fn clients(&self) -> u32 {
        let in_progress = self.throughput * self.response_ns / 1e9;
        let seen = (in_progress * (1.0 - EDGES)).ceil().max(1.0) as u32;
        self.clients.map_or(seen, |known| known.max(1))
    }

    /// From one request of a client to its next, ns.
    fn cycle_ns(&self) -> f64 {
        (f64::from(self.clients()) / self.throughput * 1e9).max(self.response_ns)
    }
}

#[cfg(test)]
mod tests;
