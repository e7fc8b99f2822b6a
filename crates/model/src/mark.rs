//! A mark: what a person says happened at an instant of a recording.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Timestamp;

/// One.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Mark {
    /// When.
    pub at: Timestamp,
    /// What, on one line; never empty.
    pub text: String,
}

impl Mark {
    /// The longest text that is kept, characters.
    pub const MOST_CHARS: usize = 200;

    /// A mark of such a text, without what no line can hold and no page should; `None` where nothing is left.
    pub fn new(at: Timestamp, text: &str) -> Option<Self> {
        let on_one_line: String = text
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        let short: String = on_one_line.trim().chars().take(Self::MOST_CHARS).collect();
        let text = short.trim_end().to_owned();
        (!text.is_empty()).then_some(Self { at, text })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_one_line_of_bounded_length() {
        let text = |it: &str| Mark::new(Timestamp::default(), it).map(|it| it.text);
        assert_eq!(text(" index\nbuilt\u{1b} "), Some("index built".to_owned()));
        assert_eq!(text(" \t\n"), None);
        let long = text(&"é".repeat(300)).expect("something is left");
        assert_eq!(long.chars().count(), Mark::MOST_CHARS);
    }
}
