//! What an experiment of `compare --run` is of.

use serde::{Deserialize, Serialize};

use crate::turns;

/// What an experiment is of: with another one it does not go on.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Design {
    /// The commands, secrets replaced.
    pub(super) commands: Vec<String>,
    /// The options that every run gets, by name, in the order in which they were typed.
    pub(super) options: Vec<String>,
    /// Half of the interval's width that ends it, as a part of the baseline.
    pub(super) precision: f64,
}

impl turns::Design for Design {
    const SCHEMA: &'static str = "stallscope.experiment/1";

    fn differs(&self, other: &Self) -> Option<String> {
        if self.commands.len() != other.commands.len() {
            let [own, others] = [self, other].map(|it| it.commands.len());
            return Some(format!("it compares {own} commands, and not {others}"));
        }
        let mut commands = self.commands.iter().zip(&other.commands).zip('A'..);
        if let Some(((own, others), letter)) = commands.find(|((own, others), _)| own != others) {
            return Some(format!(
                "its command {letter} is `{own}`, and not `{others}`"
            ));
        }
        if self.options != other.options {
            let shown = |it: &Self| match it.options.is_empty() {
                true => "none".to_owned(),
                false => it.options.join(" "),
            };
            let (own, others) = (shown(self), shown(other));
            return Some(format!(
                "its options for the runs are {own}, and not {others}"
            ));
        }
        let percent = |it: &Self| format!("{} %", it.precision * 100.0);
        // What is read back of a number may differ in its last bit.
        ((self.precision - other.precision).abs() > 1e-9).then(|| {
            format!(
                "its --precision is {}, and not {}",
                percent(self),
                percent(other)
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::turns::Design as _;

    fn design() -> Design {
        Design {
            commands: vec!["a".to_owned(), "b".to_owned()],
            options: Vec::new(),
            precision: 0.02,
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
            with(|it| it.commands[1] = "c".to_owned()),
            with(|it| it.commands.truncate(1)),
            with(|it| it.options.push("--target pid:1".to_owned())),
            with(|it| it.precision = 0.05),
        ];
        assert_eq!(
            said,
            [
                "its command B is `b`, and not `c`",
                "it compares 2 commands, and not 1",
                "its options for the runs are none, and not --target pid:1",
                "its --precision is 2 %, and not 5 %",
            ]
        );
    }
}
