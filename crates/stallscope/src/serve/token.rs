//! The secret in the address. It is made anew at each start and stands nowhere but there.

use std::fmt::Write as _;

use anyhow::Result;
use ctutils::CtEq;

/// 128 bits: nobody guesses them, however fast this machine answers.
const BYTES: usize = 16;

/// A secret.
pub(super) struct Token(String);

impl Token {
    pub(super) fn random() -> Result<Self> {
        let mut bytes = [0; BYTES];
        getrandom::fill(&mut bytes)
            .map_err(|error| anyhow::anyhow!("this system gives no random numbers: {error}"))?;
        let mut text = String::with_capacity(2 * BYTES);
        for byte in bytes {
            let _ = write!(text, "{byte:02x}");
        }
        Ok(Self(text))
    }

    pub(super) fn text(&self) -> &str {
        &self.0
    }

    /// Whether it was said, in a time that does not tell how much of it was right.
    pub(super) fn is(&self, said: &str) -> bool {
        self.0.as_bytes().ct_eq(said.as_bytes()).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_all_of_it_is_it() {
        let token = Token::random().expect("this system has random numbers");
        let text = token.text();
        assert_eq!(text.len(), 32);
        assert!(text.bytes().all(|byte| byte.is_ascii_hexdigit()), "{text}");
        assert!(token.is(text));
        let other = Token::random().expect("this system has random numbers");
        let longer = format!("{text}0");
        for wrong in ["", &text[..31], &text[1..], &longer, other.text()] {
            assert!(!token.is(wrong), "{wrong}");
        }
    }
}
