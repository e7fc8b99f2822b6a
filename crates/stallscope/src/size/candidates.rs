//! The configurations that are asked for besides those that were measured.

use analysis::sizing::Made;
use anyhow::{Result, bail};
use model::{Sweep, SweepPoint};

use crate::sweep::{Parameter, combinations};

/// More candidates than this are a mistake in a list.
const MOST_CANDIDATES: usize = 1_000;

/// Every combination of the named values, and of the measured ones of what is not named; none where nothing is named. Of
/// parameters that were set together, those that are not named stay together.
///
/// # Errors
/// One sentence: a name is no parameter of the sweep, or these are too many.
pub(super) fn candidates(sweep: &Sweep, made: &Made, at: &[Parameter]) -> Result<Vec<Vec<String>>> {
    if at.is_empty() {
        return Ok(Vec::new());
    }
    if !made.is_sweep {
        bail!(
            "--at names values of a sweep's parameters, and these are recordings. Make a sweep: stallscope sweep --set {}=... -- COMMAND",
            at[0].name
        );
    }
    for (place, asked) in at.iter().enumerate() {
        if at[..place].iter().any(|it| it.name == asked.name) {
            bail!(
                "--at {} stands twice: write its values as one list",
                asked.name
            );
        }
        if sweep.parameters.iter().all(|it| it.name != asked.name) {
            let names = sweep.parameters.iter().map(|it| it.name.as_str());
            let names: Vec<&str> = names.collect();
            bail!(
                "--at {}: the sweep has no such parameter; it has {}",
                asked.name,
                names.join(" and ")
            );
        }
    }
    let lists = sweep.parameters.iter().map(|parameter| {
        let asked = at.iter().find(|it| it.name == parameter.name);
        asked.map_or(&parameter.values, |it| &it.values).as_slice()
    });
    let lists: Vec<&[String]> = lists.collect();
    let all = lists
        .iter()
        .try_fold(1, |all: usize, it| all.checked_mul(it.len()));
    if all.is_none_or(|it| it > MOST_CANDIDATES) {
        bail!("these are more than {MOST_CANDIDATES} configurations: name fewer values with --at");
    }
    let mut all = combinations(lists.into_iter());
    for names in &made.together {
        let places = (0..sweep.parameters.len()).filter(|place| {
            let name = &sweep.parameters[*place].name;
            names.contains(name) && at.iter().all(|it| it.name != *name)
        });
        let places: Vec<usize> = places.collect();
        all.retain(|values| {
            let is_measured =
                |it: &SweepPoint| places.iter().all(|at| it.values[*at] == values[*at]);
            sweep.points.iter().any(is_measured)
        });
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use model::SweptParameter;

    use super::*;

    fn sweep() -> Sweep {
        let json = include_str!("../../fixtures/sweeps/clients.json");
        let mut sweep: Sweep = serde_json::from_str(json).expect("it is a sweep");
        sweep.parameters.push(SweptParameter {
            name: "cpus".to_owned(),
            values: vec!["2".to_owned(), "4".to_owned()],
        });
        sweep.parameters[0].values.truncate(2);
        sweep
    }

    fn made() -> Made {
        Made {
            is_sweep: true,
            ..Made::default()
        }
    }

    fn of(at: &[&str]) -> Result<Vec<String>> {
        let at: Vec<Parameter> = at.iter().map(|it| it.parse().expect("a list")).collect();
        let all = candidates(&sweep(), &made(), &at)?;
        Ok(all.iter().map(|it| it.join(" ")).collect())
    }

    #[test]
    fn what_is_not_named_has_its_measured_values() {
        assert_eq!(of(&["cpus=8"]).expect("candidates"), ["1 8", "2 8"]);
        assert_eq!(of(&["cpus=8", "clients=3"]).expect("candidates"), ["3 8"]);
        assert!(of(&[]).expect("candidates").is_empty());
    }

    #[test]
    fn what_was_set_together_stays_together() {
        let mut sweep = sweep();
        let first = sweep.points[0].clone();
        sweep.parameters[0].name = "nodes".to_owned();
        sweep.parameters[0].values = vec!["3".to_owned(), "6".to_owned()];
        let point = |values: [&str; 2]| SweepPoint {
            values: values.map(str::to_owned).to_vec(),
            ..first.clone()
        };
        sweep.points = vec![point(["3", "2"]), point(["6", "4"])];
        let at = ["quota=1".parse().expect("a list")];
        sweep.parameters.push(SweptParameter {
            name: "quota".to_owned(),
            values: vec!["2".to_owned()],
        });
        for point in &mut sweep.points {
            point.values.push("2".to_owned());
        }
        let mut made = made();
        made.together = vec![["nodes", "cpus"].map(str::to_owned).to_vec()];
        let all = candidates(&sweep, &made, &at).expect("candidates");
        assert_eq!(all, [["3", "2", "1"], ["6", "4", "1"]]);
    }

    #[test]
    fn names_that_are_none_and_lists_without_end_are_told() {
        let said = |at: &[&str]| of(at).expect_err("it is wrong").to_string();
        assert!(said(&["nodes=1"]).contains("it has clients and cpus"));
        assert!(said(&["cpus=1", "cpus=2"]).contains("twice"));
        assert!(said(&["cpus=1..900"]).contains("more than 1000"));
    }
}
