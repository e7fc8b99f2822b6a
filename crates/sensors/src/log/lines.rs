//! Lines out of reads of any length.

/// Bytes of a line that are looked at; the rest of it is only counted.
pub const LONGEST_LINE: usize = 4_096;

/// Puts together lines that come in pieces.
#[derive(Debug, Default)]
pub struct Lines {
    /// The beginning of a line whose end has not come, `LONGEST_LINE` bytes at most.
    begun: Vec<u8>,
    /// Bytes of that line so far.
    length: usize,
    /// Whether what comes up to the next end of a line belongs to none that was begun here.
    is_partial: bool,
}

impl Lines {
    /// Begins in the middle of a line, whose rest is left out.
    pub fn partial() -> Self {
        Self {
            is_partial: true,
            ..Self::default()
        }
    }

    /// Calls `each` with what is looked at of every line that ends in `bytes`, and with its length, its end included.
    pub fn take(&mut self, bytes: &[u8], mut each: impl FnMut(&[u8], usize)) {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|it| *it == b'\n') {
            let (line, behind) = (&rest[..end], &rest[end + 1..]);
            rest = behind;
            if std::mem::take(&mut self.is_partial) {
                continue;
            }
            if self.length == 0 {
                each(&line[..end.min(LONGEST_LINE)], end + 1);
                continue;
            }
            self.begin(line);
            each(&self.begun, self.length + 1);
            self.begun.clear();
            self.length = 0;
        }
        if !self.is_partial {
            self.begin(rest);
        }
    }

    /// Counts the lines that end in `bytes` and their bytes, without looking at them.
    pub fn count(&mut self, bytes: &[u8]) -> (u64, u64) {
        let (mut lines, mut sum) = (0, 0);
        self.take(bytes, |_, length| {
            lines += 1;
            sum += length as u64;
        });
        (lines, sum)
    }

    fn begin(&mut self, piece: &[u8]) {
        let room = LONGEST_LINE - self.begun.len();
        self.begun
            .extend_from_slice(&piece[..piece.len().min(room)]);
        self.length += piece.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lines(pieces: &[&[u8]], mut from: Lines) -> Vec<(String, usize)> {
        let mut all = Vec::new();
        for piece in pieces {
            from.take(piece, |line, length| {
                all.push((String::from_utf8_lossy(line).into_owned(), length));
            });
        }
        all
    }

    #[test]
    fn a_line_is_whole_however_it_comes() {
        let expected = [
            ("ab".to_owned(), 3),
            (String::new(), 1),
            ("c".to_owned(), 2),
        ];
        assert_eq!(
            lines(&[b"a", b"b\n\n", b"c\nd"], Lines::default()),
            expected
        );
        assert_eq!(lines(&[b"x", b"y\nab\n\nc\n"], Lines::partial()), expected);
        let long = vec![b'x'; 3 * LONGEST_LINE];
        let cut = lines(&[&long, b"y\n"], Lines::default());
        assert_eq!(cut[0].0.len(), LONGEST_LINE);
        assert_eq!(cut[0].1, long.len() + 2);
    }

    proptest! {
        #[test]
        fn cuts_change_nothing(text in "[a\n]{0,200}", at in 0usize..200) {
            let at = at.min(text.len());
            let (first, second) = text.as_bytes().split_at(at);
            let whole = lines(&[text.as_bytes()], Lines::default());
            prop_assert_eq!(lines(&[first, second], Lines::default()), whole);
        }
    }
}
