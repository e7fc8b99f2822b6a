//! Intervals of throughput and latency, wherever they come from, and their means over a window.

use model::Window;

/// One interval of the workload's signal; `None` is "not said" or "nothing was completed".
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Bin {
    pub(crate) window: Window,
    /// Operations per second.
    pub(crate) throughput: f64,
    pub(crate) latency_ns: Option<f64>,
    pub(crate) stddev_ns: Option<f64>,
    pub(crate) lag_ns: Option<f64>,
    pub(crate) failed: Option<f64>,
    pub(crate) skipped: Option<f64>,
    pub(crate) retried: Option<f64>,
    /// Whether nothing was completed though something was asked for.
    pub(crate) stalled: bool,
}

impl Bin {
    /// One of which only the throughput is known.
    pub(crate) fn new(window: Window, throughput: f64) -> Self {
        Self {
            window,
            throughput,
            latency_ns: None,
            stddev_ns: None,
            lag_ns: None,
            failed: None,
            skipped: None,
            retried: None,
            stalled: false,
        }
    }

    /// Operations completed.
    pub(crate) fn completed(&self) -> f64 {
        self.throughput * self.window.seconds()
    }
}

/// Bins that lie in `window` by at least half.
pub(crate) fn inside(bins: &[Bin], window: Window) -> impl Iterator<Item = &Bin> {
    bins.iter().filter(move |bin| {
        window
            .intersect(bin.window)
            .is_some_and(|both| both.len_ns() >= bin.window.len_ns() - bin.window.len_ns() / 2)
    })
}

/// The time of the bins that lie in `window`; the window itself where there are none.
pub(crate) fn whole_bins(bins: &[Bin], window: Window) -> Window {
    let starts = inside(bins, window).map(|bin| bin.window.start).min();
    let ends = inside(bins, window).map(|bin| bin.window.end).max();
    starts
        .zip(ends)
        .map_or(window, |(start, end)| Window::new(start, end))
}

/// Throughput and latency over a window.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Mean {
    /// Operations per second.
    pub throughput: f64,
    /// Mean over operations, ns; `None` when nothing was completed.
    pub latency_ns: Option<f64>,
    /// Mean lag behind the schedule, ns; part of the latency.
    pub lag_ns: Option<f64>,
    /// From the first bin to the last.
    pub span: Window,
    /// Operations completed in it; where bins are missing inside, the others speak for them.
    pub completed: f64,
    /// Their response times added up, ns.
    pub response_ns: f64,
    /// Their lag added up, ns.
    pub lag_total_ns: f64,
}

/// The mean over the bins inside `window`, weighted by operations; `None` without bins.
pub(crate) fn mean(bins: &[Bin], window: Window) -> Option<Mean> {
    let inside: Vec<&Bin> = inside(bins, window).collect();
    let seconds: f64 = inside.iter().map(|bin| bin.window.seconds()).sum();
    if seconds <= 0.0 {
        return None;
    }
    let span = Window::new(
        inside.iter().map(|bin| bin.window.start).min()?,
        inside.last()?.window.end,
    );
    let holes = (span.seconds() / seconds).max(1.0);
    let completed: f64 = inside.iter().map(|bin| bin.completed()).sum();
    let total = |of: fn(&Bin) -> Option<f64>| weighted(&inside, of);
    let (response_ns, response_count) = total(|bin| bin.latency_ns);
    let latency_ns = (response_count > 0.0).then(|| response_ns / response_count);
    let (lag_total_ns, lag_count) = total(|bin| bin.lag_ns);
    Some(Mean {
        throughput: completed / seconds,
        latency_ns,
        lag_ns: (lag_count > 0.0).then(|| lag_total_ns / lag_count),
        span,
        completed: completed * holes,
        // Bins whose latency is not known have completed operations too.
        response_ns: latency_ns.unwrap_or(0.0) * completed * holes,
        lag_total_ns: lag_total_ns * holes,
    })
}

/// The same; where bins are longer than the window, of the one that its middle lies in.
pub(crate) fn mean_at(bins: &[Bin], window: Window) -> Option<Mean> {
    let around = || {
        let middle = window.start + window.len_ns() / 2;
        let bin = bins.iter().find(|bin| bin.window.contains(middle))?;
        mean(std::slice::from_ref(bin), bin.window)
    };
    mean(bins, window).or_else(around)
}

fn weighted(bins: &[&Bin], of: fn(&Bin) -> Option<f64>) -> (f64, f64) {
    let known = bins
        .iter()
        .filter_map(|bin| of(bin).map(|value| (value * bin.completed(), bin.completed())));
    known.fold((0.0, 0.0), |sum, next| (sum.0 + next.0, sum.1 + next.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Timestamp;

    fn window(start_s: f64, end_s: f64) -> Window {
        Window::new(
            Timestamp::from_seconds(start_s),
            Timestamp::from_seconds(end_s),
        )
    }

    fn bin(window: Window, throughput: f64, latency_ns: Option<f64>) -> Bin {
        Bin {
            latency_ns,
            ..Bin::new(window, throughput)
        }
    }

    #[test]
    fn a_long_bin_is_each_of_its_seconds() {
        let bins = [
            bin(window(0.0, 6.0), 30.0, Some(2e9)),
            bin(window(6.0, 12.0), 10.0, None),
        ];
        let at = |start_s| mean_at(&bins, window(start_s, start_s + 1.0)).map(|it| it.throughput);
        assert_eq!(
            [at(0.0), at(5.0), at(6.0), at(11.0)],
            [30.0, 30.0, 10.0, 10.0].map(Some)
        );
        assert_eq!(at(12.0), None);
        assert_eq!(mean(&bins, window(0.0, 1.0)), None);
        let all = mean_at(&bins, window(0.0, 12.0)).map(|it| it.throughput);
        assert_eq!(all, Some(20.0));
    }

    #[test]
    fn operations_of_a_bin_without_a_latency_took_the_mean_of_the_others() {
        let bins = [
            bin(window(0.0, 1.0), 30.0, None),
            bin(window(1.0, 2.0), 10.0, Some(2e9)),
        ];
        let mean = mean(&bins, window(0.0, 2.0)).expect("it has bins");
        assert_eq!(mean.latency_ns, Some(2e9));
        // 40 operations of 2 s each.
        assert!((mean.response_ns / 80e9 - 1.0).abs() < 1e-9, "{mean:?}");
    }
}
