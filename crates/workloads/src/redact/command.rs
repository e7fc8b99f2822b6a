//! One command: its program, its options with their values, and the words between them, one after the other.

pub(super) mod script;
pub(super) mod text;

use std::sync::LazyLock;

use regex::Regex;

use super::options::{self, is_secret_name, kind_of};
use super::plain::{self, is_identifier, is_name, is_path, is_plain};
use super::programs::{Kind, Program, Words};
use super::{HIDDEN, sql, url};

/// Words after which credentials follow, besides the names of secrets.
const ANNOUNCE: &[&str] = &["hello", "requirepass", "masterauth", "using", "setuser"];

/// What the words so far say about the next one.
#[derive(Default)]
pub(super) struct Command {
    started: bool,
    program: Option<&'static Program>,
    /// Words without a dash so far.
    words: usize,
    /// What the last option takes, where its value is the next word.
    expected: Option<Kind>,
    /// `--` was there.
    options_ended: bool,
    /// A word announced credentials, which may be several.
    hidden: bool,
    /// How many scripts it stands in.
    depth: usize,
}

impl Command {
    /// A command of a script.
    pub(super) fn within(depth: usize) -> Self {
        Self {
            depth,
            ..Self::default()
        }
    }

    /// Takes the next word; returns what may be stored of it.
    pub(super) fn word(&mut self, word: &str) -> String {
        if let Some(kind) = self.expected.take()
            && is_value(kind, word)
        {
            // The option of a program that is not known may have been a flag.
            self.hidden |= kind == Kind::Unknown && announces(word);
            return value(kind, word, self.depth);
        }
        if !self.started {
            return self.start(word);
        }
        if is_option(word) && !self.options_ended {
            return self.option(word);
        }
        if let Some(Words::Command(before)) = self.program.map(|program| program.words)
            && self.words >= before
        {
            return self.start(word);
        }
        self.between(word)
    }

    /// A program, or what stands before one in a shell's command.
    fn start(&mut self, word: &str) -> String {
        if let Some((name, value)) = word.split_once('=')
            && is_identifier(name)
        {
            self.started = self.program.is_some();
            return pair(name, value);
        }
        *self = Self {
            started: true,
            ..Self::within(self.depth)
        };
        // ssh host 'mysql -psecret db', watch 'mysql -psecret db'
        if word.contains(char::is_whitespace) && !std::path::Path::new(word).is_absolute() {
            return script::script(word, self.depth + 1);
        }
        let shown = match word {
            "" => String::new(),
            _ if word.contains(['@', '=']) || word.contains("://") => positional(word),
            _ => word.to_owned(),
        };
        // A program that is not stored is not known to whoever redacts what was stored.
        self.program = Program::find(shown.rsplit('/').next().unwrap_or(&shown));
        shown
    }

    /// A word that is neither option nor an option's value.
    fn between(&mut self, word: &str) -> String {
        self.words += 1;
        let hidden = self.hidden;
        self.hidden |= announces(word);
        match self.program.map(|program| program.words) {
            _ if word.is_empty() => String::new(),
            _ if hidden => HIDDEN.to_owned(),
            Some(Words::Secret) => HIDDEN.to_owned(),
            Some(Words::Login) if self.words == 1 && !word.starts_with(['/', '@']) => login(word),
            _ => positional(word),
        }
    }

    fn option(&mut self, word: &str) -> String {
        if word == "--" {
            self.options_ended = true;
            if let Some(Words::Command(_)) = self.program.map(|program| program.words) {
                // The command that it runs has options of its own.
                *self = Self::within(self.depth);
            }
            return word.to_owned();
        }
        if self.program.is_some_and(Program::is_java) && is_switch_of_java(word) {
            return word.to_owned();
        }
        let name = word.trim_start_matches('-');
        let dashes = &word[..word.len() - name.len()];
        let (long, attached) = match name.split_once('=') {
            Some((long, attached)) => (long, Some(attached)),
            None => (name, None),
        };
        if dashes.len() == 1 && !options::is_long(self.program, long) {
            return self.short(name);
        }
        if !is_identifier(long) {
            self.expected = Some(Kind::Unknown);
            return format!("{dashes}{HIDDEN}");
        }
        let kind = kind_of(self.program, long);
        match attached {
            Some(attached) => format!("{dashes}{long}={}", value(kind, attached, self.depth)),
            None => {
                self.expected = (kind != Kind::Flag).then_some(kind);
                word.to_owned()
            }
        }
    }

    /// Letters behind one dash: flags, and at the end perhaps one that takes a value.
    fn short(&mut self, letters: &str) -> String {
        for (at, letter) in letters.char_indices() {
            let behind = at + letter.len_utf8();
            let (before, rest) = letters.split_at(behind);
            if !letter.is_ascii_alphanumeric() {
                // No letter of an option: what belongs to what is not known.
                self.expected = Some(Kind::Unknown);
                return format!("-{HIDDEN}");
            }
            let kind = kind_of(self.program, &letters[at..behind]);
            match kind {
                Kind::Flag => continue,
                // Two letters or three: more likely flags of a program that is not known.
                Kind::Unknown if self.program.is_none() && is_bundle(letters) => {
                    self.expected = Some(Kind::Unknown);
                    return format!("-{letters}");
                }
                _ if rest.is_empty() => self.expected = Some(kind),
                // Of a program that is not known the whole may have been one option.
                Kind::Unknown if self.program.is_none() && !is_plain(rest) => {
                    self.expected = Some(Kind::Unknown);
                }
                _ => {}
            }
            return match rest {
                "" => format!("-{before}"),
                _ => format!("-{before}{}", value(kind, rest, self.depth)),
            };
        }
        format!("-{letters}")
    }
}

/// Whether credentials follow a word.
fn announces(word: &str) -> bool {
    let small = word.to_ascii_lowercase();
    is_secret_name(&small) || ANNOUNCE.contains(&&*small)
}

/// Whether a word is an option by its form; a number below zero is none.
fn is_option(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-') && !is_plain(word)
}

/// `-XX:+UseG1GC`, `-Xmx4g`
fn is_switch_of_java(word: &str) -> bool {
    static SWITCH: LazyLock<Regex> = LazyLock::new(|| {
        plain::pattern(r"^-X(?:X:[+-][a-z0-9]{3,48}|m[nsx]\d{1,9}[kmgt]?|ss\d{1,9}[kmgt]?)$")
    });
    SWITCH.is_match(word)
}

fn is_bundle(letters: &str) -> bool {
    letters.len() > 1 && letters.len() <= 3 && letters.chars().all(|c| c.is_ascii_lowercase())
}

/// Whether the word behind an option of that kind is its value.
fn is_value(kind: Kind, word: &str) -> bool {
    match kind {
        Kind::Flag | Kind::Attached => false,
        // A secret that begins with two dashes is less likely than an option without a value.
        Kind::Secret => !word.starts_with("--"),
        _ => !is_option(word),
    }
}

/// What may be stored of an option's value.
fn value(kind: Kind, word: &str, depth: usize) -> String {
    match kind {
        Kind::Secret | Kind::Attached => return HIDDEN.to_owned(),
        Kind::Header => return header(word),
        Kind::Sql => return sql::sql(word),
        Kind::Script => return script::script(word, depth + 1),
        Kind::Place => return positional(word),
        Kind::Text => return text::text(word),
        _ => {}
    }
    let is_names = || word.split(',').all(|name| is_name(name) || is_plain(name));
    match kind {
        _ if is_plain(word) || word.is_empty() => word.to_owned(),
        _ if url::is_url(word) => url::url(word),
        Kind::Name if is_names() || plain::is_host(word) => word.to_owned(),
        Kind::Path => path_value(word),
        Kind::Pair => match word.split_once('=') {
            Some((name, value)) if is_identifier(name) => pair(name, value),
            None if is_name(word) => word.to_owned(),
            _ => HIDDEN.to_owned(),
        },
        _ if is_deep_path(word) => plain::path(word),
        _ => HIDDEN.to_owned(),
    }
}

/// Files, several of them too: a class path, a volume.
fn path_value(text: &str) -> String {
    let parts = text.split(':').map(|part| match part {
        _ if is_path(part) || part.matches('/').count() > 0 => plain::path(part),
        _ if is_name(part) || is_plain(part) => part.to_owned(),
        _ => plain::path(part),
    });
    parts.collect::<Vec<_>>().join(":")
}

/// A path from the root over at least one folder: hardly a secret.
fn is_deep_path(text: &str) -> bool {
    let parts = text.split('/').filter(|part| !part.is_empty()).count();
    is_path(text) && parts >= 2
}

/// A header's name stays, and the value of those that everybody sends.
fn header(text: &str) -> String {
    const PUBLIC: &[&str] = &[
        "accept",
        "accept-encoding",
        "accept-language",
        "cache-control",
        "connection",
        "content-length",
        "content-type",
        "host",
        "user-agent",
    ];
    match text.split_once(':') {
        Some((name, value)) if is_identifier(name) => {
            let space = if value.starts_with(' ') { " " } else { "" };
            let value = value.trim();
            let words = || {
                value.split([' ', ';', ',', '=']).all(|word| {
                    word.is_empty()
                        || word == "*/*"
                        || word.split('/').all(is_name)
                        || is_plain(word)
                })
            };
            let public = PUBLIC.contains(&&*name.to_ascii_lowercase());
            match public && (words() || plain::is_host(value)) {
                true => text.to_owned(),
                false => format!("{name}:{space}{HIDDEN}"),
            }
        }
        _ => HIDDEN.to_owned(),
    }
}

/// `NAME=value`.
fn pair(name: &str, value: &str) -> String {
    let shown = match value {
        "" => String::new(),
        _ if is_secret_name(name) => HIDDEN.to_owned(),
        _ if is_plain(value) => value.to_owned(),
        _ if url::is_url(value) => url::url(value),
        _ if is_deep_path(value) || options::names_file(name) => path_value(value),
        _ if options::is_harmless_setting(name)
            && (is_path(value) || value.split(',').all(is_name)) =>
        {
            path_value(value)
        }
        _ => HIDDEN.to_owned(),
    };
    format!("{name}={shown}")
}

/// `u/P@db`: only where it leads to stays.
fn login(word: &str) -> String {
    match word.contains('@') {
        true => {
            let credential = url::credential(word);
            match credential == word {
                true => HIDDEN.to_owned(),
                false => credential,
            }
        }
        false => HIDDEN.to_owned(),
    }
}

/// A word without an option before it, by its form.
fn positional(word: &str) -> String {
    if is_plain(word) {
        return word.to_owned();
    }
    if url::is_url(word) {
        return url::url(word);
    }
    if word.contains(char::is_whitespace) {
        return text::pairs(word).unwrap_or_else(|| HIDDEN.to_owned());
    }
    if let Some((name, value)) = word.split_once('=')
        && is_identifier(name)
    {
        return match value.contains('=') {
            true => format!("{name}={HIDDEN}"),
            false => pair(name, value),
        };
    }
    match word {
        _ if is_name(word) => word.to_owned(),
        _ if is_path(word) => plain::path(word),
        _ if word.contains(['@', ':', '/']) => url::credential(word),
        _ if word.split(',').all(is_name) => word.to_owned(),
        _ => HIDDEN.to_owned(),
    }
}
