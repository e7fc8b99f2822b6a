//! Secrets anywhere in a text: in URLs, in pairs of name and value, in headers. A text is nobody's command
//! line, so what it means is not known: what looks like a secret goes, the rest stays.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::pair;
use crate::redact::options::{NAME, names_file};
use crate::redact::plain::{is_identifier, pattern};
use crate::redact::{HIDDEN, url};

/// Headers that are secret besides.
const HEADER: &str = r"[\w-]*(?:authorization|cookie)";

/// A text with its secrets replaced.
pub(in crate::redact) fn text(text: &str) -> String {
    // Up to what ends a URL in a sentence.
    static URL: LazyLock<Regex> =
        LazyLock::new(|| pattern(r#"\b(?:jdbc:[a-z0-9]+:|[a-z][a-z0-9+.-]*://)[^\s"'`<>]+"#));
    // u:P@host, u/P@db
    static LOGIN: LazyLock<Regex> =
        LazyLock::new(|| pattern(r#"(^|[\s"'(=])[^\s"'(=:/@]+[:/][^\s"']+@([\w.-])"#));
    static SQL: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r#"(\b(?:password|identified\s+by|identified\s+with\s+\S+\s+by)\s+)(?:'(?:''|\\.|[^'\\])*'?|"(?:\\.|[^"\\])*"?)"#,
        )
    });
    // DETAIL: Key (token)=(abc) already exists.
    static ROW: LazyLock<Regex> = LazyLock::new(|| pattern(r"(\bKey \([^)]*\)=)\(.*?\)"));
    static OPTION: LazyLock<Regex> =
        LazyLock::new(|| pattern(&format!(r#"(^|[\s"'])(--?)({NAME})(\s+)[^\s-]\S*"#)));
    // Keys, tokens, hashes.
    static BLOB: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"\b(?:eyJ[\w-]{10,}(?:\.[\w-]+)*|[0-9a-f]{32,}|(?:AKIA|ghp_|sk_|xox[bp]-)[\w-]{8,})\b",
        )
    });
    static NAMED: LazyLock<[Regex; 3]> = LazyLock::new(|| {
        let value = r#"(?:'(?:\\.|[^'\\])*'?|"(?:\\.|[^"\\])*"?|(?:\\.|[^\s\\])*)"#;
        [
            pattern(&format!(r"([?&;])({NAME})(=)[^&#\s]*")),
            pattern(&format!(r#"(^|[\s"'({{,-])({NAME})(["']?\s*=\s*){value}"#)),
            pattern(&format!(
                r#"(^|[\s"'({{,=])({NAME}|{HEADER})(["']?\s*:\s*).+"#
            )),
        ]
    });
    let text = URL.replace_all(text, |found: &Captures<'_>| {
        let end = found[0]
            .trim_end_matches([')', ']', '.', ',', ';', ':'])
            .len();
        format!("{}{}", url::url(&found[0][..end]), &found[0][end..])
    });
    let text = LOGIN.replace_all(&text, |found: &Captures<'_>| {
        match found[0].contains("://") {
            true => found[0].to_owned(),
            false => format!("{}{HIDDEN}@{}", &found[1], &found[2]),
        }
    });
    let text = SQL.replace_all(&text, "${1}***");
    let text = ROW.replace_all(&text, "${1}(***)");
    let text = BLOB.replace_all(&text, HIDDEN);
    let mut text = OPTION
        .replace_all(&text, "${1}${2}${3}${4}***")
        .into_owned();
    for named in &*NAMED {
        let hidden = |found: &Captures<'_>| match names_file(&found[2]) {
            true => found[0].to_owned(),
            false => format!("{}{}{}{HIDDEN}", &found[1], &found[2], &found[3]),
        };
        text = named.replace_all(&text, hidden).into_owned();
    }
    text
}

/// A connection string of pairs, `host=h password='x y'`; `None` for anything else.
pub(in crate::redact) fn pairs(text: &str) -> Option<String> {
    static PAIR: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?P<name>[a-z_]\w*)(?P<sign>\s*=\s*)(?P<value>'(?:\\.|[^'\\])*'?|(?:\\.|[^\s\\'])*)(?P<end>\s*|$)",
        )
    });
    let mut shown = String::new();
    let mut at = 0;
    for found in PAIR.captures_iter(text) {
        let whole = found.get(0)?;
        if whole.start() != at || !is_identifier(&found["name"]) {
            return None;
        }
        at = whole.end();
        let value = &found["value"];
        let bare = value.trim_matches('\'');
        let pair = pair(&found["name"], bare);
        let shown_value = pair.split_once('=').map_or(HIDDEN, |(_, value)| value);
        let value = if shown_value == bare {
            value
        } else {
            shown_value
        };
        shown += &format!(
            "{}{}{value}{}",
            &found["name"], &found["sign"], &found["end"]
        );
    }
    (at == text.len() && at > 0).then_some(shown)
}
