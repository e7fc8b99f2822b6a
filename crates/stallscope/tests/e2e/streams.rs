//! The workload's own input and output pass as if nobody stood between.

use crate::place::Place;
use crate::process::{Ended, Running};

/// Bytes of every value without a pattern, no line end at the end, and no text that an adapter knows.
fn binary(length: usize) -> Vec<u8> {
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let mut bytes: Vec<u8> = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    })
    .take(length - 1)
    .collect();
    bytes.push(b'x');
    bytes
}

/// The two ways of a workload's output: inherited, and through an adapter (by the name `pgbench`).
fn both_ways(body: &str, prepare: impl Fn(&Place)) -> Vec<Ended> {
    let run = |name: &str| {
        let place = Place::new();
        place.script(name, body);
        prepare(&place);
        place.run(&["run", "-q", "--", &format!("./{name}")])
    };
    vec![run("load"), run("pgbench")]
}

#[test]
fn a_megabyte_of_any_bytes_passes_on_standard_output_unchanged() {
    let bytes = binary(1_000_000);
    for ended in both_ways("cat bytes; exit 3", |place| {
        place.write("bytes", &bytes);
    }) {
        ended.status(3);
        assert!(ended.out == bytes, "{} bytes came", ended.out.len());
    }
}

#[test]
fn any_bytes_pass_on_standard_error_before_the_verdict() {
    let bytes = binary(300_000);
    for ended in both_ways("cat bytes >&2; exit 3", |place| {
        place.write("bytes", &bytes);
    }) {
        ended.status(3).says("Saved");
        assert!(ended.out.is_empty(), "{ended}");
        assert!(ended.err.starts_with(&bytes), "the bytes come first, whole");
    }
}

#[test]
fn both_streams_on_one_pipe_keep_their_order() {
    let place = Place::new();
    let body = |pause: &str| {
        format!(
            "for i in 1 2 3 4 5; do printf \"out$i \"; {pause}; printf \"err$i \" >&2; {pause}; done"
        )
    };
    place.script("load", &body(":"));
    // With time between: two pipes have no order of their own.
    place.script("pgbench", &body("sleep 0.1"));
    for name in ["load", "pgbench"] {
        let ended = Running::start(place.shell(&format!("\"$0\" run -q -- ./{name} 2>&1"))).end();
        let expected = "out1 err1 out2 err2 out3 err3 out4 err4 out5 err5 ";
        assert!(ended.out.starts_with(expected.as_bytes()), "{ended}");
    }
}

#[test]
fn standard_input_is_the_workloads() {
    let bytes = binary(200_000);
    let place = Place::new();
    let command = place.stallscope(&["run", "-q", "--", "cat"]);
    let ended = Running::start_with_input(command, bytes.clone()).end();
    ended.status(0);
    assert!(ended.out == bytes, "{} bytes came", ended.out.len());
}

#[test]
fn a_reader_that_goes_away_ends_the_workload_as_it_would_without_us() {
    let place = Place::new();
    let text = "{ \"$0\" run -q -- yes; echo $? > status; } | head -c 1";
    let ended = Running::start(place.shell(text)).end();
    assert_eq!(ended.out, b"y");
    // 128 + SIGPIPE
    assert_eq!(place.wait_for("status").trim(), "141");
    ended.says("Saved");
}

#[test]
fn a_load_generator_that_prints_without_end_notices_that_nobody_reads() {
    let place = Place::new();
    place.script("pgbench", "exec yes");
    let text = "{ \"$0\" run -q -- ./pgbench; echo $? > status; } | head -c 1";
    Running::start(place.shell(text)).end();
    // 128 + SIGPIPE
    assert_eq!(place.wait_for("status").trim(), "141");
}

#[test]
fn a_reader_that_goes_away_does_not_end_a_load_generator_that_prints_little() {
    let place = Place::new();
    place.script(
        "pgbench",
        "echo one; sleep 0.5; echo two; sleep 0.5; exit 3",
    );
    let text = "{ \"$0\" run -q -- ./pgbench; echo $? > status; } | head -c 1";
    Running::start(place.shell(text)).end();
    let status = place.wait_for("status");
    assert!(["3", "141"].contains(&status.trim()), "{status}");
}

#[test]
fn json_on_standard_output_stands_there_alone() {
    for name in ["load", "pgbench"] {
        let place = Place::new();
        place.script(name, "echo from the workload; exit 3");
        let ended = place.run(&["run", "-q", "--json", "-", "--", &format!("./{name}")]);
        ended.status(3).says("from the workload").says("Saved");
        let report: model::Report =
            serde_json::from_slice(&ended.out).expect("standard output is one JSON document");
        assert_eq!(report.schema, model::REPORT_SCHEMA);
    }
}

#[test]
fn explain_into_a_pipe_that_closes_is_no_error() {
    let place = Place::new();
    place.run(&["run", "-q", "--", "true"]).status(0);
    let text = "{ \"$0\" explain; echo $? > status; } | true";
    Running::start(place.shell(text))
        .end()
        .does_not_say("cannot");
    assert_eq!(place.wait_for("status").trim(), "0");
}
