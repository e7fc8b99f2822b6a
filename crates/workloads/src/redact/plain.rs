//! Words that hold no secret by their form: numbers, names, paths.

use std::net::IpAddr;
use std::sync::LazyLock;

use regex::Regex;

use super::HIDDEN;

/// Values that many options take and that are nobody's secret.
const WORDS: &[&str] = &[
    "-",
    "all",
    "any",
    "auto",
    "default",
    "disabled",
    "enabled",
    "false",
    "localhost",
    "no",
    "none",
    "null",
    "off",
    "on",
    "true",
    "yes",
    HIDDEN,
];

/// `10`, `1.5m`, `30s`, `1m30s`, `64k`, `1:10`, `0-3,6`, `100%`, `10.0.0.7`, `on`, `$HOME`.
pub(super) fn is_plain(text: &str) -> bool {
    static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"^[+-]?\d{1,12}(?:[.,:/-]\d{1,12}){0,7}(?:[num\x{b5}]?s|secs?|min|h|d|w|[kmgtp]i?b?|b|%|x|[kmg]?hz)?$",
        )
    });
    static SPANS: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"^(?:\d{1,6}(?:h|ms|min|m|s)){2,4}$"));
    static VARIABLE: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"^\$(?:[a-z_]\w{0,40}|\{[a-z_]\w{0,40}\}|[0-9@*#?!$])$"));
    text.len() <= 40
        && (NUMBER.is_match(text)
            || SPANS.is_match(text)
            || VARIABLE.is_match(text)
            || text.parse::<IpAddr>().is_ok())
        || WORDS.contains(&text)
}

/// A name as people give it to databases, hosts, files and commands.
pub(super) fn is_name(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "_.+-".contains(c);
    !text.is_empty()
        && text.len() <= 64
        && !text.starts_with(['-', '+'])
        && text.chars().all(fits)
        && !is_random(text, 2)
}

/// A host with or without its port, or several.
pub(super) fn is_host(text: &str) -> bool {
    !text.is_empty() && text.split(',').all(is_one_host)
}

fn is_one_host(text: &str) -> bool {
    if let Some(rest) = text.strip_prefix('[')
        && let Some((address, port)) = rest.split_once(']')
    {
        let port = port.strip_prefix(':').unwrap_or(port);
        return address.parse::<IpAddr>().is_ok() && is_port(port);
    }
    let (host, port) = text.split_once(':').unwrap_or((text, ""));
    // `%2Ftmp`: a socket's folder.
    let fits = |c: char| c.is_ascii_alphanumeric() || "_.%-".contains(c);
    host.chars().all(fits) && is_port(port)
}

fn is_port(text: &str) -> bool {
    text.len() <= 5 && text.chars().all(|c| c.is_ascii_digit())
}

/// Whether a path leads somewhere from the root, from here, or from a home.
pub(super) fn is_path(text: &str) -> bool {
    text.starts_with(['/', '~']) || text.starts_with("./") || text.starts_with("../")
}

/// A path, without the parts that look like no name.
pub(super) fn path(text: &str) -> String {
    let part = |part: &str| match part {
        "" | "." | ".." | "~" => part.to_owned(),
        // A weight of pgbench's stands behind its script.
        _ if is_file(
            part.trim_end_matches(|c: char| c.is_ascii_digit())
                .trim_end_matches('@'),
        ) =>
        {
            part.to_owned()
        }
        _ => HIDDEN.to_owned(),
    };
    text.split('/').map(part).collect::<Vec<_>>().join("/")
}

/// A file's name: numbered ones are common there.
fn is_file(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "_.+,-".contains(c);
    text.len() <= 100 && text.chars().all(fits) && !is_random(text, 3)
}

/// The name of an option or of a setting: letters first, then what names hold.
pub(super) fn is_identifier(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.len() <= 48
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c))
        && !is_random(text, 2)
}

/// Whether a word has what keys and tokens have and names do not: letters and digits that change places
/// more than `changes` times, capitals in the midst, no vowel.
fn is_random(text: &str, changes: usize) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric())
        .any(|part| is_random_part(part.as_bytes(), changes))
}

fn is_random_part(part: &[u8], changes: usize) -> bool {
    let pairs = || part.windows(2).map(|pair| (pair[0], pair[1]));
    let digits = part.iter().filter(|byte| byte.is_ascii_digit()).count();
    let turns = pairs()
        .filter(|(a, b)| a.is_ascii_digit() != b.is_ascii_digit())
        .count();
    let rises = pairs()
        .filter(|(a, b)| a.is_ascii_lowercase() && b.is_ascii_uppercase())
        .count();
    let letters = part.len() - digits;
    let vowels = part
        .iter()
        .filter(|byte| b"aeiouyAEIOUY".contains(byte))
        .count();
    (part.len() >= 6 && turns >= changes)
        || (rises >= 2 && part.len() < 4 * (rises + 1))
        || (letters >= 8 && vowels == 0)
        || (digits == 0 && letters > 24)
        || digits > 12
}

/// Compiles a constant: letters of either case.
pub(super) fn pattern(pattern: &str) -> Regex {
    Regex::new(&format!("(?is){pattern}")).expect("the patterns are constants, and tests use each")
}
