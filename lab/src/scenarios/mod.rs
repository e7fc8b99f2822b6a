//! The scenarios: one file each, one line here.

mod client_bound;
mod cpu_quota;
mod cpu_saturated;
mod rate_limited;

use anyhow::{Result, bail};

use crate::scenario::Scenario;

/// All, in the order in which they are run and shown.
pub fn all() -> Vec<Scenario> {
    vec![
        cpu_saturated::scenario(),
        cpu_quota::scenario(),
        client_bound::scenario(),
        rate_limited::scenario(),
    ]
}

/// Those of the given names; all when none is given.
pub fn named(names: &[String]) -> Result<Vec<Scenario>> {
    let known: Vec<&str> = all().iter().map(|scenario| scenario.name).collect();
    if let Some(name) = names.iter().find(|name| !known.contains(&name.as_str())) {
        bail!(
            "there is no scenario {name}; there are: {}",
            known.join(", ")
        );
    }
    let chosen = |scenario: &Scenario| names.is_empty() || names.iter().any(|n| n == scenario.name);
    Ok(all().into_iter().filter(chosen).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_are_checked() {
        let mut names: Vec<_> = all().iter().map(|scenario| scenario.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all().len());
        assert_eq!(named(&[]).expect("all").len(), names.len());
        assert_eq!(named(&["cpu-quota".to_owned()]).expect("known").len(), 1);
        assert!(named(&["cpu-quota".to_owned(), "typo".to_owned()]).is_err());
    }

    #[test]
    fn a_scenario_says_what_it_does_in_one_sentence() {
        for scenario in all() {
            assert_eq!(scenario.about.matches(". ").count(), 0, "{}", scenario.name);
            assert!(scenario.about.ends_with('.'), "{}", scenario.name);
        }
    }
}
