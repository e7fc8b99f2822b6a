//! A fixture host as data: its files at one or more instants, and what happens to them between.
//!
//! A host's folder holds `proc`, `sys` and `etc` as they were at the beginning; `at-3s/` holds what had
//! changed three seconds later. Numbers that differ grow evenly from one instant to the next, and on
//! beyond the last; all other words change at their instant. The file `play` says what comes, goes and
//! is refused, and when. Bytes that git or an editor would not like in a name are written `\xNN`.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A file or folder by its place in the list; `Tree::ROOT` holds all.
pub type Id = usize;

/// What a file is refused with, from when on.
pub type Refusal = Option<(f64, i32)>;

/// A file or folder.
#[derive(Default)]
pub struct Node {
    pub name: Vec<u8>,
    pub children: Vec<Id>,
    /// The text at each instant, s; none for a folder.
    pub texts: Vec<(f64, Vec<u8>)>,
    pub folder: bool,
    /// When it comes, s.
    pub born: f64,
    /// When it goes, and what those who hold it open then read.
    pub dies: Refusal,
    pub refuses_open: Refusal,
    pub refuses_read: Refusal,
}

/// A host.
pub struct Tree {
    pub nodes: Vec<Node>,
}

impl Node {
    pub fn is_there(&self, time: f64) -> bool {
        self.born <= time && refused(self.dies, time).is_none()
    }

    /// The file's text at a time.
    pub fn text(&self, time: f64) -> Vec<u8> {
        let after = self.texts.partition_point(|(at, _)| *at <= time);
        match self.texts.as_slice() {
            [] => Vec::new(),
            [(_, only)] => only.clone(),
            // Beyond the last instant it goes on as it did before it.
            texts => {
                let end = after.clamp(1, texts.len() - 1);
                let ((from, one), (to, other)) = (&texts[end - 1], &texts[end]);
                let words = if after == texts.len() { other } else { one };
                between(one, other, words, (time - from) / (to - from))
            }
        }
    }
}

/// The error, once its time has come.
pub fn refused(refusal: Refusal, time: f64) -> Option<i32> {
    refusal
        .filter(|(from, _)| *from <= time)
        .map(|(_, errno)| errno)
}

impl Tree {
    pub const ROOT: Id = 0;

    /// Reads a host's folder.
    pub fn load(folder: &Path) -> Self {
        let root = Node {
            folder: true,
            ..Node::default()
        };
        let mut tree = Self { nodes: vec![root] };
        let mut instants = BTreeMap::new();
        for entry in fs::read_dir(folder).expect("the host's folder").flatten() {
            let name = entry.file_name().into_string().expect("a plain name");
            let instant = name.strip_prefix("at-").and_then(|it| it.strip_suffix('s'));
            match (instant, name.as_str()) {
                (Some(instant), _) => {
                    let millis = 1_000.0 * instant.parse::<f64>().expect("a number of seconds");
                    instants.insert(millis as u64, entry.path());
                }
                (None, "proc" | "sys" | "etc") => {
                    tree.add(Self::ROOT, &entry.path(), 0.0);
                }
                _ => {}
            }
        }
        for (millis, overlay) in instants {
            tree.add_all(Self::ROOT, &overlay, millis as f64 / 1_000.0);
        }
        if let Ok(play) = fs::read_to_string(folder.join("play")) {
            let lines = play.lines().filter(|line| !line.starts_with('#'));
            lines.for_each(|line| tree.direct(line));
        }
        tree
    }

    /// The node at a path.
    pub fn find(&self, path: &str) -> Id {
        let step = |at: Id, name: &str| {
            let found = self.child(at, &decoded(name.as_bytes()));
            found.unwrap_or_else(|| panic!("the host has no {path}"))
        };
        path.split('/').fold(Self::ROOT, step)
    }

    fn child(&self, folder: Id, name: &[u8]) -> Option<Id> {
        let mut children = self.nodes[folder].children.iter().copied();
        children.find(|id| self.nodes[*id].name == name)
    }

    fn add_all(&mut self, folder: Id, place: &Path, instant: f64) {
        for entry in fs::read_dir(place).expect("a folder of the host").flatten() {
            self.add(folder, &entry.path(), instant);
        }
    }

    fn add(&mut self, folder: Id, place: &Path, instant: f64) {
        let name = place.file_name().expect("it has a name").as_bytes();
        let name = decoded(name);
        let id = self.child(folder, &name).unwrap_or_else(|| {
            self.nodes.push(Node {
                name,
                folder: place.is_dir(),
                ..Node::default()
            });
            let id = self.nodes.len() - 1;
            self.nodes[folder].children.push(id);
            id
        });
        if place.is_dir() {
            self.add_all(id, place, instant);
        } else {
            let text = fs::read(place).expect("a file of the host");
            self.nodes[id].texts.push((instant, text));
        }
    }

    /// Carries out a line of `play`:
    /// `1.5 remove ENODEV PATH`, `0 refuse-open EACCES PATH`, `0 refuse-read EIO PATH`, `1.5 add PATH`, or
    /// `1.5 add PATH from PATH@`, which gives what stands beside it another's name.
    fn direct(&mut self, line: &str) {
        let words: Vec<&str> = line.split(' ').collect();
        let time = words[0].parse().expect("a time");
        match words[1..] {
            ["remove", errno, path] => {
                let dies = Some((time, number_of(errno)));
                self.below(self.find(path), &mut |node| node.dies = dies);
            }
            ["refuse-open", errno, path] => {
                let id = self.find(path);
                self.nodes[id].refuses_open = Some((time, number_of(errno)));
            }
            ["refuse-read", errno, path] => {
                let id = self.find(path);
                self.nodes[id].refuses_read = Some((time, number_of(errno)));
            }
            ["add", path] => self.below(self.find(path), &mut |node| node.born = time),
            ["add", path, "from", other] => {
                let (place, id) = (self.find(path), self.find(other));
                self.below(id, &mut |node| node.born = time);
                self.nodes[id].name = self.nodes[place].name.clone();
            }
            _ => panic!("no such direction: {line}"),
        }
    }

    fn below(&mut self, id: Id, change: &mut dyn FnMut(&mut Node)) {
        change(&mut self.nodes[id]);
        for child in self.nodes[id].children.clone() {
            self.below(child, change);
        }
    }
}

fn number_of(errno: &str) -> i32 {
    use rustix::io::Errno;
    let named = match errno {
        "EACCES" => Errno::ACCESS,
        "EIO" => Errno::IO,
        "ENODEV" => Errno::NODEV,
        "ENOENT" => Errno::NOENT,
        "EOPNOTSUPP" => Errno::OPNOTSUPP,
        "EPERM" => Errno::PERM,
        "ESRCH" => Errno::SRCH,
        _ => panic!("no such error here: {errno}"),
    };
    named.raw_os_error()
}

/// A name with its `\xNN` undone.
fn decoded(name: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = name;
    while let Some((first, after)) = rest.split_first() {
        let digits = after.strip_prefix(b"x").and_then(|it| it.get(..2));
        let digits = digits.and_then(|it| std::str::from_utf8(it).ok());
        let byte = digits.and_then(|it| u8::from_str_radix(it, 16).ok());
        match (first, byte) {
            (b'\\', Some(byte)) => {
                bytes.push(byte);
                rest = &after[3..];
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    bytes
}

/// The text a part of the way from one to the other: where both have the same number of words, numbers
/// lie between; all else is taken from `words`.
fn between(one: &[u8], other: &[u8], words: &[u8], part: f64) -> Vec<u8> {
    let split = |text| Words(text).collect::<Vec<_>>();
    let (one, other, words) = (split(one), split(other), split(words));
    if one.len() != other.len() {
        return words.concat();
    }
    let pairs = one.iter().zip(&other).zip(&words);
    let word = |((one, other), word): ((&&[u8], &&[u8]), &&[u8])| {
        grown(one, other, part).unwrap_or_else(|| word.to_vec())
    };
    pairs.flat_map(word).collect()
}

/// The number between two; `None` unless both are decimal numbers that differ.
fn grown(one: &[u8], other: &[u8], part: f64) -> Option<Vec<u8>> {
    let number = |word| {
        let text = std::str::from_utf8(word).ok()?;
        let decimals = text
            .split_once('.')
            .map_or(0, |(_, decimals)| decimals.len());
        Some((text.parse::<f64>().ok()?, decimals))
            .filter(|_| text.starts_with(|c: char| c.is_ascii_digit()))
    };
    if one == other {
        return None;
    }
    let ((one, decimals), (other, _)) = (number(one)?, number(other)?);
    let value = (one + (other - one) * part).max(0.0);
    Some(match decimals {
        // A counter shows what is complete.
        0 => format!("{}", value as u64).into_bytes(),
        _ => format!("{value:.decimals$}").into_bytes(),
    })
}

/// Words of letters, digits and points, and what stands between them, in turn.
struct Words<'a>(&'a [u8]);

impl<'a> Iterator for Words<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'.' || *byte == b'_';
        let kind = is_word(self.0.first()?);
        let end = self.0.iter().position(|byte| is_word(byte) != kind);
        let (word, rest) = self.0.split_at(end.unwrap_or(self.0.len()));
        self.0 = rest;
        Some(word)
    }
}

#[test]
fn numbers_grow_evenly_and_words_change_at_their_instant() {
    let texts = vec![
        (0.0, b"total=100 1.50 S 0000a1 x9\n".to_vec()),
        (2.0, b"total=300 2.50 D 0000b1 x8\n".to_vec()),
    ];
    let node = Node {
        texts,
        ..Node::default()
    };
    let text = |time| String::from_utf8(node.text(time)).expect("it is text");
    assert_eq!(text(0.0), "total=100 1.50 S 0000a1 x9\n");
    assert_eq!(text(1.0), "total=200 2.00 S 0000a1 x9\n");
    assert_eq!(text(2.0), "total=300 2.50 D 0000b1 x8\n");
    assert_eq!(text(3.0), "total=400 3.00 D 0000b1 x8\n");
}

#[test]
fn names_are_any_bytes() {
    assert_eq!(decoded(b"a\\xff\\x0ab"), b"a\xff\nb");
    assert_eq!(decoded(b"a\\y\\x"), b"a\\y\\x");
}
