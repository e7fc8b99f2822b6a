//! Programs that make text of their own binary files: `sadf` of sar's, `atop` of its own.

use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::MOST_BYTES;
use crate::outputs;

/// A program that makes text of its binary files.
pub(super) struct Converter {
    program: &'static str,
    package: &'static str,
    /// How its files begin: its magic number, in both orders of bytes.
    magic: [&'static [u8]; 2],
    /// What stands before the file, and behind it.
    before: &'static [&'static str],
    behind: &'static [&'static str],
}

static CONVERTERS: [Converter; 2] = [
    Converter {
        program: "sadf",
        package: "sysstat",
        magic: [&[0x96, 0xd5], &[0xd5, 0x96]],
        before: &["-j"],
        behind: &["--", "-A"],
    },
    Converter {
        program: "atop",
        package: "atop",
        magic: [&[0xef, 0xbe, 0xed, 0xfe], &[0xfe, 0xed, 0xbe, 0xef]],
        before: &["-P", "ALL", "-r"],
        behind: &[],
    },
];

impl Converter {
    /// Whose file begins like this; `None` for a text.
    pub(super) fn of(start: &[u8]) -> Option<&'static Self> {
        let is_its = |converter: &&Self| {
            let mut magic = converter.magic.iter();
            magic.any(|magic| start.starts_with(magic))
        };
        CONVERTERS.iter().find(is_its)
    }

    /// The text of one of its files.
    pub(super) fn text(&self, path: &Path) -> Result<Vec<u8>> {
        // A name that begins with a dash is no option.
        let named = if path.is_absolute() {
            path.to_owned()
        } else {
            Path::new(".").join(path)
        };
        let mut command = Command::new(self.program);
        // What it complains of is short, and no pipe that could fill while the other one is read.
        let mut complaints = tempfile::tempfile().context("cannot make a temporary file")?;
        command
            .env("LC_ALL", "C")
            .env("TZ", "UTC")
            .args(self.before)
            .arg(named)
            .args(self.behind)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(
                complaints
                    .try_clone()
                    .context("cannot use a temporary file")?,
            );
        let (program, package) = (self.program, self.package);
        let by_hand = self.by_hand(path);
        let shown = path.display();
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) => bail!(
                "cannot run {program}, which reads {shown}: {error}. Install {package}, or run where it was recorded: {by_hand}"
            ),
        };
        let mut printed = Vec::new();
        let read = child.stdout.take().map_or(Ok(0), |stdout| {
            stdout.take(MOST_BYTES + 1).read_to_end(&mut printed)
        });
        let is_too_much = printed.len() as u64 > MOST_BYTES;
        if is_too_much {
            // It would wait for somebody who reads the rest.
            let _ = child.kill();
        }
        let status = child
            .wait()
            .with_context(|| format!("cannot wait for {program}"))?;
        read.with_context(|| format!("cannot read what {program} prints"))?;
        if is_too_much {
            bail!(
                "{program} prints more than {} MiB of {shown}: import a part of it: {by_hand}",
                MOST_BYTES >> 20
            );
        }
        if !status.success() || printed.is_empty() {
            bail!(
                "{program} does not read {shown}, and says: {}. Run the {program} of the {package} that recorded it, and import what it prints: {by_hand}",
                outputs::harmless(&first_line(&mut complaints))
            );
        }
        Ok(printed)
    }

    /// The same, to be typed.
    fn by_hand(&self, path: &Path) -> String {
        let file = path.display().to_string();
        let words = [self.program]
            .into_iter()
            .chain(self.before.iter().copied());
        let words: Vec<&str> = words
            .chain([file.as_str()])
            .chain(self.behind.iter().copied())
            .collect();
        format!("{} > {}.txt", words.join(" "), self.program)
    }
}

/// The first line of what a program complained of.
fn first_line(complaints: &mut File) -> String {
    let mut said = Vec::new();
    // What cannot be read is at worst not quoted.
    let _ = complaints.rewind();
    let _ = complaints.take(4096).read_to_end(&mut said);
    let said = String::from_utf8_lossy(&said);
    let line = said.lines().find(|line| !line.trim().is_empty());
    line.unwrap_or("nothing").chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_cannot_read_a_file_is_quoted_with_the_command() {
        let converter = Converter {
            program: "false",
            package: "coreutils",
            magic: [b"a", b"b"],
            before: &["-j"],
            behind: &["--", "-A"],
        };
        let error = converter.text(Path::new("/a b")).expect_err("it fails");
        let said = error.to_string();
        assert!(
            said.ends_with("import what it prints: false -j /a b -- -A > false.txt"),
            "{said}"
        );
        let absent = Converter {
            program: "no-such-program",
            ..converter
        };
        let said = absent.text(Path::new("x")).expect_err("absent").to_string();
        assert!(said.contains("Install coreutils"), "{said}");
    }
}
