//! Chores of the repository: `cargo xtask NAME`.
//!
//! Files are read here and nowhere else; what is judged, is judged in pure functions over them.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod tidy;

use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};
use tidy::Tree;

const USAGE: &str = "usage: cargo xtask tidy\n\n  \
    tidy   judge crates, names and sources by the house rules (ARCHITECTURE.md, CONTRIBUTING.md)";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["tidy"] => run_tidy(),
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            Ok(ExitCode::SUCCESS)
        }
        _ => {
            eprintln!("{USAGE}");
            Ok(ExitCode::from(2))
        }
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("xtask: {error:#}");
        ExitCode::FAILURE
    })
}

fn run_tidy() -> Result<ExitCode> {
    // Of the checkout that cargo runs this from; started without cargo, of the one that it was compiled from.
    let folder = std::env::var_os("CARGO_MANIFEST_DIR");
    let folder = folder.unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    let root = Path::new(&folder)
        .parent()
        .context("xtask is not in a folder of the repository")?;
    let tree = read_tree(root)?;
    let complaints = tidy::complaints(&tree);
    for complaint in &complaints {
        println!("{complaint}");
    }
    if complaints.is_empty() {
        println!("tidy: {} files, no complaint", tree.len());
        return Ok(ExitCode::SUCCESS);
    }
    println!(
        "tidy: {} files, {} complaint(s)",
        tree.len(),
        complaints.len()
    );
    Ok(ExitCode::FAILURE)
}

/// What git tracks, and what it would track; where git cannot tell, everything that is there.
fn read_tree(root: &Path) -> Result<Tree> {
    let paths = match listed_by_git(root) {
        Some(paths) => paths,
        None => {
            let mut found = Vec::new();
            walk(root, "", &mut found)?;
            found
        }
    };
    let mut tree = Tree::new();
    for path in paths {
        let file = root.join(&path);
        // A file that was deleted, but not yet in git, is gone.
        if !file.is_file() {
            continue;
        }
        let text = if tidy::reads(&path) {
            std::fs::read_to_string(&file).with_context(|| format!("cannot read {path}"))?
        } else {
            String::new()
        };
        tree.insert(path, text);
    }
    Ok(tree)
}

fn listed_by_git(root: &Path) -> Option<Vec<String>> {
    let output = Command::new("git")
        .args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ])
        .current_dir(root)
        .output()
        .ok()?;
    let listed = String::from_utf8_lossy(&output.stdout);
    let paths: Vec<String> = listed
        .split('\0')
        .filter(|path| !path.is_empty())
        .map(str::to_owned)
        .collect();
    (output.status.success() && !paths.is_empty()).then_some(paths)
}

/// For a source archive without `.git`: all but what building leaves behind.
fn walk(root: &Path, folder: &str, found: &mut Vec<String>) -> Result<()> {
    let here = root.join(folder);
    for entry in std::fs::read_dir(&here).with_context(|| format!("cannot list {folder:?}"))? {
        let entry = entry.with_context(|| format!("cannot list {folder:?}"))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = match folder {
            "" => name.clone(),
            _ => format!("{folder}/{name}"),
        };
        let kind = entry
            .file_type()
            .with_context(|| format!("cannot look at {path}"))?;
        if !kind.is_dir() {
            found.push(path);
        } else if name != ".git" && name != "target" && !name.ends_with(".stall") {
            walk(root, &path, found)?;
        }
    }
    Ok(())
}
