//! A statement's text without its values: each literal is a `?`, comments are left out, and blanks are single.
//!
//! Follows PostgreSQL's own lexical rules (<https://www.postgresql.org/docs/current/sql-syntax-lexical.html>): strings in
//! single quotes, with backslashes behind E, behind B, X, N and U&; dollar quotes with their tag; nested comments;
//! names in double quotes stay; numbers and parameters. A text that ends within a literal ends with its `?`.

use std::borrow::Cow;

/// A longer text is cut, in characters.
pub const LONGEST: usize = 300;

/// The text of a statement, as it may be recorded. Passwords of CREATE and ALTER ROLE are literals, as is every other
/// secret that SQL can hold.
pub fn without_values(text: &[u8]) -> String {
    let text = match String::from_utf8_lossy(text) {
        // The server cuts a long text, possibly within a character.
        Cow::Borrowed(text) => text.to_owned(),
        Cow::Owned(text) => text.trim_end_matches('\u{fffd}').to_owned(),
    };
    let mut written = Written::default();
    let mut rest = Rest(&text);
    while !rest.0.is_empty() && written.length <= LONGEST {
        rest.take(&mut written);
    }
    written.finish()
}

/// What is kept so far.
#[derive(Default)]
struct Written {
    text: String,
    /// Characters.
    length: usize,
    /// A blank is due before the next word.
    blank: bool,
}

impl Written {
    fn push(&mut self, part: &str) {
        if self.blank && !self.text.is_empty() {
            self.text.push(' ');
            self.length += 1;
        }
        self.blank = false;
        self.text.push_str(part);
        self.length += part.chars().count();
    }

    fn finish(mut self) -> String {
        if self.length > LONGEST {
            let cut = self.text.char_indices().nth(LONGEST - 3);
            self.text
                .truncate(cut.map_or(self.text.len(), |(at, _)| at));
            self.text.push_str("...");
        }
        let kept = self.text.trim_end_matches([';', ' ']).len();
        self.text.truncate(kept);
        self.text
    }
}

/// What is not read yet.
struct Rest<'a>(&'a str);

impl<'a> Rest<'a> {
    /// Takes the next token.
    fn take(&mut self, written: &mut Written) {
        let Some(first) = self.0.chars().next() else {
            return;
        };
        let blanks = |it: char| it.is_whitespace() || it.is_control();
        if blanks(first) {
            self.skip(blanks);
            written.blank = true;
        } else if self.0.starts_with("--") {
            self.skip(|it| it != '\n');
            written.blank = true;
        } else if self.0.starts_with("/*") {
            self.comment();
            written.blank = true;
        } else if first == '\'' {
            self.quoted('\'', false);
            written.push("?");
        } else if first == '"' {
            let name = self.quoted('"', false);
            written.push(name);
        } else if first == '$' {
            self.dollar(written);
        } else if first.is_ascii_digit()
            || (first == '.' && self.0[1..].starts_with(|it: char| it.is_ascii_digit()))
        {
            self.skip(|it| it.is_ascii_alphanumeric() || matches!(it, '.' | '_'));
            written.push("?");
        } else if is_name(first) {
            self.word(written);
        } else {
            let (one, rest) = self.0.split_at(first.len_utf8());
            self.0 = rest;
            written.push(one);
        }
    }

    fn skip(&mut self, is_in: impl Fn(char) -> bool) -> &'a str {
        let end = self.0.find(|it| !is_in(it)).unwrap_or(self.0.len());
        let (taken, rest) = self.0.split_at(end);
        self.0 = rest;
        taken
    }

    /// A comment, in which others may be nested.
    fn comment(&mut self) {
        let mut depth = 0_u32;
        loop {
            let open = self.0.find("/*");
            let close = self.0.find("*/");
            let at = match (open, close) {
                (Some(open), Some(close)) if open < close => {
                    depth += 1;
                    open
                }
                (_, Some(close)) => {
                    depth = depth.saturating_sub(1);
                    close
                }
                (_, None) => self.0.len(),
            };
            self.0 = self.0.get(at + 2..).unwrap_or_default();
            if depth == 0 || self.0.is_empty() {
                return;
            }
        }
    }

    /// Something in quotes, with them; a doubled quote does not end it.
    fn quoted(&mut self, quote: char, escapes: bool) -> &'a str {
        let all = self.0;
        let mut at = 1;
        loop {
            let Some(next) = all[at..].find([quote, '\\']) else {
                self.0 = "";
                return all;
            };
            at += next;
            let is_escape = all[at..].starts_with('\\');
            let behind = all[at + 1..].chars().next();
            if is_escape && !escapes {
                at += 1;
            } else if is_escape || behind == Some(quote) {
                at += 1 + behind.map_or(0, char::len_utf8);
            } else {
                let (taken, rest) = all.split_at(at + 1);
                self.0 = rest;
                return taken;
            }
        }
    }

    /// A parameter, or a string in dollar quotes.
    fn dollar(&mut self, written: &mut Written) {
        let all = self.0;
        let tag = all[1..].find(|it| !is_name_part(it) || it == '$');
        let tag = tag.map(|it| &all[..it + 1]);
        if let Some(tag) = tag
            && all[tag.len()..].starts_with('$')
            && !tag[1..].starts_with(|it: char| it.is_ascii_digit())
        {
            let quote = &all[..=tag.len()];
            let inside = &all[quote.len()..];
            let end = inside.find(quote);
            self.0 = end.map_or("", |it| &inside[it + quote.len()..]);
            written.push("?");
            return;
        }
        self.0 = &all[1..];
        let digits = self.skip(|it| it.is_ascii_digit());
        if digits.is_empty() {
            written.push("$");
        } else {
            written.push("$");
            written.push(digits);
        }
    }

    /// A word, or a string that begins with a letter.
    fn word(&mut self, written: &mut Written) {
        let word = self.skip(is_name_part);
        let prefix = word.to_ascii_lowercase();
        let is_unicode = prefix == "u" && self.0.starts_with("&'");
        if is_unicode {
            self.0 = &self.0[1..];
        }
        if is_unicode || (matches!(&*prefix, "e" | "b" | "x" | "n") && self.0.starts_with('\'')) {
            self.quoted('\'', prefix == "e");
            written.push("?");
            return;
        }
        written.push(word);
    }
}

fn is_name(it: char) -> bool {
    it.is_alphabetic() || it == '_'
}

fn is_name_part(it: char) -> bool {
    is_name(it) || it.is_numeric() || it == '$'
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn values_are_left_out_and_names_stay() {
        for (text, expected) in [
            (
                "SELECT abalance FROM pgbench_accounts WHERE aid = 77;",
                "SELECT abalance FROM pgbench_accounts WHERE aid = ?",
            ),
            ("select 'it''s', E'a\\'b' , t1.c2", "select ?, ? , t1.c2"),
            (
                "ALTER ROLE x PASSWORD 'hunter2' VALID UNTIL 'now'",
                "ALTER ROLE x PASSWORD ? VALID UNTIL ?",
            ),
            ("select $$hunter2$$, $a$x$$y$a$, $1", "select ?, ?, $1"),
            ("select 'hunter2", "select ?"),
            ("select $q$hunter2", "select ?"),
            ("select 1.5e-3, 0xFF, .5, 1_000", "select ?-?, ?, ?, ?"),
            (
                "select /* hunter2 /* nested */ still */ \"A \"\"b\" -- hunter2\n from t",
                "select \"A \"\"b\" from t",
            ),
            ("select U&'hunter2', x'1F', b'01'", "select ?, ?, ?"),
            ("  GRANT\n\tSELECT ON t TO u ; ", "GRANT SELECT ON t TO u"),
            ("select 'a\\' , b", "select ? , b"),
            ("", ""),
        ] {
            assert_eq!(without_values(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn a_long_text_and_one_that_was_cut_within_a_character() {
        let long = format!("select {}", "column_name, ".repeat(60));
        let short = without_values(long.as_bytes());
        assert_eq!(short.chars().count(), LONGEST);
        assert!(short.ends_with("..."), "{short}");
        assert_eq!(without_values(b"select \xc3\xa9, \xc3"), "select é,");
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_much(bytes: Vec<u8>) {
            let _ = without_values(&bytes);
        }

        #[test]
        fn no_string_is_left(before in "[a-z ,=]{0,20}", value in "[A-Z]{3,9}[\\\\]{0,2}", after in "[a-z ,]{0,20}") {
            let quoted = value.replace('\\', "\\\\");
            for text in [
                format!("{before} E'{quoted}'{after}"),
                format!("{before} $t${value}$t${after}"),
                format!("{before} '{}'{after}", value.trim_end_matches('\\')),
                format!("{before} '{}", value.trim_end_matches('\\')),
            ] {
                let text = without_values(text.as_bytes());
                prop_assert!(!text.contains(|it: char| it.is_ascii_uppercase()), "{}", text);
            }
        }
    }
}
