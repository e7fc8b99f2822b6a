//! Names in paths, addresses and command lines.
//!
//! Where it is not clear what a word is, it is replaced: a vendor can ask back, a sent secret stays sent.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::sync::LazyLock;

use clap::CommandFactory as _;
use regex::Regex;

use crate::arguments::Arguments;

use super::pseudonyms::{Class, Pseudonyms};

/// Parts of paths that are the same on every machine.
const PUBLIC_PARTS: &str = "bin boot cgroup cpu cpuacct data dev etc fs home init.scope io kubepods kubepods.slice \
    lib log machine.slice main media memory mnt net opt postgresql pressure proc root run sbin self session.slice \
    share shm snap srv sys system.slice task tmp user user.slice usr var";

/// The endings of systemd's units, which say what a group is.
const UNITS: [&str; 5] = [".service", ".slice", ".scope", ".socket", ".mount"];

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
    let is_common =
        |name: &str| PUBLIC_PARTS.split(' ').any(|it| it == name) || COMMON.is_match(name);
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

/// A command line: known options and numbers stay, what else stands there does not.
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
    static LETTER: LazyLock<Regex> = LazyLock::new(|| constant(r"^(-[A-Za-z])([^=]*)$"));
    if word.contains(char::is_whitespace) {
        let inner = word.split_whitespace();
        let inner = inner.map(|word| argument(names, Class::Word, word));
        return inner.collect::<Vec<_>>().join(" ");
    }
    if word.starts_with('-') && is_known_option(word) {
        return word.to_owned();
    }
    if let Some(found) = LETTER.captures(word) {
        let value = value_of(names, class_behind(&found[1]), &found[2]);
        return format!("{}{value}", &found[1]);
    }
    if let Some((name, value)) = word.split_once('=') {
        let value = value_of(names, class_behind(name), value);
        return match is_known_option(name) {
            true => format!("{name}={value}"),
            false => format!("{}={value}", names.of(Class::Word, name)),
        };
    }
    value_of(names, class, word)
}

/// Whether an option, or the name before a `=`, is one that many have.
fn is_known_option(option: &str) -> bool {
    static OWN: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
        let own = Arguments::command();
        let options = own.get_subcommands().flat_map(|it| it.get_arguments());
        options
            .filter_map(|it| it.get_long())
            .map(str::to_owned)
            .collect()
    });
    let name = option.trim_start_matches('-');
    workloads::is_known_option(name) || OWN.contains(name)
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

pub(super) fn constant(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the patterns are constants, and tests use each")
}
