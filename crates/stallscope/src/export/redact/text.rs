//! Names inside sentences, paths, addresses and command lines.
//!
//! Where it is not clear what a word is, it is replaced: a vendor can ask back, a sent secret stays sent.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::pseudonyms::{Class, Pseudonyms};

/// Parts of paths that are the same on every machine.
const PUBLIC_PARTS: &[&str] = &[
    "bin",
    "boot",
    "cgroup",
    "cpu",
    "cpuacct",
    "data",
    "dev",
    "etc",
    "fs",
    "home",
    "init.scope",
    "io",
    "kubepods",
    "kubepods.slice",
    "lib",
    "log",
    "machine.slice",
    "main",
    "media",
    "memory",
    "mnt",
    "net",
    "opt",
    "postgresql",
    "pressure",
    "proc",
    "root",
    "run",
    "sbin",
    "self",
    "session.slice",
    "share",
    "shm",
    "snap",
    "srv",
    "sys",
    "system.slice",
    "task",
    "tmp",
    "user",
    "user.slice",
    "usr",
    "var",
];

/// The endings of systemd's units, which say what a group is.
const UNITS: [&str; 5] = [".service", ".slice", ".scope", ".socket", ".mount"];

/// A sentence without names.
pub(super) fn sentence(names: &mut Pseudonyms, text: &str) -> String {
    static NAMES: LazyLock<Regex> = LazyLock::new(|| {
        constant(
            r#"(?x)
            (?P<line> `[^`]*` )
            | (?P<quoted> "[^"]*" | [«»„“‚‘] [^«»„“”‘’]* [«»“”’] )
            | (?P<before> ^ | [\s(=,:] ) (?: ' (?P<single> [^']* ) ' | (?P<path> / [^\s:;,'"()\]]+ ) )
            | (?P<url> [a-z][a-z0-9+.-]*://[^\s'")]+ )
            | (?P<at> [\w.+-]*[A-Za-z_][\w.+-]*@[\w.-]+ )
            | (?P<address> \d{1,3}(?:\.\d{1,3}){3}(?:\b) | \[? (?:[0-9A-Fa-f]{0,4}:){2,7} [0-9A-Fa-f.]* \]? )
            | (?P<word> \w[\w.-]*\w | \w )"#,
        )
    });
    let text = workloads::redact_text(text);
    NAMES
        .replace_all(&text, |found: &Captures<'_>| replaced(names, found))
        .into_owned()
}

fn replaced(names: &mut Pseudonyms, found: &Captures<'_>) -> String {
    let get = |name: &str| found.name(name).map(|found| found.as_str());
    let before = get("before").unwrap_or_default();
    // What a tool said, as it said it.
    if get("line").is_some() {
        return "`***`".to_owned();
    }
    if let Some(quoted) = get("quoted") {
        // Servers that speak other languages quote otherwise.
        let quotes = ['"', '«', '»', '„', '“', '”', '‚', '‘', '’'];
        return format!("\"{}\"", value(names, quoted.trim_matches(quotes)));
    }
    if let Some(quoted) = get("single") {
        return format!("{before}'{}'", value(names, quoted));
    }
    if let Some(found) = get("path") {
        return format!("{before}{}", path(names, Class::Folder, found));
    }
    if let Some(found) = get("url").or(get("at")) {
        return names.of(Class::Word, found);
    }
    if let Some(found) = get("address") {
        return address(names, found).unwrap_or_else(|| found.to_owned());
    }
    let word = get("word").unwrap_or(&found[0]);
    if UNITS.iter().any(|unit| word.ends_with(unit)) {
        return part(names, Class::Group, word);
    }
    match names.known(word) {
        Some(known) if !stays(names, word, known) => known.to_owned(),
        None if is_domain(word) => names.of(Class::Host, word),
        None => host_of(names, word).unwrap_or_else(|| by_part(names, word)),
        _ => word.to_owned(),
    }
}

/// Whether a word that was replaced elsewhere stays in a sentence. One of a command line may be any
/// word: `sysbench run` is no reason to lose this one.
fn stays(names: &Pseudonyms, word: &str, known: &str) -> bool {
    names.is_preserved(word) || (known.starts_with("word-") && is_prose(word))
}

/// `db7.acme`: a known host with more of its name behind it.
fn host_of(names: &Pseudonyms, word: &str) -> Option<String> {
    let host = names.known(word.split_once('.')?.0)?;
    host.starts_with("host-").then(|| host.to_owned())
}

/// `payroll-worker`: a known name inside another word.
fn by_part(names: &Pseudonyms, word: &str) -> String {
    let part = |part: &str| {
        let name = part.trim_end_matches(['.', '-', '_']);
        match names.known(name) {
            Some(known) if !stays(names, name, known) => part.replacen(name, known, 1),
            _ => part.to_owned(),
        }
    };
    word.split_inclusive(['.', '-', '_']).map(part).collect()
}

/// Whether a word is one of those that this program's own descriptions are made of.
fn is_prose(word: &str) -> bool {
    static PROSE: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
        let tables = sensors::tables();
        let columns = tables.flat_map(|table| table.columns.iter().map(|column| &*column.help));
        let causes = analysis::causes().iter();
        let texts = columns.chain(causes.flat_map(|cause| [cause.help, cause.told_by]));
        let apart = |c: char| !c.is_ascii_alphabetic();
        texts.flat_map(|text| text.split(apart)).collect()
    });
    PROSE.contains(word)
}

/// `db1.eu.example.com`: three labels or more, the last of letters. Files of the kernel have fewer,
/// versions end in a number.
fn is_domain(word: &str) -> bool {
    let labels: Vec<&str> = word.split('.').collect();
    let last = labels.last().unwrap_or(&"");
    labels.len() >= 3 && last.len() >= 2 && last.chars().all(|c| c.is_ascii_alphabetic())
}

/// A value whose meaning is not known: kept when it is a number, a name that is kept, or a path of
/// parts that are kept.
pub(super) fn value(names: &mut Pseudonyms, text: &str) -> String {
    if is_number(text) || names.is_preserved(text) {
        return text.to_owned();
    }
    if let Some(address) = address(names, text) {
        return address;
    }
    if text.starts_with(['/', '.']) && text.contains('/') {
        return path(names, Class::Folder, text);
    }
    names.of(Class::Word, text)
}

/// `10`, `1.5m`, `30s`, `100%`, `-1`, `4,8`; not what is long enough for a key or a telephone.
fn is_number(text: &str) -> bool {
    static NUMBER: LazyLock<Regex> =
        LazyLock::new(|| constant(r"^[+-]?[0-9]{1,9}(?:[.,:][0-9]{1,9}){0,2}[A-Za-z%]{0,3}$"));
    NUMBER.is_match(text)
}

/// `10.0.0.7`, `[::1]:5432`; `None` for what is no address.
pub(super) fn address(names: &mut Pseudonyms, text: &str) -> Option<String> {
    if let Ok(socket) = text.parse::<SocketAddr>() {
        let address = names.of(Class::Address, &socket.ip().to_string());
        return Some(match socket {
            SocketAddr::V6(_) => format!("[{address}]:{}", socket.port()),
            SocketAddr::V4(_) => format!("{address}:{}", socket.port()),
        });
    }
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    let address = bare.parse::<IpAddr>().ok()?;
    Some(names.of(Class::Address, &address.to_string()))
}

/// A target as the user named it: `port:5432` stays, `unit:billing.service` does not. `None` for what
/// is none.
pub(super) fn target(names: &mut Pseudonyms, text: &str) -> Option<String> {
    static TARGET: LazyLock<Regex> =
        LazyLock::new(|| constant(r"(?s)^((?:[a-z]+=)?(port|pid|unit|cgroup|name):)(.*)$"));
    let found = TARGET.captures(text)?;
    let value = match &found[2] {
        "unit" | "cgroup" => path(names, Class::Group, &found[3]),
        _ => value(names, &found[3]),
    };
    Some(format!("{}{value}", &found[1]))
}

/// A path, part by part: what lies below what can still be told.
pub(super) fn path(names: &mut Pseudonyms, class: Class, path: &str) -> String {
    let parts = path.split('/').map(|part| self::part(names, class, part));
    parts.collect::<Vec<_>>().join("/")
}

fn part(names: &mut Pseudonyms, class: Class, part: &str) -> String {
    static COMMON: LazyLock<Regex> = LazyLock::new(|| {
        // Of one's own, numbered, or a block device; a server's socket; a user's and a login's group.
        constant(
            r"^(?:\.{1,2}|[0-9]{1,7}(?::[0-9]{1,7})?|\.s\.PGSQL\.[0-9]{1,5}|(?:user|session)-c?[0-9]{1,7}|user@[0-9]{1,7})$",
        )
    });
    let is_common = |name: &str| PUBLIC_PARTS.contains(&name) || COMMON.is_match(name);
    if is_common(part) || names.is_preserved(part) {
        return part.to_owned();
    }
    for unit in UNITS {
        if let Some(stem) = part.strip_suffix(unit) {
            let stem = if is_common(stem) || names.is_preserved(stem) {
                stem.to_owned()
            } else {
                names.of(class, stem)
            };
            return stem + unit;
        }
    }
    names.of(class, part)
}

/// A command line: options and numbers stay, what else stands there does not.
pub(super) fn command(names: &mut Pseudonyms, words: &[String]) -> Vec<String> {
    let mut class = Class::Word;
    let mut redacted = Vec::new();
    for word in words {
        redacted.push(argument(names, class, word));
        class = if word.starts_with('-') {
            class_behind(word)
        } else {
            Class::Word
        };
    }
    redacted
}

/// What stands behind an option or a name, by the usual ones of databases' clients.
fn class_behind(option: &str) -> Class {
    match option.trim_start_matches('-') {
        "U" | "username" | "user" => Class::User,
        "h" | "host" | "hostname" => Class::Host,
        "d" | "dbname" | "database" => Class::Database,
        _ => Class::Word,
    }
}

fn argument(names: &mut Pseudonyms, class: Class, word: &str) -> String {
    static OPTION: LazyLock<Regex> =
        LazyLock::new(|| constant(r"^(--[a-z][a-z0-9-]{0,30}|-[A-Za-z])(=?)(.*)$"));
    if word.contains(char::is_whitespace) {
        let inner = word.split_whitespace();
        let inner = inner.map(|word| argument(names, Class::Word, word));
        return inner.collect::<Vec<_>>().join(" ");
    }
    if let Some(found) = OPTION.captures(word).filter(|found| !is_glued(found)) {
        let value = value_of(names, class_behind(&found[1]), &found[3]);
        return format!("{}{}{value}", &found[1], &found[2]);
    }
    if let Some((name, value)) = word.split_once('=')
        && !name.is_empty()
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c))
    {
        return format!("{name}={}", value_of(names, class_behind(name), value));
    }
    value_of(names, class, word)
}

/// `--nameSecret`: nothing says where the option ends.
fn is_glued(found: &Captures<'_>) -> bool {
    found[1].starts_with("--") && found[2].is_empty() && !found[3].is_empty()
}

fn value_of(names: &mut Pseudonyms, class: Class, text: &str) -> String {
    let plain = text
        .chars()
        .all(|c| c.is_alphanumeric() || "._-".contains(c));
    if class != Class::Word && plain && !is_number(text) && address(names, text).is_none() {
        return names.of(class, text);
    }
    value(names, text)
}

fn constant(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the patterns are constants, and tests use each")
}
