//! Where the `stallscope` under test is.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

const NAME: &str = "stallscope";

/// The binary that was asked for, else the one built beside this program, else the newest thing that
/// a build left in `target`, else the one in PATH.
pub fn find(asked: Option<&Path>) -> Result<PathBuf> {
    if let Some(path) = asked {
        if path.is_file() {
            return Ok(path.to_path_buf());
        }
        bail!(
            "there is no program at {}: build it (cargo build --release -p stallscope), or name \
             another with --stallscope",
            path.display()
        );
    }
    let beside = std::env::current_exe()
        .ok()
        .and_then(|own| Some(own.parent()?.join(NAME)));
    let built = ["target/release", "target/debug"].map(|folder| Path::new(folder).join(NAME));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let installed = std::env::split_paths(&path).map(|folder| folder.join(NAME));
    match beside
        .into_iter()
        .chain(built)
        .chain(installed)
        .find(|file| file.is_file())
    {
        Some(file) => Ok(file),
        None => bail!(
            "cannot find the stallscope program beside this one, in target or in PATH: build it \
             (cargo build --release -p stallscope), or name it with --stallscope"
        ),
    }
}

/// A program in PATH, or where daemons are kept on Debian.
pub fn in_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin", "/sbin"].map(PathBuf::from));
    folders
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}

/// The program under test, and what it can be asked.
pub struct Program {
    /// Where it is.
    pub path: PathBuf,
}

impl Program {
    /// Finds it.
    pub fn find(asked: Option<&Path>) -> Result<Self> {
        let path = find(asked)?;
        Ok(Self { path })
    }

    /// Whether one of its commands has an option: an older program is scored without the newer ones.
    pub fn knows(&self, command: &str, option: &str) -> Result<bool> {
        let output = Command::new(&self.path)
            .args([command, "--help"])
            .output()
            .with_context(|| format!("cannot start {}", self.path.display()))?;
        Ok(names(&String::from_utf8_lossy(&output.stdout), option))
    }
}

/// Whether a help text has an option, by its whole name.
fn names(help: &str, option: &str) -> bool {
    help.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '-'))
        .any(|word| word == option)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_program_must_be_there() {
        let error = find(Some(Path::new("/nowhere/stallscope"))).unwrap_err();
        assert!(error.to_string().contains("--stallscope"));
    }

    #[test]
    fn an_option_is_known_by_its_whole_name() {
        let help = "  --target <T>  see --metric-list, [--json]";
        assert!(names(help, "--target") && names(help, "--json"));
        assert!(!names(help, "--metric"));
    }
}
