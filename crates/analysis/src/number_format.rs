//! Numbers and lists as they stand in sentences: one way each, everywhere.

/// A share of 1 as a percentage: `34 %`; with one decimal below 10 and above 99, where a unit hides
/// the difference; `0` for nothing.
pub fn percent(share: f64) -> String {
    let value = share * 100.0;
    if !value.is_finite() {
        "unknown".to_owned()
    } else if value.abs() < 0.05 {
        "0".to_owned()
    } else if value.abs() < 9.95 || (value > 99.0 && value < 99.95) {
        let text = format!("{value:.1}");
        format!("{} %", text.strip_suffix(".0").unwrap_or(&text))
    } else {
        format!("{value:.0} %")
    }
}

/// A gain as a percentage, rounded to three digits since it is an estimate: `50 %`, `6,160 %`.
pub fn gain(share: f64) -> String {
    match share < 10.0 {
        true => percent(share),
        false => format!("{} %", bound(share * 100.0)),
    }
}

/// A whole number with thousands apart: `20,928`.
pub fn integer(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if value <= -0.5 {
        format!("-{text}")
    } else {
        text
    }
}

/// A rate with as many digits as it deserves: `20,928`, `12.5`.
pub fn rate(value: f64) -> String {
    if value.abs() < 100.0 {
        three_digits(value)
    } else {
        integer(value)
    }
}

/// A bound, rounded to three digits since it is no better known: `31,700`.
pub fn bound(value: f64) -> String {
    if value < 100.0 {
        return three_digits(value);
    }
    let unit = 10f64.powf(value.log10().floor() - 2.0);
    integer((value / unit).round() * unit)
}

/// A length of time: `0.423 ms`, `1.25 s`, `87 us`.
pub fn duration(ns: f64) -> String {
    let magnitude = ns.abs();
    if magnitude == 0.0 {
        "0".to_owned()
    } else if magnitude < 1e5 {
        format!("{} us", three_digits(ns / 1e3))
    } else if magnitude < 1e9 {
        format!("{} ms", three_digits(ns / 1e6))
    } else {
        format!("{} s", three_digits(ns / 1e9))
    }
}

/// An amount of memory, whose limits are multiples of powers of two: `40.0 MiB`.
pub fn memory(bytes: f64) -> String {
    amount(bytes, 1024.0, &["B", "KiB", "MiB", "GiB", "TiB", "PiB"])
}

/// An amount on disks and networks, which are sold by powers of ten: `1.25 GB`.
pub fn storage(bytes: f64) -> String {
    amount(bytes, 1000.0, &["B", "kB", "MB", "GB", "TB", "PB"])
}

fn amount(bytes: f64, step: f64, units: &[&str]) -> String {
    let (mut scaled, mut unit) = (bytes, 0);
    while scaled.abs() >= step && unit + 1 < units.len() {
        scaled /= step;
        unit += 1;
    }
    let number = if unit == 0 {
        integer(scaled)
    } else {
        three_digits(scaled)
    };
    format!("{number} {}", units[unit])
}

fn three_digits(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude >= 99.95 {
        integer(value)
    } else if magnitude >= 9.995 {
        format!("{value:.1}")
    } else if magnitude >= 0.9995 {
        format!("{value:.2}")
    } else {
        format!("{value:.3}")
    }
}

/// `1 process`, `3 processes`.
pub fn count(number: u32, unit: &str) -> String {
    match (number, unit) {
        (1, _) => format!("1 {unit}"),
        (_, "process") => format!("{} processes", integer(f64::from(number))),
        _ => format!("{} {unit}s", integer(f64::from(number))),
    }
}

/// How many calls a request makes on average, and of what length each: `1 call of 20.1 ms`, `2.43 calls of 3.20 ms`,
/// `1 call of 1.25 s per 30.0 requests`.
pub fn calls_in_words(per_request: f64, each_ns: f64) -> String {
    /// What is as near to a whole number as this is that number: some calls are answered beyond the window.
    const NEAR: f64 = 0.02;
    let each = duration(each_ns);
    let whole = per_request.round();
    match (per_request - whole).abs() <= NEAR * per_request {
        true if whole == 1.0 => format!("1 call of {each}"),
        true => format!("{} calls of {each}", integer(whole)),
        false if per_request < 1.0 => {
            format!("1 call of {each} per {} requests", bound(1.0 / per_request))
        }
        false => format!("{} calls of {each}", bound(per_request)),
    }
}

/// The CPUs as a subject with its verb: `the CPU was`, `both CPUs were`, `all 8 CPUs were`.
pub fn cpus_were(number: u32) -> String {
    match number {
        1 => "its one CPU was".to_owned(),
        2 => "both CPUs were".to_owned(),
        n => format!("all {n} CPUs were"),
    }
}

/// The next CPU: `a third CPU`.
pub fn next_cpu(number: u32) -> String {
    const WORDS: [&str; 9] = [
        "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
    ];
    match WORDS.get((number as usize).wrapping_sub(1)) {
        Some(word) if *word == "eighth" => "an eighth CPU".to_owned(),
        Some(word) => format!("a {word} CPU"),
        None => format!("one CPU more ({})", u64::from(number) + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_of_memory_are_of_powers_of_two_and_others_of_ten() {
        assert_eq!(memory(40.0 * 1024.0 * 1024.0), "40.0 MiB");
        assert_eq!(storage(40.0 * 1024.0 * 1024.0), "41.9 MB");
        assert_eq!(
            (memory(0.0), storage(999.0)),
            ("0 B".to_owned(), "999 B".to_owned())
        );
    }

    #[test]
    fn numbers_as_people_read_them() {
        assert_eq!(
            [0.341, 0.998, 1.0, 0.001, 0.0, 0.0996].map(percent),
            ["34 %", "99.8 %", "100 %", "0.1 %", "0", "10 %"]
        );
        assert_eq!(
            [20928.4, 999.0, 1000.0, 0.2, -1234.0].map(integer),
            ["20,928", "999", "1,000", "0", "-1,234"]
        );
        assert_eq!(
            [423_000.0, 2_609_000.0, 1.25e9, 87_000.0, 0.0].map(duration),
            ["0.423 ms", "2.61 ms", "1.25 s", "87.0 us", "0"]
        );
        assert_eq!(bound(31_653.0), "31,700");
        assert_eq!(
            [0.504, 9.99, 61.562].map(gain),
            ["50 %", "999 %", "6,160 %"]
        );
        assert_eq!(count(10, "backend"), "10 backends");
        assert_eq!(count(2, "process"), "2 processes");
        assert_eq!(
            [0.99, 3.01, 0.032, 12.6].map(|number| calls_in_words(number, 2e6)),
            [
                "1 call of 2.00 ms",
                "3 calls of 2.00 ms",
                "1 call of 2.00 ms per 31.2 requests",
                "12.6 calls of 2.00 ms"
            ]
        );
        assert_eq!(next_cpu(2), "a third CPU");
        assert_eq!(next_cpu(64), "one CPU more (65)");
        assert_eq!(percent(f64::NAN), "unknown");
    }
}
