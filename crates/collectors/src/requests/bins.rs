//! Answers in bins of 20 ms.

use kernel::bpf::requests::Requests;
use kernel::clock::boottime;
use model::{GapReason, Timestamp, Window};
use sensors::bins::REQUEST_BIN;

use crate::output::{Output, TableId};
use crate::registry::MACHINE;

/// How long a bin is, ns.
const BIN_NS: i64 = sensors::bins::BIN_NS.cast_signed();

/// Rows of bins with requests, and of the first and the last, between which nothing is left out.
pub(super) struct AnsweredRows {
    table: TableId,
    /// The scheduler's clock less `CLOCK_BOOTTIME`, ns.
    pub(super) ahead_ns: Option<i64>,
    /// When the last bin began that was told.
    last: Option<Timestamp>,
    /// Whether it has no row.
    is_empty: bool,
}

impl AnsweredRows {
    pub(super) fn new(out: &mut Output) -> Self {
        Self {
            table: out.open(&REQUEST_BIN),
            ahead_ns: None,
            last: None,
            is_empty: false,
        }
    }

    /// The programs count by the scheduler's clock, which thread-time accounting knows.
    pub(super) fn sample(&mut self, programs: &mut Requests, out: &mut Output) {
        let Self {
            table,
            ahead_ns: Some(ahead_ns),
            last,
            is_empty,
        } = self
        else {
            return;
        };
        let rows = &mut out.tables[*table].rows;
        let lost = programs.answered(*ahead_ns, |from, requests| {
            *is_empty = last.is_some() && requests == 0;
            if !*is_empty {
                rows.push(from, MACHINE, &[BIN_NS, requests.cast_signed()]);
            }
            *last = Some(from);
        });
        if let Some(last) = last.filter(|_| lost > 0) {
            let window = Window::new(last + BIN_NS, boottime());
            let what = "bins of 20 ms that were read too late";
            let lost = GapReason::Dropped(lost);
            out.gaps
                .report_interval(&REQUEST_BIN.name, what, window, lost);
        }
    }

    pub(super) fn finish(&mut self, programs: &mut Requests, out: &mut Output) {
        self.sample(programs, out);
        if let Some(from) = self.last.filter(|_| self.is_empty) {
            out.tables[self.table]
                .rows
                .push(from, MACHINE, &[BIN_NS, 0]);
        }
    }
}
