//! Statements: keywords, names and numbers stay; literals go, and so does what follows a password's keyword.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::HIDDEN;
use super::plain::{is_name, is_plain, pattern};

/// What announces a secret without quotes: `IDENTIFIED BY tiger`, `SET PASSWORD = tiger`.
const ANNOUNCE: &[&str] = &[
    "by",
    "password",
    "secret",
    "token",
    "key",
    "credentials",
    "auth",
];

/// A statement without its literals.
pub(super) fn sql(text: &str) -> String {
    // A literal that nobody closed reaches to the end.
    static TOKEN: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r#"(?P<literal>\$(?P<tag>\w*)\$.*|[a-z]?'(?:''|\\.|[^'\\])*'?|"(?:\\.|[^"\\])*"?|`[^`]*`?|--[^\n]*|/\*.*?(?:\*/|$))|(?P<sign>[\s(),;*=<>]+)|(?P<word>[^\s(),;*=<>'"`$]+|\$\w*)"#,
        )
    });
    let mut announced = false;
    let token = |found: &Captures<'_>| {
        let token = &found[0];
        if found.name("sign").is_some() {
            return token.to_owned();
        }
        let hidden = std::mem::take(&mut announced) || found.name("literal").is_some();
        let small = token.to_ascii_lowercase();
        announced = ANNOUNCE.contains(&&*small) || (hidden && small == "password");
        match !hidden && (is_name(token) || is_plain(token)) {
            true => token.to_owned(),
            false => HIDDEN.to_owned(),
        }
    };
    TOKEN.replace_all(text, token).into_owned()
}
