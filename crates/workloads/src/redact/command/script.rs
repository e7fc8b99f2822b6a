//! A shell's script: each of its commands is read like a command line of its own, and everything between
//! the words stays as it was typed.

use super::Command;
use crate::redact::HIDDEN;
use crate::redact::plain;

/// Scripts in scripts in scripts: nobody writes more, and the stack has an end.
const DEEPEST: usize = 8;

/// A script without its secrets, `depth` scripts below a command line.
pub(in crate::redact) fn script(text: &str, depth: usize) -> String {
    if depth > DEEPEST {
        return HIDDEN.to_owned();
    }
    let mut script = Script {
        out: String::new(),
        command: Command::within(depth),
        depth,
        redirected: None,
    };
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = match c {
            _ if c.is_whitespace() => script.space(rest, c),
            '<' | '>' => match script.redirection(rest) {
                Some(rest) => rest,
                None => break,
            },
            ';' | '&' | '|' | '(' | ')' => script.separator(rest, c),
            _ => script.word(rest),
        };
    }
    script.out
}

struct Script {
    out: String,
    command: Command,
    depth: usize,
    /// The next word is a file, or a text where that is `<<<`'s.
    redirected: Option<Redirected>,
}

enum Redirected {
    File,
    Text,
}

impl Script {
    fn space<'t>(&mut self, rest: &'t str, c: char) -> &'t str {
        if c == '\n' {
            self.command = Command::within(self.depth);
        }
        self.out.push(c);
        &rest[c.len_utf8()..]
    }

    fn separator<'t>(&mut self, rest: &'t str, c: char) -> &'t str {
        self.command = Command::within(self.depth);
        self.redirected = None;
        self.out.push(c);
        &rest[c.len_utf8()..]
    }

    /// `None` where a text follows up to the end.
    fn redirection<'t>(&mut self, rest: &'t str) -> Option<&'t str> {
        let length = rest.find(|c| !"<>&|".contains(c)).unwrap_or(rest.len());
        let (sign, rest) = rest.split_at(length);
        self.out.push_str(sign);
        if sign == "<<" {
            self.out.push_str(HIDDEN);
            return None;
        }
        self.redirected = Some(match sign {
            "<<<" => Redirected::Text,
            _ => Redirected::File,
        });
        Some(rest)
    }

    fn word<'t>(&mut self, rest: &'t str) -> &'t str {
        let (word, rest) = rest.split_at(word_length(rest));
        let value = unquoted(word);
        let redacted = match self.redirected.take() {
            Some(Redirected::Text) => HIDDEN.to_owned(),
            Some(Redirected::File) => plain::path(&value),
            // What another command prints.
            None if word.contains("$(") || word.contains('`') => self.substituted(&value),
            None => self.command.word(&value),
        };
        if redacted == value {
            self.out.push_str(word);
            return rest;
        }
        let quote = word.chars().next().filter(|c| "'\"".contains(*c));
        match quote.filter(|quote| word.len() > 1 && word.ends_with(*quote)) {
            Some(quote) => {
                self.out.push(quote);
                self.out.push_str(&redacted);
                self.out.push(quote);
            }
            None => self.out.push_str(&redacted),
        }
        rest
    }

    /// The word still takes its place in the command.
    fn substituted(&mut self, value: &str) -> String {
        let shown = match value.split_once('=') {
            Some((name, _)) if plain::is_identifier(name) => format!("{name}={HIDDEN}"),
            _ => HIDDEN.to_owned(),
        };
        self.command.word(&shown)
    }
}

/// How far a word reaches: quotes, escapes and `$(...)` hold what would end it.
fn word_length(text: &str) -> usize {
    let mut chars = text.char_indices();
    let (mut quote, mut depth) = (None, 0_usize);
    let mut before = ' ';
    while let Some((at, c)) = chars.next() {
        match (quote, c) {
            (Some('\''), '\'') => quote = None,
            (Some('\''), _) => {}
            (_, '\\') => drop(chars.next()),
            (Some(open), _) if c == open => quote = None,
            (_, '(') if before == '$' || depth > 0 => depth += 1,
            (_, ')') if depth > 0 => depth -= 1,
            (None, '\'' | '"' | '`') if depth == 0 => quote = Some(c),
            (None, _) if depth == 0 && (c.is_whitespace() || ";&|()<>".contains(c)) => {
                return if at == 0 { c.len_utf8() } else { at };
            }
            _ => {}
        }
        before = c;
    }
    text.len()
}

/// The word as the shell hands it on; substitutions stay.
fn unquoted(word: &str) -> String {
    let mut value = String::new();
    let mut quote = None;
    let mut chars = word.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (Some('\''), _) => value.push(c),
            (None, '\'' | '"') => quote = Some(c),
            (_, '\\') => value.extend(chars.next()),
            _ => value.push(c),
        }
    }
    value
}
