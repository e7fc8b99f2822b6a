//! What the words for confidence are worth: of all headlines with a word, how many were right.

use model::Confidence;

use super::{Found, Row};
use crate::print::say;
use crate::statistics::Proportion;

const WORDS: [Confidence; 4] = [
    Confidence::Proved,
    Confidence::Measured,
    Confidence::Consistent,
    Confidence::Suspected,
];

/// Prints a line per word that was used.
pub fn print(rows: &[Row]) {
    say!();
    say!("headlines by how sure they are:");
    for word in WORDS {
        if let Some(right) = of(rows, word) {
            say!("{:20}  {right}", word.word());
        }
    }
}

/// How often headlines with this word were right; `None` without any.
fn of(rows: &[Row], word: Confidence) -> Option<Proportion> {
    let with_word = rows.iter().filter_map(|row| {
        let (_, confidence) = row.headline.as_ref()?;
        (*confidence == word).then_some(row.found()? == Found::First)
    });
    let judged: Vec<bool> = with_word.collect();
    let right = judged.iter().filter(|right| **right).count();
    let count = |of: usize| u32::try_from(of).unwrap_or(u32::MAX);
    (!judged.is_empty()).then(|| Proportion::new(count(right), count(judged.len())))
}

#[cfg(test)]
mod tests {
    use super::super::tests::counted;
    use super::super::{Judgement, Row};
    use super::*;

    #[test]
    fn a_word_is_worth_what_its_headlines_were() {
        let with_word = |word, found| Row {
            headline: Some(("a.b".to_owned(), word)),
            ..counted("x", "y", found)
        };
        let mut rows = vec![
            with_word(Confidence::Measured, Found::First),
            with_word(Confidence::Measured, Found::Not),
            with_word(Confidence::Suspected, Found::Not),
        ];
        rows.push(Row {
            judgement: Judgement::Void(String::new()),
            ..with_word(Confidence::Measured, Found::First)
        });
        assert_eq!(of(&rows, Confidence::Measured), Some(Proportion::new(1, 2)));
        assert_eq!(
            of(&rows, Confidence::Suspected),
            Some(Proportion::new(0, 1))
        );
        assert_eq!(of(&rows, Confidence::Proved), None);
    }
}
