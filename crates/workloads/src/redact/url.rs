//! URLs and other forms in which a credential stands beside a host.

use std::sync::LazyLock;

use regex::Regex;

use super::HIDDEN;
use super::plain::{self, is_host, is_name, is_plain, pattern};

/// What a query may say aloud.
const HARMLESS_PARAMETERS: &[&str] = &[
    "application_name",
    "charset",
    "connect_timeout",
    "connection_limit",
    "encoding",
    "ssl",
    "sslmode",
    "tls",
    "usessl",
];

/// Whether a word is a URL from its beginning.
pub(super) fn is_url(text: &str) -> bool {
    static SCHEME: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"^(?:jdbc:[a-z0-9]+:|[a-z][a-z0-9+.:-]*://)"));
    SCHEME.is_match(text)
}

/// A URL without user, password, query and fragment, and without parts of the path that look like keys.
pub(super) fn url(text: &str) -> String {
    let Some((scheme, rest)) = text
        .split_once("://")
        .filter(|(scheme, _)| !scheme.contains('/'))
    else {
        return short_jdbc(text);
    };
    let web = ["http", "https", "ws", "wss"].contains(&scheme.to_ascii_lowercase().as_str());
    let end = rest.find(['/', '?', '#', ';']).unwrap_or(rest.len());
    // Passwords hold unescaped `@` and `/`. Behind a web server's name and port an `@` is the path's.
    let host = &rest[..end];
    let in_path = web && is_host(host) && (host.contains(['.', ':']) || host == "localhost");
    let (user, rest) = match rest.rfind('@').filter(|_| !in_path) {
        Some(at) => ("***@", &rest[at + 1..]),
        None => ("", rest),
    };
    format!("{scheme}://{user}{}", behind_user(rest))
}

/// Host, path, parameters.
fn behind_user(text: &str) -> String {
    let end = text.find(['/', '?', '#', ';']).unwrap_or(text.len());
    let (host, rest) = text.split_at(end);
    let host = if host.is_empty() || is_host(host) || is_wrapped_host(host) {
        host
    } else {
        HIDDEN
    };
    let end = rest.find(['?', '#', ';']).unwrap_or(rest.len());
    let (path, rest) = rest.split_at(end);
    format!("{host}{}{}", plain::path(path), parameters(rest))
}

/// `tcp(host:3306)`, as Go's driver of MySQL has it.
fn is_wrapped_host(text: &str) -> bool {
    let inside = text.split_once('(').and_then(|(protocol, rest)| {
        is_name(protocol)
            .then_some(rest.strip_suffix(')'))
            .flatten()
    });
    inside.is_some_and(is_host)
}

/// What stands behind `?`, `;` or `#`.
fn parameters(text: &str) -> String {
    let Some(sign) = text.chars().next() else {
        return String::new();
    };
    let is_harmless = |pair: &str| {
        let Some((name, value)) = pair.split_once('=') else {
            return false;
        };
        let name = name.to_ascii_lowercase();
        let word = |c: char| c.is_ascii_lowercase() || c == '-';
        HARMLESS_PARAMETERS.contains(&&*name)
            && (is_plain(value) || (value.len() < 16 && value.chars().all(word)))
    };
    let body = &text[1..];
    let harmless: Vec<&str> = body.split('&').filter(|pair| is_harmless(pair)).collect();
    if sign != '?' || harmless.is_empty() {
        return format!("{sign}{HIDDEN}");
    }
    let rest = if harmless.len() == body.split('&').count() {
        ""
    } else {
        "&***"
    };
    format!("?{}{rest}", harmless.join("&"))
}

/// `jdbc:oracle:thin:u/P@//h:1521/s`, `jdbc:h2:/srv/db;PASSWORD=P`
fn short_jdbc(text: &str) -> String {
    static DRIVER: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"^jdbc:[a-z0-9]+:(?:(?:thin|oci|mem|file|tcp):)?"));
    let driver = DRIVER.find(text).map_or("", |found| found.as_str());
    let rest = &text[driver.len()..];
    let (user, rest) = match rest.rfind('@') {
        Some(at) => ("***@", &rest[at + 1..]),
        None => ("", rest),
    };
    let slashes = if rest.starts_with("//") { "//" } else { "" };
    let rest = behind_user(&rest[slashes.len()..]);
    format!("{driver}{user}{slashes}{rest}")
}

/// A word with `@`, `:` or `/` in it that is neither URL nor path: what may be a credential goes.
pub(super) fn credential(word: &str) -> String {
    if let Some(at) = word.rfind('@') {
        let (user, rest) = (&word[..at], &word[at + 1..]);
        let bare = is_name(user) && is_place(rest);
        return match bare {
            true => word.to_owned(),
            false if is_place(rest) || is_wrapped_host(before_slash(rest)) => {
                format!("{HIDDEN}@{}", behind_user(rest))
            }
            false => HIDDEN.to_owned(),
        };
    }
    if word.contains(':') {
        return match word.split_once(':') {
            // host:/path
            Some((host, path)) if is_name(host) && plain::is_path(path) => {
                format!("{host}:{}", plain::path(path))
            }
            _ if is_host(word.strip_suffix("__rand_int__").unwrap_or(word)) => word.to_owned(),
            _ => HIDDEN.to_owned(),
        };
    }
    relative(word)
}

/// `src/main.py` and `a/b/c` are files, `u/P` is how Oracle's tools log in.
fn relative(word: &str) -> String {
    let file = word.rsplit('/').next().unwrap_or(word);
    let is_named = file.contains('.') && plain::path(file) == file;
    if word.matches('/').count() >= 2 || file.is_empty() || is_named {
        return plain::path(word);
    }
    match word.split_once('/') {
        Some((first, _)) if is_name(first) || first == HIDDEN => format!("{first}/{HIDDEN}"),
        _ => HIDDEN.to_owned(),
    }
}

/// A host, and perhaps a path on it.
fn is_place(text: &str) -> bool {
    let (host, path) = text.split_at(before_slash(text).len());
    is_host(host) && plain::path(path) == path
}

fn before_slash(text: &str) -> &str {
    text.split('/').next().unwrap_or(text)
}
