//! Commands of Redis's protocol that come in one piece.

use std::fs::File;
use std::os::fd::OwnedFd;

use super::*;

/// How a server reads, at most so many bytes.
type Read = fn(&mut TcpStream, usize) -> usize;

fn by_recv(server: &mut TcpStream, most: usize) -> usize {
    server.read(&mut vec![0; most]).expect("it is there")
}

fn by_read(server: &mut TcpStream, most: usize) -> usize {
    let server = server.try_clone().expect("it is there");
    let mut server = File::from(OwnedFd::from(server));
    server.read(&mut vec![0; most]).expect("it is there")
}

/// Each part with its length before it.
fn command(roles: &[&str]) -> String {
    let each = |it: &&str| format!("${}\r\n{it}\r\n", it.len());
    let text: String = roles.iter().map(each).collect();
    format!("*{}\r\n{text}", roles.len())
}

struct Connection {
    server: TcpStream,
    client: TcpStream,
    read: Read,
}

impl Connection {
    fn new(read: Read) -> Self {
        let (server, client) = TcpStream::both();
        Self {
            server,
            client,
            read,
        }
    }

    /// Whether what is asked is told to be several; the server reads at most so many bytes at first.
    fn is_several(&mut self, requests: &Requests, text: &str, most: usize) -> bool {
        let before = total(requests);
        self.client.give(text.as_bytes());
        let read = (self.read)(&mut self.server, most);
        self.server.get(text.len() - read);
        self.server.give(b"+OK\r\n");
        self.server.look();
        self.client.get(5);
        let now = total(requests);
        assert_eq!(now.requests - before.requests, 1, "{text:?}");
        now.pipelined > before.pipelined
    }
}

#[test]
fn commands_of_redis_in_one_piece_are_told_to_be_several() {
    let Some((requests, _alone)) = loaded(Side::Server) else {
        return;
    };
    const ALL: usize = 1 << 20;
    let get = command(&["GET", "key:000000000042"]);
    let long = command(&["SET", "key", &"x".repeat(50_000)]);
    // What only looks like another command is a part of this one.
    let quoted = command(&["SET", "key", &get.repeat(3)]);
    let most = command(&["k"; 64]);
    for read in [by_recv as Read, by_read] {
        let mut connection = Connection::new(read);
        let mut several = |text: &str, most| connection.is_several(&requests, text, most);
        for one in [&get, &quoted, &most, &command(&["SET", "key", ""])] {
            assert!(!several(one, ALL), "{one:?}");
            assert!(several(&one.repeat(2), ALL), "{one:?} twice");
            // The second one's first byte is there.
            assert!(several(&one.repeat(2), one.len() + 1), "{one:?} twice");
            assert!(!several(&one.repeat(2), one.len()), "{one:?} and then one");
            assert!(!several(one, one.len() / 2), "half of {one:?}");
        }
        assert!(several(&get.repeat(16), ALL));
        assert!(!several(&long, 10_000), "read in pieces");
        assert!(!several("PING\r\nPING\r\n", ALL), "without lengths");
        assert!(several(&get.repeat(2), ALL), "known to speak so");
    }
}

#[test]
fn what_only_resembles_a_command_of_redis_is_one_request() {
    let Some((requests, _alone)) = loaded(Side::Server) else {
        return;
    };
    let get = command(&["GET", "key"]);
    let others = [
        "*",
        "**1\r\n",
        "*-1\r\n*-1\r\n",
        "*2\r\n+GET\r\n+key\r\n*2\r\n",
        "*2\r\n$4294967295\r\n*2\r\n",
        "*1234567890\r\n$1\r\n",
        "*65\r\n$1\r\nk\r\n*1\r\n",
        "*0\r\n*0\r\n",
        "GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n",
    ];
    for text in others {
        let mut connection = Connection::new(by_recv);
        assert!(!connection.is_several(&requests, text, 1 << 20), "{text:?}");
    }
    // A connection whose first request was something else is not looked at any more.
    let mut connection = Connection::new(by_recv);
    for text in ["\u{16}\u{3}hello", &get.repeat(2)] {
        assert!(!connection.is_several(&requests, text, 1 << 20), "{text:?}");
    }
}
