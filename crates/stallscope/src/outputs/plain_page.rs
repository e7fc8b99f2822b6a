//! Pages without a program in them: the frame, the style, and the few elements that they are made of.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest as _, Sha256};

use super::{harmless, on_one_line};

const TOKENS: &str = include_str!("../../../../ui/src/theme/tokens.css");
const CLASSES: &str = include_str!("../../../../ui/src/theme/waitClasses.gen.css");
const STYLE: &str = include_str!("plain_page.css");

/// The whole page; `heading` and `body` are markup already.
pub(super) fn document(title: &str, heading: &str, body: &str) -> String {
    with_program(title, heading, body, "")
}

/// The same with a program of some lines: nothing else runs in the page.
pub(super) fn with_program(title: &str, heading: &str, body: &str, program: &str) -> String {
    let (policy, script) = match program {
        "" => (String::new(), String::new()),
        _ => (
            format!(
                "; script-src 'sha256-{}'",
                BASE64_STANDARD.encode(Sha256::digest(program))
            ),
            format!("<script>{program}</script>\n"),
        ),
    };
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
