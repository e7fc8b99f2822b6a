//! What a person sees at a terminal while a run goes on.

use crate::needs;
use crate::place::Place;
use crate::process::Running;

/// Erases the line of the cursor, as the live line does before anything else is written.
const ERASE: &str = "\r\u{1b}[K";

fn at_a_terminal(arguments: &str) -> Option<String> {
    shown(arguments, "echo one; sleep 2.5; echo two")
}

/// What a person sees of this load.
fn shown(arguments: &str, load: &str) -> Option<String> {
    if !needs::program("script") {
        return None;
    }
    let place = Place::new();
    place.script("load", load);
    let text = format!("exec script -qfec \"exec '$0' run {arguments} -- ./load\" typescript");
    // Kept open: script ends a session whose keyboard is closed.
    let (running, keyboard) = Running::start_typing(place.shell(&text));
    let ended = running.end();
    drop(keyboard);
    ended.status(0);
    Some(ended.out_text())
}

#[test]
fn the_live_line_is_redrawn_and_gone_before_the_verdict() {
    let Some(shown) = at_a_terminal("") else {
        return;
    };
    assert!(shown.contains(&format!("{ERASE}   2 s")), "{shown:?}");
    let verdict = shown.find("Saved").expect("there is a verdict");
    let last_line = shown.rfind(" s\r\u{1b}[K").or(shown.rfind(ERASE));
    assert!(last_line.is_some_and(|at| at < verdict), "{shown:?}");
}

#[test]
fn the_answer_so_far_stands_in_the_live_line() {
    // It works until the answer is there.
    let load = "tries=0
        until grep -q 'so far' typescript; do
            tries=$((tries + 1)); [ $tries -lt 6000 ] || exit 1; sleep 0.05
        done";
    let Some(shown) = shown("--no-report", load) else {
        return;
    };
    let mut lines = shown.split(ERASE);
    let is_live = |line: &str| line.contains(" s  ") && line.contains("so far");
    assert!(lines.any(is_live), "{shown:?}");
    assert!(shown.contains("Saved"), "{shown:?}");
}

#[test]
fn quiet_shows_no_live_line() {
    let Some(shown) = at_a_terminal("-q") else {
        return;
    };
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
    assert!(shown.contains("Saved"), "{shown:?}");
}

#[test]
fn without_a_terminal_nothing_is_redrawn() {
    let place = Place::new();
    let ended = place.run(&["run", "--", "sleep", "2"]);
    assert!(!ended.err.contains(&0x1b), "{ended}");
    assert!(!ended.err.contains(&b'\r'), "{ended}");
}
