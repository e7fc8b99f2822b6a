//! Time that requests stand in line at the target's sockets, by what the threads that serve the line do meanwhile.
//!
//! A request in line waits for those before it to be done, so for whatever the threads that serve them are in: a single
//! server that is held back by a quota two thirds of the time, and on a CPU for one, makes its line wait by exactly
//! these shares (a queue's wait is the work before it, at the pace of its server: Lazowska et al. 1984, Quantitative
//! System Performance, chapter 5). A thread that waits for a peer which it asked is busy in this sense. What is left are requests in line while a thread that would serve them had nothing
//! to do: a late wake-up, an event loop elsewhere, a pool that is asleep in something else.

use model::LedgerClass;

use crate::subject::Subject;
use crate::workload_metrics::Mean;

/// Less than this part of the response time in line is not shown of its own.
pub(crate) const WORTH_SHOWING: f64 = 0.005;

/// What is known of a line before those who serve it are looked at.
pub(crate) struct Standing {
    /// What was spent outside of the target's threads, as part of the response time.
    pub(crate) outside: f64,
    /// What of that requests stood in line.
    pub(crate) share: f64,
    /// The time of the target's calls to its peers, ns.
    pub(crate) calls_ns: f64,
}

/// The line at the target's sockets, in parts of the response time.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Line {
    /// What requests were in it.
    pub(crate) share: f64,
    /// What was spent outside of the target's threads: in line, late, or elsewhere.
    outside: f64,
    /// The part of the line in which threads that serve it were busy.
    explained: f64,
    /// What those did, as parts of the time in which they were busy; by class.
    did: [f64; LedgerClass::ALL.len()],
}

impl Line {
    /// The line of a target; `closed_loop` are the response times of so many clients that each wait for their own.
    pub(crate) fn of(
        target: &Subject,
        closed_loop: Option<(&Mean, u32)>,
        standing: Standing,
    ) -> Self {
        let Standing {
            outside,
            share,
            calls_ns,
        } = standing;
        let ledger = &target.line_ledger;
        let mut busy = ledger.inside();
        // More calls at a time than threads that wait for input are an event loop's, which no call holds up.
        if calls_ns <= ledger.get(LedgerClass::Input) {
            busy[LedgerClass::Remote as usize] = calls_ns;
        }
        let busy_ns: f64 = busy.iter().sum();
        let line = Self {
            share,
            outside,
            ..Self::default()
        };
        if share <= 0.0 || busy_ns <= 0.0 {
            return line;
        }
        let busy_part = (busy_ns / target.line_ledger.wall_ns).min(1.0);
        let explained = explained(busy_part, closed_loop, share);
        Self {
            explained: match share * (1.0 - explained) < WORTH_SHOWING {
                true => 1.0,
                false => explained,
            },
            did: busy.map(|ns| ns / busy_ns),
            ..line
        }
    }

    /// What of it those who serve it were in a class.
    pub(crate) fn behind(&self, class: LedgerClass) -> f64 {
        self.share * self.explained * self.did[class as usize]
    }

    /// What of it those who serve it were in classes of threads.
    fn behind_threads(&self) -> f64 {
        let did = 1.0 - self.did[LedgerClass::Remote as usize];
        self.share * self.explained * did
    }

    /// What of it nobody was busy who would serve it.
    pub(crate) fn left(&self) -> f64 {
        self.share * (1.0 - self.explained)
    }

    /// How many times as long as `inside_ns`, which the target's threads spent on requests, these were inside or in
    /// line behind them, where they took `total_ns`.
    pub(crate) fn lengthens(&self, inside_ns: f64, total_ns: f64) -> f64 {
        let rest_ns = (total_ns - inside_ns).max(0.0);
        match self.outside > 0.0 && inside_ns > 0.0 {
            true => 1.0 + rest_ns / inside_ns * self.behind_threads() / self.outside,
            false => 1.0,
        }
    }
}

/// How much of the time in line those who serve it were busy, for `busy` of their time.
///
/// Nobody is in line while they are idle: then all of it falls into the time in which they are busy, and there are as
/// many in line at a time as all of the line's time amounts to in that. No more can be than there are clients; what is
/// over that was in line before idle threads. Without the number of clients the part is that of a random moment.
fn explained(busy: f64, closed_loop: Option<(&Mean, u32)>, share: f64) -> f64 {
    let Some((mean, clients)) = closed_loop else {
        return busy;
    };
    let in_line = share * mean.response_ns / mean.span.len_ns().max(1) as f64;
    match in_line > 0.0 {
        true => (busy * f64::from(clients) / in_line).clamp(busy, 1.0),
        false => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use model::{Timestamp, Window};

    use super::*;

    /// A second in which so many requests were in progress at a time.
    fn in_progress(requests: f64) -> Mean {
        Mean {
            throughput: 1_000.0,
            latency_ns: Some(requests * 1e6),
            lag_ns: None,
            span: Window::new(Timestamp::from_ns(0), Timestamp::from_ns(1_000_000_000)),
            completed: 1_000.0,
            response_ns: requests * 1e9,
            lag_total_ns: 0.0,
        }
    }

    #[test]
    fn a_line_fits_into_the_time_in_which_its_server_is_busy() {
        let six = in_progress(6.5);
        // 6 of 13 clients in line on average: all of them, in half of the time, are more than enough.
        assert_eq!(explained(0.5, Some((&six, 13)), 6.0 / 6.5), 1.0);
        // In a tenth of the time at most 1.3 on average.
        let some = explained(0.1, Some((&six, 13)), 6.0 / 6.5);
        assert!((some - 1.3 / 6.0).abs() < 1e-9, "{some}");
    }

    #[test]
    fn of_an_unknown_number_of_clients_a_line_is_as_busy_as_its_server() {
        assert_eq!(explained(0.7, None, 0.9), 0.7);
        assert_eq!(explained(1.0, None, 0.9), 1.0);
    }
}
