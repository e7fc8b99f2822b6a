use super::super::testing::{clean, said};

/// A repository whose `model` has these files; what is said of it.
fn of(files: &[(&str, &str)]) -> Vec<String> {
    let mut tree = clean();
    for (name, text) in files {
        tree.insert(format!("crates/model/src/{name}"), (*text).to_owned());
    }
    said(&tree)
}

#[test]
fn two_files_that_need_each_other_are_a_circle() {
    let said = of(&[
        ("lib.rs", "mod a;\nmod b;\n"),
        ("a.rs", "use crate::b::B;\npub struct A(B);\n"),
        ("b.rs", "pub struct B;\n\nfn f(a: &crate::a::A) {}\n"),
    ]);
    assert_eq!(said.len(), 2, "{said:#?}");
    assert!(said[0].starts_with("crates/model/src/a.rs:1: needs crates/model/src/b.rs"));
    assert!(said[1].starts_with("crates/model/src/b.rs:3: needs crates/model/src/a.rs"));
}

#[test]
fn a_re_export_is_followed_and_is_no_need() {
    let files = |b| {
        of(&[
            ("lib.rs", "mod a;\nmod b;\npub use a::A;\npub use b::*;\n"),
            ("a.rs", "pub struct A;\n"),
            ("b.rs", b),
        ])
    };
    assert!(files("use crate::A;\npub struct B(A);\n").is_empty());
}

#[test]
fn a_part_may_need_its_whole_and_no_part_of_another() {
    let files = |b| {
        of(&[
            (
                "lib.rs",
                "mod a;\nmod c;\nstruct Root;\nfn f() { a::g(); }\n",
            ),
            (
                "a.rs",
                "mod b;\nuse super::Root;\npub fn g() { b::h(); }\npub struct A;\n",
            ),
            ("a/b.rs", b),
            ("c.rs", "use crate::a::A;\npub struct C(A);\n"),
        ])
    };
    assert!(files("use super::A;\nuse crate::Root;\npub fn h() {}\n").is_empty());
    let said = files("use super::A;\nuse crate::c::C;\npub fn h() {}\n");
    assert_eq!(said.len(), 3, "{said:#?}");
}

#[test]
fn tests_and_inline_modules_are_no_circle() {
    let said = of(&[
        (
            "lib.rs",
            "mod a;\nfn f() { a::g(); }\n#[cfg(test)]\nmod tests { use super::*; }\n\
             mod inner { pub fn h() {} }\nfn i() { inner::h(); }\n",
        ),
        (
            "a.rs",
            "pub fn g() {}\n#[cfg(test)]\nmod tests { fn t() { crate::f(); } }\n",
        ),
    ]);
    assert!(said.is_empty(), "{said:#?}");
}

#[test]
fn what_a_macro_names_counts() {
    let said = of(&[
        ("lib.rs", "mod a;\nmod b;\n"),
        ("a.rs", "pub fn g() { assert!(crate::b::f()); }\n"),
        (
            "b.rs",
            "pub fn f() -> bool { matches!(1, n if super::a::g() == ()) }\n",
        ),
    ]);
    assert_eq!(said.len(), 2, "{said:#?}");
}

#[test]
fn a_chain_is_no_circle_and_a_longer_circle_is() {
    let files = |c| {
        of(&[
            ("lib.rs", "mod a;\nmod b;\nmod c;\n"),
            ("a.rs", "use crate::b::B;\npub struct A(B);\n"),
            ("b.rs", "use super::c::{self, C};\npub struct B(C, c::C);\n"),
            ("c.rs", c),
        ])
    };
    assert!(files("pub struct C;\n").is_empty());
    let said = files("pub struct C(Option<Box<crate::a::A>>);\n");
    assert_eq!(said.len(), 3, "{said:#?}");
    assert!(said[0].contains("3 files in a circle"));
}
