//! The seeds, what once broke a target, and a bounded number of mutations that are the same at each
//! run. The long form is `make fuzz`.

use std::panic::{AssertUnwindSafe, catch_unwind};

use stallscope_fuzz::{Mutator, Target, all, kept, repository};

fn feed(target: &Target, name: &str, bytes: &[u8]) {
    if catch_unwind(AssertUnwindSafe(|| (target.feed)(bytes))).is_err() {
        panic!(
            "{name} breaks the target {0}; what belongs into fuzz/kept/{0}: {1}",
            target.name,
            bytes.escape_ascii()
        );
    }
}

fn replay(name: &str) {
    let target = all().iter().find(|target| target.name == name);
    let target = target.expect("it is listed");
    let mut seeds = (target.seeds)(repository()).expect("the fixtures can be read");
    assert!(!seeds.is_empty(), "{name} has no seed");
    seeds.extend(kept(name).expect("what is kept can be read"));
    for seed in &seeds {
        feed(target, &seed.name, &seed.bytes);
    }
    let mut mutator = Mutator::new(0x5eed);
    for (round, seed) in seeds.iter().cycle().take(target.affordable).enumerate() {
        let bytes = mutator.mutate(&seed.bytes);
        feed(
            target,
            &format!("mutation {round} of {}", seed.name),
            &bytes,
        );
    }
}

macro_rules! targets {
    ($($name:ident),*) => {
        $(#[test]
        fn $name() {
            replay(stringify!($name));
        })*

        #[test]
        fn every_target_is_replayed() {
            let listed: Vec<&str> = all().iter().map(|target| target.name).collect();
            assert_eq!(listed, [$(stringify!($name)),*]);
        }
    };
}

targets!(
    kernel, messages, logs, answers, program, workload, imports, arguments, options, text, folder,
    journal, diagnosis, bundle, outputs
);
