//! One file to send: what it keeps, what it does not, and what is made of one from elsewhere.

use std::fs;

use crate::place::{JSON, Place};

/// Runs a workload that knows a secret, and makes a bundle of it.
fn bundled(place: &Place) -> Vec<u8> {
    let script = "true acme-batch; sleep 2; true /srv/acme/plan.sql";
    place
        .run(&["run", "-q", "-o", "acme.stall", "--", "sh", "-c", script])
        .status(0);
    let ended = place.run(&["export", "acme.stall", "--format", "bundle", "-o", "b"]);
    ended.status(0).says("Saved b (");
    assert!(ended.out_text().contains("b holds:"), "{ended}");
    assert!(!ended.out_text().contains("acme"), "{ended}");
    fs::read(place.path().join("b")).expect("it was written")
}

#[test]
fn a_bundle_is_explained_and_exported_like_a_recording() {
    let place = Place::new();
    bundled(&place);
    place.run(&["explain", "b", "--json", JSON]).status(0);
    let sent = place.report();
    place
        .run(&["explain", "acme.stall", "--json", JSON])
        .status(0);
    let own = place.report();
    assert_eq!(sent.verdict.findings.len(), own.verdict.findings.len());
    for (sent, own) in sent.verdict.findings.iter().zip(&own.verdict.findings) {
        assert_eq!((&sent.cause, sent.share), (&own.cause, own.share));
    }
    assert_eq!(sent.window, own.window);
    let shares = |report: &model::Report| -> Vec<f64> {
        report
            .pressure
            .iter()
            .map(|pressure| pressure.share)
            .collect()
    };
    assert_eq!(shares(&sent), shares(&own));
    let command = sent.workload.expect("there was one").command;
    assert!(!command.join(" ").contains("acme"), "{command:?}");
    assert_eq!(command[..2], ["sh", "-c"]);

    place
        .run(&["export", "b", "--format", "csv", "-o", "out"])
        .status(0);
    let host = fs::read_to_string("/proc/sys/kernel/hostname").expect("it has a name");
    let entities = place.read("out/entities.csv");
    assert!(entities.contains(",machine,host-1,/,"), "{entities}");
    assert!(!entities.contains(&format!(",machine,{},", host.trim())));
}

#[test]
fn a_preview_shows_every_text_and_writes_nothing() {
    let place = Place::new();
    bundled(&place);
    let ended = place.run(&["export", "acme.stall", "--format", "bundle", "--preview"]);
    ended.status(0);
    let text = ended.out_text();
    let (sent, kept) = text
        .split_once("Not in it, for you: what stands for what")
        .expect("the list that stays is shown");
    assert!(sent.contains("Every text in it ("), "{sent}");
    assert!(sent.contains("process: name"), "{sent}");
    assert!(!sent.contains("acme-batch;"), "{sent}");
    assert!(kept.contains("acme-batch;"), "{kept}");
    assert!(!place.path().join("acme.stallbundle").exists());
    let all = place.run(&[
        "export",
        "acme.stall",
        "--format",
        "bundle",
        "--preview",
        "--names",
        "all",
    ]);
    all.status(0);
    assert!(all.out_text().contains("acme-batch;"), "{all}");
}

#[test]
fn a_bundle_that_is_damaged_is_a_sentence() {
    let place = Place::new();
    let bytes = bundled(&place);
    place.write("short.stallbundle", &bytes[..bytes.len() / 2]);
    place.write("empty.stallbundle", "");
    place.write("text.stallbundle", "Dear colleague,");
    for name in ["short", "empty", "text"] {
        let name = format!("{name}.stallbundle");
        let ended = place.run(&["explain", &name]);
        ended
            .status(2)
            .says(&format!(
                "cannot open the bundle {name}: it is cut short or damaged"
            ))
            .says("Ask its sender for it again");
        assert!(ended.out.is_empty(), "{ended}");
    }
}

#[test]
fn nothing_of_a_bundle_stays_in_the_temporary_folder() {
    let place = Place::new();
    bundled(&place);
    let room = place.path().join("room");
    fs::create_dir(&room).expect("the folder is ours");
    for arguments in [
        &["explain", "b"][..],
        &["export", "b", "--format", "bundle", "-o", "c"],
        &["export", "b", "--format", "bundle", "--preview"],
    ] {
        let mut command = place.stallscope(arguments);
        command.env("TMPDIR", &room);
        crate::process::Running::start(command).end().status(0);
        assert_eq!(fs::read_dir(&room).expect("it is there").count(), 0);
    }
    let mut command = place.stallscope(&["explain", "b"]);
    command.env("TMPDIR", "/nowhere");
    crate::process::Running::start(command)
        .end()
        .status(2)
        .says("cannot unpack b in the folder for temporary files")
        .says("Name another with TMPDIR=FOLDER");
}
