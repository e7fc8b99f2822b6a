//! Parameters of a sweep that were set together, taken apart: a size is a product of numbers, and a load is one of them.

use model::{Sweep, SweptParameter};

use crate::sweep::Parameter;

/// Makes a parameter of each name, and says which were set together.
pub(super) fn apart(sweep: &mut Sweep) -> Vec<Vec<String>> {
    let joint = sweep.parameters.iter().map(|it| Parameter {
        name: it.name.clone(),
        values: it.values.clone(),
    });
    let joint: Vec<Parameter> = joint.collect();
    let is_apart = |values: &[String]| {
        let mut pairs = joint.iter().zip(values);
        pairs.all(|(it, value)| it.parts(value).count() == it.names().count())
    };
    // A file may hold anything.
    if !sweep.points.iter().all(|it| is_apart(&it.values)) {
        return Vec::new();
    }
    let names = |it: &Parameter| it.names().map(str::to_owned).collect::<Vec<_>>();
    for point in &mut sweep.points {
        let pairs = joint.iter().zip(&point.values);
        let parts = pairs.flat_map(|(it, value)| it.parts(value).map(|(_, part)| part.to_owned()));
        point.values = parts.collect();
    }
    sweep.parameters = joint
        .iter()
        .flat_map(names)
        .enumerate()
        .map(|(place, name)| SweptParameter {
            name,
            values: values(sweep, place),
        })
        .collect();
    joint
        .iter()
        .map(names)
        .filter(|names| names.len() > 1)
        .collect()
}

/// What the parameter at this place was set to, each once.
fn values(sweep: &Sweep, place: usize) -> Vec<String> {
    let mut values: Vec<String> = Vec::new();
    for value in sweep.points.iter().filter_map(|it| it.values.get(place)) {
        if !values.contains(value) {
            values.push(value.clone());
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sweep(name: &str, values: [&str; 2]) -> Sweep {
        let json = include_str!("../../fixtures/sweeps/clients.json");
        let mut sweep: Sweep = serde_json::from_str(json).expect("it is a sweep");
        sweep.parameters[0].name = name.to_owned();
        sweep.points.truncate(values.len());
        for (point, value) in sweep.points.iter_mut().zip(values) {
            point.values = vec![value.to_owned()];
        }
        sweep
    }

    #[test]
    fn what_was_set_together_is_a_parameter_each() {
        let mut of_two = sweep("nodes+memory", ["3/4G", "6/4G"]);
        assert_eq!(apart(&mut of_two), [["nodes", "memory"]]);
        let parameters = of_two.parameters.iter();
        let told = parameters.map(|it| (it.name.as_str(), it.values.join(" ")));
        let told: Vec<(&str, String)> = told.collect();
        assert_eq!(
            told,
            [("nodes", "3 6".to_owned()), ("memory", "4G".to_owned())]
        );
        assert_eq!(of_two.points[1].values, ["6", "4G"]);
    }

    #[test]
    fn a_path_is_one_value_and_a_damaged_file_stays_as_it_is() {
        let mut path = sweep("script", ["/a/b", "/a/c"]);
        assert!(apart(&mut path).is_empty());
        assert_eq!(path.points[0].values, ["/a/b"]);
        let mut damaged = sweep("nodes+memory", ["3", "6/4G"]);
        assert!(apart(&mut damaged).is_empty());
        assert_eq!(damaged.points[0].values, ["3"]);
    }
}
