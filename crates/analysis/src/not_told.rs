//! What is not told where programs or call stacks are missing.

use sensors::stack::STACK;

use crate::facts::Facts;

/// Which lock it was, single waits and, where they are missing, call stacks with the reason.
pub(crate) fn without_stacks(facts: &Facts<'_>, locks: &str) -> Vec<String> {
    let refused = facts.meta.cost.programs.get("cpu_samples");
    let refused = refused.and_then(Option::as_ref);
    let has_stacks = facts.timeline.table(&STACK.name).is_some();
    let stacks = match has_stacks || refused.is_some() {
        true => "",
        false => "call stacks, ",
    };
    let first = format!("{stacks}{locks}, single waits: not recorded");
    let why = refused.map(|why| format!("in which functions CPU time was spent: {why}"));
    std::iter::once(first).chain(why).collect()
}

/// What only programs in the kernel tell, by their names.
#[rustfmt::skip]
const WITHOUT_PROGRAMS: [(&str, &str); 5] = [
    ("thread_time", "who had the CPUs that were waited for, and every wait of every thread"),
    ("block", "whose requests disks served, of which sizes and in which order"),
    ("flow", "who talks to whom, connections shorter than a second, UDP and unix sockets"),
    ("wait_stacks", "in which functions threads wait"),
    ("processes", "which programs were started, and how they ended"),
];

/// What is missing because a program did not load, and why that did not.
pub(crate) fn without_programs(facts: &Facts<'_>) -> impl Iterator<Item = String> {
    WITHOUT_PROGRAMS.iter().filter_map(|(program, what)| {
        let why = facts.meta.cost.programs.get(*program)?.as_ref()?;
        Some(format!("{what}: {why}"))
    })
}
