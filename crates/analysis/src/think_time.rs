//! Think time of the load generator: what its clients let pass between a reply and their next request because their
//! script says so.
//!
//! Seen at the generator's own sockets, as the time between the arrival of a reply and the next request on the same
//! connection. That also holds the generator's work for a request and its waits for a CPU; both are taken off, with the
//! line before a thread that is so busy (a request takes S / (1 - U) where S is its service and U how busy the server
//! is: Lazowska et al. 1984, Quantitative System Performance, chapter 5). Of a generator that never rests nothing is
//! left: what it lets pass is its own limit, and no think time.

use model::{LedgerClass, Quality, ThinkTime, Timeline, Window};

use crate::request_times::{self, BothEnds};
use crate::subject::Subject;
use crate::workload_metrics::Mean;

/// Less than this part of a client's time is not worth a word.
const WORTH_SAYING: f64 = 0.05;

/// Think time over a window, of all clients together, ns.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Think {
    pub(crate) ns: f64,
    /// What of it response times hold: those of a tool that counts its own sleeps as latency.
    pub(crate) in_response_ns: f64,
    /// Requests that it lies between.
    pub(crate) requests: f64,
    /// Their times added up, ns.
    requests_ns: f64,
}

impl Think {
    /// `None` where the time between requests was not counted at the generator, or its requests are others than the
    /// target's. What latency holds beyond the sampled times of requests is no measure of it: those of a throttled
    /// server came out 0.2 ms short of pgbench's own mean.
    pub(crate) fn of(
        timeline: &Timeline,
        generator: &Subject,
        ends: BothEnds,
        signal: &Mean,
        window: Window,
    ) -> Option<Self> {
        let requests = ends.requests();
        let requests_ns = requests * ends.called_ns();
        let beyond_ns = (signal.response_ns - signal.lag_total_ns - requests_ns).max(0.0);
        let ns = without_work(request_times::between_ns(timeline, window)?, generator);
        Some(Self {
            ns,
            in_response_ns: ns.min(beyond_ns),
            requests,
            requests_ns,
        })
        .filter(|it| it.ns > 0.0 && it.ns >= WORTH_SAYING * (it.ns + it.requests_ns))
    }

    /// As it is reported.
    pub(crate) fn report(self) -> ThinkTime {
        ThinkTime {
            between_requests_ns: self.ns / self.requests.max(1.0),
            quality: Quality::Estimated,
            in_latency: 2.0 * self.in_response_ns > self.ns,
        }
    }

    /// How it is known, in words.
    pub(crate) fn note(generator: &str) -> String {
        format!(
            "between a reply and the next request at {generator}'s sockets, less its own CPU time and waits"
        )
    }
}

/// What is left of the time between requests without the generator's work and the line before it.
fn without_work(between_ns: f64, generator: &Subject) -> f64 {
    let ledger = &generator.ledger;
    let work_ns = ledger.get(LedgerClass::OnCpu) + ledger.get(LedgerClass::CpuWait);
    let idle = 1.0 - (generator.active.0 + generator.active.1);
    match idle > 0.0 {
        true => (between_ns - work_ns / idle).max(0.0),
        false => 0.0,
    }
}
