//! Command lines fit for storing: what looks like a secret is replaced by `***`.
//!
//! Where it is not clear how far a secret reaches, more is replaced rather than less: a command line
//! that lost a word is a nuisance, a stored password is a leak. Names of files that hold secrets stay.

#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::sync::LazyLock;

use regex::{Captures, Regex};

const HIDDEN: &str = "***";

/// Short options that carry a secret: the program (`*`: any that begins so), the option, and whether
/// the secret may be the next word. (`mysql -p` alone asks for one; `pgbench -p 5432` is a port.)
const SHORT_OPTIONS: &[(&str, &str, NextWord)] = &[
    ("mysql*", "-p", NextWord::IsAnother),
    ("mariadb*", "-p", NextWord::IsAnother),
    ("redis-*", "-a", NextWord::IsSecret),
    ("memtier_benchmark", "-a", NextWord::IsSecret),
    ("memtier_benchmark", "--authenticate", NextWord::IsSecret),
    ("mongo*", "-p", NextWord::IsSecret),
    ("cqlsh", "-p", NextWord::IsSecret),
    ("curl", "-u", NextWord::IsSecret),
    ("ab", "-A", NextWord::IsSecret),
    ("ab", "-P", NextWord::IsSecret),
    ("hey", "-a", NextWord::IsSecret),
    ("sshpass", "-p", NextWord::IsSecret),
];

/// Programs that run the command in their arguments.
const WRAPPERS: &[&str] = &[
    "bash",
    "chrt",
    "dash",
    "docker",
    "env",
    "ionice",
    "ip",
    "kubectl",
    "nice",
    "nohup",
    "numactl",
    "perf",
    "podman",
    "setsid",
    "sh",
    "ssh",
    "sshpass",
    "stdbuf",
    "strace",
    "sudo",
    "systemd-run",
    "taskset",
    "time",
    "timeout",
    "zsh",
];

/// Whether the word behind a short option belongs to it.
#[derive(Clone, Copy, PartialEq)]
enum NextWord {
    IsSecret,
    IsAnother,
}

/// The command line with its secrets replaced; bytes that are not UTF-8 are shown as such.
pub fn redact(argv: &[OsString]) -> Vec<String> {
    let mut words = Words::default();
    argv.iter()
        .map(|word| words.redact(&word.to_string_lossy()))
        .collect()
}

/// A text that is quoted from a tool, with its secrets replaced.
pub fn redact_text(quoted: &str) -> String {
    text(quoted)
}

/// What the words so far say about the next one.
#[derive(Default)]
struct Words {
    /// Names of the programs that may be the one whose options follow.
    programs: Vec<String>,
    /// The last word was an option whose value is a secret.
    secret_next: bool,
    /// The last word was `-c` or its like: a shell's script follows.
    script_next: bool,
}

impl Words {
    fn redact(&mut self, word: &str) -> String {
        // A secret that begins with two dashes is less likely than an option without a value.
        if std::mem::take(&mut self.secret_next) && !word.starts_with("--") {
            return HIDDEN.to_owned();
        }
        if std::mem::take(&mut self.script_next) && word.contains(char::is_whitespace) {
            return script(word);
        }
        self.note_program(word);
        if word.starts_with('-')
            && let Some(redacted) = self.option(word)
        {
            return redacted;
        }
        assignment(word).unwrap_or_else(|| text(word))
    }

    fn note_program(&mut self, word: &str) {
        let wrapped = self
            .programs
            .first()
            .is_some_and(|first| WRAPPERS.contains(&first.as_str()));
        if (self.programs.is_empty() || wrapped) && !word.starts_with('-') && !word.contains('=') {
            let name = word.rsplit('/').next().unwrap_or(word);
            self.programs.push(name.to_owned());
        }
        self.script_next = wrapped_script(&self.programs, word);
    }

    /// An option that is a secret, holds one, or announces one.
    fn option(&mut self, word: &str) -> Option<String> {
        for (program, option, next_word) in SHORT_OPTIONS {
            let is_program = |name: &String| match program.strip_suffix('*') {
                Some(start) => name.starts_with(start),
                None => name == program,
            };
            if word.starts_with(option) && self.programs.iter().any(is_program) {
                self.secret_next = word == *option && *next_word == NextWord::IsSecret;
                let hidden = if word == *option { "" } else { HIDDEN };
                return Some(format!("{option}{hidden}"));
            }
        }
        match word.split_once('=') {
            Some((name, _)) if is_secret_name(name) => Some(format!("{name}={HIDDEN}")),
            Some(_) => None,
            None => {
                // -password is how Java and Go programs spell it; -no-password announces nothing.
                let name = word.trim_start_matches('-');
                self.secret_next = !name.starts_with("no-") && is_secret_name(name);
                None
            }
        }
    }
}

/// Whether `word` says that the next one is a script for a shell.
fn wrapped_script(programs: &[String], word: &str) -> bool {
    let shell = programs
        .iter()
        .any(|name| ["sh", "bash", "dash", "zsh"].contains(&name.as_str()));
    shell && word.starts_with('-') && !word.starts_with("--") && word.ends_with('c')
}

/// A shell's script: its words are read like those of a command line.
fn script(script: &str) -> String {
    static WORD: LazyLock<Regex> =
        LazyLock::new(|| pattern(r#"(?:[^\s'"\\]|\\.|'[^']*'?|"(?:\\.|[^"\\])*"?|\\$)+"#));
    let mut words = Words {
        programs: vec!["sh".to_owned()],
        ..Words::default()
    };
    WORD.replace_all(script, |word: &Captures| words.redact(&word[0]))
        .into_owned()
}

/// A whole word `NAME=value`: an environment variable, or the only pair of its word. A conninfo
/// string has more pairs and is left to `text`.
fn assignment(word: &str) -> Option<String> {
    let (name, value) = word.split_once('=')?;
    let variable = !name.contains(|c: char| c.is_ascii_lowercase());
    let quoted = value.trim_start().starts_with(['\'', '"']);
    let alone = variable || (!quoted && !value.contains('='));
    (alone && is_secret_name(name)).then(|| format!("{name}={HIDDEN}"))
}

/// Secrets anywhere in a text: in URLs, in pairs of name and value, in headers.
fn text(text: &str) -> String {
    // user:secret@ - up to the last @ before the host ends, as secrets hold unescaped ones; also
    // with a slash in it, unless what comes before the slash is a port.
    static USER: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"([a-z][a-z0-9+.-]*://[^\s/?#:@\[]*:)(?:[^\s/?#]*|[^\s/?#]*[^\s/?#\d][^\s/?#]*[/?#]\S*)@",
        )
    });
    // ALTER ROLE u PASSWORD 'x', IDENTIFIED BY 'x'
    static SQL: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r#"(\b(?:password|identified\s+by|identified\s+with\s+\S+\s+by)\s+)(?:'(?:''|\\.|[^'\\])*'?|"(?:\\.|[^"\\])*"?)"#,
        )
    });
    static NAMED: LazyLock<[Regex; 3]> = LazyLock::new(|| {
        let value = r#"(?:'(?:\\.|[^'\\])*'?|"(?:\\.|[^"\\])*"?|(?:\\.|[^\s\\])*)"#;
        [
            pattern(&format!(r"([?&;])({NAME})(=)[^&#\s]*")),
            pattern(&format!(r#"(^|[\s"'({{,])({NAME})(["']?\s*=\s*){value}"#)),
            pattern(&format!(
                r#"(^|[\s"'({{,=])({NAME}|{HEADER})(["']?\s*:\s*).+"#
            )),
        ]
    });
    let text = USER.replace_all(text, "${1}***@");
    let mut text = SQL.replace_all(&text, "${1}***").into_owned();
    for named in &*NAMED {
        let hidden = |found: &Captures| match names_file(&found[2]) {
            true => found[0].to_owned(),
            false => format!("{}{}{}{HIDDEN}", &found[1], &found[2], &found[3]),
        };
        text = named.replace_all(&text, hidden).into_owned();
    }
    text
}

/// What the name of a secret looks like.
const NAME: &str = r"(?:[\w.-]*(?:passw(?:or)?d|passphrase|pwd|secret|token|api[-_.]?key|credential)[\w.-]*|(?:[\w.-]*[_.-])?pass)";

/// Headers that are secret besides.
const HEADER: &str = r"[\w-]*(?:authorization|cookie)";

/// Whether `name` names a secret, and not a file that holds one.
fn is_secret_name(name: &str) -> bool {
    static WHOLE: LazyLock<Regex> = LazyLock::new(|| pattern(&format!("^{NAME}$")));
    WHOLE.is_match(name) && !names_file(name)
}

fn names_file(name: &str) -> bool {
    name.to_ascii_lowercase().ends_with("file")
}

/// Compiles a constant: letters of either case, and `.` for line ends too.
fn pattern(pattern: &str) -> Regex {
    Regex::new(&format!("(?is){pattern}")).expect("the patterns are constants, and tests use each")
}
