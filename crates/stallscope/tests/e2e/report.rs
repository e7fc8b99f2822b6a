//! The page that shows a recording: where it goes, and what becomes of an older one.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};

use crate::needs;
use crate::place::Place;
use crate::process::Running;

/// A short run, with its page.
fn ran(place: &Place, more: &[&str]) -> String {
    let words = [&["run", "-q"], more, &["--", "sleep", "1"]].concat();
    let ended = place.run(&words);
    ended.status(0);
    ended.err_text()
}

/// The page's JSON part.
fn page(place: &Place, name: &str) -> model::Page {
    let text = place.read(name);
    let (_, behind) = text.split_once("id=\"page\">").expect("it has data");
    let (json, behind) = behind.split_once("</script>").expect("it ends");
    assert!(behind.contains("id=\"block-0\">"));
    serde_json::from_str(json).expect("it is JSON")
}

#[test]
fn a_run_leaves_its_page_and_says_where() {
    let place = Place::new();
    let said = ran(&place, &[]);
    assert!(
        said.ends_with("Next: open sleep-1.stall/report.html\n"),
        "{said}"
    );
    let drawn = page(&place, "sleep-1.stall/report.html");
    assert_eq!(drawn.recording, "sleep-1.stall");
    assert!(drawn.complete);
    assert!(drawn.tables.iter().any(|table| table.name == "ledger"));
    assert_eq!(drawn.typed, ["stallscope", "run", "-q", "--", "sleep", "1"]);
    let every = |name: &str| {
        let table = drawn.tables.iter().find(|table| table.name == name);
        table.and_then(|table| table.every).map(|it| it.near_ns)
    };
    assert_eq!(every("cpu"), Some(100_000_000));
    assert_eq!(every("ledger"), None, "it is worked out, not read");
    assert!(place.recordings()[0].join("meta.json").exists());
}

#[test]
fn the_command_line_of_record_is_kept_without_its_secrets() {
    let place = Place::new();
    let own = format!("pid:{}", std::process::id());
    let ended = place.run(&[
        "record",
        "-q",
        "--for",
        "1s",
        "--target",
        own.as_str(),
        "--postgres",
        "postgresql://somebody:geheim@127.0.0.1:1/x",
    ]);
    ended.status(0);
    let typed = place.opened().meta.plan.typed.join(" ");
    assert_eq!(
        typed,
        format!(
            "stallscope record -q --for 1s --target {own} --postgres postgresql://***@127.0.0.1:1/x"
        )
    );
}

#[test]
fn no_page_is_made_where_none_is_wanted() {
    let place = Place::new();
    let said = ran(&place, &["--no-report"]);
    assert!(
        said.ends_with("Next: stallscope explain sleep-1.stall\n"),
        "{said}"
    );
    assert!(!place.path().join("sleep-1.stall/report.html").exists());
}

#[test]
fn a_page_is_made_anew_over_another_window_and_elsewhere() {
    let place = Place::new();
    ran(&place, &[]);
    let first = place.read("sleep-1.stall/report.html");
    let ended = place.run(&["report"]);
    ended.status(0);
    assert_eq!(ended.out_text(), "./sleep-1.stall/report.html\n");
    assert_eq!(
        place.read("sleep-1.stall/report.html"),
        first,
        "the same bytes"
    );
    let ended = place.run(&[
        "report",
        "sleep-1.stall",
        "--from",
        "0.2s",
        "--to",
        "0.7s",
        "-o",
        "x.html",
    ]);
    ended.status(0);
    assert_eq!(ended.out_text(), "x.html\n");
    let drawn = page(&place, "x.html");
    let (window, origin) = (drawn.report.window, drawn.report.origin);
    assert!((window.start.seconds_since(origin) - 0.2).abs() < 1e-6);
    let entries = fs::read_dir(place.path()).expect("it is there").flatten();
    let left = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with('.'));
    assert_eq!(left.count(), 0, "nothing unfinished is left");
}

#[test]
fn a_page_is_no_part_of_what_is_read_or_sent() {
    let place = Place::new();
    ran(&place, &[]);
    place
        .run(&[
            "export",
            "sleep-1.stall",
            "--format",
            "bundle",
            "-o",
            "b.stallbundle",
        ])
        .status(0);
    let ended = place.run(&["report", "b.stallbundle"]);
    ended.status(0);
    assert_eq!(ended.out_text(), "b.html\n");
    assert_eq!(page(&place, "b.html").recording, "b.stallbundle");
    let sent = place.run(&["export", "sleep-1.stall", "--format", "bundle", "--preview"]);
    assert!(!sent.out_text().contains("report.html"), "{sent}");
    place.write("sleep-1.stall/report.html", "<p>mine</p>");
    let ended = place.run(&["explain", "sleep-1.stall"]);
    ended.status(0);
    assert!(ended.err.is_empty(), "{ended}");
}

#[test]
fn links_and_devices_stay_what_they_are() {
    let place = Place::new();
    ran(&place, &["--no-report"]);
    place.write("old.html", "<p>old</p>");
    for (target, link) in [
        ("old.html", "link"),
        ("new.html", "dangling"),
        ("/dev/null", "null"),
    ] {
        let link = place.path().join(link);
        symlink(target, &link).expect("the folder is ours");
        let ended = place.run(&["report", "-o", &link.to_string_lossy()]);
        ended.status(0);
        assert_eq!(
            fs::read_link(&link).expect("still a link").to_str(),
            Some(target)
        );
    }
    assert!(page(&place, "old.html").complete);
    assert!(page(&place, "new.html").complete);
}

#[test]
fn a_place_that_cannot_be_written_is_told_with_the_way_round() {
    let place = Place::new();
    ran(&place, &["--no-report"]);
    place
        .run(&["report", "-o", "no/such/x.html"])
        .status(2)
        .says("cannot write no/such/x.html: No such file or directory")
        .says("Choose another place with -o FILE");
    if !needs::root() || !needs::program("setpriv") {
        return;
    }
    let copy = place.path().join("copy");
    fs::copy(env!("CARGO_BIN_EXE_stallscope"), copy).expect("it is a file");
    chown(place.path(), Some(65_534), Some(65_534)).expect("root may");
    // As its owner hands it on: root's recordings are for root.
    place.open_to("sleep-1.stall", 0o755);
    for entry in fs::read_dir(place.recording()).expect("root may") {
        let file = entry.expect("root may").path();
        fs::set_permissions(file, fs::Permissions::from_mode(0o644)).expect("root may");
    }
    let as_nobody = "exec setpriv --reuid=65534 --regid=65534 --clear-groups -- ./copy report";
    let ended = Running::start(place.shell(as_nobody)).end();
    ended
        .status(2)
        .says("sleep-1.stall/report.html: Permission denied")
        .says("Choose another place with -o FILE");
    let ended = Running::start(place.shell(&format!("{as_nobody} -o x.html"))).end();
    ended.status(0);
    assert!(page(&place, "x.html").complete);
}

#[test]
fn call_stacks_of_another_recording_stand_beside_its_own() {
    let place = Place::new();
    let bundle = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/stacks.stallbundle");
    let words = ["report", bundle, "--against", bundle, "-o", "two.html"];
    place.run(&words).status(0);
    let drawn = page(&place, "two.html");
    let against = drawn.against.expect("it was asked for");
    assert_eq!(against.recording, drawn.recording);
    assert_eq!(against.requests.len() + 1, against.edges_ns.len());
    let names = ["stack", "cpu_sample", "against_cpu_sample"];
    let has = |name: &&str| drawn.tables.iter().any(|table| table.name == **name);
    assert!(names.iter().all(has));
    ran(&place, &["--stacks", "off"]);
    let words = [
        "report",
        bundle,
        "--against",
        "sleep-1.stall",
        "-o",
        "x.html",
    ];
    let refused = place.run(&words);
    refused.status(2);
    let said = refused.err_text();
    let expected = "sleep-1.stall has no call stacks to compare with";
    assert!(said.contains(expected), "{said}");
}
