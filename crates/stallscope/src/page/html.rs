//! The page as one file: its program, with the data in the place of a marker.

use std::io::{self, Write};

use anyhow::{Context, Result};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use model::Page;

use super::Drawn;
use crate::outputs;

/// The page's program, built from `ui/`.
pub(super) static PROGRAM: &str = include_str!("../../../../ui/dist/page.html");
pub(super) const MARKER: &str = "<!--stallscope:data-->";
/// Around the policy, which stands in it before anything else that could hold these words.
const POLICY: (&str, &str) = ("Content-Security-Policy\" content=\"", "\"");
/// Where the page may connect to: in a file nowhere, and served to where it came from.
const CONNECTS: (&str, &str) = ("connect-src 'none'", "connect-src 'self'");

/// The data of a page as text, one element a line.
pub(crate) fn data(drawn: &Drawn) -> Result<String> {
    let mut text = Vec::new();
    elements(drawn, &mut text).context("cannot write the page's data")?;
    String::from_utf8(text).context("the page's data is no text")
}

/// Writes the page.
pub(crate) fn write(drawn: &Drawn, out: &mut impl Write) -> io::Result<()> {
    let (head, tail) = PROGRAM
        .split_once(MARKER)
        .expect("a test sees that the page's program has a place for data");
    let (before, _, after) = parts(head);
    out.write_all(before.as_bytes())?;
    out.write_all(policy(&drawn.page).as_bytes())?;
    out.write_all(after.as_bytes())?;
    elements(drawn, out)?;
    out.write_all(tail.as_bytes())
}

/// The Content-Security-Policy that stands in a page.
pub(crate) fn policy(page: &Page) -> String {
    let (_, policy, _) = parts(PROGRAM);
    match page.served {
        true => policy.replace(CONNECTS.0, CONNECTS.1),
        false => policy.to_owned(),
    }
}

/// What stands before the policy, the policy, and what stands behind it.
fn parts(program: &str) -> (&str, &str, &str) {
    let named = "a test sees that the page's program names its policy";
    let start = program.find(POLICY.0).expect(named) + POLICY.0.len();
    let (before, rest) = program.split_at(start);
    let (policy, after) = rest.split_at(rest.find(POLICY.1).expect(named));
    (before, policy, after)
}

/// The elements that stand in the place of the marker.
fn elements(drawn: &Drawn, out: &mut impl Write) -> io::Result<()> {
    let json = serde_json::to_string(&drawn.page)?;
    let json = inside_an_element(&outputs::harmless_json(&json));
    writeln!(
        out,
        "<script type=\"application/json\" id=\"page\">{json}</script>"
    )?;
    for (number, block) in drawn.blocks.iter().enumerate() {
        let text = BASE64_STANDARD.encode(block);
        writeln!(
            out,
            "<script type=\"application/octet-stream\" id=\"block-{number}\">{text}</script>"
        )?;
    }
    Ok(())
}

/// JSON in which nothing ends the element that it stands in, nor a line of a program that quotes it.
/// These stand in strings only, where they may be written as escapes.
fn inside_an_element(json: &str) -> String {
    json.replace('<', "\\u003c")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_names_its_policy_and_where_it_connects() {
        let (_, policy, _) = parts(PROGRAM);
        assert!(policy.starts_with("default-src 'none'; "), "{policy}");
        assert!(policy.is_ascii(), "it is sent as a header too: {policy}");
        assert_eq!(policy.matches(CONNECTS.0).count(), 1, "{policy}");
        for all in ["unsafe", "*", "http:", "https:", CONNECTS.1] {
            assert!(!policy.contains(all), "{policy}");
        }
    }
}
