//! The scenarios: one file each, one line here.

mod client_bound;
mod connection_limit;
mod cpu_imbalance;
mod cpu_neighbour;
mod cpu_quota;
mod cpu_saturated;
mod decoys;
mod full_disk;
mod grown_table;
mod held_out;
mod hot_mutex;
mod io_neighbour;
mod io_slow_reads;
mod io_sync;
mod load_late;
mod loads;
mod memory_thrash;
mod network_delay;
mod one_client;
mod out_of_memory;
mod rate_limited;
mod row_lock;
#[cfg(test)]
mod sets;
mod single_thread;
mod spin_lock;
mod step_change;
mod strangers;
mod strangers_10;
mod strangers_11;
mod strangers_12;
mod strangers_13;
mod strangers_14;
mod strangers_15;
mod strangers_16;
mod strangers_17;
mod strangers_18;
mod strangers_2;
mod strangers_3;
mod strangers_4;
mod strangers_5;
mod strangers_6;
mod strangers_7;
mod strangers_8;
mod strangers_9;

pub use held_out::{
    free_port, here, mariadb_client, mariadb_install, missing, nginx, redis, wait_for,
    wait_for_so_long,
};

use anyhow::{Result, bail};

use crate::scenario::{Scenario, Set};

/// All, in the order in which they are run and shown.
pub fn all() -> Vec<Scenario> {
    let mut all = vec![
        cpu_saturated::scenario(),
        cpu_quota::scenario(),
        cpu_neighbour::scenario(),
        single_thread::scenario(),
        cpu_imbalance::scenario(),
        client_bound::scenario(),
        load_late::scenario(),
        io_slow_reads::scenario(),
        io_sync::scenario(),
        io_neighbour::scenario(),
        full_disk::scenario(),
        memory_thrash::scenario(),
        out_of_memory::scenario(),
        row_lock::scenario(),
        hot_mutex::scenario(),
        spin_lock::scenario(),
        grown_table::scenario(),
        network_delay::scenario(),
        connection_limit::scenario(),
        step_change::scenario(),
        rate_limited::scenario(),
        one_client::scenario(),
    ];
    all.extend(decoys::scenarios());
    all.extend(held_out::scenarios());
    all.extend(strangers::scenarios());
    all.extend(strangers_2::scenarios());
    all.extend(strangers_3::scenarios());
    all.extend(strangers_4::scenarios());
    all.extend(strangers_5::scenarios());
    all.extend(strangers_6::scenarios());
    all.extend(strangers_7::scenarios());
    all.extend(strangers_8::scenarios());
    all.extend(strangers_9::scenarios());
    all.extend(strangers_10::scenarios());
    all.extend(strangers_11::scenarios());
    all.extend(strangers_12::scenarios());
    all.extend(strangers_13::scenarios());
    all.extend(strangers_14::scenarios());
    all.extend(strangers_15::scenarios());
    all.extend(strangers_16::scenarios());
    all.extend(strangers_17::scenarios());
    all.extend(strangers_18::scenarios());
    all
}

/// Those of the given names; when none is given, those of the set.
pub fn chosen(names: &[String], set: Set) -> Result<Vec<Scenario>> {
    let known: Vec<&str> = all().iter().map(|scenario| scenario.name).collect();
    if let Some(name) = names.iter().find(|name| !known.contains(&name.as_str())) {
        bail!(
            "there is no scenario {name}; there are: {}",
            known.join(", ")
        );
    }
    let chosen = |scenario: &Scenario| {
        if names.is_empty() {
            scenario.set == set
        } else {
            names.iter().any(|name| name == scenario.name)
        }
    };
    Ok(all().into_iter().filter(chosen).collect())
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;
    use crate::scenario::{Costs, Kind};

    #[test]
    fn a_decoy_is_judged_by_what_it_costs_or_says_why_not() {
        let all = all();
        let mut decoys = all.iter().filter(|it| it.kind == Kind::Decoy);
        let is_judged = |it: &Scenario| matches!(it.costs, Costs::Little | Costs::NotAsked(_));
        let not_judged = decoys.find(|it| !is_judged(it));
        assert_eq!(not_judged.map(|it| it.name), None);
    }

    #[test]
    fn names_are_unique_and_are_checked() {
        let mut names: Vec<_> = all().iter().map(|scenario| scenario.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all().len());
        let in_sets = Set::value_variants()
            .iter()
            .map(|set| chosen(&[], *set).expect("some").len());
        assert_eq!(in_sets.sum::<usize>(), names.len());
        let named = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            chosen(&names, Set::HeldOut)
        };
        assert_eq!(named(&["cpu-quota"]).expect("known").len(), 1);
        assert!(named(&["cpu-quota", "typo"]).is_err());
    }

    #[test]
    fn a_scenario_says_what_it_does_in_one_sentence() {
        for scenario in all() {
            assert_eq!(scenario.about.matches(". ").count(), 0, "{}", scenario.name);
            assert!(scenario.about.ends_with('.'), "{}", scenario.name);
        }
    }
}
