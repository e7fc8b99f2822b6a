//! As much of HTTP/1.1 (RFC 9112) as a load on a web server needs: one path, one connection that
//! stays open, answers whose length is said.

use std::io::{Read, Write};

/// Longer heads are not from the servers that we start.
const LONGEST_HEAD: usize = 16 * 1024;

/// A request that is made again and again.
pub struct Question(String);

impl Question {
    /// For a path of a server, with these headers.
    pub fn new(host: &str, path: &str, headers: &[String]) -> Self {
        let more: String = headers.iter().map(|line| format!("{line}\r\n")).collect();
        Self(format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{more}\r\n"))
    }

    /// Asks once and reads the whole answer; false unless it is a success.
    pub fn put(&self, stream: &mut (impl Read + Write)) -> bool {
        stream.write_all(self.0.as_bytes()).is_ok() && answer(stream).is_some()
    }
}

/// Reads one answer; its length.
fn answer(stream: &mut impl Read) -> Option<usize> {
    let mut read = Vec::with_capacity(LONGEST_HEAD);
    let mut buffer = [0; LONGEST_HEAD];
    let head = loop {
        let count = stream.read(&mut buffer).ok().filter(|count| *count > 0)?;
        read.extend_from_slice(&buffer[..count]);
        if let Some(end) = read.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
            break end;
        }
        if read.len() > LONGEST_HEAD {
            return None;
        }
    };
    let text = std::str::from_utf8(&read[..head]).ok()?;
    if !text.starts_with("HTTP/1.1 200 ") {
        return None;
    }
    let length = text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        let same = name.eq_ignore_ascii_case("content-length");
        same.then(|| value.trim().parse::<usize>().ok()).flatten()
    })?;
    let mut missing = (head + 4 + length).checked_sub(read.len())?;
    while missing > 0 {
        let most = missing.min(buffer.len());
        let count = stream.read(&mut buffer[..most]).ok().filter(|c| *c > 0)?;
        missing -= count;
    }
    Some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_ends_with_an_empty_line() {
        let Question(plain) = Question::new("here", "/", &[]);
        assert_eq!(plain, "GET / HTTP/1.1\r\nHost: here\r\n\r\n");
        let Question(more) = Question::new("here", "/", &["A: b".to_owned()]);
        assert_eq!(more, "GET / HTTP/1.1\r\nHost: here\r\nA: b\r\n\r\n");
    }

    #[test]
    fn an_answer_is_read_to_its_end() {
        let mut stream = &b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc"[..];
        assert_eq!(answer(&mut stream), Some(3));
        for wrong in [
            &b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"[..],
            b"HTTP/1.1 200 OK\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc",
            b"",
        ] {
            assert_eq!(answer(&mut &wrong[..]), None);
        }
    }
}
