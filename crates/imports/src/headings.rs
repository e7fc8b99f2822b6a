//! What the columns of a monitor's CSV are, by their headings or, without any, by their places.

use std::collections::BTreeSet;

/// What a column holds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Field {
    Time,
    /// A load average: its column in the table `load`.
    Load(&'static str),
    /// avg10 of pressure, in percent: its column in the table `pressure`.
    Avg10(&'static str),
    /// The total of pressure, in us: its column in the table `pressure`.
    Total(&'static str),
    Unknown,
}

/// By headings. `cpu`, `io` and `mem` alone mean pressure only beside each other and a load average: elsewhere `cpu` may be
/// how busy the CPUs were.
pub(crate) fn named(headings: &[&str]) -> Vec<Field> {
    let lower: Vec<String> = headings.iter().map(|it| it.trim().to_lowercase()).collect();
    let has = |word: &str| lower.iter().any(|heading| heading.contains(word));
    let is_monitor = has("load") && has("cpu") && has("io") && has("mem");
    lower
        .iter()
        .map(|heading| field(heading, is_monitor))
        .collect()
}

fn field(heading: &str, is_monitor: bool) -> Field {
    let has = |word: &str| heading.contains(word);
    if has("load") {
        return Field::Load(match heading {
            _ if has("15") => "load15_hundredths",
            _ if has("5") => "load5_hundredths",
            _ => "load1_hundredths",
        });
    }
    if has("avg60") || has("avg300") {
        return Field::Unknown;
    }
    let is_full = has("full");
    let column = match heading {
        // cpu full of a whole machine is 0 by definition.
        _ if has("cpu") && is_full => None,
        _ if has("cpu") => Some("cpu_some_ns"),
        _ if has("mem") && is_full => Some("memory_full_ns"),
        _ if has("mem") => Some("memory_some_ns"),
        _ if has("io") && is_full => Some("io_full_ns"),
        _ if has("io") => Some("io_some_ns"),
        _ => None,
    };
    let is_pressure = ["psi", "pressure", "avg10", "some", "full"]
        .iter()
        .any(|word| has(word));
    let is_bare = is_monitor
        && heading
            .trim_end_matches(|c: char| c.is_ascii_digit() || c == '_')
            .len()
            <= 6;
    match column {
        Some(column) if has("total") && is_pressure => Field::Total(column),
        Some(column) if is_pressure || is_bare => Field::Avg10(column),
        None if ["time", "date", "epoch"].iter().any(|word| has(word)) || heading == "ts" => {
            Field::Time
        }
        _ => Field::Unknown,
    }
}

/// Without headings: a time, the load average, and avg10 of cpu, io and memory. `None` where there are more or fewer.
pub(crate) fn by_place(
    width: usize,
    has_time: bool,
    twins: &BTreeSet<(usize, usize)>,
) -> Option<Vec<Field>> {
    let mut fields = Vec::new();
    if has_time {
        fields.push(Field::Time);
    }
    fields.push(Field::Load("load1_hundredths"));
    fields.push(Field::Avg10("cpu_some_ns"));
    fields.push(Field::Avg10("io_some_ns"));
    let io = fields.len() - 1;
    let last = Field::Avg10("memory_some_ns");
    match width.checked_sub(fields.len())? {
        1 => fields.push(last),
        // Io stands twice: behind itself, or behind memory.
        2 if twins.contains(&(io, io + 1)) => fields.extend([Field::Avg10("io_some_ns"), last]),
        2 if twins.contains(&(io, io + 2)) => fields.extend([last, Field::Avg10("io_some_ns")]),
        _ => return None,
    }
    Some(fields)
}
