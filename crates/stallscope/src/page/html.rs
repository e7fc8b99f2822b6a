//! The page as one file: its program, with the data in the place of a marker.

use std::io::{self, Write};

use anyhow::{Context, Result};
use base64::prelude::{BASE64_STANDARD, Engine as _};

use super::Drawn;
use crate::outputs;

/// The page's program, built from `ui/`.
pub(super) static PROGRAM: &str = include_str!("../../../../ui/dist/page.html");
pub(super) const MARKER: &str = "<!--stallscope:data-->";

/// The data of a page as text, one element a line.
pub(crate) fn data(drawn: &Drawn) -> Result<String> {
    let mut text = Vec::new();
    elements(drawn, &mut text).context("cannot write the page's data")?;
    String::from_utf8(text).context("the page's data is no text")
}

/// Writes the page.
pub(super) fn write(drawn: &Drawn, out: &mut impl Write) -> io::Result<()> {
    let (head, tail) = PROGRAM
        .split_once(MARKER)
        .expect("a test sees that the page's program has a place for data");
    out.write_all(head.as_bytes())?;
    elements(drawn, out)?;
    out.write_all(tail.as_bytes())
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
