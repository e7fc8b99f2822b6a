//! A browser of few words: one request a connection, and what came back.

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpStream};

use crate::process::HANGS;

/// What a server answered.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    /// The status line and the headers.
    pub head: String,
    pub body: String,
}

impl Reply {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self
            .head
            .lines()
            .skip(1)
            .filter_map(|it| it.split_once(": "));
        lines
            .find(|(its, _)| its.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }
}

/// A connection that may wait, but not for ever.
pub fn connect(port: u16) -> TcpStream {
    let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("it listens");
    stream
        .set_read_timeout(Some(HANGS))
        .expect("a time above 0");
    stream
        .set_write_timeout(Some(HANGS))
        .expect("a time above 0");
    stream
}

/// Sends a head as it stands.
pub fn say(port: u16, head: &str) -> Reply {
    let mut stream = connect(port);
    match stream.write_all(head.as_bytes()) {
        Ok(()) => {}
        // The answer may be there before all of it was said.
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::BrokenPipe | ErrorKind::ConnectionReset
            ) => {}
        Err(error) => panic!("{error}"),
    }
    reply(stream)
}

/// What comes back on a connection.
pub fn reply(mut stream: TcpStream) -> Reply {
    let mut said = Vec::new();
    match stream.read_to_end(&mut said) {
        Ok(_) => {}
        // A server that did not read to the end resets the connection behind its answer.
        Err(error) if error.kind() == ErrorKind::ConnectionReset && !said.is_empty() => {}
        Err(error) => panic!("{error}"),
    }
    let said = String::from_utf8(said).expect("it is text");
    let (head, body) = said.split_once("\r\n\r\n").expect("a head");
    let status = head.split(' ').nth(1).and_then(|it| it.parse().ok());
    Reply {
        status: status.expect("a status"),
        head: head.to_owned(),
        body: body.to_owned(),
    }
}
