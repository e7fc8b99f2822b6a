//! Whoever reads the lab's lines may stop at any time.

use std::process::{Command, Stdio};

#[test]
fn a_pipe_that_its_reader_has_closed_ends_nothing() {
    let empty = tempfile::tempdir().expect("a temporary folder");
    let lines: [&[&str]; 3] = [&["list"], &["soak", "--list"], &["score", "--out"]];
    for arguments in lines {
        let run = |out: Stdio| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_stallscope-lab"));
            command.args(arguments).stdout(out);
            if arguments.contains(&"--out") {
                command.arg(empty.path());
            }
            command.output().expect("the lab was built for this test")
        };
        let read = run(Stdio::piped());
        assert!(!read.stdout.is_empty(), "{arguments:?}");
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let closed = run(writer.into());
        let errors = String::from_utf8_lossy(&closed.stderr);
        assert_eq!(closed.status, read.status, "{arguments:?}: {errors}");
        assert_eq!(closed.stderr, read.stderr, "{arguments:?}: {errors}");
    }
}
