//! Why a file was not understood, for the one who has to correct it.

use std::fmt;

/// What was expected of a file, where, and what to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NotUnderstood {
    /// The line, counted from 1; `None` where it concerns the whole.
    pub line: Option<usize>,
    /// What was expected there.
    pub expected: String,
    /// What to do.
    pub advice: String,
}

impl NotUnderstood {
    pub(crate) fn whole(expected: impl Into<String>, advice: impl Into<String>) -> Self {
        Self {
            line: None,
            expected: expected.into(),
            advice: advice.into(),
        }
    }

    pub(crate) fn at(line: usize, expected: impl Into<String>, advice: impl Into<String>) -> Self {
        Self {
            line: Some(line),
            ..Self::whole(expected, advice)
        }
    }
}

impl fmt::Display for NotUnderstood {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        write!(f, "expected {}; {}", self.expected, self.advice)
    }
}

impl std::error::Error for NotUnderstood {}
