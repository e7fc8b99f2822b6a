//! Gives each text a number once, so that rows can refer to it.

use std::collections::HashMap;

use model::{StringId, StringKind, Text};

/// The most texts of a recording's sampler; of more, rows say that the text is missing.
const MOST_TEXTS: usize = 200_000;
/// The most command lines among them: a machine that gives each of its processes other arguments leaves room for the
/// names of code.
const MOST_COMMANDS: usize = 50_000;
/// The most bytes of all texts.
const MOST_BYTES: usize = 16 << 20;
/// The longest text, bytes; longer ones are cut.
const LONGEST: usize = 1_024;

/// The texts so far.
#[derive(Default)]
pub(crate) struct Interner {
    known: HashMap<(StringKind, Option<StringId>), HashMap<Box<str>, StringId>>,
    count: usize,
    commands: usize,
    bytes: usize,
    /// Not handed over yet.
    fresh: Vec<Text>,
    /// Texts that found no room.
    refused: u64,
}

impl Interner {
    /// The number of a text; `None` where there is no room for another one. Allocates for new ones only.
    pub(crate) fn intern(
        &mut self,
        kind: StringKind,
        parent: Option<StringId>,
        text: &str,
    ) -> Option<StringId> {
        let text = &text[..text.floor_char_boundary(LONGEST)];
        let siblings = self.known.entry((kind, parent)).or_default();
        if let Some(known) = siblings.get(text) {
            return Some(*known);
        }
        let is_command = kind == StringKind::Command;
        let is_full = self.count == MOST_TEXTS || is_command && self.commands == MOST_COMMANDS;
        if is_full || self.bytes + text.len() > MOST_BYTES {
            self.refused += 1;
            return None;
        }
        self.commands += usize::from(is_command);
        let id = StringId(self.count as u32);
        self.count += 1;
        self.bytes += text.len();
        siblings.insert(text.into(), id);
        self.fresh.push(Text {
            id,
            kind,
            parent,
            text: text.into(),
        });
        Some(id)
    }

    /// How many texts found no room since the last call.
    pub(crate) fn take_refused(&mut self) -> u64 {
        std::mem::take(&mut self.refused)
    }

    /// Removes and returns the texts that were not handed over yet.
    pub(crate) fn take_fresh(&mut self) -> Option<Vec<Text>> {
        (!self.fresh.is_empty()).then(|| std::mem::take(&mut self.fresh))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_one_number_for_each_kind_and_parent() {
        let mut all = Interner::default();
        let module = all.intern(StringKind::Module, None, "a");
        assert_eq!(module, Some(StringId(0)));
        let function = all.intern(StringKind::Function, module, "a");
        assert_eq!(function, Some(StringId(1)));
        assert_eq!(
            all.intern(StringKind::Function, None, "a"),
            Some(StringId(2))
        );
        assert_eq!(all.intern(StringKind::Function, module, "a"), function);
        let fresh = all.take_fresh().unwrap_or_default();
        assert_eq!(
            fresh.iter().map(|it| it.id.0).collect::<Vec<_>>(),
            [0, 1, 2]
        );
        assert_eq!(all.take_fresh(), None);
    }

    #[test]
    fn a_long_text_is_cut_between_characters_and_there_is_an_end_of_texts() {
        let mut all = Interner::default();
        let long = "\u{e4}".repeat(LONGEST);
        all.intern(StringKind::Command, None, &long);
        all.intern(
            StringKind::Command,
            None,
            &format!("{}b", "a".repeat(LONGEST)),
        );
        let fresh = all.take_fresh().unwrap_or_default();
        assert_eq!(&*fresh[0].text, "\u{e4}".repeat(LONGEST / 2));
        assert_eq!(&*fresh[1].text, "a".repeat(LONGEST));
        for number in 2..MOST_TEXTS + 3 {
            let text = number.to_string();
            let given = all.intern(StringKind::Function, None, &text);
            assert_eq!(given.is_some(), number < MOST_TEXTS, "{number}");
        }
        assert_eq!(all.take_refused(), 3);
        let mut commands = Interner::default();
        for number in 0..MOST_COMMANDS + 1 {
            let given = commands.intern(StringKind::Command, None, &number.to_string());
            assert_eq!(given.is_some(), number < MOST_COMMANDS, "{number}");
        }
        assert!(commands.intern(StringKind::Function, None, "f").is_some());
        let known = all.intern(StringKind::Function, None, "2");
        assert_eq!(known, Some(StringId(2)), "those that are known stay so");
    }
}
