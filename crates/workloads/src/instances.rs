//! Several instances of a load at once: one command starts them, and each line that they print begins with its instance.
//!
//! Each instance's output is read by the adapter of its command. The workload's own signal is their sum, and each
//! instance is a label.

use std::collections::VecDeque;
use std::ffi::OsString;

use model::{ExitKind, Load, MISSING, Sentence, Summary, Timestamp, sentence};

use crate::adapter::{Adjust, Ending, Prepared, Reader, Stream};
use crate::bin::Bin;
use crate::instance::{Instance, instances};
use crate::log::LogOffer;

/// Bins of an instance that are held until all others have theirs of the same interval.
const MOST_AHEAD: usize = 3;

/// Reads the output of instances, one reader for each.
pub(crate) fn joined(readers: impl Iterator<Item = Box<dyn Reader>>) -> Box<dyn Reader> {
    Box::new(All::new(readers))
}

/// The preparation of a command that starts several instances, each prepared by `prepare`.
pub(crate) fn prepare(
    argv: &[OsString],
    prepare: impl Fn(&[OsString]) -> Option<Prepared>,
) -> Option<Prepared> {
    let (before, instances) = instances(argv)?;
    let mut prepared: Vec<Prepared> = Vec::new();
    for instance in &instances {
        prepared.push(prepare(&instance.argv)?);
    }
    let adjusted = instances
        .iter()
        .zip(&prepared)
        .map(|(own, prepared)| Instance {
            group: own.group.clone(),
            argv: prepared.argv.clone(),
        });
    let adjusted: Vec<Instance> = adjusted.collect();
    let words = [&before[..1], &Instance::arguments(&adjusted)].concat();
    let load = sum_of_loads(prepared.iter().map(|it| &it.load));
    let first = prepared.first()?;
    let (adapter, latency, gives) = (first.adapter, first.latency, first.gives);
    let (is_served, serving_unit) = (first.is_served, first.serving_unit);
    // Each says the same of its own command.
    let notices: Vec<Sentence> = first.notices.clone();
    Some(Prepared {
        adapter,
        argv: words,
        notices,
        load,
        latency,
        gives,
        log: LogOffer::Refused(sentence!(
            "{}: several instances run, so no option is added for quantiles",
            adapter
        )),
        is_served,
        results: None,
        serving_unit,
        reader: joined(prepared.into_iter().map(|it| it.reader)),
    })
}

fn sum_of_loads<'a>(loads: impl Iterator<Item = &'a Load>) -> Load {
    let mut loads = loads.cloned();
    let mut sum = loads.next().unwrap_or_default();
    for load in loads {
        sum.clients = both(sum.clients, load.clients, |a, b| a.saturating_add(b));
        sum.threads = both(sum.threads, load.threads, |a, b| a.saturating_add(b));
        sum.rate = both(sum.rate, load.rate, |a, b| a + b);
    }
    // What is set by these is an instance's share.
    sum.clients_option = None;
    sum.rate_option = None;
    sum
}

fn both<T>(a: Option<T>, b: Option<T>, of: impl Fn(T, T) -> T) -> Option<T> {
    Some(of(a?, b?))
}

/// Reads the output of all.
struct All {
    each: Vec<One>,
    /// Bins of an inner reader, until they are taken.
    read: Vec<Bin>,
}

struct One {
    reader: Box<dyn Reader>,
    /// Of all its operations, in order, that are not in the sum yet.
    bins: VecDeque<Bin>,
}

impl All {
    fn new(readers: impl Iterator<Item = Box<dyn Reader>>) -> Self {
        let one = |reader| One {
            reader,
            bins: VecDeque::new(),
        };
        Self {
            each: readers.map(one).collect(),
            read: Vec::new(),
        }
    }

    /// The instance that printed a line, from 0 on, and what it printed.
    fn of<'a>(&self, line: &'a [u8]) -> Option<(usize, &'a [u8])> {
        let rest = line.strip_prefix(b"[")?;
        let end = rest.iter().position(|byte| *byte == b']')?;
        let number: usize = std::str::from_utf8(&rest[..end]).ok()?.parse().ok()?;
        let place = number.checked_sub(1).filter(|it| *it < self.each.len())?;
        let text = &rest[end + 1..];
        Some((place, text.strip_prefix(b" ").unwrap_or(text)))
    }

    /// Lets an instance's reader read, and adds what it completes.
    fn with<T>(
        &mut self,
        place: usize,
        bins: &mut Vec<Bin>,
        read: impl FnOnce(&mut dyn Reader, &mut Vec<Bin>) -> T,
    ) -> T {
        let result = read(&mut *self.each[place].reader, &mut self.read);
        // What an instance tells apart itself is not told apart once more.
        for bin in self.read.drain(..).filter(|it| it.label.is_none()) {
            self.each[place].bins.push_back(bin.clone());
            bins.push(Bin {
                label: Some(format!("instance {}", place + 1)),
                ..bin
            });
        }
        self.add_up(MOST_AHEAD, bins);
        result
    }

    /// Sums the intervals that all have told; where one is more than `ahead` ahead, the others have ended or say nothing.
    fn add_up(&mut self, ahead: usize, bins: &mut Vec<Bin>) {
        loop {
            let told = self.each.iter().map(|it| it.bins.len());
            let (all, most) = (told.clone().min().unwrap_or(0), told.max().unwrap_or(0));
            if all == 0 && most <= ahead {
                return;
            }
            let firsts = self.each.iter_mut().filter_map(|it| it.bins.pop_front());
            bins.extend(firsts.reduce(sum));
        }
    }
}

/// The operations of two intervals that ended about together.
fn sum(mut own: Bin, other: Bin) -> Bin {
    own.add(&other);
    own.end = own.end.max(other.end);
    for (own, other) in [
        (&mut own.skipped, other.skipped),
        (&mut own.retried, other.retried),
        (&mut own.retries, other.retries),
    ] {
        *own = match (*own, other) {
            (MISSING, _) | (_, MISSING) => MISSING,
            (a, b) => a.saturating_add(b),
        };
    }
    // Of several means no deviation follows.
    own.latency_stddev_ns = MISSING;
    own.lag_mean_ns = MISSING;
    own
}

impl Reader for All {
    fn line(
        &mut self,
        stream: Stream,
        line: &[u8],
        arrived: Timestamp,
        bins: &mut Vec<Bin>,
    ) -> bool {
        match self.of(line) {
            Some((place, text)) => self.with(place, bins, |reader, bins| {
                reader.line(stream, text, arrived, bins)
            }),
            None => true,
        }
    }

    fn drawn(&mut self, stream: Stream, text: &[u8], arrived: Timestamp, bins: &mut Vec<Bin>) {
        if let Some((place, text)) = self.of(text) {
            self.with(place, bins, |reader, bins| {
                reader.drawn(stream, text, arrived, bins);
            });
        }
    }

    fn may_hide(&self, stream: Stream, start: &[u8]) -> bool {
        match self.of(start) {
            Some((place, text)) => self.each[place].reader.may_hide(stream, text),
            None => start.first() == Some(&b'[') && !start.contains(&b']'),
        }
    }

    fn finish(self: Box<Self>, exit: ExitKind, ended: Timestamp) -> Ending {
        let each = self.each.into_iter();
        let mut endings = each.map(|it| it.reader.finish(exit, ended));
        let mut all = endings.next().unwrap_or_default();
        for ending in endings {
            all.summary = both(all.summary, ending.summary, sum_of_summaries);
            // The same sentence of each instance stands once.
            for remark in ending.remarks {
                if !all.remarks.contains(&remark) {
                    all.remarks.push(remark);
                }
            }
        }
        all
    }
}

fn sum_of_summaries(a: Summary, b: Summary) -> Summary {
    let add = |a: Option<u64>, b: Option<u64>| both(a, b, |a, b| a.saturating_add(b));
    let weights = a
        .completed
        .zip(b.completed)
        .map(|(a, b)| (a as f64, b as f64));
    let means = a.latency_mean_ns.zip(b.latency_mean_ns);
    let latency_mean_ns = weights
        .zip(means)
        .map(|((n, m), (a, b))| ((a as f64 * n + b as f64 * m) / (n + m).max(1.0)) as i64);
    Summary {
        complete: a.complete && b.complete,
        clients: both(a.clients, b.clients, |a, b| a.saturating_add(b)),
        threads: both(a.threads, b.threads, |a, b| a.saturating_add(b)),
        duration_s: both(a.duration_s, b.duration_s, f64::max),
        completed: add(a.completed, b.completed),
        failed: add(a.failed, b.failed),
        skipped: add(a.skipped, b.skipped),
        retried: add(a.retried, b.retried),
        retries: add(a.retries, b.retries),
        late: add(a.late, b.late),
        latency_mean_ns,
        // Neither deviations nor quantiles of several follow from those of each (docs of HdrHistogram: they are not
        // averaged).
        latency_stddev_ns: None,
        latency_quantiles: Vec::new(),
        latency_derived: a.latency_derived || b.latency_derived,
        lag_mean_ns: None,
        lag_max_ns: both(a.lag_max_ns, b.lag_max_ns, i64::max),
        connect_ns: both(a.connect_ns, b.connect_ns, i64::max),
        throughput: both(a.throughput, b.throughput, |a, b| a + b),
        scripts: Vec::new(),
        version: a.version,
        transaction_type: a.transaction_type,
    }
}

/// Prepares each instance as `adjust` allows.
pub(crate) fn prepare_each(argv: &[OsString], adjust: Adjust) -> Option<Prepared> {
    prepare(argv, |own| crate::prepare(own, adjust))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::adapter::Quantity;

    fn pgbench(number: usize) -> Instance {
        let words = [
            "pgbench",
            "-c",
            "4",
            "-T",
            "9",
            "-p",
            &format!("540{number}"),
            "bench",
        ];
        Instance {
            group: vec![PathBuf::from(format!("/cg/{number}"))],
            argv: words.map(OsString::from).into(),
        }
    }

    fn argv(instances: &[Instance]) -> Vec<OsString> {
        [
            vec!["/proc/self/exe".into()],
            Instance::arguments(instances),
        ]
        .concat()
    }

    #[test]
    fn instances_are_typed_and_read_again() {
        let both = [pgbench(1), pgbench(2)];
        let words = argv(&both);
        assert_eq!(instances(&words).map(|it| it.1), Some(both.to_vec()));
        for wrong in [&words[..2], &words[..4], &["a".into(), "b".into()][..]] {
            assert_eq!(instances(wrong), None, "{wrong:?}");
        }
        let secret = Instance {
            argv: ["mysqlslap", "-ps3cret"].map(OsString::from).into(),
            ..pgbench(1)
        };
        let shown = crate::redact(&argv(&[pgbench(1), secret])).join(" ");
        assert!(shown.contains("bench --- 1 /cg/1 mysqlslap"), "{shown}");
        assert!(!shown.contains("s3cret"), "{shown}");
    }

    #[test]
    fn each_is_adjusted_and_the_load_is_that_of_all() {
        let prepared = prepare_each(&argv(&[pgbench(1), pgbench(2)]), Adjust::Allowed);
        let prepared = prepared.expect("pgbench is known");
        assert_eq!(prepared.adapter, "pgbench");
        assert_eq!(prepared.load.clients, Some(8));
        assert!(prepared.gives.contains(&Quantity::Throughput));
        let each = instances(&prepared.argv).expect("instances").1;
        for instance in each {
            assert!(instance.argv.iter().any(|it| it == "-P"), "{instance:?}");
        }
        let unknown = Instance {
            argv: vec!["unknown".into()],
            ..pgbench(1)
        };
        assert!(prepare_each(&argv(&[pgbench(1), unknown]), Adjust::Allowed).is_none());
    }

    #[test]
    fn the_signal_is_the_sum_and_each_instance_a_label() {
        let prepared = prepare_each(&argv(&[pgbench(1), pgbench(2)]), Adjust::Allowed);
        let mut reader = prepared.expect("pgbench is known").reader;
        let mut bins = Vec::new();
        let mut say = |line: &str, at_s: i64| {
            let at = Timestamp::from_ns(at_s * 1_000_000_000);
            reader.line(Stream::Stderr, line.as_bytes(), at, &mut bins)
        };
        assert!(say("[1] pgbench (15.14)", 0));
        assert!(!say(
            "[2] progress: 1.0 s, 300.0 tps, lat 2.000 ms stddev 0.1, 0 failed",
            1
        ));
        assert!(!say(
            "[1] progress: 1.0 s, 100.0 tps, lat 4.000 ms stddev 0.1, 0 failed",
            1
        ));
        assert!(say("[9] no instance of ours", 1));
        // The second has ended.
        for at in 2..=5 {
            say(
                &format!("[1] progress: {at}.0 s, 50.0 tps, lat 4.000 ms stddev 0.1, 0 failed"),
                at,
            );
        }
        let of = |label: Option<&str>| -> Vec<(i64, i64)> {
            let own = bins.iter().filter(|it| it.label.as_deref() == label);
            own.map(|it| (it.throughput_milli, it.latency_mean_ns))
                .collect()
        };
        let sums = of(None);
        assert_eq!(sums[0].0, 400_000);
        assert!((sums[0].1 - 2_500_000).abs() < 1_000, "{sums:?}");
        assert_eq!(
            sums[1].0, 50_000,
            "of an interval that only one tells: {sums:?}"
        );
        assert_eq!(of(Some("instance 2")).len(), 1);
        assert_eq!(of(Some("instance 1")).len(), 5);
    }

    #[test]
    fn summaries_are_added_where_all_have_one() {
        let of = |completed, mean| Summary {
            complete: true,
            completed: Some(completed),
            latency_mean_ns: Some(mean),
            throughput: Some(completed as f64),
            ..Summary::default()
        };
        let sum = sum_of_summaries(of(100, 4), of(300, 8));
        assert_eq!(sum.completed, Some(400));
        assert_eq!(sum.latency_mean_ns, Some(7));
        assert_eq!(sum.throughput, Some(400.0));
        assert!(sum.complete);
        let none = sum_of_summaries(of(0, 4), Summary::default());
        assert_eq!(
            (none.completed, none.throughput, none.complete),
            (None, None, false)
        );
    }
}
