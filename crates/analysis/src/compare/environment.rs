//! What is not the same about the machines and the runs, as far as it is known of all.

use std::collections::BTreeSet;

use model::EnvironmentDifference;

use super::Group;

/// Facts that every run has, and whose values differ between groups, or within one, in the order of their names.
pub(super) fn differences(groups: &[Group]) -> Vec<EnvironmentDifference> {
    let runs = || groups.iter().flat_map(|it| &it.runs);
    let names: BTreeSet<&String> = runs().flat_map(|it| it.facts.keys()).collect();
    let differs = |name: &&String| {
        let values: BTreeSet<_> = runs().map(|it| it.facts.get(*name)).collect();
        // What was not asked in one of them may be the same there.
        values.len() > 1 && !values.contains(&None)
    };
    let values = |name: &String| groups.iter().map(|group| of_group(group, name)).collect();
    let differing = names.into_iter().filter(differs);
    differing
        .map(|name| EnvironmentDifference {
            name: name.clone(),
            values: values(name),
        })
        .collect()
}

/// The values of one group, each once.
fn of_group(group: &Group, name: &str) -> Option<String> {
    let mut values: Vec<&str> = Vec::new();
    for value in group.runs.iter().filter_map(|it| it.facts.get(name)) {
        if !values.contains(&value.as_str()) {
            values.push(value);
        }
    }
    (!values.is_empty()).then(|| values.join(" | "))
}
