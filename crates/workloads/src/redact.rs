//! Command lines fit for storing: only what is known to be harmless stays, the rest becomes `***`.
//!
//! An option's value stays where the option is known to be harmless, or where the value is a plain number,
//! duration or size. Of a URL the user and the query go, of positional words everything that looks like a
//! credential. Where a word's meaning is not clear, the word is replaced: a command line that lost a word
//! is a nuisance, a stored password is a leak.

mod command;
mod options;
mod plain;
mod programs;
mod secrets;
mod sql;
mod url;

#[cfg(test)]
mod tests;

use std::ffi::OsString;

use command::Command;
pub use secrets::Secrets;

/// What stands in the place of a secret.
const HIDDEN: &str = "***";

/// The command line with its secrets replaced; bytes that are not UTF-8 are shown as such. A word gives a
/// word.
pub fn redact(argv: &[OsString]) -> Vec<String> {
    let mut command = Command::default();
    argv.iter()
        .map(|word| {
            // Another command begins, which has options of its own.
            if word == crate::instance::BETWEEN {
                command = Command::default();
            }
            command.word(&word.to_string_lossy())
        })
        .collect()
}

/// Whether an option of that name, without its dashes, is one of a program that is known here: such a name
/// is nobody's own.
pub fn is_known_option(name: &str) -> bool {
    options::is_long(None, name) || programs::Program::any_has(name)
}

/// A text that is quoted from a tool, with its secrets replaced.
pub fn redact_text(quoted: &str) -> String {
    command::text::text(quoted)
}
