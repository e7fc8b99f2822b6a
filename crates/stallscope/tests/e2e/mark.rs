//! `mark`: instants that people name, while it is recorded and later, and where they are seen.

use model::Comparison;

use crate::place::{JSON, Place};

const PROGRAM: &str = env!("CARGO_BIN_EXE_stallscope");

/// A run whose workload marks its own middle.
fn ran(place: &Place) {
    place.script(
        "load.sh",
        &format!("sleep 1.5\n{PROGRAM} mark 'half way' 2> marked\nsleep 1.5"),
    );
    place.run(&["run", "-q", "--", "./load.sh"]).status(0);
}

#[test]
fn a_workload_marks_what_it_does_and_the_page_shows_it() {
    let place = Place::new();
    ran(&place);
    let said = place.read("marked");
    let marked = said.strip_prefix("Marked ").expect("it says so");
    let (at, _) = marked.split_once(' ').expect("then when");
    let at: f64 = at.parse().expect("a number");
    assert!(
        said.ends_with("s of ./load.sh-1.stall: half way\n"),
        "{said}"
    );
    let timeline = place.opened().timeline;
    assert_eq!(timeline.marks.len(), 1, "{:?}", timeline.marks);
    // The load sleeps for 1.5 s before it and after it, however long it takes to begin.
    let length = timeline.window.seconds();
    assert!(at >= 1.4 && at <= length - 1.4, "{at} of {length}: {said}");
    let page = place.read("load.sh-1.stall/report.html");
    assert!(page.contains("half way"));
}

#[test]
fn what_was_recorded_is_marked_at_a_time_in_it() {
    let place = Place::new();
    ran(&place);
    place
        .run(&["mark", "now"])
        .status(2)
        .says("is no longer recorded. Say when it was");
    place
        .run(&["mark", "late", "--at", "1h"])
        .status(2)
        .says("does not cover 3600.0 s");
    place
        .run(&["mark", " \n", "--at", "1s"])
        .status(2)
        .says("the mark has no text");
    place
        .run(&["mark", "begin", "load.sh-1.stall", "--at", "1s"])
        .status(0)
        .says("Marked 1.0 s");
    let texts = |place: &Place| -> Vec<String> {
        place
            .opened()
            .timeline
            .marks
            .into_iter()
            .map(|it| it.text)
            .collect()
    };
    assert_eq!(texts(&place), ["begin", "half way"]);
    // A cut has those inside it, a bundle their times.
    let cut = ["export", "--from", "0s", "--to", "1.2s", "-o", "cut.stall"];
    place.run(&cut).status(0);
    let part = recording::Reader::open(&place.path().join("cut.stall")).expect("a recording");
    assert_eq!(part.timeline.marks.len(), 1);
    let bundle = [
        "export",
        "load.sh-1.stall",
        "--format",
        "bundle",
        "--preview",
    ];
    let shown = place.run(&bundle).status(0).out_text();
    assert!(
        shown.contains("2 marks") && shown.contains("[withheld]"),
        "{shown}"
    );
    assert!(!shown.contains("half way"), "{shown}");
}

#[test]
fn runs_are_compared_aligned_at_a_mark() {
    let place = Place::new();
    ran(&place);
    ran(&place);
    let names = ["load.sh-1.stall", "load.sh-2.stall"];
    let words = |align: &'static str| {
        let options = ["--align", align, "-o", "both.html", "--json", JSON];
        [&["compare"], &names[..], &options].concat()
    };
    place.run(&words("mark:half way")).status(0);
    let page = place.read("both.html");
    assert!(
        page.contains("0 s at the mark &quot;half way&quot;"),
        "{page}"
    );
    assert!(page.contains("half way at 0.0 s"), "{page}");
    let comparison: Comparison = serde_json::from_str(&place.read(JSON)).expect("a comparison");
    let mut runs = comparison.groups.iter().flat_map(|it| &it.runs);
    assert!(runs.all(|it| it.marks.len() == 1));
    let refused = place.run(&words("mark:deploy"));
    refused
        .status(2)
        .says("load.sh-1 has no mark \"deploy\": it has \"half way\"");
    place
        .run(&words("mark:"))
        .status(2)
        .says("or at a mark: 'mark:deploy began'");
}
