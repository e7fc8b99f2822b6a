//! Recordings side by side: what differs, by how much, how sure that is, and why.
//!
//! Each recording is measured by itself (`Measured::of`), so that only one is in memory at a time; what is compared is
//! what its report says, over its steady phase. A group is one configuration, recorded once or several times.

mod beside_exposure;
mod code;
mod differences;
mod environment;
pub(crate) mod figures;
mod functions;
mod in_turns;
mod intervals;
mod measured;
mod sentences;
pub(crate) mod used;

use model::{COMPARISON_SCHEMA, ComparedGroup, Comparison, Difference};

pub use measured::Measured;
pub use sentences::signed;

/// Recordings of one configuration, with the name that sentences have for it.
pub struct Group {
    /// The name.
    pub name: String,
    /// Its recordings, at least one.
    pub runs: Vec<Measured>,
}

/// Compares every group with the first.
pub fn compare(groups: Vec<Group>) -> Comparison {
    let mut figures = figures::rows(&groups);
    figures.extend(functions::rows(&groups));
    let environment = environment::differences(&groups);
    let caveats = sentences::caveats(&groups, &figures);
    let answers = sentences::answers(&groups, &figures);
    let groups = groups.into_iter().map(|group| ComparedGroup {
        name: group.name,
        command: None,
        runs: group.runs.into_iter().map(|it| it.run).collect(),
    });
    Comparison {
        schema: COMPARISON_SCHEMA.to_owned(),
        groups: groups.collect(),
        answers,
        environment,
        figures,
        caveats,
        experiment: None,
    }
}

/// How far the throughput as if alone of each group but the first is from the first's, of runs that took turns; `None`
/// where it is not known.
pub fn alone(groups: &[Group]) -> Vec<Option<Difference>> {
    let Some((baseline, others)) = groups.split_first() else {
        return Vec::new();
    };
    let difference = |other| in_turns::alone(baseline, other);
    others.iter().map(difference).collect()
}

#[cfg(test)]
mod tests;
