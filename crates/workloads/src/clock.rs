//! Where the intervals that a tool reports lie on our clock.
//!
//! A line says how many seconds after the start of the run it was written (or at which Unix time), and reaches us a
//! little later. A run cannot have started later than any of its lines says, so the start is the least of
//! (arrival - printed time) over the lines so far: delays of single lines do not move the bins.

use model::Timestamp;

/// Puts the intervals between printed times on our clock.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    /// Length of the interval that the first line ends; `None` when printed times count from the
    /// start of the run, so that the first line says it itself.
    first_ns: Option<i64>,
    /// Our time at printed time 0, the least so far, ns.
    zero_ns: Option<i64>,
    /// The last printed time, ns.
    last_ns: Option<i64>,
}

impl Clock {
    /// For printed times that count from the start of the run.
    pub(crate) fn elapsed() -> Self {
        Self::default()
    }

    /// For printed Unix times, a line every `period_ns`.
    pub(crate) fn unix(period_ns: i64) -> Self {
        Self {
            first_ns: Some(period_ns),
            ..Self::default()
        }
    }

    /// Whether a printed time was seen.
    pub(crate) fn started(&self) -> bool {
        self.last_ns.is_some()
    }

    /// End and length (ns) of the interval that ends at a printed time. `None` when that is not later than the last
    /// one: the interval is shorter than what the tool prints, or the wall clock was set back.
    pub(crate) fn place(&mut self, at_ns: i64, arrived: Timestamp) -> Option<(Timestamp, i64)> {
        let zero_ns = arrived.as_ns().checked_sub(at_ns)?;
        let interval_ns = match self.last_ns {
            Some(last_ns) => at_ns.checked_sub(last_ns)?,
            None => self.first_ns.unwrap_or(at_ns),
        };
        if interval_ns <= 0 {
            return None;
        }
        let zero_ns = self.zero_ns.map_or(zero_ns, |least| least.min(zero_ns));
        self.zero_ns = Some(zero_ns);
        self.last_ns = Some(at_ns);
        // No overflow: zero_ns is at most arrived - at_ns.
        Some((Timestamp::from_ns(zero_ns + at_ns), interval_ns))
    }
}
