//! What a sweep does: what was typed, and what a file has that was not typed.

use std::ffi::OsString;
use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use model::{Goal, SweptParameter};
use serde::Deserialize;
use targets::NamedTarget;

use super::parameter::{INSTANCE, Meaning, Parameter, combinations};
use crate::arguments::Sweep;
use crate::duration::parse_duration;
use crate::goal::parse_goal;
use crate::turns::argv;

/// Configurations of all parameters together.
const MOST_CONFIGURATIONS: usize = 10_000;
/// Instances of a load at once.
const MOST_INSTANCES: usize = 256;
/// A file of more bytes is no plan.
const MOST_BYTES: u64 = 1 << 20;
const REPEAT: u32 = 3;
const COOL_DOWN: Duration = Duration::from_secs(1);

/// A sweep, complete before anything has an effect.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) parameters: Vec<Parameter>,
    /// The command with parameters in braces.
    pub(super) command: Vec<OsString>,
    /// Shell commands with parameters in braces: when the configuration changes, before and after each run.
    pub(super) apply: Vec<String>,
    pub(super) prepare: Vec<String>,
    pub(super) cleanup: Vec<String>,
    pub(super) repeat: u32,
    pub(super) goal: Option<Goal>,
    pub(super) cool_down: Duration,
    pub(super) budget: Option<Duration>,
    /// The options of `run` that each run gets, word by word.
    pub(super) options: Vec<String>,
    /// The servers that are named.
    targets: Vec<NamedTarget>,
}

/// The same as a file, `sweep.toml`; its keys are the options.
#[derive(Default, Deserialize, Debug)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
struct File {
    command: Option<String>,
    set: Vec<String>,
    repeat: Option<u32>,
    slo: Option<String>,
    apply: Vec<String>,
    prepare: Vec<String>,
    cleanup: Vec<String>,
    cool_down: Option<String>,
    budget: Option<String>,
    target: Vec<String>,
    metric: Vec<String>,
    workload: Option<String>,
}

impl Plan {
    /// # Errors
    /// One sentence: the file cannot be read, or what is asked for makes no sense.
    pub(super) fn new(asked: &Sweep) -> Result<Self> {
        let file = asked
            .plan
            .as_deref()
            .map_or(Ok(File::default()), File::read)?;
        let parameters = match asked.set.is_empty() {
            false => asked.set.clone(),
            true => file
                .set
                .iter()
                .map(|it| parsed(it))
                .collect::<Result<_>>()?,
        };
        let command = match (asked.command.is_empty(), &file.command) {
            (false, _) => asked.command.clone(),
            (true, Some(text)) => argv(text),
            (true, None) => Vec::new(),
        };
        let target = typed_or(&asked.target, file.target);
        let named = target.iter().map(|it| it.parse());
        let plan = Self {
            targets: named.collect::<Result<_, _>>()?,
            parameters,
            command,
            apply: typed_or(&asked.apply, file.apply),
            prepare: typed_or(&asked.prepare, file.prepare),
            cleanup: typed_or(&asked.cleanup, file.cleanup),
            repeat: asked.repeat.or(file.repeat).unwrap_or(REPEAT).max(1),
            goal: match (asked.slo, &file.slo) {
                (None, Some(text)) => Some(parse_goal(text).map_err(|it| anyhow!(it))?),
                (typed, _) => typed,
            },
            cool_down: time(asked.cool_down, file.cool_down)?.unwrap_or(COOL_DOWN),
            budget: time(asked.budget, file.budget)?,
            options: options(
                &target,
                &typed_or(&asked.metric, file.metric),
                asked.adapter.clone().or(file.workload).as_deref(),
            ),
        };
        plan.check()?;
        Ok(plan)
    }

    fn check(&self) -> Result<()> {
        if self.command.is_empty() {
            bail!(
                "there is no command to run: stallscope sweep --set clients=1,2,4 -- COMMAND {{clients}}"
            );
        }
        if self.parameters.is_empty() {
            bail!("nothing is varied: --set clients=1,2,4");
        }
        let names: Vec<&str> = self.parameters.iter().flat_map(Parameter::names).collect();
        for (place, name) in names.iter().enumerate() {
            if names[..place].contains(name) {
                bail!("{name} is set twice");
            }
            if self.meaning(name) == Meaning::Nothing {
                bail!(
                    "{{{name}}} stands in no command, so that every run would be the same. Write it where its value belongs: -c {{{name}}}"
                );
            }
        }
        self.check_instances()?;
        let configurations: usize = self.parameters.iter().map(|it| it.values.len()).product();
        if configurations > MOST_CONFIGURATIONS {
            bail!(
                "these are {configurations} configurations; at most {MOST_CONFIGURATIONS} are run"
            );
        }
        if let Some(goal) = self.goal {
            let [parameter] = self.parameters.as_slice() else {
                bail!(
                    "--slo finds the highest value of one parameter, and {} are set",
                    self.parameters.len()
                );
            };
            if parameter.whole_numbers().is_none() {
                bail!(
                    "--slo '{}<...' needs whole numbers to search in, and {} has others",
                    goal.of,
                    parameter.name
                );
            }
        }
        Ok(())
    }

    fn check_instances(&self) -> Result<()> {
        let mut has_limits = false;
        let parameters = self.parameters.iter();
        let values = parameters.flat_map(|it| it.values.iter().flat_map(|value| it.parts(value)));
        for (name, value) in values {
            match self.meaning(name) {
                Meaning::Limit(kind) => {
                    has_limits = true;
                    capacity::Limit::parse(kind, value).map_err(|why| anyhow!(why))?;
                }
                Meaning::Instances if instances(value).is_none() => {
                    bail!("`{value}` is no number of instances: they are 1 to {MOST_INSTANCES}")
                }
                _ => {}
            }
        }
        let has_instances = self.has_instances();
        if has_limits && !has_instances && self.targets.len() != 1 {
            bail!(
                "a limit is set for a server that runs, which one --target names, or for instances, each in its own cgroup: add --set instances=1, and start the server in --prepare, which runs in the instance's cgroup"
            );
        }
        if !has_instances && self.uses(INSTANCE) {
            bail!(
                "{{{INSTANCE}}} stands in a command, and there are no instances: --set instances=1..4"
            );
        }
        if self.command.iter().any(|it| it == workloads::BETWEEN) {
            bail!(
                "`{}` cannot be an argument of the command",
                workloads::BETWEEN
            );
        }
        Ok(())
    }

    /// What becomes of the values of a parameter of this name.
    fn meaning(&self, name: &str) -> Meaning {
        match self.uses(name) {
            true => Meaning::Text,
            false => Meaning::of(name),
        }
    }

    /// Each name with its value in a configuration.
    fn pairs<'a>(&'a self, values: &'a [String]) -> impl Iterator<Item = (&'a str, &'a str)> {
        let parameters = self.parameters.iter().zip(values);
        parameters.flat_map(|(parameter, value)| parameter.parts(value))
    }

    fn has_instances(&self) -> bool {
        let mut names = self.parameters.iter().flat_map(Parameter::names);
        names.any(|it| self.meaning(it) == Meaning::Instances)
    }

    /// The server that runs already and is given limits; `None` where none is.
    pub(super) fn lowered(&self) -> Option<&NamedTarget> {
        let is_lowered = !self.has_instances() && !self.limited().is_empty();
        self.targets.first().filter(|_| is_lowered)
    }

    /// The names of the parameters that are limits.
    pub(super) fn limited(&self) -> Vec<&str> {
        let names = self.parameters.iter().flat_map(Parameter::names);
        let is_limit = |it: &&str| matches!(self.meaning(it), Meaning::Limit(_));
        names.filter(is_limit).collect()
    }

    /// How many instances a configuration has; `None` where the command runs as it is.
    pub(super) fn instances(&self, values: &[String]) -> Option<usize> {
        let mut pairs = self.pairs(values);
        let own = pairs.find(|(name, _)| self.meaning(name) == Meaning::Instances)?;
        instances(own.1)
    }

    /// The capacities that each instance's cgroup has, or that of the server that runs.
    pub(super) fn limits(&self, values: &[String]) -> Vec<capacity::Limit> {
        let limits = self
            .pairs(values)
            .filter_map(|(name, value)| match self.meaning(name) {
                Meaning::Limit(kind) => capacity::Limit::parse(kind, value).ok(),
                _ => None,
            });
        limits.collect()
    }

    /// Whether a parameter stands anywhere.
    fn uses(&self, name: &str) -> bool {
        let braces = format!("{{{name}}}");
        let shells = [&self.apply, &self.prepare, &self.cleanup];
        let words = self.command.iter().filter_map(|it| it.to_str());
        let mut all = words.chain(shells.into_iter().flatten().map(String::as_str));
        all.any(|it| it.contains(&braces))
    }

    /// Every combination of values, the last parameter fastest.
    pub(super) fn configurations(&self) -> Vec<Vec<String>> {
        combinations(self.parameters.iter().map(|it| it.values.as_slice()))
    }

    /// A text with the values in the place of the braces, and the number of an instance.
    fn filled(&self, text: &str, values: &[String], instance: Option<usize>) -> String {
        let number = instance.map(|it| it.to_string());
        let instance = number.iter().map(|it| (INSTANCE, it.as_str()));
        let pairs: Vec<(&str, &str)> = self.pairs(values).chain(instance).collect();
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        // In one pass: what a value holds is not looked at again.
        'text: while let Some(at) = rest.find('{') {
            filled.push_str(&rest[..at]);
            for (name, value) in &pairs {
                let braces = format!("{{{name}}}");
                if let Some(after) = rest[at..].strip_prefix(braces.as_str()) {
                    filled.push_str(value);
                    rest = after;
                    continue 'text;
                }
            }
            filled.push('{');
            rest = &rest[at + 1..];
        }
        filled.push_str(rest);
        filled
    }

    /// The command of a configuration, or of an instance of it.
    pub(super) fn command(&self, values: &[String], instance: Option<usize>) -> Vec<OsString> {
        let word = |it: &OsString| match it.to_str() {
            Some(text) => self.filled(text, values, instance).into(),
            None => it.clone(),
        };
        self.command.iter().map(word).collect()
    }

    /// Shell commands of a configuration, or of an instance of it.
    pub(super) fn shells(
        &self,
        texts: &[String],
        values: &[String],
        instance: Option<usize>,
    ) -> Vec<String> {
        let filled = texts.iter().map(|it| self.filled(it, values, instance));
        filled.collect()
    }

    /// The command as it is shown, secrets replaced. A word with braces is judged by what takes their place, since what
    /// an option's value looks like says whether it may be a secret.
    pub(super) fn shown(&self) -> String {
        let first = self.parameters.iter().map(|it| it.values[0].clone());
        let filled = self.command(
            &first.collect::<Vec<_>>(),
            self.has_instances().then_some(1),
        );
        let redacted = workloads::redact(&filled);
        let words = self.command.iter().zip(&filled).zip(redacted);
        let shown = words.map(|((typed, filled), redacted)| match typed.to_str() {
            Some(typed) if filled.to_str() == Some(redacted.as_str()) => typed.to_owned(),
            _ => redacted,
        });
        shown.collect::<Vec<_>>().join(" ")
    }

    /// A shell command as it is shown: as typed, unless its text with values in the place of the braces has a secret.
    pub(super) fn shown_shell(&self, text: &str) -> String {
        let first = self.parameters.iter().map(|it| it.values[0].clone());
        let first: Vec<String> = first.collect();
        let filled = self.filled(text, &first, self.has_instances().then_some(1));
        let typed = ["sh", "-c", &filled].map(OsString::from);
        match workloads::redact(&typed).pop() {
            Some(shown) if shown != filled => shown,
            _ => text.to_owned(),
        }
    }

    /// The goal as it is typed: `p99<10ms`.
    pub(super) fn goal_in_words(&self) -> Option<String> {
        let goal = self.goal?;
        Some(format!("{}<{}ms", goal.of, goal.below_ns as f64 / 1e6))
    }

    /// For the report.
    pub(super) fn swept(&self) -> Vec<SweptParameter> {
        let parameters = self.parameters.iter();
        let swept = parameters.map(|it| SweptParameter {
            name: it.name.clone(),
            values: it.values.clone(),
        });
        swept.collect()
    }
}

impl File {
    fn read(path: &Path) -> Result<Self> {
        let shown = path.display();
        let file = fs::File::open(path).with_context(|| format!("cannot open the plan {shown}"))?;
        let mut text = String::new();
        file.take(MOST_BYTES + 1)
            .read_to_string(&mut text)
            .with_context(|| format!("cannot read the plan {shown}"))?;
        if text.len() as u64 > MOST_BYTES {
            bail!("{shown} is too long for a plan");
        }
        toml::from_str(&text).map_err(|error| anyhow!("{shown} is no plan: {error}"))
    }
}

/// A number of instances, as typed.
fn instances(value: &str) -> Option<usize> {
    let number: usize = value.parse().ok()?;
    (1..=MOST_INSTANCES).contains(&number).then_some(number)
}

fn parsed(text: &str) -> Result<Parameter> {
    text.parse().map_err(|why: String| anyhow!(why))
}

fn typed_or(typed: &[String], file: Vec<String>) -> Vec<String> {
    match typed.is_empty() {
        true => file,
        false => typed.to_vec(),
    }
}

fn time(typed: Option<Duration>, file: Option<String>) -> Result<Option<Duration>> {
    match (typed, file) {
        (None, Some(text)) => Ok(Some(parse_duration(&text).map_err(|it| anyhow!(it))?)),
        (typed, _) => Ok(typed),
    }
}

/// The options of each run, word by word.
fn options(target: &[String], metric: &[String], adapter: Option<&str>) -> Vec<String> {
    let named = [("--target", target), ("--metric", metric)];
    let each = named
        .into_iter()
        .flat_map(|(name, values)| values.iter().map(move |it| (name, it.as_str())));
    each.chain(adapter.map(|it| ("--workload", it)))
        .flat_map(|(name, value)| [name.to_owned(), value.to_owned()])
        .collect()
}

#[cfg(test)]
mod tests;
