//! The house rules that a program can judge, as pure functions over files in memory.
//!
//! A complaint says where, what, why and what to do, on one line. A rule that needs an exception gets
//! it here, by name and with its reason, not by a comment in the file that breaks it.

mod circles;
mod code;
mod crates;
mod edges;
mod inheritance;
mod names;
mod parameters;
mod retired;
mod source;
mod table;

use std::collections::BTreeMap;
use std::fmt;

/// The files of the repository: path from its root, with `/`, to text.
///
/// The text of files that no rule reads is left empty.
pub type Tree = BTreeMap<String, String>;

/// Where the table of crates stands.
const ARCHITECTURE: &str = "ARCHITECTURE.md";

/// A rule that was broken.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Complaint {
    path: String,
    line: usize,
    what: String,
    why: String,
    mend: String,
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}:{}: {} · {} · {}",
            self.path, self.line, self.what, self.why, self.mend
        )
    }
}

/// A complaint being made: where it is, before what it says.
struct At<'a>(&'a str, usize);

impl At<'_> {
    fn complain(&self, what: impl Into<String>, why: &str, mend: impl Into<String>) -> Complaint {
        Complaint {
            path: self.0.to_owned(),
            line: self.1,
            what: what.into(),
            why: why.to_owned(),
            mend: mend.into(),
        }
    }
}

/// Whether a rule reads this file's text.
pub fn reads(path: &str) -> bool {
    path == ARCHITECTURE
        || path.ends_with(".rs")
        || path.ends_with("Cargo.toml")
        || retired::reads(path)
}

/// All that breaks a rule, by file and line.
pub fn complaints(tree: &Tree) -> Vec<Complaint> {
    let (workspace, mut found) = crates::read(tree);
    let (rows, unread) = table::rows(tree.get(ARCHITECTURE).map_or("", String::as_str));
    found.extend(unread);
    found.extend(circles::complaints(tree, &workspace));
    found.extend(edges::complaints(&rows, &workspace));
    found.extend(inheritance::complaints(&workspace));
    found.extend(names::complaints(tree));
    found.extend(parameters::complaints(tree));
    found.extend(retired::complaints(tree));
    found.extend(source::complaints(tree, &workspace));
    found.sort();
    found
}

#[cfg(test)]
mod testing {
    use super::{ARCHITECTURE, Tree};

    /// A repository of four crates that breaks no rule.
    pub fn clean() -> Tree {
        let manifest = |name: &str, rest: &str| {
            format!(
                "[package]\nname = \"{name}\"\nversion.workspace = true\n\
                 edition.workspace = true\n\n[lints]\nworkspace = true\n{rest}"
            )
        };
        let uses = |names: &[&str]| {
            let lines = names
                .iter()
                .map(|name| format!("{name}.workspace = true\n"));
            format!("\n[dependencies]\n{}", lines.collect::<String>())
        };
        [
            (
                "Cargo.toml",
                "[workspace]\nmembers = [\"crates/*\", \"xtask\"]\n\n[workspace.dependencies]\n\
                 model = { path = \"crates/model\" }\nkernel = { path = \"crates/kernel\" }\n\
                 serde = \"1.0\"\n"
                    .to_owned(),
            ),
            (
                ARCHITECTURE,
                "# Map\n\n| level | crate | what it is | must not know |\n|---|---|---|---|\n\
                 | 0 | `model` | the words | files |\n\
                 | 1 | `kernel` | the kernel | recordings |\n\
                 | 2 | `program` | all of it | |\n\
                 | beside | `xtask` | chores | the program |\n"
                    .to_owned(),
            ),
            (
                "crates/model/Cargo.toml",
                manifest("model", &uses(&["serde"])),
            ),
            (
                "crates/kernel/Cargo.toml",
                manifest("kernel", &uses(&["model"])),
            ),
            (
                "crates/program/Cargo.toml",
                manifest("program", &uses(&["kernel", "model"])),
            ),
            ("xtask/Cargo.toml", manifest("xtask", "")),
            ("crates/model/src/lib.rs", "pub struct Word;\n".to_owned()),
        ]
        .into_iter()
        .map(|(path, text)| (path.to_owned(), text))
        .collect()
    }

    /// The clean repository with one file replaced or added.
    pub fn with(path: &str, text: &str) -> Tree {
        let mut tree = clean();
        tree.insert(path.to_owned(), text.to_owned());
        tree
    }

    /// The clean repository with `from` replaced by `to` in one file.
    pub fn edited(path: &str, from: &str, to: &str) -> Tree {
        let mut tree = clean();
        let text = tree.get_mut(path).expect("a file of the clean repository");
        assert!(text.contains(from), "{path} has no {from:?}");
        *text = text.replace(from, to);
        tree
    }

    /// What `complaints` says, as the user sees it.
    pub fn said(tree: &Tree) -> Vec<String> {
        let complaints = super::complaints(tree);
        complaints.iter().map(ToString::to_string).collect()
    }

    /// Checks that there is one complaint, that it begins with `place`, and that it says `what`.
    #[track_caller]
    pub fn one(tree: &Tree, place: &str, what: &str) {
        let said = said(tree);
        assert_eq!(said.len(), 1, "{said:#?}");
        assert!(said[0].starts_with(&format!("{place}: ")), "{}", said[0]);
        assert!(said[0].contains(what), "{}", said[0]);
        assert_eq!(said[0].matches(" · ").count(), 2, "{}", said[0]);
        assert!(!said[0].contains('\n'), "{}", said[0]);
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{clean, said};
    use super::*;

    #[test]
    fn nothing_is_said_of_a_clean_repository() {
        assert_eq!(said(&clean()), Vec::<String>::new());
    }

    #[test]
    fn a_complaint_is_one_line_of_place_what_why_and_what_to_do() {
        let complaint = At("a/b.rs", 7).complain("too long", "nobody reads it", "split it");
        assert_eq!(
            complaint.to_string(),
            "a/b.rs:7: too long · nobody reads it · split it"
        );
    }

    #[test]
    fn only_what_rules_look_into_is_read() {
        assert!(reads("ARCHITECTURE.md") && reads("xtask/src/main.rs") && reads("lab/Cargo.toml"));
        assert!(reads("docs/recording.md") && reads("ui/src/main.tsx") && reads("bpf/clock.h"));
        assert!(!reads("docs/report.schema.json") && !reads("fixtures/stdout"));
    }
}
