//! The file of results that the workload's command line names: read when the workload has ended. It is the user's, and
//! stays where it is.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use model::{Meta, Sentence, sentence};
use workloads::{Ending, Operations, ResultsFile, ResultsReader};

/// What is behind this many bytes is not read: some ten million samples.
const MOST_BYTES: u64 = 2 << 30;
/// A longer line is none of such a file.
const LONGEST_LINE: u64 = 64 * 1024;

/// Adds what the file says to the ending, and returns when its operations were.
pub(super) fn read(file: &ResultsFile, meta: &Meta, ending: &mut Ending) -> Operations {
    let mut reader = (file.read)(begun_unix_ns(meta));
    let (operations, remark) = match feed(&file.path, reader.as_mut()) {
        Ok(is_whole) => {
            let cut =
                || Sentence::from("the file of results is longer than 2 GiB: the rest is left out");
            let (operations, remark) = reader.finish(&mut ending.summary);
            (operations, remark.or_else(|| (!is_whole).then(cut)))
        }
        Err(error) => {
            let why = error.to_string();
            let remark = sentence!("the file of results cannot be read: {}", why);
            (Operations::default(), Some(remark))
        }
    };
    ending.remarks.extend(remark);
    operations
}

/// When the workload was started, ns since 1970.
fn begun_unix_ns(meta: &Meta) -> i64 {
    let started = meta.workload.as_ref().map(|workload| workload.started);
    let started = started.unwrap_or(meta.window.start);
    let since = started
        .as_ns()
        .saturating_sub(meta.identity.anchor_boottime.as_ns());
    meta.identity.anchor_realtime_ns.saturating_add(since)
}

/// Shows all lines to the reader; false when there were more.
fn feed(path: &Path, reader: &mut dyn ResultsReader) -> io::Result<bool> {
    // Opening a pipe would wait for who writes to it.
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    let mut file = BufReader::new(File::open(path)?.take(MOST_BYTES));
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut limited = Read::take(&mut file, LONGEST_LINE);
        if limited.read_until(b'\n', &mut line)? == 0 {
            return Ok(file.get_ref().limit() > 0);
        }
        // A last line without an end was cut off by the tool's own end.
        if line.pop() == Some(b'\n') {
            reader.line(&line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Lines(Vec<String>);

    impl ResultsReader for Lines {
        fn line(&mut self, line: &[u8]) {
            self.0.push(String::from_utf8_lossy(line).into_owned());
        }

        fn finish(
            self: Box<Self>,
            _: &mut Option<model::Summary>,
        ) -> (Operations, Option<Sentence>) {
            <_>::default()
        }
    }

    #[test]
    fn whole_lines_of_regular_files_are_read() {
        let home = tempfile::tempdir().expect("a temporary folder");
        let path = home.path().join("results");
        let long = "x".repeat(LONGEST_LINE as usize);
        std::fs::write(&path, format!("a\n\n{long}y\nb\nc")).expect("written");
        let mut lines = Lines(Vec::new());
        assert!(feed(&path, &mut lines).expect("it is read"));
        assert_eq!(lines.0, ["a", "", "y", "b"]);
        assert!(feed(home.path(), &mut lines).is_err());
        assert!(feed(&home.path().join("none"), &mut lines).is_err());
    }
}
