//! Sends over a unix socket that are noticed in another order than they were made.

use std::io::Read as _;
use std::os::unix::net::{UnixListener, UnixStream};

use super::{Ends as _, Side, loaded, total};

/// The hook is behind the send: on another CPU the reply's may come after the client has read it and said goodbye.
#[test]
fn the_last_request_before_a_goodbye_counts_at_the_client_whichever_send_is_noticed_first() {
    const CONNECTIONS: u64 = 20_000;
    let Some((requests, _alone)) = loaded(Side::Client) else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("socket");
    let listener = UnixListener::bind(&path).expect("a socket");
    let serve = std::thread::spawn(move || {
        for _ in 0..CONNECTIONS {
            let (mut server, _) = listener.accept().expect("one comes");
            server.get(1);
            server.give(&[0]);
            server.get(1);
        }
    });
    let before = total(&requests);
    for _ in 0..CONNECTIONS {
        let mut client = UnixStream::connect(&path).expect("it listens");
        client.give(&[0]);
        // As soon as it is there.
        client.set_nonblocking(true).expect("it is a socket");
        while client.read(&mut [0]).is_err() {}
        client.give(&[0]);
    }
    serve.join().expect("all were served");
    assert_eq!(total(&requests).requests - before.requests, CONNECTIONS);
}
