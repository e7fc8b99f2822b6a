//! A sentence that a recording holds, as data: the program's own words, and between them what they are
//! about.
//!
//! Whoever sends a recording sends the own words and renames the rest; nothing looks for names in a text.
//! So what a sentence is made of decides what may leave a machine: a literal is the program's own, a
//! `String` is taken for somebody else's.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::EntityKind;

/// A sentence, or a part of one. Serialised, it is its text; a text alone is read as foreign, and
/// `Meta::sentences_mut` is where a reader puts the parts in.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Sentence(Vec<Part>);

/// A part of a sentence.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Part {
    /// The program's own words, numbers among them: the same on every machine.
    Own(Cow<'static, str>),
    /// The name of something that is measured; of a control group and of a filesystem its path, and any
    /// other path is named as one of a filesystem.
    Name {
        /// What it is.
        kind: EntityKind,
        /// What it is called.
        name: String,
    },
    /// What another program, the kernel or a user wrote.
    Foreign {
        /// The text.
        foreign: String,
    },
}

impl Part {
    /// The name of something that is measured.
    pub fn name(kind: EntityKind, name: impl Into<String>) -> Self {
        let name = name.into();
        Part::Name { kind, name }
    }

    /// The C library's words for an error code.
    pub fn error(code: i32) -> Self {
        let words = std::io::Error::from_raw_os_error(code).to_string();
        Part::Own(words.into())
    }

    /// The part as text.
    pub fn text(&self) -> &str {
        match self {
            Part::Own(text) => text,
            Part::Name { name, .. } => name,
            Part::Foreign { foreign } => foreign,
        }
    }
}

impl Sentence {
    /// With more behind it: a literal, a `Part`, or another sentence.
    #[must_use]
    pub fn and(mut self, more: impl Into<Sentence>) -> Self {
        for part in more.into().0 {
            match (self.0.last_mut(), part) {
                // So that the same sentence has the same parts, however it was put together.
                (Some(Part::Own(before)), Part::Own(more)) => before.to_mut().push_str(&more),
                (_, part) => self.0.push(part),
            }
        }
        self
    }

    /// What [`sentence!`](crate::sentence!) makes: the parts in the places of the literal's `{}`.
    #[doc(hidden)]
    pub fn put_together<const N: usize>(form: &'static str, parts: [Sentence; N]) -> Self {
        let parts = parts.into_iter().chain([Self::default()]);
        let all = form.split("{}").zip(parts);
        all.fold(Self::default(), |all, (own, part)| all.and(own).and(part))
    }

    /// Whether a literal has that many `{}`.
    #[doc(hidden)]
    pub const fn has_places(form: &str, parts: usize) -> bool {
        let (form, mut at, mut places) = (form.as_bytes(), 1, 0);
        while at < form.len() {
            if form[at - 1] == b'{' && form[at] == b'}' {
                places += 1;
            }
            at += 1;
        }
        places == parts
    }

    /// What it is made of.
    pub fn parts(&self) -> &[Part] {
        &self.0
    }

    /// What it is made of, to be changed.
    pub fn parts_mut(&mut self) -> &mut [Part] {
        &mut self.0
    }

    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|part| part.text().is_empty())
    }

    /// Sentences as texts with `between` them.
    pub fn join(sentences: &[Sentence], between: &str) -> String {
        let texts: Vec<String> = sentences.iter().map(Sentence::to_string).collect();
        texts.join(between)
    }
}

impl From<Part> for Sentence {
    fn from(part: Part) -> Self {
        Self(vec![part])
    }
}

impl From<&'static str> for Sentence {
    fn from(own: &'static str) -> Self {
        match own {
            "" => Self::default(),
            own => Part::Own(own.into()).into(),
        }
    }
}

impl From<String> for Sentence {
    fn from(foreign: String) -> Self {
        match foreign.is_empty() {
            true => Self::default(),
            false => Part::Foreign { foreign }.into(),
        }
    }
}

impl From<&Sentence> for Sentence {
    fn from(sentence: &Sentence) -> Self {
        sentence.clone()
    }
}

macro_rules! numbers {
    ($($number:ty)*) => { $(
        impl From<$number> for Sentence {
            fn from(number: $number) -> Self {
                Part::Own(number.to_string().into()).into()
            }
        }
    )* };
}

numbers!(u16 u32 u64 usize i32 i64);

/// A sentence: a literal with `{}` in the places of its parts. Of a part its type says whose words it is: a
/// literal or a number is the program's own, a [`Part`] or a [`Sentence`] what it says of itself, and a
/// `String` somebody else's. Nothing can be captured by its name, so that no text passes for an own one.
#[macro_export]
macro_rules! sentence {
    ($form:literal $(, $part:expr)* $(,)?) => {{
        const PARTS: &[&str] = &[$(stringify!($part)),*];
        const { assert!($crate::Sentence::has_places($form, PARTS.len()), "each place has one part") };
        $crate::Sentence::put_together($form, [$($crate::Sentence::from($part)),*])
    }};
}

impl FromIterator<Part> for Sentence {
    fn from_iter<I: IntoIterator<Item = Part>>(parts: I) -> Self {
        parts.into_iter().fold(Self::default(), Self::and)
    }
}

impl PartialEq<str> for Sentence {
    fn eq(&self, text: &str) -> bool {
        let mut parts = self.0.iter();
        let rest = parts.try_fold(text, |rest, part| rest.strip_prefix(part.text()));
        rest == Some("")
    }
}

impl PartialEq<&str> for Sentence {
    fn eq(&self, text: &&str) -> bool {
        *self == **text
    }
}

impl fmt::Display for Sentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|part| f.write_str(part.text()))
    }
}

impl Serialize for Sentence {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Sentence {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from).map(Self::from)
    }
}

impl schemars::JsonSchema for Sentence {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        String::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        String::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_is_its_text_and_keeps_what_it_is_made_of() {
        let group = Part::name(EntityKind::Cgroup, "/a");
        let sentence = sentence!(
            "pressure of {} is off: {} said {}",
            group,
            1,
            "no".to_owned()
        );
        assert_eq!(sentence, "pressure of /a is off: 1 said no");
        assert!(sentence != *"pressure of /a is off: 1 said no!" && sentence != *"pressure");
        let parts = serde_json::to_string(sentence.parts()).expect("it is JSON");
        assert_eq!(
            parts,
            r#"["pressure of ",{"kind":"cgroup","name":"/a"}," is off: 1 said ",{"foreign":"no"}]"#
        );
        let parts: Vec<Part> = serde_json::from_str(&parts).expect("those are parts");
        assert_eq!(Sentence::from_iter(parts), sentence);
        let text = serde_json::to_string(&sentence).expect("it is JSON");
        let read: Sentence = serde_json::from_str(&text).expect("it is a text");
        assert_eq!(
            read,
            Sentence::from(sentence.to_string()),
            "a text alone is foreign"
        );
    }
}
