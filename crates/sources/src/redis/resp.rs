//! The protocol of Redis, version 2, as far as four commands need it.
//!
//! <https://redis.io/docs/latest/develop/reference/protocol-spec/>. Reading is bounded by the caller: no
//! length that a server names is believed before its bytes are there.

use std::io::{self, BufRead, Read};

/// Lists in lists that are read; `LATENCY LATEST` has two.
const MOST_DEPTH: usize = 4;

/// What a server answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Reply {
    /// A line or a string; bytes that are no UTF-8 are replaced.
    Text(String),
    Number(i64),
    List(Vec<Reply>),
    Nothing,
    /// The server refused: `NOPERM this user has no permissions ...`.
    Refused(String),
}

/// A command with its arguments.
pub(super) fn command(words: &[&str]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        bytes.extend(format!("${}\r\n{word}\r\n", word.len()).bytes());
    }
    bytes
}

/// The next reply.
///
/// # Errors
/// The stream's, an end in between, and what is no reply.
pub(crate) fn read(stream: &mut impl BufRead) -> io::Result<Reply> {
    read_at(stream, 0)
}

fn read_at(stream: &mut impl BufRead, depth: usize) -> io::Result<Reply> {
    let line = line(stream)?;
    let (kind, rest) = line.split_at_checked(1).ok_or_else(odd)?;
    let number = || rest.parse::<i64>().map_err(|_| odd());
    match kind {
        "+" => Ok(Reply::Text(rest.to_owned())),
        "-" => Ok(Reply::Refused(rest.to_owned())),
        ":" => number().map(Reply::Number),
        "$" => string(stream, number()?),
        "*" if depth < MOST_DEPTH => match number()? {
            -1 => Ok(Reply::Nothing),
            items => (0..items)
                .map(|_| read_at(stream, depth + 1))
                .collect::<io::Result<_>>()
                .map(Reply::List),
        },
        _ => Err(odd()),
    }
}

fn string(stream: &mut impl BufRead, length: i64) -> io::Result<Reply> {
    if length == -1 {
        return Ok(Reply::Nothing);
    }
    let length = u64::try_from(length).map_err(|_| odd())?;
    let mut bytes = Vec::new();
    stream.by_ref().take(length).read_to_end(&mut bytes)?;
    match (bytes.len() as u64 == length, line(stream)?.as_str()) {
        (true, "") => Ok(Reply::Text(String::from_utf8_lossy(&bytes).into_owned())),
        _ => Err(odd()),
    }
}

fn line(stream: &mut impl BufRead) -> io::Result<String> {
    let mut bytes = Vec::new();
    stream.read_until(b'\n', &mut bytes)?;
    let line = bytes.strip_suffix(b"\r\n").ok_or_else(odd)?;
    Ok(String::from_utf8_lossy(line).into_owned())
}

fn odd() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        "the answer is none of Redis's protocol",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn replies(mut bytes: &[u8]) -> Vec<Reply> {
        let mut all = Vec::new();
        while let Ok(reply) = read(&mut bytes) {
            all.push(reply);
        }
        all
    }

    #[test]
    fn commands_and_replies() {
        let asked = command(&["AUTH", "pass word"]);
        assert_eq!(asked, b"*2\r\n$4\r\nAUTH\r\n$9\r\npass word\r\n");
        // What redis-server 7.0.15 answered to LATENCY LATEST, SLOWLOG LEN and a forbidden INFO.
        let captured = b"*1\r\n*4\r\n$7\r\ncommand\r\n:1795581569\r\n:6\r\n:6\r\n:1\r\n-NOPERM this user has no permissions to run the 'info' command\r\n";
        let event = [
            Reply::Text("command".to_owned()),
            Reply::Number(1_795_581_569),
            Reply::Number(6),
            Reply::Number(6),
        ];
        assert_eq!(
            replies(captured),
            [
                Reply::List(vec![Reply::List(event.to_vec())]),
                Reply::Number(1),
                Reply::Refused(
                    "NOPERM this user has no permissions to run the 'info' command".to_owned()
                ),
            ]
        );
        assert_eq!(replies(b"$-1\r\n*-1\r\n"), [Reply::Nothing, Reply::Nothing]);
    }

    #[test]
    fn what_is_cut_off_or_nested_without_end_is_refused() {
        for bytes in [
            &b""[..],
            b"+OK",
            b"$5\r\nab\r\n",
            b"$2\r\nabc\r\n",
            b"*99999999999\r\n",
            b"HTTP/1.1 400 Bad Request\r\n",
            b"*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n",
        ] {
            assert_eq!(replies(bytes), [], "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(prop::sample::select(&b"*$+-:\r\n0123a"[..]), 0..60)) {
            replies(&bytes);
        }
    }
}
