//! What command lines have in common that differ only in numbers, identifiers and temporary files.

/// Longest template, characters.
const LONGEST: usize = 160;
/// Folders whose files have names that somebody made up.
const TEMPORARY: [&str; 3] = ["/tmp/", "/var/tmp/", "/dev/shm/"];
/// Hexadecimal digits of an identifier, at least.
const HEX: usize = 8;
const MORE: &str = "..";

/// The template of a command line: the program's own name stays, in the other words `N` stands for a number, `*` for
/// an identifier, and `..` for words that would be the same again.
pub fn template(command: &str) -> String {
    let mut words = command.split_whitespace();
    let program = words.next().unwrap_or_default();
    let mut text = match program.rsplit_once('/') {
        Some((folder, name)) => format!("{}/{name}", general(folder)),
        None => program.to_owned(),
    };
    let mut before = String::new();
    let mut is_more = false;
    for word in words {
        let own = general(word);
        if own == before && own != word {
            if !is_more {
                text.push(' ');
                text.push_str(MORE);
            }
            is_more = true;
            continue;
        }
        text.push(' ');
        text.push_str(&own);
        (before, is_more) = (own, false);
    }
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}{MORE}", text[..end].trim_end()),
        None => text,
    }
}

/// A word without what varies.
fn general(word: &str) -> String {
    for folder in TEMPORARY {
        if let Some((before, rest)) = word.split_once(folder) {
            let inside = rest.find('/').map_or("", |end| &rest[end..]);
            let star = if rest.is_empty() { "" } else { "*" };
            return format!("{}{folder}{star}{}", pieces(before), pieces(inside));
        }
    }
    pieces(word)
}

/// Each run of letters and digits by itself, so that what stands between them stays.
fn pieces(word: &str) -> String {
    let mut text = String::with_capacity(word.len());
    let mut rest = word;
    while let Some(first) = rest.chars().next() {
        if let Some(after) = after_uuid(rest) {
            text.push('*');
            rest = after;
        } else if first.is_alphanumeric() {
            let end = rest.find(|c: char| !c.is_alphanumeric());
            let (piece, after) = rest.split_at(end.unwrap_or(rest.len()));
            text.push_str(&piece_of(piece));
            rest = after;
        } else {
            text.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    text
}

/// `4018` is `N`, `job4018` is `jobN`, `10ms` is `Nms`; what mixes letters and digits otherwise is `*`.
fn piece_of(piece: &str) -> String {
    let is_digit = |c: char| c.is_ascii_digit();
    if !piece.contains(is_digit) {
        return piece.to_owned();
    }
    let is_hex = piece.chars().all(|c| c.is_ascii_hexdigit());
    let is_number = piece.chars().all(is_digit);
    if is_hex && !is_number && piece.len() >= HEX {
        return "*".to_owned();
    }
    let start = piece.trim_end_matches(is_digit);
    let end = piece.trim_start_matches(is_digit);
    match (start.contains(is_digit), end.contains(is_digit)) {
        (false, _) => format!("{start}N"),
        (true, false) => format!("N{end}"),
        (true, true) => "*".to_owned(),
    }
}

/// What follows an identifier of the form 8-4-4-4-12.
fn after_uuid(text: &str) -> Option<&str> {
    const LENGTH: usize = 36;
    const DASHES: [usize; 4] = [8, 13, 18, 23];
    let (start, rest) = text.split_at_checked(LENGTH)?;
    let fits = |(at, byte): (usize, u8)| match DASHES.contains(&at) {
        true => byte == b'-',
        false => byte.is_ascii_hexdigit(),
    };
    start.bytes().enumerate().all(fits).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_varies_is_left_out_and_what_tells_programs_apart_stays() {
        for (command, expected) in [
            (
                "short --password=*** job4018 0",
                "short --password=*** jobN N",
            ),
            ("/usr/bin/python3.11 -m x", "/usr/bin/python3.11 -m x"),
            ("sleep 10", "sleep N"),
            ("kill 12 13 14", "kill N .."),
            ("rm a1 a2 b c", "rm aN .. b c"),
            ("cp x x y", "cp x x y"),
            ("cc -c -o /tmp/ccQx1.o main.c", "cc -c -o /tmp/* main.c"),
            ("ls /tmp/", "ls /tmp/"),
            (
                "/nix/store/8a9sjdh3kq/bin/gcc-12",
                "/nix/store/*/bin/gcc-12",
            ),
            ("cat /proc/4711/stat", "cat /proc/N/stat"),
            ("git show deadbee1f00d 10ms", "git show * Nms"),
            (
                "run f81d4fae-7dec-11d0-a765-00a0c91e6bf6.json",
                "run *.json",
            ),
            ("", ""),
        ] {
            assert_eq!(template(command), expected);
        }
        let long = format!("x {}", "\u{e4} ".repeat(400));
        assert_eq!(template(&long).chars().count(), LONGEST - 1 + MORE.len());
    }

    proptest::proptest! {
        #[test]
        fn any_text_has_a_template_of_bounded_length(command in ".{0,300}") {
            let text = template(&command);
            proptest::prop_assert!(text.chars().count() <= LONGEST + MORE.len());
        }
    }
}
