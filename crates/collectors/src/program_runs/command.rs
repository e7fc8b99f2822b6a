//! Command lines as texts of a recording: words that end in zero bytes, as the kernel has them.

use std::fs::File;
use std::io::Read as _;

use model::{MISSING, StringKind, name_of};

use crate::output::Output;

/// Bytes of a command line that are kept (PROCESSES_ARGUMENTS_BYTES).
const MOST_BYTES: usize = 512;
/// Stands for the arguments that are left out.
const AND_SO_ON: &[u8] = b"...";

/// The text of a command line, put together here again and again.
#[derive(Default)]
pub(super) struct Command(String);

impl Command {
    /// The number of a command line among the recording's texts, as a row's value. Where there is no room for it, that
    /// of its program alone. `MISSING` where not even the program's name is whole.
    pub(super) fn intern(&mut self, arguments: &[u8], is_cut: bool, out: &mut Output) -> i64 {
        self.0.clear();
        for word in words(arguments, is_cut) {
            self.0.push_str(&name_of(word));
            self.0.push('\0');
        }
        self.0.pop();
        let program = self.0.split('\0').next().unwrap_or_default();
        let mut intern = |text: &str| out.strings.intern(StringKind::Command, None, text);
        let text = match program.is_empty() {
            true => None,
            false => intern(&self.0).or_else(|| intern(program)),
        };
        text.map_or(MISSING, |id| i64::from(id.0))
    }
}

/// The words. A word that is cut is left out: what tells a secret may be in the rest of it.
fn words(arguments: &[u8], is_cut: bool) -> impl Iterator<Item = &[u8]> {
    let end = match is_cut {
        true => arguments.iter().rposition(|byte| *byte == 0),
        false => None,
    };
    let whole = match (is_cut, end) {
        (true, end) => &arguments[..end.unwrap_or(0)],
        (false, _) => arguments,
    };
    let length = whole.iter().rposition(|byte| *byte != 0);
    let whole = &whole[..length.map_or(0, |last| last + 1)];
    whole
        .split(|byte| *byte == 0)
        .chain(is_cut.then_some(AND_SO_ON))
}

/// The command line of a process as /proc shows it, and whether it is cut; empty where it has ended.
pub(super) fn shown(pid: u32) -> (Vec<u8>, bool) {
    let mut bytes = Vec::new();
    if let Ok(file) = File::open(format!("/proc/{pid}/cmdline")) {
        // One that ends meanwhile has none.
        let _ = file.take(MOST_BYTES as u64 + 1).read_to_end(&mut bytes);
    }
    let is_cut = bytes.len() > MOST_BYTES;
    bytes.truncate(MOST_BYTES);
    (bytes, is_cut)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(arguments: &[u8], is_cut: bool) -> Vec<String> {
        let mut out = Output::default();
        let number = Command::default().intern(arguments, is_cut, &mut out);
        let text = out.strings.take_fresh().unwrap_or_default().pop();
        assert_eq!(number == MISSING, text.is_none());
        let text = text.map_or(String::new(), |it| it.text.into());
        text.split('\0').map(str::to_owned).collect()
    }

    #[test]
    fn words_are_kept_apart_and_a_cut_one_is_left_out() {
        assert_eq!(
            written(b"sh\0-c\0echo a b\0", false),
            ["sh", "-c", "echo a b"]
        );
        assert_eq!(written(b"a\0\0b\0\0\0", false), ["a", "", "b"]);
        assert_eq!(
            written(b"psql\0-w\0postgresql://u:secr", true),
            ["psql", "-w", "..."]
        );
        assert_eq!(written(b"one-long-word", true), [""]);
        assert_eq!(written(b"a\nb\0\xff\0", false), ["a\\x0ab", "\\xff"]);
        assert_eq!(written(b"", false), [""]);
        assert_eq!(written(b"\0\0", false), [""]);
    }

    #[test]
    fn proc_shows_the_command_line_of_this_test() {
        let (bytes, _) = shown(std::process::id());
        let own = std::env::args().next().unwrap_or_default();
        assert!(bytes.starts_with(&own.as_bytes()[..own.len().min(MOST_BYTES)]));
        assert_eq!(shown(u32::MAX).0, b"");
    }
}
