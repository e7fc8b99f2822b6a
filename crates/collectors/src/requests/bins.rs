//! Answers in bins of 20 ms.

use kernel::bpf::requests::{REQUEST_BIN_NS, Requests};
use model::{GapReason, Timestamp};
use sensors::bins::REQUEST_BIN;

use crate::output::{Output, TableId};
use crate::registry::MACHINE;

/// How long a bin is, ns.
const BIN_NS: i64 = REQUEST_BIN_NS.cast_signed();

/// Rows of bins with requests, and of the first and the last, between which nothing is left out.
pub(super) struct AnsweredRows {
    table: TableId,
    /// The scheduler's clock less `CLOCK_BOOTTIME`, ns.
    pub(super) ahead_ns: Option<i64>,
    any: bool,
    /// The last bin, if it has no row.
    empty: Option<Timestamp>,
}

impl AnsweredRows {
    pub(super) fn new(out: &mut Output) -> Self {
        Self {
            table: out.open(&REQUEST_BIN),
            ahead_ns: None,
            any: false,
            empty: None,
        }
    }

    /// The programs count by the scheduler's clock, which thread-time accounting knows.
    pub(super) fn sample(&mut self, programs: &mut Requests, out: &mut Output) {
        let Self {
            table,
            ahead_ns: Some(ahead_ns),
            any,
            empty,
        } = self
        else {
            return;
        };
        let rows = &mut out.tables[*table].rows;
        let lost = programs.answered(*ahead_ns, |from, requests| {
            *empty = (*any && requests == 0).then_some(from);
            if empty.is_none() {
                rows.push(from, MACHINE, &[BIN_NS, requests.cast_signed()]);
            }
            *any = true;
        });
        if lost > 0 {
            let what = "bins of 20 ms that were read too late";
            out.gaps
                .report(&REQUEST_BIN.name, what, GapReason::Dropped(lost));
        }
    }

    pub(super) fn finish(&mut self, programs: &mut Requests, out: &mut Output) {
        self.sample(programs, out);
        if let Some(from) = self.empty.take() {
            out.tables[self.table]
                .rows
                .push(from, MACHINE, &[BIN_NS, 0]);
        }
    }
}
