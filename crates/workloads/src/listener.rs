//! Stands between a workload's output and the user: every byte goes on unchanged, and every whole
//! line is shown to the adapter's reader on the way, and searched for complaints.
//!
//! What must not happen here: delaying a prompt (`starting vacuum...` has no line end for seconds),
//! changing a byte, or growing with the output. A partial line is held back only while the reader
//! says that it may turn out to be one of the lines that are there only for us.

use model::{ExitKind, Timestamp};

use crate::complaints::Complaints;
use crate::{Bin, Ending, Reader, Stream};

/// A longer line passes and is not parsed: no load generator writes one, and a workload that prints
/// binary data without a line end must not make us grow.
const LONGEST_LINE: usize = 64 * 1024;

/// Feeds a reader with lines, and says what must reach the user.
pub struct Listener {
    stdout: OpenLine,
    stderr: OpenLine,
    tap: OutputTap,
}

/// Who hears each whole line.
struct OutputTap {
    reader: Box<dyn Reader>,
    bins: Vec<Bin>,
    complaints: Complaints,
}

impl Listener {
    /// A listener for one run.
    pub fn new(reader: Box<dyn Reader>) -> Self {
        Self {
            stdout: OpenLine::default(),
            stderr: OpenLine::default(),
            tap: OutputTap {
                reader,
                bins: Vec::new(),
                complaints: Complaints::default(),
            },
        }
    }

    /// Takes what one read returned, and adds to `forward` the bytes that must reach the user now.
    pub fn hear(
        &mut self,
        stream: Stream,
        bytes: &[u8],
        arrived: Timestamp,
        forward: &mut Vec<u8>,
    ) {
        let line = match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        };
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            match piece.strip_suffix(b"\n") {
                Some(text) => {
                    line.add(text, arrived, forward);
                    line.show_drawn(&mut self.tap, stream, arrived);
                    let shown = line.show_to(&mut self.tap, stream, arrived, true);
                    line.end(shown, b"\n", forward);
                }
                None => {
                    line.add(piece, arrived, forward);
                    line.show_drawn(&mut self.tap, stream, arrived);
                    if !self.tap.reader.may_hide(stream, &line.text) {
                        line.pass(forward);
                        line.forget_drawn();
                    }
                }
            }
        }
    }

    /// The bins completed since the last call.
    pub fn take_bins(&mut self) -> Vec<Bin> {
        std::mem::take(&mut self.tap.bins)
    }

    /// The end of the run: a last line without a line end is read as a line, and what was held back
    /// is added to `forward_out` and `forward_err`. Returns the bins not taken yet and the ending.
    pub fn finish(
        mut self,
        exit: ExitKind,
        ended: Timestamp,
        forward_out: &mut Vec<u8>,
        forward_err: &mut Vec<u8>,
    ) -> (Vec<Bin>, Ending) {
        let rest = [
            (Stream::Stdout, &mut self.stdout, forward_out),
            (Stream::Stderr, &mut self.stderr, forward_err),
        ];
        for (stream, line, forward) in rest {
            if !line.text.is_empty() {
                let shown = line.show_to(&mut self.tap, stream, ended, false);
                line.end(shown, b"", forward);
            }
        }
        let OutputTap {
            reader,
            bins,
            complaints,
        } = self.tap;
        let ending = Ending {
            complaints: complaints.finish(),
            ..reader.finish(exit, ended)
        };
        (bins, ending)
    }
}

/// The line of a stream that has not ended yet.
#[derive(Default)]
struct OpenLine {
    /// What came of it; empty for a line that is too long.
    text: Vec<u8>,
    /// How much of `text` the user has.
    passed: usize,
    /// How much of `text` was shown as drawn.
    drawn: usize,
    /// When the last byte of `text` came: its line end may come in a later read.
    arrived: Option<Timestamp>,
    /// Longer than `LONGEST_LINE`: the rest of it passes.
    too_long: bool,
}

impl OpenLine {
    /// Adds text that has no line end.
    fn add(&mut self, text: &[u8], arrived: Timestamp, forward: &mut Vec<u8>) {
        if text.is_empty() {
            return;
        }
        if !self.too_long && self.text.len() + text.len() > LONGEST_LINE {
            self.pass(forward);
            self.text.clear();
            (self.passed, self.drawn) = (0, 0);
            self.too_long = true;
        }
        if self.too_long {
            forward.extend_from_slice(text);
        } else {
            self.text.extend_from_slice(text);
            self.arrived = Some(arrived);
        }
    }

    /// Shows what was drawn since the last time, each time that it was.
    fn show_drawn(&mut self, tap: &mut OutputTap, stream: Stream, now: Timestamp) {
        let fresh = &self.text[self.drawn..];
        let Some(end) = fresh.iter().rposition(|byte| *byte == b'\r') else {
            return;
        };
        for text in fresh[..end].split(|byte| *byte == b'\r') {
            if !text.is_empty() {
                tap.reader.drawn(stream, text, now, &mut tap.bins);
            }
        }
        self.drawn += end + 1;
    }

    /// A line may be drawn over for hours: what the user has of it is forgotten where it would make the line too long.
    fn forget_drawn(&mut self) {
        if self.text.len() > LONGEST_LINE / 2 && self.drawn > 0 {
            self.text.drain(..self.drawn);
            self.passed -= self.drawn;
            self.drawn = 0;
        }
    }

    /// Gives the user what he does not have yet.
    fn pass(&mut self, forward: &mut Vec<u8>) {
        forward.extend_from_slice(&self.text[self.passed..]);
        self.passed = self.text.len();
    }

    /// Shows the line to who hears it, whole or without a line end; true when it must reach the user.
    fn show_to(&self, tap: &mut OutputTap, stream: Stream, now: Timestamp, is_whole: bool) -> bool {
        if self.too_long {
            return true;
        }
        let line = self.text.strip_suffix(b"\r").unwrap_or(&self.text);
        tap.complaints.line(line);
        let arrived = self.arrived.unwrap_or(now);
        let (reader, bins) = (&mut tap.reader, &mut tap.bins);
        if is_whole {
            reader.line(stream, line, arrived, bins)
        } else {
            reader.last_line(stream, line, arrived, bins)
        }
    }

    /// Ends the line and begins the next. A line of which the user has a part is given whole.
    fn end(&mut self, shown: bool, line_end: &[u8], forward: &mut Vec<u8>) {
        if shown || self.passed > 0 {
            self.pass(forward);
            forward.extend_from_slice(line_end);
        }
        self.text.clear();
        (self.passed, self.drawn) = (0, 0);
        self.arrived = None;
        self.too_long = false;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use proptest::prelude::*;

    use super::*;

    type Lines = Arc<Mutex<Vec<(Stream, Vec<u8>, i64)>>>;

    /// Hides whole lines that begin with `#`, and keeps what it was shown.
    struct HideHash(Lines);

    impl Reader for HideHash {
        fn line(
            &mut self,
            stream: Stream,
            line: &[u8],
            arrived: Timestamp,
            _: &mut Vec<Bin>,
        ) -> bool {
            self.0
                .lock()
                .unwrap()
                .push((stream, line.to_vec(), arrived.as_ns()));
            !line.starts_with(b"#")
        }

        fn may_hide(&self, _: Stream, start: &[u8]) -> bool {
            start.starts_with(b"#")
        }

        fn finish(self: Box<Self>, _: ExitKind, _: Timestamp) -> Ending {
            Ending::default()
        }
    }

    fn hear(listener: &mut Listener, text: &str, at: i64) -> String {
        let mut forward = Vec::new();
        listener.hear(
            Stream::Stderr,
            text.as_bytes(),
            Timestamp::from_ns(at),
            &mut forward,
        );
        String::from_utf8(forward).unwrap()
    }

    fn end(listener: Listener) -> (String, String) {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        listener.finish(
            ExitKind::Code(0),
            Timestamp::from_ns(99),
            &mut out,
            &mut err,
        );
        (
            String::from_utf8(out).unwrap(),
            String::from_utf8(err).unwrap(),
        )
    }

    #[test]
    fn a_prompt_passes_at_once_and_a_line_that_may_be_ours_waits() {
        let lines = Lines::default();
        let mut listener = Listener::new(Box::new(HideHash(lines.clone())));
        assert_eq!(
            hear(&mut listener, "starting vacuum...", 1),
            "starting vacuum..."
        );
        assert_eq!(hear(&mut listener, "end.\r\n#on", 2), "end.\r\n");
        assert_eq!(hear(&mut listener, "e", 3), "");
        assert_eq!(hear(&mut listener, "\n\n", 4), "\n");
        assert_eq!(hear(&mut listener, "#two", 5), "");
        assert_eq!(end(listener), (String::new(), String::new()));
        let seen: Vec<_> = lines
            .lock()
            .unwrap()
            .iter()
            .map(|(_, l, at)| (String::from_utf8_lossy(l).into_owned(), *at))
            .collect();
        // The line's time is that of its text, not of the line end that came later.
        let expected = [
            ("starting vacuum...end.", 2),
            ("#one", 3),
            ("", 4),
            ("#two", 5),
        ];
        assert_eq!(seen, expected.map(|(line, at)| (line.to_owned(), at)));
    }

    #[test]
    fn a_line_that_is_too_long_passes_unread() {
        let lines = Lines::default();
        let mut listener = Listener::new(Box::new(HideHash(lines.clone())));
        let half = "#".repeat(LONGEST_LINE / 2 + 1);
        assert_eq!(hear(&mut listener, &half, 1), "");
        assert_eq!(hear(&mut listener, &half, 2), format!("{half}{half}"));
        assert_eq!(hear(&mut listener, &half, 3), half);
        assert_eq!(hear(&mut listener, "\n#x\ny\n", 4), "\ny\n");
        assert!(listener.stderr.text.is_empty());
        assert_eq!(lines.lock().unwrap().len(), 2);
    }

    /// Keeps what was drawn, and when.
    #[derive(Default)]
    struct Drawn(Lines);

    impl Reader for Drawn {
        fn line(&mut self, _: Stream, _: &[u8], _: Timestamp, _: &mut Vec<Bin>) -> bool {
            true
        }

        fn drawn(&mut self, stream: Stream, text: &[u8], at: Timestamp, _: &mut Vec<Bin>) {
            let drawn = (stream, text.to_vec(), at.as_ns());
            self.0.lock().unwrap().push(drawn);
        }

        fn may_hide(&self, _: Stream, _: &[u8]) -> bool {
            false
        }

        fn finish(self: Box<Self>, _: ExitKind, _: Timestamp) -> Ending {
            Ending::default()
        }
    }

    #[test]
    fn what_is_drawn_over_and_over_is_shown_each_time_and_not_kept() {
        let lines = Lines::default();
        let mut listener = Listener::new(Box::new(Drawn(lines.clone())));
        for (at, text) in [" 10 %\r 2", "0 %\r", " 30 %\r\r 40 %\rdone\n", "a\r"]
            .iter()
            .enumerate()
        {
            assert_eq!(hear(&mut listener, text, at as i64), *text);
        }
        let seen: Vec<_> = lines.lock().unwrap().drain(..).collect();
        let expected = [
            (" 10 %", 0),
            (" 20 %", 1),
            (" 30 %", 2),
            (" 40 %", 2),
            ("a", 3),
        ];
        let expected = expected.map(|(text, at)| (Stream::Stderr, text.as_bytes().to_vec(), at));
        assert_eq!(seen, expected);
        let drawing = "x".repeat(99) + "\r";
        for at in 0..3000 {
            assert_eq!(hear(&mut listener, &drawing, at), drawing);
            assert!(listener.stderr.text.len() <= LONGEST_LINE / 2);
        }
        assert_eq!(lines.lock().unwrap().len(), 3000);
    }

    /// Says that everything may be hidden and hides nothing: the most that can be held back.
    struct HideNothing;

    impl Reader for HideNothing {
        fn line(&mut self, _: Stream, _: &[u8], _: Timestamp, _: &mut Vec<Bin>) -> bool {
            true
        }

        fn may_hide(&self, _: Stream, start: &[u8]) -> bool {
            start.len() % 2 == 1
        }

        fn finish(self: Box<Self>, _: ExitKind, _: Timestamp) -> Ending {
            Ending::default()
        }
    }

    proptest! {
        #[test]
        fn a_reader_that_hides_nothing_changes_nothing(
            chunks in prop::collection::vec((any::<bool>(), "[a-c\r\n\\PC]{0,12}"), 0..40),
        ) {
            let mut listener = Listener::new(Box::new(HideNothing));
            let (mut sent, mut got) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
            for (err, text) in &chunks {
                let stream = if *err { Stream::Stderr } else { Stream::Stdout };
                sent[usize::from(*err)].extend_from_slice(text.as_bytes());
                listener.hear(stream, text.as_bytes(), Timestamp::from_ns(1), &mut got[usize::from(*err)]);
            }
            let [out, err] = &mut got;
            listener.finish(ExitKind::Code(0), Timestamp::from_ns(2), out, err);
            prop_assert_eq!(sent, got);
        }
    }
}
