//! The password file of libpq: `host:port:database:user:password` lines, the first that fits counts.
//!
//! <https://www.postgresql.org/docs/current/libpq-pgpass.html>

/// The password of the first line that fits; `\` makes the next character plain, `*` fits anything.
pub(super) fn password(text: &str, wanted: [&str; 4]) -> Option<String> {
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .find_map(|line| of_line(line, wanted))
}

fn of_line(line: &str, wanted: [&str; 4]) -> Option<String> {
    let mut rest = line;
    for value in wanted {
        let (field, after) = field(rest)?;
        rest = after;
        // An escaped star is a star: only the bare one fits anything.
        if field.raw != "*" && field.plain != value {
            return None;
        }
    }
    let password = unescaped(rest.strip_suffix('\r').unwrap_or(rest));
    (!password.is_empty()).then_some(password)
}

struct Field<'a> {
    raw: &'a str,
    plain: String,
}

/// The text up to the next colon that is not escaped, and what follows it.
fn field(line: &str) -> Option<(Field<'_>, &str)> {
    let mut escaped = false;
    for (at, c) in line.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            ':' => {
                let raw = &line[..at];
                let plain = unescaped(raw);
                return Some((Field { raw, plain }, &line[at + 1..]));
            }
            _ => {}
        }
    }
    None
}

fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => plain.extend(chars.next()),
            c => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FILE: &str = "# a comment:1:2:3:4\n\
        db.example:5432:bench:alice:first\n\
        db.example:*:*:alice:second\n\
        ::1:5432:x:y:broken\n\
        \\:\\:1:5432:*:bob:with\\:colon\\\\\n\
        *:*:*:carol:\r\n\
        *:*:*:carol:last\r\n";

    #[test]
    fn the_first_line_that_fits_counts() {
        let of = |wanted| password(FILE, wanted);
        let first = of(["db.example", "5432", "bench", "alice"]);
        assert_eq!(first.as_deref(), Some("first"));
        let second = of(["db.example", "5433", "bench", "alice"]);
        assert_eq!(second.as_deref(), Some("second"));
        let escaped = of(["::1", "5432", "anything", "bob"]);
        assert_eq!(escaped.as_deref(), Some("with:colon\\"));
        assert_eq!(of(["h", "1", "d", "carol"]).as_deref(), Some("last"));
        assert_eq!(of(["h", "1", "d", "dave"]), None);
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in ".{0,80}") {
            let _ = password(&text, ["a", "b", "c", "d"]);
        }
    }
}
