//! How far a node's clock is from the store's.

/// Fewer scrapes than this say nothing of it.
const LEAST: usize = 5;
/// The part of the values that `within_ns` leaves out at each end.
const LEFT_OUT: usize = 20;

/// How far a node's clock was ahead of the store's when it was scraped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClockAhead {
    /// The median over all scrapes, ns.
    pub ahead_ns: i64,
    /// Half the width that nine in ten of the values have, ns.
    pub within_ns: i64,
}

/// By what each scrape shows, s. `None` where too few do.
pub(super) fn ahead(shown: impl Iterator<Item = f64>) -> Option<ClockAhead> {
    let ns = |it: f64| (it * 1e9).round() as i64;
    let mut all: Vec<i64> = shown.map(ns).collect();
    all.sort_unstable();
    let out = all.len() / LEFT_OUT;
    let (low, high) = (all.get(out)?, all.get(all.len() - 1 - out)?);
    (all.len() >= LEAST).then(|| ClockAhead {
        ahead_ns: all[all.len() / 2],
        within_ns: high.saturating_sub(*low) / 2,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_scrape_does_not_move_it() {
        let shown = |odd: f64| (0..40).map(move |it| if it == 7 { odd } else { 0.3 });
        let right = Some(ClockAhead {
            ahead_ns: 300_000_000,
            within_ns: 0,
        });
        assert_eq!(ahead(shown(0.3)), right);
        assert_eq!(ahead(shown(9.0)), right);
        assert_eq!(ahead(shown(-1e300)), right);
        assert_eq!(ahead([0.3; 4].into_iter()), None);
        assert_eq!(ahead(std::iter::empty()), None);
    }
}
