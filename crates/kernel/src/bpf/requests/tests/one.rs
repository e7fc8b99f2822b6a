//! What is one request, and when it begins and ends.

use super::*;

/// A server and its client that talk to each other, and what was counted of them so far.
struct Talk<'a> {
    requests: &'a Requests,
    server: Box<dyn Ends>,
    client: Box<dyn Ends>,
    before: Account,
}

impl<'a> Talk<'a> {
    fn new<T: Ends + 'static>(requests: &'a Requests) -> Self {
        let (server, client) = T::both();
        Self {
            requests,
            server: Box::new(server),
            client: Box::new(client),
            before: total(requests),
        }
    }

    fn exchange(&mut self) {
        exchange(&mut *self.server, &mut *self.client, PAUSE);
    }

    /// The client sends, and the server receives it.
    fn ask(&mut self, bytes: usize) {
        self.client.give(&vec![0; bytes]);
        self.server.get(bytes);
    }

    /// The server sends, and the client receives it.
    fn answer(&mut self, bytes: usize) {
        self.server.give(&vec![0; bytes]);
        self.client.get(bytes);
    }

    /// That so many requests came since the last call, so many of them pipelined, and so many unsolicited sends;
    /// how long the requests took.
    #[track_caller]
    fn grew(&mut self, what: &str, expected: [u64; 3]) -> Duration {
        let now = total(self.requests);
        let grown = [
            now.requests - self.before.requests,
            now.pipelined - self.before.pipelined,
            now.unsolicited - self.before.unsolicited,
        ];
        assert_eq!(grown, expected, "{what}");
        let ns = now.ns - self.before.ns;
        self.before = now;
        Duration::from_nanos(ns)
    }
}

/// Over TCP, and over a unix socket.
fn over_both(statement: impl Fn(&mut Talk<'_>)) {
    let Some((requests, _alone)) = loaded(Side::Server) else {
        return;
    };
    statement(&mut Talk::new::<TcpStream>(&requests));
    statement(&mut Talk::new::<UnixStream>(&requests));
}

#[test]
fn a_request_lasts_as_long_as_the_server_takes() {
    over_both(|talk| {
        talk.exchange();
        let took = talk.grew("one", [1, 0, 0]);
        assert!(took >= PAUSE, "{took:?}");
    });
}

#[test]
fn a_request_lasts_from_its_first_byte_to_the_last_of_its_reply() {
    over_both(|talk| {
        let began = Instant::now();
        for _ in 0..3 {
            talk.ask(50);
            std::thread::sleep(PAUSE);
        }
        for _ in 0..3 {
            talk.server.give(&[0; 8_000]);
            std::thread::sleep(PAUSE);
            talk.client.get(8_000);
        }
        let ended = began.elapsed();
        talk.server.look();
        let took = talk.grew("in pieces", [1, 0, 0]);
        assert!(took > 5 * PAUSE && took < ended, "{took:?} of {ended:?}");
    });
}

/// The time between two requests counts for neither.
#[test]
fn where_a_server_looks_for_nothing_more_the_next_request_ends_the_one_before() {
    over_both(|talk| {
        let [longest, _] = [(); 2].map(|()| {
            let began = Instant::now();
            talk.ask(1);
            talk.answer(1);
            let ended = began.elapsed();
            std::thread::sleep(10 * PAUSE);
            ended
        });
        let took = talk.grew("without a look", [2, 0, 0]);
        assert!(took < longest, "{took:?} of {longest:?}");
        talk.server.look();
        talk.grew("with one", [0, 0, 0]);
    });
}

#[test]
fn what_asks_nothing_or_wants_no_answer_is_no_request() {
    over_both(|talk| {
        talk.exchange();
        talk.grew("one", [1, 0, 0]);
        (0..3).for_each(|_| talk.answer(1));
        talk.grew("news", [0, 0, 3]);
        talk.ask(1);
        talk.server.look();
        talk.grew("what is not answered", [0, 0, 0]);
        talk.server.give(&[0; 600]);
        talk.server.look();
        talk.client.get(600);
        talk.grew("answered after all", [1, 0, 0]);
        for _ in 0..3 {
            talk.ask(100);
            talk.server.look();
        }
        let took = talk.grew("what wants no answer", [0, 0, 0]);
        assert_eq!(took, Duration::ZERO);
        talk.server.give(&[0; 600]);
        talk.server.look();
        talk.client.get(600);
        talk.grew("answered together", [1, 0, 0]);
    });
}

#[test]
fn requests_that_come_before_the_reply_to_others_are_pipelined() {
    over_both(|talk| {
        talk.exchange();
        talk.grew("one", [1, 0, 0]);
        // Two more come while the first is worked on.
        talk.ask(20);
        (0..2).for_each(|_| talk.client.give(&[0; 20]));
        for _ in 0..2 {
            talk.server.give(&[0; 600]);
            talk.server.get(20);
        }
        talk.server.give(&[0; 600]);
        talk.server.look();
        talk.grew("pipelined", [3, 2, 0]);
        // Many small replies to what was read at once.
        talk.ask(200);
        for _ in 0..10 {
            talk.server.give(&[0; 20]);
        }
        talk.server.look();
        talk.grew("replies to many", [1, 1, 0]);
    });
}
