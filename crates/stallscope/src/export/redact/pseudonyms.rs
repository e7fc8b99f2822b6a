//! Words that stand for other words: `host-1`, `user-2`. The same word is always the same pseudonym,
//! wherever it stands, so that a text still says who did what.

use std::collections::{BTreeMap, BTreeSet};

use crate::arguments::Names;

/// What a word names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Class {
    /// A machine.
    Host,
    /// An IP address.
    Address,
    /// A user or role.
    User,
    /// A database.
    Database,
    /// A part of a control group's path.
    Group,
    /// A part of a file's path.
    Folder,
    /// A network interface.
    Interface,
    /// A disk or CPU whose name is not the kernel's.
    Device,
    /// A program or thread.
    Program,
    /// A function of a program.
    Function,
    /// A series that an endpoint serves.
    Series,
    /// A word of a command line.
    Word,
}

impl Class {
    /// What its pseudonyms begin with.
    pub(crate) fn stem(self) -> &'static str {
        match self {
            Class::Host => "host",
            Class::Address => "ip",
            Class::User => "user",
            Class::Database => "db",
            Class::Group => "group",
            Class::Folder => "path",
            Class::Interface => "if",
            Class::Device => "device",
            Class::Program => "program",
            Class::Function => "function",
            Class::Series => "series",
            Class::Word => "word",
        }
    }
}

/// Words that say nothing about whoever uses them: everybody does.
const PUBLIC: &[&str] = &[
    "127.0.0.1",
    "0.0.0.0",
    "::1",
    "::",
    "localhost",
    "root",
    "***",
    // It wrote the recording, and whoever gets it has it.
    "stallscope",
];

/// Users that are called like their program.
const PROGRAMS_USERS: &[&str] = &["postgres", "mysql", "nobody"];

/// The words that were replaced, with what stands for them.
pub(crate) struct Pseudonyms {
    public: BTreeSet<&'static str>,
    by_word: BTreeMap<String, String>,
    /// Names of hosts, users and databases in small letters: people write them in either.
    by_small: BTreeMap<String, String>,
    counts: BTreeMap<Class, usize>,
    /// Names that are kept wherever they stand: those of programs.
    kept: BTreeSet<String>,
}

impl Pseudonyms {
    /// Nothing replaced yet.
    pub(crate) fn new(names: Names) -> Self {
        let mut public = BTreeSet::from_iter(PUBLIC.iter().copied());
        if names != Names::None {
            public.extend(PROGRAMS_USERS);
        }
        Self {
            public,
            by_word: BTreeMap::new(),
            by_small: BTreeMap::new(),
            counts: BTreeMap::new(),
            kept: BTreeSet::new(),
        }
    }

    /// A name that is no secret, wherever it stands.
    pub(crate) fn keep(&mut self, word: &str) {
        self.kept.insert(word.to_owned());
    }

    /// Whether a word may stand as it is.
    pub(crate) fn is_preserved(&self, word: &str) -> bool {
        word.is_empty() || self.public.contains(word) || self.kept.contains(word)
    }

    /// What stands for a word of that class.
    pub(crate) fn of(&mut self, class: Class, word: &str) -> String {
        if word.is_empty() || self.public.contains(word) {
            return word.to_owned();
        }
        if let Some(known) = self.by_word.get(word) {
            return known.clone();
        }
        if class == Class::Host
            && let Some(host) = self.by_small.get(&word.to_lowercase()).cloned()
        {
            self.by_word.insert(word.to_owned(), host.clone());
            return host;
        }
        let count = self.counts.entry(class).or_default();
        *count += 1;
        let pseudonym = format!("{}-{count}", class.stem());
        self.by_word.insert(word.to_owned(), pseudonym.clone());
        if matches!(class, Class::Host | Class::User | Class::Database) {
            let small = self.by_small.entry(word.to_lowercase());
            small.or_insert_with(|| pseudonym.clone());
        }
        pseudonym
    }

    /// Another word for what has that pseudonym already.
    pub(crate) fn alias(&mut self, word: &str, pseudonym: &str) {
        if !word.is_empty() && !self.is_preserved(word) && !self.by_word.contains_key(word) {
            self.by_word.insert(word.to_owned(), pseudonym.to_owned());
            let small = self.by_small.entry(word.to_lowercase());
            small.or_insert_with(|| pseudonym.to_owned());
        }
    }

    /// Takes names back that are made of others: `replica-db7` beside a host `db7`.
    pub(crate) fn keep_no_compounds(&mut self) {
        let mut kept = std::mem::take(&mut self.kept);
        let is_name = |part: &str| self.by_small.contains_key(&part.to_lowercase());
        let plain: BTreeSet<String> = kept.clone();
        kept.retain(|name| {
            let mut parts = name.split(|c: char| !c.is_alphanumeric());
            !parts.any(|part| is_name(part) && !plain.contains(part))
        });
        self.kept = kept;
    }

    /// How many words of each class were replaced.
    pub(crate) fn counts(&self) -> &BTreeMap<Class, usize> {
        &self.counts
    }

    /// Every replaced word with what stands for it.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        self.by_word
            .iter()
            .map(|(word, pseudonym)| (word.as_str(), pseudonym.as_str()))
    }
}
