//! For C: installed into a folder of its own, found by pkg-config, built by gcc and by clang.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::needs::skip;

const HEADER: &str = include_str!("../../include/stealmeter.h");
const FUNCTIONS: &str = include_str!("../../src/ffi.rs");

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The `stealmeter_...` that stands before the bracket of each line that begins like this.
fn functions(text: &str, begins: &[&str]) -> BTreeSet<String> {
    let lines = text
        .lines()
        .filter(|line| begins.iter().any(|b| line.starts_with(b)));
    let names = lines.filter_map(|line| {
        let (before, _) = line.split_once('(')?;
        before.rsplit([' ', '*']).next().map(str::to_owned)
    });
    names
        .filter(|name| name.starts_with("stealmeter_"))
        .collect()
}

#[test]
fn the_header_declares_what_the_library_has() {
    let declared = functions(HEADER, &["stealmeter", "void stealmeter", "int stealmeter"]);
    assert_eq!(declared, functions(FUNCTIONS, &["pub extern \"C\" fn"]));
    assert!(declared.len() > 5);
}

#[test]
fn the_header_has_the_fields_of_the_library_in_their_order() {
    let inside = |text: &'static str, begin: &str| {
        let (_, rest) = text.split_once(begin).expect("the struct begins");
        let (fields, _) = rest.split_once("\n}").expect("and ends");
        fields.lines().map(str::trim)
    };
    let declared = inside(HEADER, "typedef struct stealmeter_snapshot {")
        .filter_map(|line| line.strip_prefix("uint64_t ")?.strip_suffix(';'));
    let own =
        inside(FUNCTIONS, "pub struct CSnapshot {").filter_map(|line| line.strip_suffix(": u64,"));
    let own: Vec<&str> = own.collect();
    assert_eq!(declared.collect::<Vec<&str>>(), own);
    assert_eq!(own.len(), 10);
}

fn has(program: &str, arguments: &[&str]) -> bool {
    let ran = Command::new(program).args(arguments).output();
    ran.is_ok_and(|ran| ran.status.success())
}

#[track_caller]
fn succeeded(command: &mut Command) -> Output {
    let output = command.output().expect("a program that was found");
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}:\n{text}\n{errors}");
    output
}

/// A folder into which the library was installed.
struct Installed(tempfile::TempDir);

impl Installed {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        succeeded(
            Command::new(here("../../scripts/install-stealmeter.sh"))
                .env("PREFIX", folder.path())
                .env("PROFILE", "dev"),
        );
        Self(folder)
    }

    /// Builds one file and runs it.
    #[track_caller]
    fn run(&self, compiler: &[&str], source: &str, packages: &[&str]) -> String {
        let program = self.0.path().join("program");
        let flags = succeeded(
            Command::new("pkg-config")
                .args(["--cflags", "--libs"])
                .args(packages)
                .env("PKG_CONFIG_PATH", self.0.path().join("lib/pkgconfig")),
        );
        let flags = String::from_utf8_lossy(&flags.stdout).into_owned();
        succeeded(
            Command::new(compiler[0])
                .args(&compiler[1..])
                .args(["-std=c11", "-O1", "-g", "-Wall", "-Wextra", "-Werror"])
                .arg(here(source))
                .args(flags.split_ascii_whitespace())
                .args(["-pthread", "-o"])
                .arg(&program),
        );
        let ran = succeeded(
            Command::new(&program)
                .arg("1.1")
                .current_dir(self.0.path())
                .env("LD_LIBRARY_PATH", self.0.path().join("lib")),
        );
        String::from_utf8_lossy(&ran.stdout).into_owned()
    }
}

#[test]
fn c_programs_build_from_what_is_installed_and_run() {
    if !has("pkg-config", &["--version"]) {
        return skip("no pkg-config");
    }
    let installed = Installed::new();
    for compiler in ["gcc", "clang"] {
        if !has(compiler, &["--version"]) {
            skip(&format!("no {compiler}"));
            continue;
        }
        for (source, packages) in [
            ("c/epoll.c", &["stealmeter"][..]),
            ("c/busy.c", &["stealmeter"]),
            ("c/io_uring.c", &["stealmeter", "liburing"]),
        ] {
            if packages.contains(&"liburing") && !has("pkg-config", &["liburing"]) {
                skip("no liburing-dev");
                continue;
            }
            let said = installed.run(&[compiler], source, packages);
            assert!(
                said.starts_with("cpu ") && said.contains("wall "),
                "{source}: {said}"
            );
        }
        installed.run(&[compiler], "tests/c/abuse.c", &["stealmeter"]);
    }
    // Its own accesses, its threads and its atomics; the library was not built for it.
    if has("gcc", &["--version"]) {
        let thread_sanitizer = ["gcc", "-fsanitize=thread"];
        installed.run(&thread_sanitizer, "tests/c/abuse.c", &["stealmeter"]);
    }
}
