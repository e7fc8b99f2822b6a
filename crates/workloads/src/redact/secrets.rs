//! What was hidden of a command line, so that it can be found again where a tool repeats it: in an error
//! message, in a title.

use std::ffi::OsString;

use super::options::is_secret_name;
use super::{HIDDEN, plain, redact};

/// A shorter piece would be found in words that have nothing to do with it.
const SHORTEST: usize = 4;

/// Texts that must not be stored.
#[derive(Clone, Debug, Default)]
pub struct Secrets(Vec<String>);

impl Secrets {
    /// What `redact` hides of a command line, and what an environment holds under the names of secrets.
    pub fn of<'e>(
        argv: &[OsString],
        environment: impl Iterator<Item = (&'e str, &'e str)>,
    ) -> Self {
        let mut secrets = Self::default();
        for (word, shown) in argv.iter().zip(redact(argv)) {
            let word = word.to_string_lossy();
            between(&word, &shown).for_each(|hidden| secrets.learn(hidden));
        }
        for (name, value) in environment {
            if is_secret_name(name) {
                secrets.add(value);
            }
        }
        // The longest first: a shorter one may be a part of it.
        secrets
            .0
            .sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        secrets.0.dedup();
        secrets
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A text without them.
    pub fn hide(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &self.0 {
            if text.contains(secret.as_str()) {
                text = text.replace(secret.as_str(), HIDDEN);
            }
        }
        text
    }

    /// A stretch that was hidden, and its parts: of `user:password` only one is repeated.
    fn learn(&mut self, hidden: &str) {
        self.add(hidden);
        let separates = |c: char| c.is_whitespace() || ":/@=&?;,'\"%\\()#<>|{}".contains(c);
        let mut pieces = hidden.split_inclusive(separates).peekable();
        while let Some(piece) = pieces.next() {
            let part = piece.trim_end_matches(separates);
            let assigns = |text: &str| text.starts_with(['=', ':']);
            let behind = &piece[part.len()..];
            let is_quoted = behind.starts_with(['"', '\'']);
            let next = pieces.peek().copied().unwrap_or_default();
            // `password=`, `"token":`; a secret may look like a name, and is one only in front of a value.
            let is_name = is_secret_name(part) && (assigns(behind) || is_quoted && assigns(next));
            // What stands in no dictionary of options; a name of one is in every message.
            if !is_name && !is_common(part) {
                self.add(part);
            }
        }
    }

    fn add(&mut self, secret: &str) {
        if secret.chars().count() >= SHORTEST && !plain::is_plain(secret) || is_long_number(secret)
        {
            self.0.push(secret.to_owned());
        }
    }
}

/// Enough digits that it does not stand somewhere by chance.
fn is_long_number(text: &str) -> bool {
    text.len() >= 6 && text.chars().all(|c| c.is_ascii_digit())
}

/// Words that messages are made of: they stay, unless something says that they are a secret by themselves.
fn is_common(part: &str) -> bool {
    const WORDS: &[&str] = &[
        "user",
        "host",
        "port",
        "dbname",
        "database",
        "select",
        "from",
        "where",
        "http",
        "https",
        "postgres",
        "postgresql",
        "mysql",
        "redis",
        "localhost",
        "server",
        "connection",
        "failed",
        "error",
        "role",
        "line",
        "thread",
        "threads",
        "client",
        "clients",
        "true",
        "false",
        "test",
        "bench",
        "root",
    ];
    WORDS.contains(&part.to_ascii_lowercase().as_str())
}

/// What of a word is not in what is shown of it.
fn between<'w>(word: &'w str, shown: &str) -> impl Iterator<Item = &'w str> {
    let mut hidden = Vec::new();
    let mut rest = word;
    let mut pieces = shown.split(HIDDEN);
    if let Some(first) = pieces.next() {
        rest = rest.strip_prefix(first).unwrap_or(rest);
    }
    if shown.contains(HIDDEN) {
        let last = shown.rsplit(HIDDEN).next().unwrap_or_default();
        let pieces: Vec<&str> = pieces.collect();
        for (index, piece) in pieces.iter().enumerate() {
            let found = match index + 1 == pieces.len() {
                true => rest.strip_suffix(last).map(str::len),
                false => rest.find(piece),
            };
            let at = found.unwrap_or(rest.len());
            hidden.push(&rest[..at]);
            rest = rest.get(at + piece.len()..).unwrap_or_default();
        }
    }
    hidden.into_iter()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    #[test]
    fn a_password_that_looks_like_the_name_of_one_is_hidden_in_texts() {
        let hidden = |words: &[&str], text: &str| {
            let argv: Vec<OsString> = words.iter().map(OsString::from).collect();
            Secrets::of(&argv, std::iter::empty()).hide(text)
        };
        let url = ["pgbench", "postgresql://user:zqaa0pwd@host:5432/db"];
        assert_eq!(hidden(&url, "error: <zqaa0pwd>, no"), "error: <***>, no");
        let named = ["curl", "-d", "{\"password\":\"zq12abc9\"}"];
        assert_eq!(
            hidden(&named, "password zq12abc9 is wrong"),
            "password *** is wrong"
        );
    }
}
