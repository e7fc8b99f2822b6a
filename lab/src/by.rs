//! Variants of a run: the same situation, of which `stallscope` knows less. The answer must not hang on a
//! generator's progress lines, on its name, or on `stallscope` having started it.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::ValueEnum;

use crate::binary;
use crate::scenario::{AROUND, Expect, Load, Recorded};
use crate::stage::Stage;

/// Generators that `stallscope` may know by their name.
const GENERATORS: [&str; 6] = ["pgbench", "sysbench", "wrk", "hey", "ab", "redis-benchmark"];
/// What a generator is called where nobody is to know it.
const STRANGER: &str = "asks-a-lot";
/// Options that make a generator print something while it runs, or its times at the end.
const PROGRESS: [&str; 3] = ["--report-interval=", "--progress=", "--latency"];
/// Options of `stallscope` that are about the server, and not about its load.
const OF_THE_SERVER: [&str; 4] = ["--target", "--postgres", "--mysql", "--pgbouncer"];

/// What `stallscope` knows of the load.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum By {
    /// As the situation has it.
    #[default]
    Usual,
    /// The generator prints nothing before its end (pgbench without -P), and no option is added to it
    Plain,
    /// The generator runs under a name that nobody knows, and nothing is said of its output
    Unknown,
    /// `record` looks on, with the server as its target, and the lab starts the load
    Record,
}

impl By {
    /// Where results are kept: those of a variant apart from the others.
    pub fn folder(self, out: &Path) -> PathBuf {
        match self {
            By::Usual => out.to_path_buf(),
            _ => out.join(format!("by-{}", self.word())),
        }
    }

    /// The word on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            By::Usual => "usual",
            By::Plain => "plain",
            By::Unknown => "unknown",
            By::Record => "record",
        }
    }

    /// How much longer the load must run than what is recorded of it, s.
    pub fn longer(self) -> u64 {
        match self {
            By::Record => 2 * AROUND.as_secs(),
            _ => 0,
        }
    }

    /// What must be found. Where nothing is known of what the generator asks for, nobody can say that it was its
    /// rate or its few connections that limited it. And what came first and what later is told by throughput, which
    /// is the generator's to say: then any phase's answer is right.
    pub fn expects(self, usual: Expect) -> Expect {
        let mut expect = usual;
        if self == By::Usual {
            return expect;
        }
        if let Some(((cause, entity), others)) = usual.phases.split_first() {
            expect = Expect {
                or: others,
                ..Expect::one(cause, *entity)
            };
        }
        let of_load = |cause: &&str| cause.starts_with("load.");
        if self != By::Plain {
            expect.also = expect.also.filter(|cause| !of_load(cause));
        }
        expect
    }

    /// The load as this variant has it; the inner result says why there is none.
    pub fn of(self, load: Load, stage: &Stage) -> Result<std::result::Result<Load, String>> {
        if self == By::Usual {
            return Ok(Ok(load));
        }
        if load.recorded == Recorded::Record {
            return Ok(Err("`record` looks on at its usual run already".to_owned()));
        }
        match self {
            By::Usual => Ok(Ok(load)),
            By::Plain => Ok(Ok(plain(load))),
            By::Unknown => unknown(load, stage),
            By::Record => Ok(recorded(load, stage)),
        }
    }
}

/// Without anything that is printed on the way.
fn plain(mut load: Load) -> Load {
    let prints = |word: &OsString| {
        let word = word.to_string_lossy();
        PROGRESS.iter().any(|option| word.starts_with(option))
    };
    load.command.retain(|word| !prints(word));
    if is_own(&load) {
        load.command.push("--quiet".into());
    }
    load.options.retain(|(option, _)| *option != "--metric");
    if !load.options.iter().any(|(it, _)| *it == "--no-adjust") {
        load = load.with_flag("--no-adjust");
    }
    load
}

/// Whether it is one of this program's own generators, which print a line per second.
fn is_own(load: &Load) -> bool {
    let words = load.command.iter().map(OsString::as_os_str);
    let mut words = words.skip_while(|word| !name_of(word).starts_with("lab-"));
    words.next().is_some()
}

fn name_of(word: &OsStr) -> String {
    let name = Path::new(word).file_name().unwrap_or(word);
    name.to_string_lossy().into_owned()
}

/// With its generator under another name.
fn unknown(mut load: Load, stage: &Stage) -> Result<std::result::Result<Load, String>> {
    let told = load.options.len();
    load.options.retain(|(option, _)| *option != "--metric");
    let mut renamed = false;
    for word in &mut load.command {
        let text = word.to_string_lossy().into_owned();
        for generator in GENERATORS {
            if has_word(&text, generator) {
                let stranger = copy(generator, stage)?;
                *word = replaced(&text, generator, &stranger.to_string_lossy()).into();
                renamed = true;
                break;
            }
        }
    }
    if !renamed && told == load.options.len() {
        return Ok(Err("nothing is known of its generator already".to_owned()));
    }
    Ok(Ok(load))
}

/// Whether a text is a program's name, or a line of a shell that starts it.
fn has_word(text: &str, name: &str) -> bool {
    text.split_ascii_whitespace().any(|word| word == name)
}

/// The line with another program in its place.
fn replaced(text: &str, name: &str, by: &str) -> String {
    let words = text.split(' ');
    let words = words.map(|word| if word == name { by } else { word });
    words.collect::<Vec<_>>().join(" ")
}

/// A copy of a generator, and no link: what a link points to can be looked up.
fn copy(generator: &str, stage: &Stage) -> Result<PathBuf> {
    let program = match generator {
        // What stands first in the PATH of a Debian is a script that looks for it.
        "pgbench" => Some(PathBuf::from(
            stage.started()?.client(generator).get_program(),
        )),
        _ => binary::in_path(generator),
    };
    let program = program.with_context(|| format!("there is no {generator} in PATH"))?;
    let stranger = stage.folder().join(STRANGER);
    fs::copy(&program, &stranger).with_context(|| format!("cannot copy {}", program.display()))?;
    Ok(stranger)
}

/// Beside `record`, with the server as its target by its port, as who knows the server has it.
fn recorded(mut load: Load, stage: &Stage) -> std::result::Result<Load, String> {
    load.recorded = Recorded::Record;
    let of_server = |option: &&str| OF_THE_SERVER.contains(option);
    load.options.retain(|(option, _)| of_server(option));
    if load.options.iter().any(|(option, _)| *option == "--target") {
        return Ok(load);
    }
    let words: Vec<String> = load
        .command
        .iter()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let postgres = || stage.started().ok().map(crate::postgres::Postgres::port);
    match port_in(&words).or_else(postgres) {
        Some(port) => Ok(load.with("--target", format!("port:{port}"))),
        None => Err("its command does not say which server it asks".to_owned()),
    }
}

/// The port that a command asks.
fn port_in(words: &[String]) -> Option<u16> {
    let words: Vec<&str> = words
        .iter()
        .flat_map(|word| word.split_ascii_whitespace())
        .collect();
    let in_one = words.iter().find_map(|word| {
        let behind = ["127.0.0.1:", "--mysql-port="];
        let mut rest = behind.iter().filter_map(|it| word.split_once(it));
        number_at_start(rest.next()?.1)
    });
    let in_two = || {
        let mut pairs = words.windows(2);
        pairs.find_map(|pair| match pair {
            ["-p" | "--port", port] => number_at_start(port),
            _ => None,
        })
    };
    // A generator of the lab's in JavaScript takes it without an option.
    let in_place = || match words.as_slice() {
        ["node", _, port, ..] => number_at_start(port),
        _ => None,
    };
    in_one.or_else(in_two).or_else(in_place)
}

fn number_at_start(text: &str) -> Option<u16> {
    let end = text.find(|letter: char| !letter.is_ascii_digit());
    text[..end.unwrap_or(text.len())].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Who;

    fn words(load: &Load) -> Vec<String> {
        let words = load.command.iter();
        words
            .map(|word| word.to_string_lossy().into_owned())
            .collect()
    }

    fn told(load: &Load) -> Vec<&str> {
        load.options.iter().map(|(option, _)| *option).collect()
    }

    #[test]
    fn a_plain_generator_says_nothing_on_the_way() {
        let load = Load::new(["sysbench", "--report-interval=1", "oltp_insert"])
            .with("--metric", "a=b")
            .with("--mysql", "x");
        let load = plain(load);
        assert_eq!(words(&load), ["sysbench", "oltp_insert"]);
        assert_eq!(told(&load), ["--mysql", "--no-adjust"]);
        let own = plain(Load::new(["/tmp/x/lab-load", "load"]));
        assert_eq!(words(&own), ["/tmp/x/lab-load", "load", "--quiet"]);
    }

    #[test]
    fn a_generator_is_unknown_by_another_name() {
        let stage = Stage::new().expect("a folder");
        let load = Load::new(["taskset", "-c", "1", "true"]).with("--metric", "a=b");
        let load = unknown(load, &stage).expect("nothing to copy");
        assert_eq!(told(&load.expect("less is said of it")), Vec::<&str>::new());
        assert!(
            unknown(Load::new(["node"]), &stage)
                .expect("nothing to copy")
                .is_err()
        );
        let line = "timeout 5 redis-benchmark -p 7; redis-benchmark -p 7";
        assert!(has_word(line, "redis-benchmark") && !has_word(line, "ab"));
        let line = replaced(line, "redis-benchmark", "/t/x");
        assert_eq!(line, "timeout 5 /t/x -p 7; /t/x -p 7");
    }

    #[test]
    fn the_server_is_named_by_its_port_where_record_looks_on() {
        let stage = Stage::new().expect("a folder");
        let target = |load: Load| {
            let load = recorded(load, &stage).ok()?;
            assert_eq!(load.recorded, Recorded::Record);
            let (option, value) = load.options.first()?.clone();
            assert_eq!(option, "--target");
            value?.into_string().ok()
        };
        let port = Some("port:4711".to_owned());
        for command in [
            &["hey", "-c", "4", "http://127.0.0.1:4711/"][..],
            &["sh", "-c", "timeout 9 redis-benchmark -p 4711 -c 8 || true"],
            &["sysbench", "--time=9", "--mysql-port=4711"],
            &["python3", "client.py", "--port", "4711", "--seconds", "9"],
            &["node", "client.js", "4711", "16"],
        ] {
            assert_eq!(
                target(Load::new(command.iter().copied())),
                port,
                "{command:?}"
            );
        }
        let far = Load::new(["lab-load", "10.0.0.1:7000"]).with("--target", "pid:7");
        assert_eq!(
            target(far.with("--metric", "a=b")),
            Some("pid:7".to_owned())
        );
        assert!(recorded(Load::new(["true"]), &stage).is_err());
    }

    #[test]
    fn what_only_the_generator_says_is_not_expected() {
        let of = |by: By, expect: Expect| by.expects(expect).to_string();
        assert_eq!(
            of(By::Usual, Expect::healthy()),
            Expect::healthy().to_string()
        );
        assert_eq!(
            of(By::Plain, Expect::healthy()),
            Expect::healthy().to_string()
        );
        assert_eq!(of(By::Record, Expect::healthy()), "healthy of the target");
        let steps = Expect {
            phases: &[("a.b", Who::Target), ("c.d", Who::LimitedGroup)],
            ..Expect::one("c.d", Who::LimitedGroup)
        };
        let any = "a.b of the target, or c.d of the limited group";
        assert_eq!(of(By::Unknown, steps), any);
        let lock = Expect {
            also: Some("lock.futex"),
            ..Expect::one("cpu.quota", Who::LimitedGroup)
        };
        assert_eq!(of(By::Unknown, lock), lock.to_string());
    }

    #[test]
    fn results_of_a_variant_are_kept_apart() {
        let out = Path::new("out");
        assert_eq!(By::Usual.folder(out), out);
        assert_eq!(By::Plain.folder(out), Path::new("out/by-plain"));
    }
}
