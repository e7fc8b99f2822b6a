//! What a sweep does: what was typed, and what a file has that was not typed.

use std::ffi::OsString;
use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use model::{Goal, SweptParameter};
use serde::Deserialize;

use super::parameter::Parameter;
use crate::arguments::Sweep;
use crate::duration::parse_duration;
use crate::goal::parse_goal;
use crate::turns::argv;

/// Configurations of all parameters together.
const MOST_CONFIGURATIONS: usize = 10_000;
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
        let plan = Self {
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
                &typed_or(&asked.target, file.target),
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
        for (place, parameter) in self.parameters.iter().enumerate() {
            let name = &parameter.name;
            if self.parameters[..place].iter().any(|it| it.name == *name) {
                bail!("{name} is set twice");
            }
            if !self.uses(name) {
                bail!(
                    "{{{name}}} stands in no command, so that every run would be the same. Write it where its value belongs: -c {{{name}}}"
                );
            }
        }
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
        let mut all: Vec<Vec<String>> = vec![Vec::new()];
        for parameter in &self.parameters {
            let longer = |it: &Vec<String>| {
                let with = |value: &String| [it.as_slice(), std::slice::from_ref(value)].concat();
                parameter.values.iter().map(with).collect::<Vec<_>>()
            };
            all = all.iter().flat_map(longer).collect();
        }
        all
    }

    /// A text with the values in the place of the braces.
    fn filled(&self, text: &str, values: &[String]) -> String {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        // In one pass: what a value holds is not looked at again.
        'text: while let Some(at) = rest.find('{') {
            filled.push_str(&rest[..at]);
            for (parameter, value) in self.parameters.iter().zip(values) {
                let braces = format!("{{{}}}", parameter.name);
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

    /// The command of a configuration.
    pub(super) fn command(&self, values: &[String]) -> Vec<OsString> {
        let word = |it: &OsString| match it.to_str() {
            Some(text) => self.filled(text, values).into(),
            None => it.clone(),
        };
        self.command.iter().map(word).collect()
    }

    /// Shell commands of a configuration.
    pub(super) fn shells(&self, texts: &[String], values: &[String]) -> Vec<String> {
        texts.iter().map(|it| self.filled(it, values)).collect()
    }

    /// The command as it is shown, secrets replaced. A word with braces is judged by what takes their place, since what
    /// an option's value looks like says whether it may be a secret.
    pub(super) fn shown(&self) -> String {
        let first = self.parameters.iter().map(|it| it.values[0].clone());
        let filled = self.command(&first.collect::<Vec<_>>());
        let redacted = workloads::redact(&filled);
        let words = self.command.iter().zip(&filled).zip(redacted);
        let shown = words.map(|((typed, filled), redacted)| match typed.to_str() {
            Some(typed) if filled.to_str() == Some(redacted.as_str()) => typed.to_owned(),
            _ => redacted,
        });
        shown.collect::<Vec<_>>().join(" ")
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
mod tests {
    use super::*;

    fn plan(set: &[&str], command: &[&str]) -> Plan {
        Plan {
            parameters: set
                .iter()
                .map(|it| it.parse().expect("a parameter"))
                .collect(),
            command: command.iter().map(OsString::from).collect(),
            apply: vec!["set {b} {a}".to_owned()],
            prepare: Vec::new(),
            cleanup: Vec::new(),
            repeat: 1,
            goal: None,
            cool_down: COOL_DOWN,
            budget: None,
            options: Vec::new(),
        }
    }

    #[test]
    fn braces_are_filled_once_and_others_stay() {
        let plan = plan(
            &["a=1,2", "b={a},x"],
            &["load", "-c{a}", "{c}{b}", "{", "{a"],
        );
        assert_eq!(
            plan.configurations(),
            [["1", "{a}"], ["1", "x"], ["2", "{a}"], ["2", "x"]]
        );
        let values = &plan.configurations()[0];
        assert_eq!(plan.command(values), ["load", "-c1", "{c}{a}", "{", "{a"]);
        assert_eq!(plan.shells(&plan.apply, values), ["set {a} 1"]);
        assert!(plan.check().is_ok());
    }

    #[test]
    fn braces_are_shown_and_secrets_are_not() {
        let plan = plan(
            &["a=1,2", "b=s3cret"],
            &[
                "mysqlslap",
                "--concurrency",
                "{a}",
                "--password={b}",
                "-ps3cret",
            ],
        );
        let shown = plan.shown();
        assert!(shown.contains("--concurrency {a}"), "{shown}");
        assert!(!shown.contains("s3cret"), "{shown}");
    }

    #[test]
    fn what_makes_no_sense_is_told() {
        let said = |plan: Plan| plan.check().expect_err("it makes none").to_string();
        assert!(said(plan(&["a=1"], &[])).contains("no command"));
        assert!(said(plan(&[], &["x"])).contains("nothing is varied"));
        assert!(said(plan(&["a=1", "a=2"], &["x"])).contains("set twice"));
        assert!(said(plan(&["z=1"], &["x"])).contains("{z} stands in no command"));
        let goal = Some(parse_goal("p99<1s").expect("a goal"));
        let with_goal = |set: &[&str]| Plan {
            goal,
            ..plan(set, &["x"])
        };
        assert!(said(with_goal(&["a=1", "b=2"])).contains("2 are set"));
        assert!(said(with_goal(&["a=x"])).contains("whole numbers"));
        let many = plan(&["a=1..200", "b=1..200"], &["x"]);
        assert!(said(many).contains("40000 configurations"));
    }

    #[test]
    fn a_file_has_the_keys_of_the_options() {
        let text = "command = 'pgbench -c {clients}'\nset = ['clients=1,2']\nrepeat = 2\nslo = 'p99<1ms'\ncool-down = '2s'\nworkload = 'pgbench'";
        let file: File = toml::from_str(text).expect("a plan");
        assert_eq!((file.repeat, file.set.len()), (Some(2), 1));
        let unknown = toml::from_str::<File>("clients = 3").expect_err("no key");
        assert!(unknown.to_string().contains("clients"), "{unknown}");
    }
}
