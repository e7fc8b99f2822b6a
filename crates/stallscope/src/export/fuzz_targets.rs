//! Every way out of here, for the fuzzer: what a recording from elsewhere holds must not break one.

use std::io::sink;
use std::path::Path;

use recording::Recording;

use super::clock::WallClock;
use super::{bundle, preview, stacks, tables};
use crate::arguments::Names;
use crate::outputs;

/// Writes all tables to nowhere, both ways, call stacks in every format, and the bundle's recording into `folder`. Returns what a
/// person is shown of that, or the sentence that says why there is none.
///
/// # Panics
/// When a table cannot be written.
pub(crate) fn everything(recording: &Recording, folder: &Path) -> Vec<String> {
    let Recording { meta, timeline, .. } = recording;
    let clock = WallClock::of(&meta.identity, timeline);
    for sheet in tables::sheets(timeline, &clock) {
        outputs::write_csv(sink(), &sheet.schema, sheet.batches).expect("a table is CSV");
    }
    for sheet in tables::sheets(timeline, &clock) {
        outputs::write_parquet(sink(), &sheet.schema, sheet.batches).expect("a table is Parquet");
    }
    stacks::every_format(recording).expect("call stacks are written");
    let names = Names::Programs;
    match bundle::make(&folder.join("redacted.stall"), recording, names) {
        Ok((redacted, manifest)) => vec![
            preview::overview(Path::new("a.stallbundle"), &manifest, recording, &redacted),
            preview::texts(&redacted),
            preview::replaced(&redacted),
        ],
        Err(error) => vec![outputs::harmless(&outputs::sentence(&error))],
    }
}
