//! Names that say nothing about what is inside.

use std::collections::BTreeSet;

use super::{At, Complaint, Tree};

const EMPTY_NAMES: [&str; 8] = [
    "utils", "util", "common", "shared", "helpers", "helper", "misc", "manager",
];

/// Files and folders with such a name, whatever their extension; each folder once.
pub fn complaints(tree: &Tree) -> Vec<Complaint> {
    let mut places = BTreeSet::new();
    for path in tree.keys() {
        let ends = path.match_indices('/').map(|(at, _)| at);
        for end in ends.chain([path.len()]) {
            if says_nothing(&path[..end]) {
                places.insert(&path[..end]);
            }
        }
    }
    places.into_iter().map(complaint).collect()
}

fn says_nothing(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.split('.').next().unwrap_or(name);
    EMPTY_NAMES.iter().any(|n| stem.eq_ignore_ascii_case(n))
}

fn complaint(path: &str) -> Complaint {
    At(path, 1).complain(
        "a name that says nothing",
        "such places collect whatever has no home, and everything comes to depend on them",
        "name it after what it holds, in the words of `model`",
    )
}

#[cfg(test)]
mod tests {
    use super::super::testing::{one, said, with};
    use super::*;

    #[test]
    fn each_empty_name_is_said_as_file_and_as_folder() {
        for name in EMPTY_NAMES {
            let file = format!("docs/{name}.test.md");
            one(&with(&file, ""), &format!("{file}:1"), "says nothing");
            let folder = format!("lab/{name}");
            one(
                &with(&format!("{folder}/a.sql"), ""),
                &format!("{folder}:1"),
                "says nothing",
            );
        }
        one(
            &with("scripts/Common", ""),
            "scripts/Common:1",
            "says nothing",
        );
    }

    #[test]
    fn a_folder_is_said_once() {
        let mut tree = with("a/misc/one.txt", "");
        tree.insert("a/misc/two.txt".to_owned(), String::new());
        one(&tree, "a/misc:1", "says nothing");
    }

    #[test]
    fn names_that_only_contain_such_a_word_are_fine() {
        for path in [
            "a/utilisation.md",
            "a/shared_memory.md",
            "a/task-manager.txt",
        ] {
            assert_eq!(said(&with(path, "")), Vec::<String>::new());
        }
    }
}
