//! Parts of sentences about sizes.

use model::{Goal, SizedConfiguration, SizingEstimate};

use crate::number_format::{duration, rate};

/// So many configurations are named in a sentence, and of the others their number.
pub(super) const MOST_NAMED: usize = 4;

/// With a capital where it begins with a word; names of parameters and recordings stay as they are.
pub(super) fn begun(sentence: &str) -> String {
    match sentence.strip_prefix("this ") {
        Some(rest) => format!("This {rest}"),
        None => sentence.to_owned(),
    }
}

/// `p99 < 10.0 ms`
pub(super) fn in_words(goal: Goal) -> String {
    format!("{} < {}", goal.of, duration(goal.below_ns as f64))
}

/// `12,300 tps (95 % interval: 12,100 to 12,500)`
pub(super) fn with_interval(it: &SizingEstimate, unit: &str) -> String {
    let value = format!("{} {unit}", rate(it.value));
    match it.interval {
        Some(it) => format!(
            "{value} (95 % interval: {} to {})",
            rate(it.low),
            rate(it.high)
        ),
        None => value,
    }
}

/// `a, b and c`, or the first of many and the number of the others.
pub(super) fn listed(names: &[String], word: &str) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        many if many.len() > MOST_NAMED => format!(
            "{} {word} {} others",
            many[..MOST_NAMED].join(", "),
            many.len() - MOST_NAMED
        ),
        [first @ .., last] => format!("{} {word} {last}", first.join(", ")),
    }
}

/// ` The limit is cpu.saturated (postgres).`
pub(super) fn limit(it: &SizedConfiguration) -> String {
    let limit = it.limit.as_ref().filter(|it| it.cause != "healthy");
    limit.map_or(String::new(), |limit| {
        format!(" The limit is {} ({}).", limit.cause, limit.entity.name)
    })
}
