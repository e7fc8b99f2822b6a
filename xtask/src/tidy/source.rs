//! Rust sources: how long they are, and where `unsafe` may stand.

use super::code::code_only;
use super::crates::Workspace;
use super::{At, Complaint, Tree};

/// A longer file has more than one subject; tests included, since they are read as well.
const MOST_LINES: usize = 500;

/// Files that a program writes may be longer. There is none.
const GENERATED: [&str; 0] = [];

/// The crate that touches the kernel.
const UNSAFE_CRATE: &str = "kernel";

/// Single files that may be unsafe too, each because an interface leaves no other way.
const UNSAFE_FILES: [&str; 5] = [
    // An allocator that counts: the trait is unsafe.
    "crates/collectors/tests/no_allocation.rs",
    // Names that C can call: Rust asks for the promise that no other symbol has them.
    "crates/stealmeter/src/ffi.rs",
    // What goes onto a ring of io_uring must outlive the request, which no type says.
    "crates/stealmeter/examples/io_uring.rs",
    // The same, and linux-aio, which is system calls alone, for the loops of the experiment.
    "crates/stealmeter/experiment/src/queues/aio.rs",
    "crates/stealmeter/experiment/src/queues/ring.rs",
];

/// Sources that are too long, and `unsafe` where it must not be.
pub fn complaints(tree: &Tree, workspace: &Workspace) -> Vec<Complaint> {
    let may_be_unsafe = |path: &str| {
        let mut crates = workspace.crates.iter();
        UNSAFE_FILES.contains(&path)
            || crates.any(|member| member.name == UNSAFE_CRATE && member.holds(path))
    };
    let mut found = Vec::new();
    for (path, text) in tree.iter().filter(|(path, _)| path.ends_with(".rs")) {
        found.extend(too_long(path, text));
        if !may_be_unsafe(path) {
            found.extend(unsafe_lines(text).map(|line| is_unsafe(path, line)));
        }
    }
    found
}

fn too_long(path: &str, text: &str) -> Option<Complaint> {
    let lines = text.lines().count();
    if lines <= MOST_LINES || GENERATED.contains(&path) {
        return None;
    }
    Some(At(path, MOST_LINES + 1).complain(
        format!("{lines} lines, and {MOST_LINES} is the limit"),
        "a long file has more than one subject",
        "split it by subject; tests go to a file beside it",
    ))
}

fn is_unsafe(path: &str, line: usize) -> Complaint {
    At(path, line).complain(
        format!("`unsafe` outside `{UNSAFE_CRATE}`"),
        "what the compiler cannot check stays in one place",
        format!("use a safe call (rustix has most), or put it behind one in `{UNSAFE_CRATE}`"),
    )
}

fn unsafe_lines(text: &str) -> impl Iterator<Item = usize> {
    let code = code_only(text);
    let lines: Vec<usize> = code
        .lines()
        .enumerate()
        .filter(|(_, line)| words(line).any(|word| word == "unsafe"))
        .map(|(index, _)| index + 1)
        .collect();
    lines.into_iter()
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_')
}

#[cfg(test)]
mod tests {
    use super::super::testing::{one, said, with};

    const UNSAFE: &str = "fn f() {}\n\nfn g(p: *const u8) -> u8 {\n    unsafe { *p }\n}\n";

    #[test]
    fn unsafe_is_said_outside_host_and_in_tests_too() {
        one(
            &with("crates/model/src/a.rs", UNSAFE),
            "crates/model/src/a.rs:4",
            "`unsafe`",
        );
        one(
            &with("crates/model/tests/a.rs", UNSAFE),
            "crates/model/tests/a.rs:4",
            "`unsafe`",
        );
        one(
            &with("lab/src/a.rs", "#[unsafe(no_mangle)]\nfn f() {}\n"),
            "lab/src/a.rs:1",
            "`unsafe`",
        );
    }

    #[test]
    fn unsafe_is_fine_in_host_and_its_tests() {
        assert!(said(&with("crates/kernel/src/a.rs", UNSAFE)).is_empty());
        assert!(said(&with("crates/kernel/tests/a.rs", UNSAFE)).is_empty());
    }

    #[test]
    fn unsafe_is_fine_in_files_that_are_named_and_nowhere_beside_them() {
        assert!(said(&with("crates/stealmeter/src/ffi.rs", UNSAFE)).is_empty());
        one(
            &with("crates/stealmeter/src/meter.rs", UNSAFE),
            "crates/stealmeter/src/meter.rs:4",
            "`unsafe`",
        );
    }

    #[test]
    fn a_word_in_prose_is_not_code() {
        let text = "// unsafe\n/* unsafe */\n#![deny(unsafe_code)]\nconst A: &str = \"unsafe\";\n";
        assert!(said(&with("crates/model/src/a.rs", text)).is_empty());
    }

    #[test]
    fn a_long_source_is_said_and_the_limit_itself_is_fine() {
        let path = "crates/model/src/long.rs";
        assert!(said(&with(path, &"//\n".repeat(500))).is_empty());
        one(
            &with(path, &"//\n".repeat(501)),
            "crates/model/src/long.rs:501",
            "501 lines",
        );
        assert!(said(&with("docs/long.md", &"a\n".repeat(900))).is_empty());
    }
}
