//! What is wrong with a `--metric`, and the option as it should be typed.

use regex::Regex;

use crate::Quantity;

/// For those who see the option for the first time.
pub(super) const EXAMPLE: &str = "as in --metric 'throughput=([0-9.]+) req/s'";

pub(super) fn unit(quantity: Quantity, unit: &str) -> String {
    let name = quantity.word();
    let right = match quantity {
        Quantity::Throughput => {
            "throughput for a number per second, or throughput:total for a count since the start"
                .to_owned()
        }
        Quantity::Failed => {
            "failed for a count since the last line, or failed:total for one since the start"
                .to_owned()
        }
        Quantity::Latency | Quantity::Lag => {
            format!("{name}:us, {name}:ms (also when left out) or {name}:s")
        }
    };
    format!("{name} has no unit `{unit}`: write {right}")
}

pub(super) fn unreadable(pattern: &str, error: &regex::Error) -> String {
    match error {
        regex::Error::CompiledTooBig(_) => {
            format!("the pattern `{pattern}` is too large: it is run on every line")
        }
        // The last line says what is wrong; those before it draw where.
        error => {
            let text = error.to_string();
            let last = text.lines().last().unwrap_or_default();
            let why = last.strip_prefix("error: ").unwrap_or(last);
            format!("the pattern `{pattern}` cannot be read: {why}")
        }
    }
}

/// A pattern that does not capture exactly one text.
pub(super) fn groups(name: &str, pattern: &str, captured: usize) -> String {
    let (what, right) = if captured == 0 {
        (
            "captures nothing: put the number in brackets".to_owned(),
            with_group(pattern),
        )
    } else {
        (
            format!("captures {captured} texts: only the number may stand in plain brackets"),
            with_one_group(pattern),
        )
    };
    let fits = Regex::new(&right).is_ok_and(|regex| regex.captures_len() == 2);
    let example = if fits {
        format!("--metric {}", quoted(&format!("{name}={right}")))
    } else {
        EXAMPLE.to_owned()
    };
    format!("the pattern of {name} {what}, {example}")
}

/// The pattern with brackets around the first digits in it, or with digits behind it.
fn with_group(pattern: &str) -> String {
    let digits = Regex::new(r"(?:\\d|\[[^\]]*(?:0-9|\\d)[^\]]*\])[+*]?")
        .expect("the pattern is a constant, and a test uses it");
    match digits.find(pattern) {
        Some(found) => {
            let (before, after) = (&pattern[..found.start()], &pattern[found.end()..]);
            format!("{before}({}){after}", found.as_str())
        }
        None => format!("{pattern} *([0-9.]+)"),
    }
}

/// The pattern with all groups but one turned into `(?:`: the last that holds digits, else the last.
fn with_one_group(pattern: &str) -> String {
    let groups = plain_groups(pattern);
    let holds_digits = |at: &&usize| {
        let inside = &pattern[**at..];
        let inside = &inside[..inside.find(')').unwrap_or(inside.len())];
        inside.contains("0-9") || inside.contains(r"\d")
    };
    let kept = groups.iter().rfind(holds_digits).or(groups.last());
    let mut right = String::new();
    for (at, c) in pattern.char_indices() {
        right.push(c);
        if groups.contains(&at) && Some(&at) != kept {
            right.push_str("?:");
        }
    }
    right
}

/// Where groups begin that capture and have no name: not escaped, not in a class.
fn plain_groups(pattern: &str) -> Vec<usize> {
    let mut groups = Vec::new();
    let (mut escaped, mut in_class) = (false, false);
    for (at, c) in pattern.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            ']' => in_class = false,
            '[' => in_class = true,
            '(' if !in_class && !pattern[at + 1..].starts_with('?') => groups.push(at),
            _ => {}
        }
    }
    groups
}

/// One word for a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
