//! `play`: does things at the times of a schedule, and notes when it did. A clock that keeps no period of its own: who
//! writes the schedule knows what is periodic, and who watches the machine does not.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;

use super::schedule::{Line, note, read, sleep_until};
use super::sessions;

/// Connections of a burst stay open for so long.
const KEPT: Duration = Duration::from_millis(50);

/// Arguments of `play`.
#[derive(Args)]
pub struct PlayArguments {
    /// Lines of a time (ms since 1970), a label, and what is done then: `run WORDS`, `connect ADDRESS COUNT`,
    /// `sessions ADDRESS COUNT USER DATABASE` or `log FILE WORDS`
    schedule: PathBuf,
    /// Where the time (ns since 1970) and the label of each is written when it is done
    #[arg(long)]
    noted: Option<PathBuf>,
}

/// Plays to the end of the schedule. What could not be done is said, and the rest goes on.
pub fn play(arguments: &PlayArguments) -> Result<u8> {
    let lines = read(&arguments.schedule)?;
    let mut noted = arguments.noted.as_deref().map(create).transpose()?;
    let mut running: Vec<Child> = Vec::new();
    println!("playing");
    for line in &lines {
        sleep_until(line.at_ms);
        running.retain_mut(|child| matches!(child.try_wait(), Ok(None)));
        if let Some(noted) = &mut noted {
            note(noted, &line.label)?;
        }
        match act(line) {
            Ok(started) => running.extend(started),
            Err(error) => eprintln!("{}: {error:#}", line.label),
        }
    }
    for mut child in running {
        let _ = child.wait();
    }
    Ok(0)
}

fn create(path: &Path) -> Result<File> {
    File::create(path).with_context(|| format!("cannot write {}", path.display()))
}

/// The process that was started, if any.
fn act(line: &Line) -> Result<Option<Child>> {
    let mut words = line.action.split_ascii_whitespace();
    let kind = words.next().unwrap_or_default();
    let words: Vec<&str> = words.collect();
    match (kind, words.as_slice()) {
        ("run", [program, rest @ ..]) => {
            let mut command = Command::new(program);
            command.args(rest).stdin(Stdio::null());
            let child = command.spawn();
            return Ok(Some(
                child.with_context(|| format!("cannot run {program}"))?,
            ));
        }
        ("connect", [address, count]) => {
            let open = (0..count.parse()?).map(|_: u32| TcpStream::connect(address));
            let open: Vec<TcpStream> = open.collect::<Result<_, _>>()?;
            std::thread::sleep(KEPT);
            drop(open);
        }
        ("sessions", [address, count, user, database]) => {
            sessions::at_once(address, count.parse()?, user, database)?;
        }
        ("log", [file, words @ ..]) => {
            let opened = OpenOptions::new().create(true).append(true).open(file);
            writeln!(opened?, "{}", words.join(" "))?;
        }
        _ => bail!("nobody knows how to do: {}", line.action),
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(action: &str) -> Line {
        Line {
            at_ms: 0,
            label: "a".to_owned(),
            action: action.to_owned(),
        }
    }

    #[test]
    fn what_is_not_known_is_refused() {
        for action in [
            "",
            "run",
            "jump high",
            "connect 127.0.0.1:1",
            "sessions a 1",
        ] {
            assert!(act(&line(action)).is_err(), "{action}");
        }
    }

    #[test]
    fn a_schedule_is_played_and_noted() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = |name: &str| folder.path().join(name);
        let log = path("log");
        let schedule = format!(
            "0 first log {0} one two\n0 second log {0} three\n0 third run true\n",
            log.display()
        );
        std::fs::write(path("schedule"), schedule).expect("written");
        let arguments = PlayArguments {
            schedule: path("schedule"),
            noted: Some(path("noted")),
        };
        assert_eq!(play(&arguments).expect("it is played"), 0);
        let logged = std::fs::read_to_string(log).expect("a log");
        assert_eq!(logged, "one two\nthree\n");
        let noted = std::fs::read_to_string(path("noted")).expect("a file");
        let labels: Vec<&str> = noted
            .lines()
            .filter_map(|it| Some(it.split_once(' ')?.1))
            .collect();
        assert_eq!(labels, ["first", "second", "third"]);
    }
}
