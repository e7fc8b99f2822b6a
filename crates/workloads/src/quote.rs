//! The workload's own words, fit for a sentence and for storing: no secrets, one line, not too long.

/// A longer text is cut.
const LONGEST_QUOTE: usize = 200;

/// A text of the workload's, fit for storing: on one line, without control characters and not too long.
pub(crate) fn quote(text: &str) -> String {
    let text = crate::redact::redact_text(text);
    let mut quoted: String = text
        .chars()
        .take(LONGEST_QUOTE)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if text.chars().nth(LONGEST_QUOTE).is_some() {
        quoted.push_str("...");
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_is_cut_by_characters_and_shows_no_control() {
        assert_eq!(quote("a\tb\u{1b}[1m"), "a b [1m");
        let long = quote(&"\u{fc}".repeat(300));
        assert_eq!(long, format!("{}...", "\u{fc}".repeat(200)));
    }
}
