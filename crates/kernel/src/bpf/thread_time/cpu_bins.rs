//! The CPUs' time in bins of 20 ms, from what the programs note at the edges between them
//! (`bpf/lib/run_queue.bpf.h`).

use std::sync::atomic::{Ordering, fence};

use libbpf_rs::MapCore;
use model::Timestamp;
use sensors::bins::BIN_NS;
use sensors::thread_time::HOLDERS;

use super::ThreadTime;
use crate::bpf::mapped::Mapped;
use crate::bpf::refusal::Refusal;
use crate::bpf::skeletons::thread_time::types::{cpu_edge, run_queue};
use crate::clock::boottime;

/// Edges that a CPU's ring holds (CPU_EDGES).
pub(super) const EDGES: usize = 64;
/// Bins that one reading tells at most; of more the older ones may be overwritten.
const MOST: usize = EDGES - 2;
/// An event takes less than a microsecond: a writer that takes longer was itself interrupted.
const MOST_TRIES: usize = 16;

/// What all CPUs together did in one bin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CpuBin {
    /// When it began.
    pub from: Timestamp,
    /// Time by the role of who had a CPU, ns; in the order of `Holder::ALL`.
    pub held_ns: [u64; HOLDERS],
    /// How long target threads waited for a CPU, added up, ns.
    pub waited_ns: u64,
}

/// Counters of a CPU, or of all.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Sums {
    held_ns: [u64; HOLDERS],
    waited_ns: u64,
}

impl Sums {
    fn each(mut self, other: Self, of: impl Fn(u64, u64) -> u64) -> Self {
        let pairs = self.held_ns.iter_mut().zip(other.held_ns);
        pairs.for_each(|(to, other)| *to = of(*to, other));
        self.waited_ns = of(self.waited_ns, other.waited_ns);
        self
    }
}

/// The rings and how far they were read.
pub(super) struct CpuBins {
    edges: Mapped<cpu_edge>,
    /// The edge up to which bins were told, on the scheduler's clock; `None` before the first reading.
    told: Option<u64>,
    /// Room for the counters of one CPU and of all, at each edge.
    room: [Box<[Sums]>; 2],
}

impl CpuBins {
    pub(super) fn new(edges: &impl MapCore) -> Result<Self, Refusal> {
        let room = || vec![Sums::default(); MOST + 1].into_boxed_slice();
        Ok(Self {
            edges: Mapped::new(edges)?,
            told: None,
            room: [room(), room()],
        })
    }

    /// Tells the bins that ended until `until`, none of which began before `since`; returns how many are lost, because
    /// this comes too late.
    fn read(
        &mut self,
        queues: &Mapped<run_queue>,
        [since, until]: [u64; 2],
        mut each: impl FnMut(u64, Sums),
    ) -> u64 {
        // What was before the first reading is not asked for.
        let told = *self.told.get_or_insert(until.next_multiple_of(BIN_NS));
        let first = told.max(since.next_multiple_of(BIN_NS));
        let ended = until.saturating_sub(first) / BIN_NS;
        let lost = ended.saturating_sub(MOST as u64);
        let first = first + lost * BIN_NS;
        let bins = (ended - lost) as usize;
        if bins == 0 {
            return 0;
        }
        let Self { edges, room, .. } = self;
        let [own, all] = room;
        all.fill(Sums::default());
        for cpu in 0..edges.len() / EDGES {
            let edge = |place: u64| edges.get(cpu * EDGES + place as usize % EDGES);
            let is_read = whole(queues, cpu, |queue| {
                for (place, sums) in own[..=bins].iter_mut().enumerate() {
                    *sums = sums_at(queue, edge, first + place as u64 * BIN_NS);
                }
            });
            // The next reading has these bins too.
            if !is_read {
                return 0;
            }
            let pairs = all.iter_mut().zip(own.iter());
            pairs.for_each(|(to, own)| *to = to.each(*own, u64::wrapping_add));
        }
        for (place, pair) in all[..=bins].windows(2).enumerate() {
            // A thread that is pulled to another CPU may be counted there a little late, as if it had waited less before.
            let grown = pair[1].each(pair[0], |after, before| {
                let by = after.wrapping_sub(before).cast_signed();
                by.max(0).cast_unsigned()
            });
            each(first + place as u64 * BIN_NS, grown);
        }
        self.told = Some(first + bins as u64 * BIN_NS);
        lost
    }
}

/// Calls `look` with a CPU's numbers, again until no program changed them meanwhile; whether that was so.
fn whole(queues: &Mapped<run_queue>, cpu: usize, mut look: impl FnMut(&run_queue)) -> bool {
    for _ in 0..MOST_TRIES {
        let Some(queue) = queues.get(cpu) else {
            return true;
        };
        fence(Ordering::Acquire);
        look(&queue);
        fence(Ordering::Acquire);
        if queue.sequence % 2 == 0 && queues.first_word(cpu) == Some(queue.sequence) {
            return true;
        }
    }
    false
}

/// A CPU's counters at an edge; `edge` gives those of its ring by their numbers.
fn sums_at(queue: &run_queue, edge: impl Fn(u64) -> Option<cpu_edge>, at: u64) -> Sums {
    if queue.until == 0 {
        return Sums::default();
    }
    if queue.until <= at {
        let passed = at - queue.until;
        let mut sums = Sums {
            held_ns: queue.held_ns,
            waited_ns: queue.waited_ns.wrapping_add(queue.waited_unlocked_ns),
        };
        sums.held_ns[queue.holder as usize % HOLDERS] += passed;
        let waiting = queue.waiting.wrapping_add(queue.waiting_unlocked);
        sums.waited_ns = sums.waited_ns.wrapping_add(waiting.wrapping_mul(passed));
        return sums;
    }
    let of = |edge: cpu_edge| Sums {
        held_ns: edge.held_ns,
        waited_ns: edge.waited_ns,
    };
    let mut next: Option<cpu_edge> = None;
    for number in (queue.edges.saturating_sub(EDGES as u64)..queue.edges).rev() {
        let Some(found) = edge(number) else { break };
        if found.at == at {
            return of(found);
        }
        if let Some(next) = next.filter(|_| found.at < at) {
            let [passed, all] = [at - found.at, next.at - found.at];
            let [from, to] = [found, next].map(of);
            return from.each(to, |from, to| {
                let grown = i128::from(to.wrapping_sub(from).cast_signed());
                from.wrapping_add((grown * i128::from(passed) / i128::from(all)) as u64)
            });
        }
        next = Some(found);
    }
    // Before the CPU's first event.
    Sums::default()
}

impl ThreadTime {
    /// Tells the bins that have ended since the last call and lie in an on-window whole, in their order; returns how
    /// many are lost, because this call comes too late.
    pub fn cpu_bins(&mut self, mut each: impl FnMut(CpuBin)) -> u64 {
        let Some(variables) = self.programs.maps.bss_data.as_deref() else {
            return 0;
        };
        let until = match variables.off_window_since {
            0 => (boottime().as_ns() + self.ahead_ns).cast_unsigned(),
            ended => ended,
        };
        let ahead_ns = self.ahead_ns;
        let window = [variables.reconciled_at, until];
        self.cpu_bins.read(&self.queues, window, |from, sums| {
            each(CpuBin {
                from: Timestamp::from_ns(from.cast_signed() - ahead_ns),
                held_ns: sums.held_ns,
                waited_ns: sums.waited_ns,
            });
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn queue(until: u64, edges: u64) -> run_queue {
        run_queue {
            until,
            edges,
            holder: 1,
            held_ns: [5, until, 0, 0],
            waiting: 2,
            waited_ns: 10,
            ..run_queue::default()
        }
    }

    fn edge(at: u64) -> cpu_edge {
        cpu_edge {
            at,
            held_ns: [5, at / 2, 0, 0],
            waited_ns: at / 10,
        }
    }

    fn no_edge(_: u64) -> Option<cpu_edge> {
        None
    }

    #[test]
    fn numbers_go_on_after_the_last_event() {
        let sums = sums_at(&queue(100 * MS, 0), no_edge, 140 * MS);
        assert_eq!(sums.held_ns, [5, 140 * MS, 0, 0]);
        assert_eq!(sums.waited_ns, 10 + 2 * 40 * MS);
    }

    #[test]
    fn between_edges_that_are_far_apart_they_grow_evenly() {
        let ring = [edge(20 * MS), edge(40 * MS), edge(140 * MS)];
        let ring = |number: u64| ring.get(number as usize).copied();
        let queue = queue(150 * MS, 3);
        let at = |at| sums_at(&queue, ring, at).held_ns[1];
        assert_eq!(
            [20, 40, 60, 140].map(|it| at(it * MS)),
            [10, 20, 30, 70].map(|it| it * MS)
        );
        // Before the first event nothing is known.
        assert_eq!(sums_at(&queue, ring, 10 * MS), Sums::default());
        assert_eq!(sums_at(&run_queue::default(), no_edge, MS), Sums::default());
    }
}
