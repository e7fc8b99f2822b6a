//! A sweep that was made before, put together from its folder.

use std::collections::BTreeMap;
use std::path::Path;

use analysis::compare::Measured;
use analysis::sweep::{Asked, Configuration};
use anyhow::{Result, bail};
use model::{Sweep, SweptParameter, VoidedRun};

use super::design::Design;
use super::running::judge;
use crate::outputs;
use crate::turns::{Kept, Run, State, kept};

/// A sweep with what its JSON does not have.
pub(crate) struct Again {
    pub(crate) sweep: Sweep,
    /// The options of `sweep` that it was made with, each with its value.
    pub(crate) options: Vec<(String, String)>,
}

/// The sweep in a folder; `None` where there is none.
///
/// # Errors
/// One sentence: it is another experiment, cannot be read, or has no run that counts.
pub(crate) fn again(folder: &Path) -> Result<Option<Again>> {
    let shown = folder.display();
    let state: State<Design> = match kept(folder)? {
        Kept::Nothing => return Ok(None),
        Kept::Own(state) => state,
        Kept::Other => bail!(
            "{shown} is no folder of a sweep, but of another experiment, whose commands are told apart by their letters. Name the recordings of each: '{shown}/*-A.stall' '{shown}/*-B.stall'"
        ),
    };
    let (mut measured, mut voided) = (BTreeMap::<Vec<String>, Vec<Measured>>::new(), Vec::new());
    for run in &state.runs {
        match judged(folder, run) {
            Ok(it) => measured.entry(run.values.clone()).or_default().push(it),
            Err(reason) => voided.push(VoidedRun {
                name: run.name.clone(),
                group: run.values.join(" "),
                reason,
            }),
        }
    }
    if measured.is_empty() {
        bail!("no run in {shown} counts, so nothing is known of any configuration");
    }
    let mut configurations: Vec<Configuration> = measured
        .into_iter()
        .map(|(values, runs)| Configuration { values, runs })
        .collect();
    configurations.sort_by(|one, other| in_order(&one.values, &other.values));
    let asked = Asked {
        command: state.design.command().to_owned(),
        parameters: swept(state.design.parameters(), &configurations),
        goal: None,
    };
    let mut sweep = analysis::sweep::sweep(asked, configurations);
    sweep.voided = voided;
    sweep.seed = state.seed;
    sweep.spent_s = state.spent_s();
    Ok(Some(Again {
        sweep,
        options: state.design.made_with(),
    }))
}

/// A run as it was measured; else why it does not count, a clause.
fn judged(folder: &Path, run: &Run) -> std::result::Result<Measured, String> {
    if let Some(why) = &run.voided {
        return Err(why.clone());
    }
    if run.is_open {
        return Err("it has not ended".to_owned());
    }
    // A name leads nowhere else.
    if run.name.contains('/') {
        return Err("its name is none of a recording".to_owned());
    }
    let result = judge(&folder.join(&run.name), run.round);
    if let Err(why) = &result {
        outputs::say(&format!("{} does not count: {why}", run.name));
    }
    result
}

fn swept(names: &[String], configurations: &[Configuration]) -> Vec<SweptParameter> {
    let each = names.iter().enumerate().map(|(place, name)| {
        let mut values: Vec<String> = Vec::new();
        for value in configurations.iter().filter_map(|it| it.values.get(place)) {
            if !values.contains(value) {
                values.push(value.clone());
            }
        }
        SweptParameter {
            name: name.clone(),
            values,
        }
    });
    each.collect()
}

/// Numbers by their size, and other values by their letters.
fn in_order(one: &[String], other: &[String]) -> std::cmp::Ordering {
    let pairs = one.iter().zip(other);
    let mut orders = pairs.map(
        |(one, other)| match (one.parse::<f64>(), other.parse::<f64>()) {
            (Ok(a), Ok(b)) => a.total_cmp(&b),
            _ => one.cmp(other),
        },
    );
    orders
        .find(|it| it.is_ne())
        .unwrap_or(std::cmp::Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_in_their_order() {
        let of = |text: &str| vec![text.to_owned(), "x".to_owned()];
        assert!(in_order(&of("4"), &of("16")).is_lt());
        assert!(in_order(&of("ext4"), &of("xfs")).is_lt());
        assert!(in_order(&of("4"), &of("4")).is_eq());
    }

    #[test]
    fn a_folder_of_another_experiment_is_named_as_one_and_others_are_none() {
        let home = tempfile::tempdir().expect("a temporary folder");
        assert!(again(home.path()).expect("it can be read").is_none());
        let file = home.path().join("experiment.json");
        std::fs::write(&file, r#"{"schema":"stallscope.experiment/1"}"#).expect("it is ours");
        let said = again(home.path()).err().map(|it| it.to_string());
        assert!(said.is_some_and(|it| it.contains("*-A.stall")));
        std::fs::write(&file, "{").expect("it is ours");
        let said = again(home.path()).err().map(|it| it.to_string());
        assert!(said.is_some_and(|it| it.contains("damaged")));
    }
}
