//! Pages with no program in them, or one of a few lines: the frame, the style, and the few elements that they are made of.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest as _, Sha256};

use super::{harmless, on_one_line};

const TOKENS: &str = include_str!("../../../../ui/src/theme/tokens.css");
const CLASSES: &str = include_str!("../../../../ui/src/theme/waitClasses.gen.css");
const STYLE: &str = include_str!("plain_page.css");

/// The whole page; `heading` and `body` are markup already.
pub(super) fn document(title: &str, heading: &str, body: &str) -> String {
    framed(title, heading, body, None)
}

/// The same with a program of some lines: nothing else runs in the page.
pub(super) fn with_program(title: &str, heading: &str, body: &str, program: &str) -> String {
    framed(title, heading, body, Some(program))
}

fn framed(title: &str, heading: &str, body: &str, program: Option<&str>) -> String {
    let policy = program.map_or_else(String::new, |it| {
        let hash = BASE64_STANDARD.encode(Sha256::digest(it));
        format!("; script-src 'sha256-{hash}'")
    });
    let script = program.map_or_else(String::new, |it| format!("<script>{it}</script>\n"));
    harmless(&format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'{policy}\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n<style>\n{TOKENS}{CLASSES}{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{heading}</h1>\n{body}</main>\n{script}</body>\n</html>\n",
        escaped(title),
    ))
}

pub(super) fn titled(title: &str, body: &str) -> String {
    element("section", "card", &format!("<h2>{title}</h2>\n{body}"))
}

pub(super) fn element(name: &str, class: &str, body: &str) -> String {
    match class {
        "" => format!("<{name}>{body}</{name}>\n"),
        _ => format!("<{name} class=\"{class}\">{body}</{name}>\n"),
    }
}

/// A text that is no markup, and stays on its line.
pub(super) fn escaped(text: &str) -> String {
    on_one_line(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}
