//! Words that must not come back: the phrases, identifiers and file names of `docs/retired.txt`.
//!
//! One entry a line, `kind: old -> new`; `#` begins a comment. A `phrase` is a run of words, looked
//! for without regard to case in documentation and sources, comments and strings included, also
//! across the end of a line. An `identifier` is a whole word of a source, with its case. An
//! identifier that is an ordinary word (`Turn`) is looked for in Rust code only: a sentence may use
//! it. A `file` is the last part of a path.

use super::code::code_only;
use super::{At, Complaint, Tree};

/// Where the list stands.
pub const LIST: &str = "docs/retired.txt";

/// Endings of the files in which phrases and identifiers are looked for.
const SOURCES: [&str; 8] = [".rs", ".ts", ".tsx", ".mjs", ".c", ".h", ".toml", ".sh"];

/// Files in which phrases are looked for as well.
const PROSE: &str = ".md";

/// Beginnings of paths that may hold old words.
const ALLOWED: [&str; 9] = [
    // Names the old word beside the field's.
    "docs/glossary.md",
    // Says what an option, a column or a file was called before.
    "CHANGELOG.md",
    // Reads recordings of older formats, in which the old names stand.
    "crates/recording/src/upgrade",
    "crates/recording/tests/recording/upgrade",
    // Written by earlier versions, or made by a build from sources that are read here.
    "lab/recordings/",
    "docs/sample/",
    "ui/dist/",
    // Measured then, with the commits and commands of that day.
    "bench/RESULTS.md",
    "lab/RESULTS.md",
];

/// Folders of captured bytes, wherever they stand.
const FIXTURES: &str = "fixtures/";

/// Whether this rule reads the file's text.
pub fn reads(path: &str) -> bool {
    path == LIST || (!allowed(path) && (is_source(path) || path.ends_with(PROSE)))
}

fn is_source(path: &str) -> bool {
    SOURCES.iter().any(|ending| path.ends_with(ending))
}

fn allowed(path: &str) -> bool {
    ALLOWED.iter().any(|start| path.starts_with(start))
        || path.starts_with(FIXTURES)
        || path.contains("/fixtures/")
}

/// Retired words that stand somewhere, and lines of the list that are not understood.
pub fn complaints(tree: &Tree) -> Vec<Complaint> {
    let (entries, mut found) = entries(tree.get(LIST).map_or("", String::as_str));
    for (path, text) in tree.iter().filter(|(path, _)| !allowed(path)) {
        found.extend(old_file_name(path, &entries));
        if path != LIST && reads(path) {
            found.extend(in_text(path, text, &entries));
        }
    }
    found
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Phrase,
    Identifier,
    File,
}

#[derive(PartialEq, Eq, Debug)]
struct Entry<'a> {
    kind: Kind,
    old: &'a str,
    new: &'a str,
}

fn entries(list: &str) -> (Vec<Entry<'_>>, Vec<Complaint>) {
    let (mut entries, mut complaints) = (Vec::new(), Vec::new());
    for (index, line) in list.lines().enumerate() {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        match entry(line) {
            Some(entry) => entries.push(entry),
            None => complaints.push(At(LIST, index + 1).complain(
                "this line of the list of retired words is not understood",
                "a line that is not understood protects nothing",
                "write `phrase: old -> new`, `identifier: old -> new` or `file: old -> new`",
            )),
        }
    }
    (entries, complaints)
}

fn entry(line: &str) -> Option<Entry<'_>> {
    let (kind, rest) = line.split_once(": ")?;
    let (old, new) = rest.split_once(" -> ")?;
    let (old, new) = (old.trim(), new.trim());
    let kind = match kind {
        "phrase" => Kind::Phrase,
        "identifier" => Kind::Identifier,
        "file" => Kind::File,
        _ => return None,
    };
    // What never equals a run of words would be looked for in vain.
    let findable = match kind {
        Kind::Phrase => words(old).map(|word| word.text).eq(old.split_whitespace()),
        Kind::Identifier => words(old).map(|word| word.text).eq([old]),
        Kind::File => !old.contains('/'),
    };
    (findable && !old.is_empty() && !new.is_empty()).then_some(Entry { kind, old, new })
}

fn old_file_name(path: &str, entries: &[Entry]) -> Vec<Complaint> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let files = entries.iter().filter(|entry| entry.kind == Kind::File);
    files
        .filter(|entry| entry.old == name)
        .map(|entry| complaint(path, 1, entry))
        .collect()
}

fn in_text(path: &str, text: &str, entries: &[Entry]) -> Vec<Complaint> {
    let all: Vec<Word> = words(text).collect();
    let code = path.ends_with(".rs").then(|| code_only(text));
    let code: Vec<Word> = code
        .as_deref()
        .map_or(Vec::new(), |code| words(code).collect());
    let mut found = Vec::new();
    for entry in entries {
        let lines = match entry.kind {
            Kind::Phrase => phrase_lines(&all, entry.old),
            Kind::Identifier if !is_source(path) => continue,
            Kind::Identifier if is_ordinary(entry.old) => identifier_lines(&code, entry.old),
            Kind::Identifier => identifier_lines(&all, entry.old),
            Kind::File => continue,
        };
        found.extend(lines.into_iter().map(|line| complaint(path, line, entry)));
    }
    found
}

fn complaint(path: &str, line: usize, entry: &Entry) -> Complaint {
    At(path, line).complain(
        format!("\"{}\" was retired", entry.old),
        "the field has a word for it, and one thing has one name",
        format!("say \"{}\" ({LIST}, docs/glossary.md)", entry.new),
    )
}

/// One capital at most, in front, and no underscore: a word that a sentence may hold too.
fn is_ordinary(identifier: &str) -> bool {
    let rest = identifier.chars().skip(1);
    identifier.chars().all(char::is_alphabetic) && rest.clone().all(char::is_lowercase)
}

fn identifier_lines(words: &[Word], wanted: &str) -> Vec<usize> {
    let hits = words.iter().filter(|word| word.text == wanted);
    hits.map(|word| word.line).collect()
}

fn phrase_lines(all: &[Word], phrase: &str) -> Vec<usize> {
    let wanted: Vec<String> = phrase.split_whitespace().map(str::to_lowercase).collect();
    let is_hit = |run: &&[Word]| {
        let equal = |(word, wanted): (&Word, &String)| word.text.to_lowercase() == *wanted;
        run.iter().zip(&wanted).all(equal) && run[1..].iter().all(|word| word.follows)
    };
    let hits = all.windows(wanted.len()).filter(is_hit);
    hits.map(|run| run[0].line).collect()
}

struct Word<'a> {
    text: &'a str,
    line: usize,
    /// Only space lies before it, or the end of a line with what marks a comment, a quotation or a
    /// string that goes on.
    follows: bool,
}

fn words(text: &str) -> impl Iterator<Item = Word<'_>> {
    let in_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '\'' | '’');
    let mut rest = text;
    let mut line = 1;
    std::iter::from_fn(move || {
        loop {
            let start = rest.find(in_word)?;
            let (between, tail) = rest.split_at(start);
            let end = tail.find(|c| !in_word(c)).unwrap_or(tail.len());
            line += between.matches('\n').count();
            rest = &tail[end..];
            let word = tail[..end].trim_matches(['-', '\'', '’']);
            if !word.is_empty() {
                let follows = joins(between);
                return Some(Word {
                    text: word,
                    line,
                    follows,
                });
            }
        }
    })
}

fn joins(between: &str) -> bool {
    let marks = |c: char| c.is_whitespace() || "/*!#>\\".contains(c);
    between.chars().all(char::is_whitespace)
        || (between.contains('\n') && between.chars().all(marks))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{one, said, with};
    use super::*;

    const OLD: &str = "# words\n\nphrase: gone for good -> removed\nidentifier: spent_ns -> used_ns\n\
                       identifier: SpendLog -> UseLog\nidentifier: Give -> Grant\n\
                       file: purse.rs -> wallet.rs\n";

    fn holding(path: &str, text: &str) -> Tree {
        let mut tree = with(path, text);
        tree.insert(LIST.to_owned(), OLD.to_owned());
        tree
    }

    #[test]
    fn a_phrase_is_found_in_prose_comments_and_strings_whatever_its_case() {
        for (path, text) in [
            ("docs/a.md", "It is\n**Gone for good**."),
            ("crates/model/src/a.rs", "\n/// It is gone for good.\n"),
            ("ui/src/a.tsx", "\nconst a = <p title=\"GONE FOR GOOD\" />;"),
            ("bpf/a.bpf.c", "\n/* gone for good */"),
            ("scripts/a.sh", "\necho gone  for good"),
        ] {
            one(&holding(path, text), &format!("{path}:2"), "gone for good");
        }
    }

    #[test]
    fn a_phrase_is_found_across_the_end_of_a_line() {
        for (path, text) in [
            ("docs/a.md", "> gone\n> for good"),
            (
                "crates/model/src/a.rs",
                "    /// It is gone for\n    /// good.\n",
            ),
            ("bpf/a.h", "/* gone\n * for good */"),
            (
                "crates/model/src/b.rs",
                "const A: &str = \"gone \\\n    for good\";\n",
            ),
        ] {
            one(
                &holding(path, text),
                &format!("{path}:1"),
                "say \"removed\"",
            );
        }
    }

    #[test]
    fn words_that_only_stand_near_each_other_are_no_phrase() {
        for text in [
            "gone. For good",
            "gone, for good",
            "agone for good",
            "gone for goods",
            "f(gone, for good)",
        ] {
            assert_eq!(said(&holding("docs/a.md", text)), Vec::<String>::new());
        }
    }

    #[test]
    fn an_identifier_is_found_as_a_whole_word_of_a_source() {
        for (path, text) in [
            ("crates/model/src/a.rs", "let spent_ns = 1;"),
            ("crates/model/src/b.rs", "/// Like [`SpendLog`].\n"),
            ("ui/src/a.ts", "row.spent_ns + 1"),
            ("lab/a.toml", "column = \"spent_ns\""),
        ] {
            one(&holding(path, text), &format!("{path}:1"), "was retired");
        }
        for (path, text) in [
            (
                "crates/model/src/a.rs",
                "let unspent_ns = spent_ns_a + Spent_Ns;",
            ),
            ("docs/a.md", "`spent_ns`"),
        ] {
            assert_eq!(said(&holding(path, text)), Vec::<String>::new());
        }
    }

    #[test]
    fn an_identifier_that_is_an_ordinary_word_is_looked_for_in_code() {
        let path = "crates/model/src/a.rs";
        one(
            &holding(path, "\nstruct Give;\n"),
            "crates/model/src/a.rs:2",
            "\"Grant\"",
        );
        for text in ["// Give it.\n", "const A: &str = \"Give it\";\n"] {
            assert_eq!(said(&holding(path, text)), Vec::<String>::new());
        }
        assert_eq!(
            said(&holding("ui/src/a.ts", "// Give it.")),
            Vec::<String>::new()
        );
    }

    #[test]
    fn a_file_with_a_retired_name_is_found() {
        let path = "crates/model/src/purse.rs";
        one(
            &holding(path, ""),
            "crates/model/src/purse.rs:1",
            "\"wallet.rs\"",
        );
        assert!(said(&holding("crates/model/src/my_purse.rs", "")).is_empty());
    }

    #[test]
    fn what_keeps_old_words_with_reason_may_hold_them() {
        for path in [
            "CHANGELOG.md",
            "docs/glossary.md",
            "crates/recording/src/upgrade/names.rs",
            "crates/workloads/fixtures/a/b.sh",
            "fixtures/hosts/a/README.md",
            "ui/dist/a.ts",
        ] {
            let text = "spent_ns, gone for good\n";
            assert_eq!(said(&holding(path, text)), Vec::<String>::new());
            assert!(!reads(path));
        }
    }

    #[test]
    fn a_line_that_is_not_understood_is_said() {
        for line in [
            "phrases: a -> b",
            "phrase: a",
            "identifier: a b -> c",
            "phrase: a ... b -> c",
            "phrase: a (b -> c",
            "file: a/b.rs -> c.rs",
            "phrase: a -> ",
        ] {
            one(&with(LIST, line), "docs/retired.txt:1", "not understood");
        }
    }
}
