//! The syntax of `--target`: `[role=]port:5432 | cgroup:PATH | unit:NAME | pid:N | name:REGEX`.

use std::fmt;
use std::str::FromStr;

use model::{EntityKind, Part, Role, Sentence, sentence};
use regex::Regex;

use super::error::Error;

/// How a target is named.
#[derive(Clone, Debug)]
pub enum TargetSpec {
    /// The process that listens on this TCP port.
    Port(u16),
    /// The processes of a cgroup, by its path below the mount; bytes that are no UTF-8 as `\xNN`.
    Cgroup(String),
    /// The processes of a systemd unit, with or without `.service` or `.scope`.
    Unit(String),
    /// One process and its descendants.
    Pid(u32),
    /// The processes whose name matches.
    Name(Regex),
}

impl From<&TargetSpec> for Sentence {
    fn from(spec: &TargetSpec) -> Self {
        match spec {
            TargetSpec::Port(port) => sentence!("port:{}", *port),
            TargetSpec::Cgroup(path) => {
                sentence!("cgroup:{}", Part::name(EntityKind::Cgroup, path))
            }
            TargetSpec::Unit(name) => sentence!("unit:{}", Part::name(EntityKind::Cgroup, name)),
            TargetSpec::Pid(pid) => sentence!("pid:{}", *pid),
            TargetSpec::Name(pattern) => sentence!("name:{}", pattern.to_string()),
        }
    }
}

impl fmt::Display for TargetSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Sentence::from(self).fmt(f)
    }
}

impl FromStr for TargetSpec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let Some((form, value)) = text.split_once(':') else {
            return Err(form_error(format!(
                "`{text}` does not say what it is: {}",
                advice(text)
            )));
        };
        let wrong = |why: &str| form_error(format!("`{text}` names no target: {why}"));
        if value.is_empty() {
            return Err(wrong("nothing follows the colon"));
        }
        match form {
            "port" => match value.parse() {
                Ok(0) | Err(_) => Err(wrong("a port is a number from 1 to 65535")),
                Ok(port) => Ok(TargetSpec::Port(port)),
            },
            "pid" => match value.parse() {
                Ok(0) | Err(_) => Err(wrong("a pid is a number above 0")),
                Ok(pid) => Ok(TargetSpec::Pid(pid)),
            },
            "cgroup" if value.split('/').any(|part| part == "..") => Err(wrong(
                "the path of a cgroup goes down from the mount, without `..`",
            )),
            "cgroup" => Ok(TargetSpec::Cgroup(value.to_owned())),
            "unit" if value.contains('/') => {
                Err(wrong("a unit has no `/` in its name (use cgroup:PATH)"))
            }
            "unit" => Ok(TargetSpec::Unit(value.to_owned())),
            "name" => match Regex::new(value) {
                Ok(pattern) => Ok(TargetSpec::Name(pattern)),
                Err(error) => Err(wrong(&format!(
                    "not a regular expression ({})",
                    last_line(&error)
                ))),
            },
            _ => Err(wrong(&format!("`{form}` is not a way to name one"))),
        }
    }
}

/// A target as given on the command line.
#[derive(Clone, Debug)]
pub struct NamedTarget {
    /// Its role; `target` by default.
    pub role: Role,
    /// How it is named.
    pub spec: TargetSpec,
    /// The argument as it was given.
    pub text: Sentence,
}

impl FromStr for NamedTarget {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        // A `=` after the colon belongs to a path or a pattern.
        let (named, spec) = match text.split_once('=') {
            Some((role, spec)) if !role.contains(':') => (Some(parse_role(role, text)?), spec),
            _ => (None, text),
        };
        let spec: TargetSpec = spec.parse()?;
        let text = match named {
            Some(role) => sentence!("{}={}", role.word(), &spec),
            None => Sentence::from(&spec),
        };
        Ok(Self {
            role: named.unwrap_or(Role::Target),
            text,
            spec,
        })
    }
}

fn parse_role(word: &str, text: &str) -> Result<Role, Error> {
    const NAMEABLE: [Role; 3] = [Role::Target, Role::Dependency, Role::Generator];
    let named = NAMEABLE.into_iter().find(|role| role.word() == word);
    named.ok_or_else(|| {
        form_error(format!(
            "`{text}` gives the role `{word}`: it may be target, dependency or generator"
        ))
    })
}

fn form_error(mut problem: String) -> Error {
    if !problem.ends_with('?') {
        problem.push('.');
    }
    Error::Form { problem }
}

/// Suggests the form that an argument without one may have meant.
fn advice(text: &str) -> String {
    if text.is_empty() {
        "it is empty".to_owned()
    } else if text.bytes().all(|byte| byte.is_ascii_digit()) {
        format!("did you mean pid:{text} or port:{text}?")
    } else if text.contains('/') {
        format!("did you mean cgroup:{text}?")
    } else {
        format!("did you mean name:{text} or unit:{text}?")
    }
}

/// The regex crate marks the place of the error over several lines; the last one has the message.
fn last_line(error: &regex::Error) -> String {
    let text = error.to_string();
    let line = text.lines().last().unwrap_or_default();
    line.trim().trim_start_matches("error: ").to_owned()
}
