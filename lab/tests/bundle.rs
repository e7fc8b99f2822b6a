//! The kept recordings as bundles: taking the names out changes no answer.

use std::path::{Path, PathBuf};
use std::process::Command;

use model::Report;

fn stallscope() -> PathBuf {
    let lab = Path::new(env!("CARGO_BIN_EXE_stallscope-lab"));
    lab.with_file_name("stallscope")
}

fn run(room: &Path, arguments: &[&str]) {
    let output = Command::new(stallscope())
        .args(arguments)
        .current_dir(room)
        .output()
        .expect("it was built for this test: cargo build -p stallscope");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
}

fn explained(room: &Path, recording: &str) -> Report {
    run(room, &["explain", recording, "--json", "report.json"]);
    let text = std::fs::read_to_string(room.join("report.json")).expect("it was written");
    serde_json::from_str(&text).expect("it is a report")
}

/// What a report says without its names and sentences: causes, how sure, shares, evidence, gains,
/// answers, phases, signals and pressure, one per line.
fn answer(report: &Report) -> String {
    let verdict = &report.verdict;
    let mut lines = vec![format!("{:?}", report.window)];
    for finding in &verdict.findings {
        let (cause, share) = (&finding.cause, finding.share);
        lines.push(format!("{cause} {:?} {share:?}", finding.confidence));
        lines.push(format!("{:?}", finding.share_interval));
        let evidence = finding.evidence.iter();
        lines.extend(evidence.map(|it| format!("{} {} {}", it.column, it.value, it.passed)));
        let remedies = finding.would_help.iter();
        lines.extend(remedies.map(|it| format!("{:?} {:?}", it.gain, it.gain_interval)));
    }
    let judged = verdict.judged.iter();
    lines.extend(judged.map(|it| format!("{} {:?} {}", it.cause, it.answer, it.concerns)));
    for phase in &report.phases {
        let verdict = phase.verdict.as_ref();
        let verdict = verdict.map(|it| (&it.cause, it.share, it.confidence));
        lines.push(format!("{:?} {:?} {verdict:?}", phase.kind, phase.window));
    }
    lines.push(format!("{:?}", report.signals));
    lines.extend(report.pressure.iter().map(|it| format!("{:?}", it.share)));
    lines.join("\n")
}

/// The kept recordings: their names and files.
fn kept() -> Vec<(String, PathBuf)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("recordings");
    let files = std::fs::read_dir(folder).expect("recordings are kept");
    let paths = files.map(|it| it.expect("it is there").path());
    let named = paths.filter_map(|path| {
        let name = path.file_name()?.to_str()?.strip_suffix(".tar.zst")?;
        Some((name.to_owned(), path.clone()))
    });
    named.collect()
}

/// `names` are those that the bundle keeps.
fn has_its_answer_as_a_bundle(name: &str, path: &Path, names: &str) {
    let room = tempfile::tempdir().expect("a folder");
    let file = std::fs::File::open(path).expect("it was just seen");
    let unpacked = zstd::Decoder::new(file).expect("it is compressed");
    let mut archive = tar::Archive::new(unpacked);
    archive.unpack(room.path()).expect("there is room");
    let recording = format!("{name}.stall");
    let own = answer(&explained(room.path(), &recording));
    let bundle = format!("{names}.stallbundle");
    run(
        room.path(),
        &[
            "export", &recording, "--format", "bundle", "--names", names, "-o", &bundle,
        ],
    );
    let sent = explained(room.path(), &bundle);
    assert_eq!(answer(&sent), own, "{name}, names of {names}");
    assert_eq!(sent.identity.node, "host-1", "{name}");
}

#[test]
fn a_bundle_gives_the_answer_of_its_recording() {
    // In turns, so that each half of the recordings is packed in one of the two ways.
    let ways = ["programs", "none"].into_iter().cycle();
    let mut kept = kept();
    kept.sort();
    let kept: Vec<_> = kept.into_iter().zip(ways).collect();
    assert!(!kept.is_empty(), "recordings are kept");
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for part in kept.chunks(kept.len().div_ceil(threads)) {
            scope.spawn(move || {
                for ((name, path), names) in part {
                    has_its_answer_as_a_bundle(name, path, names);
                }
            });
        }
    });
}
