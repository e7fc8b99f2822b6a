//! Results as XML, as JMeter writes them: each tag begins a line. A sample within a sample (an embedded resource, a
//! redirection) is a part of it; one within a transaction stands for itself.

use super::{LONGEST_ROW, Row, TRANSACTION, whole_ms};

/// Which elements are open.
#[derive(Default)]
pub(super) struct Tree {
    /// Of each open sample, whether it is a transaction.
    open: Vec<bool>,
}

/// Deeper ones are damage.
const DEEPEST: usize = 64;
const ENDS: [&str; 2] = ["</httpSample>", "</sample>"];

impl Tree {
    /// Takes a line; the row that it begins.
    pub(super) fn line(&mut self, line: &str) -> Option<Row> {
        let line = line.trim();
        if line.len() > LONGEST_ROW {
            return None;
        }
        if ENDS.contains(&line) {
            self.open.pop();
            return None;
        }
        let starts = ["<httpSample ", "<sample "];
        let attributes = starts.iter().find_map(|tag| line.strip_prefix(tag))?;
        // A tag without an end was cut off by the end of the file.
        let attributes = &attributes[..tag_end(attributes)?];
        let of = |name: &str| attribute(attributes, name);
        let is_transaction = of("rm").is_some_and(|it| it.starts_with(TRANSACTION));
        let stands_alone = self.open.iter().all(|is_transaction| *is_transaction);
        let is_open = !attributes.ends_with('/') && !ENDS.iter().any(|it| line.ends_with(it));
        if is_open && self.open.len() < DEEPEST {
            self.open.push(is_transaction);
        }
        if !stands_alone {
            return None;
        }
        Some(Row {
            at_unix_ms: whole_ms(&of("ts")?)?,
            elapsed_ms: whole_ms(&of("t")?)?,
            name: of("lb")?,
            is_success: match of("s")?.as_str() {
                "true" => true,
                "false" => false,
                _ => return None,
            },
            is_transaction,
        })
    }
}

/// Where the `>` of a tag is, outside of values.
fn tag_end(text: &str) -> Option<usize> {
    let mut is_value = false;
    text.char_indices().find_map(|(at, c)| {
        is_value ^= c == '"';
        (c == '>' && !is_value).then_some(at)
    })
}

/// The value of an attribute.
fn attribute(attributes: &str, name: &str) -> Option<String> {
    let mut rest = attributes;
    loop {
        let (found, after) = rest.split_once("=\"")?;
        let (value, after) = after.split_once('"')?;
        if found.trim() == name {
            return Some(unescaped(value));
        }
        rest = after;
    }
}

fn unescaped(value: &str) -> String {
    let plain = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&apos;", "'"),
    ];
    let text = plain.iter().fold(value.to_owned(), |text, (escaped, c)| {
        text.replace(escaped, c)
    });
    text.replace("&amp;", "&")
}
