//! A template: what lines have in common. Its text holds constant words only.

use super::tokens::{MOST_WORDS, Word, each_word};

/// Where lines of a template differ.
pub(super) const VALUE: &str = "<*>";
/// Characters of a text that are shown.
const LONGEST_TEXT: usize = 160;
/// Lines that a template needs before its words are told: what is written once may hold what somebody typed.
pub(super) const LEAST_LINES: u64 = 3;
/// What a template is called until then.
pub const UNTOLD: &str = "(fewer than 3 lines)";

/// A place in a line or in a template.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Token(u64);

impl Token {
    pub(super) const VALUE: Self = Self(0);

    fn of(word: Word<'_>) -> Self {
        match word {
            Word::Constant(text) | Word::Named(text) => Self(hash(text.as_bytes())),
            Word::Value => Self::VALUE,
        }
    }

    pub(super) fn number(self) -> u64 {
        self.0
    }
}

/// FNV-1a, never 0 (Fowler, Noll, Vo; <http://www.isthe.com/chongo/tech/comp/fnv/>).
pub(super) fn hash(bytes: &[u8]) -> u64 {
    let seed = 0xcbf2_9ce4_8422_2325_u64;
    let mix = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(seed, mix).max(1)
}

/// A line as the places that are compared, without a copy of it.
#[derive(Clone, Copy)]
pub(super) struct Tokens {
    all: [Token; MOST_WORDS],
    len: usize,
}

impl Tokens {
    pub(super) fn of(line: &[u8]) -> Self {
        let mut tokens = Self {
            all: [Token::VALUE; MOST_WORDS],
            len: 0,
        };
        each_word(line, |word| {
            tokens.all[tokens.len] = Token::of(word);
            tokens.len += 1;
        });
        tokens
    }

    pub(super) fn all(&self) -> &[Token] {
        &self.all[..self.len]
    }
}

/// What lines have in common.
#[derive(Debug)]
pub(super) struct Template {
    tokens: Vec<Token>,
    /// The words of the places that are constant.
    words: Vec<Option<Box<str>>>,
    pub(super) lines: u64,
    pub(super) bytes: u64,
}

/// How alike a line and a template are.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Likeness {
    /// Whether the template stays as it is.
    pub(super) is_whole: bool,
    /// Constant places that are the same.
    pub(super) same: usize,
}

impl Template {
    /// That of a line alone.
    pub(super) fn of(line: &[u8]) -> Self {
        let (mut tokens, mut words) = (Vec::new(), Vec::new());
        each_word(line, |word| {
            tokens.push(Token::of(word));
            words.push(match word {
                Word::Constant(text) => Some(text.into()),
                Word::Named(name) => Some(format!("{name}{VALUE}").into()),
                Word::Value => None,
            });
        });
        Self {
            tokens,
            words,
            lines: 0,
            bytes: 0,
        }
    }

    /// Of a line with as many places.
    pub(super) fn likeness(&self, line: &[Token]) -> Likeness {
        let mut likeness = Likeness {
            is_whole: true,
            same: 0,
        };
        for (own, other) in self.tokens.iter().zip(line) {
            likeness.same += usize::from(own == other && *own != Token::VALUE);
            likeness.is_whole &= own == other || *own == Token::VALUE;
        }
        likeness
    }

    /// Takes a line in: where it differs is a value from now on. Whether it did anywhere.
    pub(super) fn take(&mut self, line: &[Token], length: usize) -> bool {
        self.lines += 1;
        self.bytes += length as u64;
        let mut has_changed = false;
        for ((own, word), other) in self.tokens.iter_mut().zip(&mut self.words).zip(line) {
            if *own != *other && *own != Token::VALUE {
                (*own, *word) = (Token::VALUE, None);
                has_changed = true;
            }
        }
        has_changed
    }

    /// Its text, once enough lines share its words.
    pub(super) fn text(&self) -> String {
        if self.lines < LEAST_LINES {
            return UNTOLD.to_owned();
        }
        let mut text = String::new();
        let mut was_value = false;
        for word in self.words.iter().map(Option::as_deref) {
            if word.is_none() && was_value {
                continue;
            }
            was_value = word.is_none();
            let word = word.unwrap_or(VALUE);
            if text.chars().count() + word.chars().count() > LONGEST_TEXT {
                text.push_str(" ...");
                break;
            }
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(word);
        }
        text
    }
}

/// The text of the template that a line alone would make, once it came often enough.
pub fn template_of(line: &[u8]) -> String {
    let mut template = Template::of(line);
    template.lines = LEAST_LINES;
    template.text()
}
