//! What a sweep is of. Values and repeats may be added later: what was run already counts.

use serde::{Deserialize, Serialize};

use super::plan::Plan;
use crate::turns;

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Design {
    /// The command with parameters in braces, secrets replaced.
    command: String,
    /// The names of the parameters.
    parameters: Vec<String>,
    /// The shell commands, secrets replaced: when the configuration changes, before and after each run.
    shells: [Vec<String>; 3],
    /// The options that every run gets, word by word.
    options: Vec<String>,
    /// The goal, where one is searched for.
    goal: Option<String>,
}

impl Design {
    pub(super) fn of(plan: &Plan) -> Self {
        let shown = |texts: &[String]| -> Vec<String> {
            texts.iter().map(|it| plan.shown_shell(it)).collect()
        };
        Self {
            command: plan.shown(),
            parameters: plan.parameters.iter().map(|it| it.name.clone()).collect(),
            shells: [&plan.apply, &plan.prepare, &plan.cleanup].map(|it| shown(it)),
            options: plan.options.clone(),
            goal: plan.goal_in_words(),
        }
    }
}

impl Design {
    /// The command with parameters in braces.
    pub(super) fn command(&self) -> &str {
        &self.command
    }

    /// The names of the parameters.
    pub(super) fn parameters(&self) -> &[String] {
        &self.parameters
    }

    /// The options of `sweep` that it was made with, each with its value.
    pub(super) fn made_with(&self) -> Vec<(String, String)> {
        let names = ["--apply", "--prepare", "--cleanup"];
        let shells = names.into_iter().zip(&self.shells);
        let shells = shells.flat_map(|(name, own)| own.iter().map(move |it| (name, it.as_str())));
        let options = self.options.chunks_exact(2);
        let options = options.map(|it| (it[0].as_str(), it[1].as_str()));
        let each = shells.chain(options);
        each.map(|(name, it)| (name.to_owned(), it.to_owned()))
            .collect()
    }
}

impl turns::Design for Design {
    const SCHEMA: &'static str = "stallscope.sweep-state/1";

    fn differs(&self, other: &Self) -> Option<String> {
        let words = |it: &[String]| match it.is_empty() {
            true => "none".to_owned(),
            false => it.join(" "),
        };
        let goal = |it: &Self| it.goal.clone().unwrap_or("none".to_owned());
        let names = ["--apply", "--prepare", "--cleanup"];
        let shells = names.into_iter().zip(self.shells.iter().zip(&other.shells));
        let shells = shells.map(|(name, (own, others))| (name, words(own), words(others)));
        let mut all = vec![
            ("command", self.command.clone(), other.command.clone()),
            ("--set", words(&self.parameters), words(&other.parameters)),
            (
                "options for the runs",
                words(&self.options),
                words(&other.options),
            ),
            ("--slo", goal(self), goal(other)),
        ];
        all.extend(shells);
        let (name, own, others) = all.into_iter().find(|(_, own, others)| own != others)?;
        Some(format!("its {name}: `{own}`, and not `{others}`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::turns::Design as _;

    fn design() -> Design {
        Design {
            command: "a {n}".to_owned(),
            parameters: vec!["n".to_owned()],
            shells: Default::default(),
            options: Vec::new(),
            goal: None,
        }
    }

    #[test]
    fn what_differs_is_named() {
        let own = design();
        assert_eq!(own.differs(&own), None);
        let with = |change: fn(&mut Design)| {
            let mut other = design();
            change(&mut other);
            own.differs(&other).expect("they differ")
        };
        let said = [
            with(|it| it.command = "b {n}".to_owned()),
            with(|it| it.shells[1].push("reset".to_owned())),
            with(|it| it.goal = Some("p99<1ms".to_owned())),
        ];
        assert_eq!(
            said,
            [
                "its command: `a {n}`, and not `b {n}`",
                "its --prepare: `none`, and not `reset`",
                "its --slo: `none`, and not `p99<1ms`",
            ]
        );
    }
}
