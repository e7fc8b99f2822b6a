//! A pattern of requests in words: `16-32 KiB, sequential, one at a time, 0.21 ms`.

use model::{IoPart, IoPattern};

use super::stream::SEQUENTIAL;
use crate::number_format::{duration, percent};

/// Parts with less of the disk's time, and of its requests, are left out.
const LEAST: f64 = 0.02;
/// Requests are said to come in bursts from this factor on.
const BURSTS: f64 = 3.0;
/// Up to this depth requests come one at a time: the next may begin while the kernel ends the one before.
const ONE: f64 = 1.05;

/// A disk's parts in words.
pub(super) fn sentence(parts: &[IoPattern]) -> String {
    let time: f64 = parts.iter().map(|it| it.in_flight).sum();
    let requests: f64 = parts.iter().map(|it| it.requests as f64).sum();
    let shown: Vec<&IoPattern> = parts
        .iter()
        .filter(|it| it.in_flight >= LEAST * time || it.requests as f64 >= LEAST * requests)
        .collect();
    let twice = |part: IoPart| shown.iter().filter(|it| it.part == part).count() > 1;
    let each = shown.iter().map(|it| {
        let operation = match twice(it.part) {
            true => format!(" {}s", it.operation),
            false => String::new(),
        };
        format!("{}{operation}: {}", it.part.word(), words(it))
    });
    each.collect::<Vec<_>>().join("; ")
}

/// One pattern in words.
fn words(pattern: &IoPattern) -> String {
    let mut words = Vec::new();
    words.extend(sizes(pattern));
    words.push(match pattern.sequential {
        share if share >= SEQUENTIAL => "sequential".to_owned(),
        share if share <= 1.0 - SEQUENTIAL => "random".to_owned(),
        share => format!("{} sequential", percent(share)),
    });
    words.push(match pattern.depth {
        depth if depth <= ONE => "one at a time".to_owned(),
        depth if depth < 9.95 => format!("{depth:.1} at a time"),
        depth => format!("{depth:.0} at a time"),
    });
    if let Some(bursts) = pattern.bursts.filter(|it| *it >= BURSTS) {
        words.push(format!("in bursts {bursts:.0} times as intense"));
    }
    words.push(duration(pattern.queue.mean_ns + pattern.device.mean_ns));
    words.join(", ")
}

/// Typical sizes: `16-32 KiB`, `16 KiB` where all are of one size.
pub fn sizes(pattern: &IoPattern) -> Option<String> {
    let from = pattern.size_from?;
    Some(match pattern.size_to {
        None => format!("{} and more", size(from)),
        Some(to) if from == 0 => format!("under {}", size(to)),
        Some(to) if from == to => size(from),
        Some(to) => {
            let (from, to) = (size(from), size(to));
            let unit = to.split_once(' ').map_or("", |(_, unit)| unit);
            let from = from.strip_suffix(&format!(" {unit}")).unwrap_or(&from);
            format!("{from}-{to}")
        }
    })
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1_048_576 => format!("{} KiB", bytes >> 10),
        _ => format!("{} MiB", bytes >> 20),
    }
}
