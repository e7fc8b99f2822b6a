//! Input without end takes bounded memory. A process of its own, since it looks at the whole process's.

use std::fs;

use model::{ExitKind, Timestamp};
use workloads::{Adjust, Listener, Stream, prepare};

/// The most that this process has had resident, KiB.
fn peak_kb() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("our own");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number
        .and_then(|it| it.parse().ok())
        .expect("a number of KiB")
}

#[test]
fn a_line_of_100_megabytes_takes_next_to_nothing() {
    let argv = ["pgbench", "-P", "1", "-c", "4"].map(Into::into);
    for (start, stream) in [
        (&b"progress: 1.0 s, 10.0 tps, "[..], Stream::Stderr),
        (b"transaction type: ", Stream::Stdout),
        (b"", Stream::Stderr),
    ] {
        let reader = prepare(&argv, Adjust::Allowed).expect("it is known").reader;
        let mut listener = Listener::new(reader);
        let mut forward = Vec::with_capacity(1 << 16);
        let piece = vec![b'7'; 1 << 14];
        listener.hear(stream, start, Timestamp::from_ns(1), &mut forward);
        let (before, mut passed) = (peak_kb(), 0);
        for _ in 0..(100 << 20) / piece.len() {
            listener.hear(stream, &piece, Timestamp::from_ns(1), &mut forward);
            passed += forward.len();
            forward.clear();
        }
        let grown = peak_kb() - before;
        assert!(grown < 1_024, "{grown} KiB for a line of 100 MB");
        let (mut out, mut err) = (Vec::new(), Vec::new());
        listener.finish(ExitKind::Code(0), Timestamp::from_ns(2), &mut out, &mut err);
        let held = out.len() + err.len();
        assert_eq!(
            passed + held,
            start.len() + (100 << 20),
            "every byte is passed on"
        );
    }
}
