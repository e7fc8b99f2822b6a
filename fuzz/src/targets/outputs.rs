//! Everything that is written of a recording from elsewhere: the verdict, tables, a bundle.
//!
//! An input is one of `folder`.

use std::path::Path;

use anyhow::Result;

use super::{diagnosis, folder};
use crate::{Seed, Target};

pub const TARGET: Target = Target {
    name: "outputs",
    feed,
    seeds,
    affordable: 150,
};

fn feed(bytes: &[u8]) {
    if let Some((place, recording)) = folder::open(bytes) {
        let report = diagnosis::judge(&recording.timeline, &recording.meta, None);
        stallscope::fuzz_targets::written(&recording, &report, place.path());
    }
}

fn seeds(repository: &Path) -> Result<Vec<Seed>> {
    folder::seeds(repository)
}
