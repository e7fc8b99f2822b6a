//! What a closed loop gives: N clients, each of which asks again when it has its answer.
//!
//! At most by the asymptotic bounds, X <= min(N / (R + Z), 1 / Dmax), which let nobody stand in line; with a line by
//! mean value analysis, as if times were exponential (Lazowska et al. 1984, Quantitative System Performance, chapters
//! 5 and 6; Reiser and Lavenberg 1980). What servers give lies between the two. Nothing here knows of recordings.

/// A closed loop with one bottleneck; times in ns.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct ClosedLoop {
    /// Those who ask, one request at a time each.
    pub(crate) clients: u32,
    /// The time of a request, and between two of one client, that nobody else lengthens.
    pub(crate) delay_ns: f64,
    /// The time for which a request has the bottleneck to itself.
    pub(crate) bottleneck_ns: f64,
}

impl ClosedLoop {
    /// Requests per second if nobody stands in line before the bottleneck is full.
    pub(crate) fn at_most(self) -> f64 {
        let unhindered = f64::from(self.clients) / (self.delay_ns + self.bottleneck_ns);
        unhindered.min(1.0 / self.bottleneck_ns) * 1e9
    }

    /// Whether the bottleneck is full at that.
    pub(crate) fn is_full(self) -> bool {
        f64::from(self.clients) * self.bottleneck_ns >= self.delay_ns + self.bottleneck_ns
    }

    /// Requests per second with a line before the bottleneck, as long as random times make it.
    pub(crate) fn with_line(self) -> f64 {
        /// Where more ask than this, the bottleneck is full, or far from it.
        const MANY: u32 = 10_000;
        if self.clients > MANY {
            return self.at_most();
        }
        let (mut waiting, mut throughput) = (0.0, 0.0);
        for clients in 1..=self.clients {
            let response_ns = self.bottleneck_ns * (1.0 + waiting);
            throughput = f64::from(clients) / (response_ns + self.delay_ns);
            waiting = throughput * response_ns;
        }
        throughput * 1e9
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(clients: u32) -> ClosedLoop {
        ClosedLoop {
            clients,
            delay_ns: 3e6,
            bottleneck_ns: 1e6,
        }
    }

    #[test]
    fn one_client_stands_in_no_line() {
        assert_eq!((of(1).at_most(), of(1).with_line()), (250.0, 250.0));
    }

    #[test]
    fn a_line_costs_most_where_the_bounds_meet() {
        // N* = (D + Z) / Dmax = 4.
        assert_eq!((of(4).at_most(), of(5).at_most()), (1000.0, 1000.0));
        // By hand: the second finds a quarter of the first there.
        assert!((of(2).with_line() - 2e9 / (1e6 * 1.25 + 3e6)).abs() < 1e-9);
        let lost = |clients| 1.0 - of(clients).with_line() / of(clients).at_most();
        assert!(lost(4) > lost(2) && lost(4) > lost(40));
        assert!(lost(40) < 1e-3);
    }

    proptest! {
        #[test]
        fn a_line_never_helps_and_less_of_the_bottleneck_never_harms(
            clients in 1..500u32,
            delay_ns in 0.0..1e9f64,
            bottleneck_ns in 1.0..1e8f64,
            part in 0.01..1.0f64,
        ) {
            let it = ClosedLoop { clients, delay_ns, bottleneck_ns };
            prop_assert!(it.with_line() <= it.at_most() * (1.0 + 1e-9));
            prop_assert!(it.with_line() > 0.0 && it.at_most().is_finite());
            let less = ClosedLoop { bottleneck_ns: bottleneck_ns * part, ..it };
            prop_assert!(less.with_line() >= it.with_line() * (1.0 - 1e-9));
        }
    }
}
