//! Texts that rows refer to by number: modules and functions of stacks, command lines.
//!
//! Rows hold integers only, and the same text comes again and again. So each text stands once, in a list that
//! only grows, and a column of unit [`Unit::String`](crate::Unit::String) holds its number.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// A text's number within one recording; numbers are given in order, from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StringId(pub u32);

/// What a text is. Decides what is taken out of it before it is written, and whether it may leave the machine.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StringKind {
    /// A file that code is executed from, by its path; `[kernel]`, `[vdso]`, and `[jit]` for code without a file.
    Module,
    /// The build id of a module, its parent, in hexadecimal digits.
    BuildId,
    /// A function as people read it, demangled; its parent is the module, or the function that it is inlined into.
    Function,
    /// A command line, without its secrets.
    Command,
}

impl StringKind {
    /// Every kind, in declaration order.
    pub const ALL: [StringKind; 4] = [
        StringKind::Module,
        StringKind::BuildId,
        StringKind::Function,
        StringKind::Command,
    ];

    /// The word used in recordings.
    pub const fn word(self) -> &'static str {
        match self {
            StringKind::Module => "module",
            StringKind::BuildId => "build_id",
            StringKind::Function => "function",
            StringKind::Command => "command",
        }
    }
}

impl fmt::Display for StringKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A text of a recording.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Text {
    /// Its number in rows.
    pub id: StringId,
    /// What it is.
    pub kind: StringKind,
    /// The text that it belongs to, which has a smaller number.
    pub parent: Option<StringId>,
    /// The text, of at most [`Strings::MAX_BYTES`] bytes.
    pub text: Box<str>,
}

/// The texts of a recording, by number.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Strings {
    /// Not a list with a place for each number: what a full disk refused is missing, and a file from elsewhere may
    /// leave out most.
    texts: BTreeMap<StringId, Text>,
}

impl Strings {
    /// The most texts of a recording.
    pub const MAX: usize = 1_000_000;

    /// The longest text, bytes.
    pub const MAX_BYTES: usize = 4096;

    /// Takes a text into the list. Returns false, and changes nothing, where its number is too high or taken, it is
    /// too long, or its parent's number is not smaller.
    pub fn insert(&mut self, text: Text) -> bool {
        let fits = (text.id.0 as usize) < Self::MAX
            && text.text.len() <= Self::MAX_BYTES
            && text.parent.is_none_or(|parent| parent < text.id)
            && !self.texts.contains_key(&text.id);
        if fits {
            self.texts.insert(text.id, text);
        }
        fits
    }

    /// The text of that number.
    pub fn get(&self, id: StringId) -> Option<&Text> {
        self.texts.get(&id)
    }

    /// The text that a row's value stands for.
    pub fn of_value(&self, value: i64) -> Option<&Text> {
        let id = u32::try_from(value).ok()?;
        self.get(StringId(id))
    }

    /// All texts in the order of their numbers.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Text> {
        self.texts.values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(id: u32, parent: Option<u32>, bytes: usize) -> Text {
        Text {
            id: StringId(id),
            kind: StringKind::Function,
            parent: parent.map(StringId),
            text: "f".repeat(bytes).into(),
        }
    }

    #[test]
    fn a_parent_has_a_smaller_number_and_no_text_is_endless() {
        let mut strings = Strings::default();
        assert!(!strings.insert(text(0, Some(0), 1)), "its own parent");
        assert!(strings.insert(text(1, Some(0), Strings::MAX_BYTES)));
        assert!(!strings.insert(text(1, None, 1)), "taken");
        assert!(!strings.insert(text(2, None, Strings::MAX_BYTES + 1)));
        assert!(!strings.insert(text(Strings::MAX as u32, None, 1)));
        assert_eq!(strings.iter().len(), 1);
        let parent = strings.of_value(1).and_then(|it| it.parent);
        assert_eq!(parent, Some(StringId(0)), "which is not there");
        assert_eq!(strings.of_value(-1), None);
        assert_eq!(strings.of_value(2), None);
    }
}
