//! Pages as they are found again: their numbers, and that nothing in them leaves its place.

mod call_stacks;
mod decode;
mod deep;
mod drawn_spikes;
mod drawn_statements;
mod events;
mod fine_bins;
mod fixtures;
mod made;
mod names;
mod programs;
mod requests;
mod size;
mod sums;

use model::Report;
use recording::Recording;

use super::{Drawn, data, draw, html};

/// A recording's page, as the text that takes the marker's place.
fn data_of(recording: &Recording) -> (Report, String) {
    let report = analysis::diagnose(&recording.timeline, &recording.meta, None);
    let drawn = draw(recording, &report, "drawn.stall").expect("it is drawn");
    (report, text_of(&drawn))
}

fn text_of(drawn: &Drawn) -> String {
    data(drawn).expect("memory takes it")
}
