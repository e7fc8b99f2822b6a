//! Programs that start another one with something changed: `timeout 30 taskset -c 0 COMMAND`. The command is what
//! makes the load, and has its name.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use crate::namespace;

/// A program that starts another.
struct Wrapper {
    name: &'static str,
    /// Options whose value is a word of its own.
    valued: &'static [&'static str],
    /// Words of its own before the command, options aside.
    operands: usize,
}

const fn wrapper(name: &'static str, valued: &'static [&'static str], operands: usize) -> Wrapper {
    Wrapper {
        name,
        valued,
        operands,
    }
}

/// As their manual pages have them.
const WRAPPERS: [Wrapper; 13] = [
    wrapper("timeout", &["-k", "--kill-after", "-s", "--signal"], 1),
    wrapper("taskset", &[], 1),
    wrapper("env", &["-u", "--unset", "-C", "--chdir"], 0),
    wrapper(
        "sudo",
        &[
            "-u", "-g", "-h", "-p", "-C", "-r", "-t", "-T", "-D", "-R", "-U",
        ],
        0,
    ),
    wrapper("numactl", &["-N", "-m", "-i", "-p", "-P", "-C", "-w"], 0),
    wrapper("nice", &["-n"], 0),
    wrapper("ionice", &["-c", "-n"], 0),
    wrapper("chrt", &["-T", "-P", "-D"], 1),
    wrapper("stdbuf", &["-i", "-o", "-e"], 0),
    wrapper("setsid", &[], 0),
    wrapper("nohup", &[], 0),
    wrapper("time", &["-f", "-o"], 0),
    wrapper("exec", &["-a"], 0),
];

const SHELLS: [&str; 4] = ["sh", "bash", "dash", "ash"];

/// How many words stand before the command proper: those of wrappers, and of `ip netns exec NAME`; 0 where nothing
/// is left behind them.
pub(crate) fn prefix_length(argv: &[OsString]) -> usize {
    let mut length = 0;
    loop {
        let rest = &argv[length..];
        let own = match namespace::prefix_length(rest) {
            0 => of_wrapper(rest),
            own => own,
        };
        match own {
            0 => return length,
            own if length + own >= argv.len() => return length,
            own => length += own,
        }
    }
}

/// What people call a command: its program without folder and wrappers; of `sh -c 'COMMAND'` that of the command.
pub fn name_of(argv: &[OsString]) -> String {
    if let Some(own) = crate::instance::first(argv) {
        return name_of(&own);
    }
    let command = &argv[prefix_length(argv)..];
    if let Some(inner) = script(command) {
        let words: Vec<OsString> = inner.split_whitespace().map(OsString::from).collect();
        let first = words.iter().position(|word| !is_assignment(word));
        // Of more than a command a shell script is made: its name is the shell's.
        let is_plain = !inner.contains([';', '&', '|', '\n', '$', '`', '(', '{']);
        if let Some(first) = first.filter(|_| is_plain) {
            return name_of(&words[first..]);
        }
    }
    let program = command.first().map(Path::new).and_then(Path::file_name);
    program.map_or(String::new(), |name| name.to_string_lossy().into_owned())
}

/// The command of `sh -c 'COMMAND'` where its words are known without a shell: no redirections, variables and patterns.
/// In a pipe it is the last one that is not `tee`, because that prints what the user sees; earlier ones of the same
/// program are parts of it, as in `vegeta attack | vegeta report`, and any other feeds it.
pub(crate) fn in_shell(command: &[OsString]) -> Option<Vec<OsString>> {
    let mut stages = crate::pipe::stages(script(command)?)?;
    for stage in &mut stages {
        let own = stage.iter().take_while(|word| is_assignment(word)).count();
        stage.drain(..own);
    }
    while stages.len() > 1 && program(stages.last()?)? == "tee" {
        stages.pop();
    }
    let last = stages.pop().filter(|words| !words.is_empty())?;
    let name = program(&last)?.to_owned();
    let parts = stages
        .into_iter()
        .filter(|stage| program(stage) == Some(&name));
    let mut words: Vec<OsString> = parts.flatten().collect();
    // The program's name stands once.
    let repeated = usize::from(!words.is_empty());
    words.extend(last.into_iter().skip(repeated));
    Some(words)
}

/// The file name of a command's program.
fn program(words: &[OsString]) -> Option<&OsStr> {
    Path::new(words.first()?).file_name()
}

fn of_wrapper(argv: &[OsString]) -> usize {
    let program = argv.first().and_then(|word| Path::new(word).file_name());
    let Some(wrapper) = program.and_then(|name| WRAPPERS.iter().find(|it| name == it.name)) else {
        return 0;
    };
    let mut at = 1;
    while let Some(word) = argv.get(at).and_then(|word| word.to_str()) {
        if word == "--" {
            at += 1;
            break;
        }
        if word.len() > 1 && word.starts_with('-') {
            at += 1 + usize::from(wrapper.valued.contains(&word));
        } else if is_assignment(&argv[at]) && wrapper.operands == 0 {
            at += 1;
        } else {
            break;
        }
    }
    at + wrapper.operands
}

/// The script of `sh -c SCRIPT`.
fn script(argv: &[OsString]) -> Option<&str> {
    let name = Path::new(argv.first()?).file_name()?;
    let is_shell = SHELLS.iter().any(|shell| name == *shell);
    let asked = argv.get(1)?.to_str()?;
    let runs = asked.starts_with('-') && !asked.starts_with("--") && asked.ends_with('c');
    (is_shell && runs).then(|| argv.get(2)?.to_str()).flatten()
}

/// `NAME=VALUE`, for the environment.
fn is_assignment(word: &OsString) -> bool {
    let name = word.to_str().and_then(|word| word.split_once('='));
    name.is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Adjust, prepare, prepare_as};

    fn words(line: &str) -> Vec<OsString> {
        line.split('|').map(OsString::from).collect()
    }

    #[test]
    fn a_command_has_its_own_name_whoever_starts_it() {
        for (line, name) in [
            ("redis-benchmark|-c|4", "redis-benchmark"),
            ("timeout|30|/usr/bin/wrk|-c4", "wrk"),
            ("timeout|-s|INT|--foreground|30s|wrk", "wrk"),
            ("taskset|-c|0,1|wrk", "wrk"),
            ("taskset|0x3|wrk", "wrk"),
            ("env|-i|A=1|B=|wrk", "wrk"),
            ("sudo|-u|postgres|-E|A=1|wrk", "wrk"),
            ("numactl|--cpunodebind=0|-m|0|wrk", "wrk"),
            ("nice|-n|10|timeout|9|taskset|-c|1|wrk|-c|4", "wrk"),
            ("ip|netns|exec|far|timeout|9|wrk", "wrk"),
            ("sh|-c|exec wrk -c 4 http://x", "wrk"),
            ("bash|-lc|A=1 timeout 5 wrk", "wrk"),
            ("sh|-c|sleep 1; wrk", "sh"),
            ("sh|load.sh", "sh"),
            ("timeout|30", "timeout"),
            ("timeout", "timeout"),
            ("sudo|-u", "sudo"),
        ] {
            assert_eq!(name_of(&words(line)), name, "{line}");
        }
        assert_eq!(name_of(&[]), "");
    }

    #[test]
    fn a_shell_runs_a_known_generator_as_typed() {
        let typed = words("sh|-c|A=1 exec pgbench -c 4 b");
        let prepared = prepare(&typed, Adjust::Allowed).expect("pgbench is known");
        assert_eq!((prepared.adapter, &prepared.argv), ("pgbench", &typed));
        assert_eq!(prepared.load.clients, Some(4));
        for other in [
            "sh|-c|pgbench -c 4 b > out",
            "sh|-c|pgbench $OPTIONS b",
            "sh|-c|pgbench b; sleep 1",
            "sh|-c|A=1",
            "sh|-c|",
        ] {
            assert!(prepare(&words(other), Adjust::Allowed).is_none(), "{other}");
        }
    }

    #[test]
    fn of_a_pipe_the_command_is_understood_whose_output_the_user_sees() {
        // `|` separates words in these tests.
        let inner = |script: &str| in_shell(&["sh".into(), "-c".into(), script.into()]);
        for (script, command) in [
            (
                "wrk -c 4 'http://x/?a=1&b=2' | tee log",
                "wrk|-c|4|http://x/?a=1&b=2",
            ),
            ("cat u | A=1 siege -f - ", "siege|-f|-"),
            (
                "echo \"GET http://x\" | /opt/vegeta attack -rate 9 | tee a | vegeta report -type=json|tee b",
                "/opt/vegeta|attack|-rate|9|report|-type=json",
            ),
            ("vegeta report a.bin", "vegeta|report|a.bin"),
            ("tee a", "tee|a"),
        ] {
            assert_eq!(inner(script), Some(words(command)), "{script}");
        }
        for script in [
            "wrk http://x |",
            "| wrk",
            "wrk || true",
            "wrk &",
            "wrk 'x",
            "",
        ] {
            assert_eq!(inner(script), None, "{script}");
        }
    }

    #[test]
    fn a_chosen_adapter_reads_a_script_and_leaves_its_words_alone() {
        let typed = words("timeout|9|./load.sh|-c|4");
        let chosen = "pgbench".parse().expect("it is an adapter");
        let prepared = prepare_as(chosen, &typed, Adjust::Allowed);
        assert_eq!((prepared.adapter, &prepared.argv), ("pgbench", &typed));
        assert_eq!(prepared.load.clients, None);
        let own = prepare_as(chosen, &words("pgbench|-c|4"), Adjust::Allowed);
        assert_eq!((own.load.clients, own.argv.len()), (Some(4), 5));
        let refused = "pgbensch".parse::<crate::Chosen>().unwrap_err();
        assert!(refused.contains("pgbench, ysql_bench"), "{refused}");
    }

    #[test]
    fn a_known_generator_is_prepared_behind_wrappers() {
        let typed = words("timeout|60|taskset|-c|0|pgbench|-c|4|b");
        let prepared = prepare(&typed, Adjust::Allowed).expect("pgbench is known");
        assert_eq!(prepared.adapter, "pgbench");
        assert_eq!(
            prepared.argv,
            words("timeout|60|taskset|-c|0|pgbench|-P|1|-c|4|b")
        );
    }
}
