//! Connections, and what each may take of time and memory. One request each: none is kept open.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::{Notify, Semaphore};

use super::access_check::Wanted;
use super::answer::{self, Answer};
use super::{Asked, PageWriter};
use crate::outputs;

/// Connections at once; later ones wait in the kernel's queue.
const MOST_CONNECTIONS: usize = 32;
/// The request line and the headers.
const MOST_HEAD_BYTES: usize = 16 << 10;
/// How long the head may take.
const HEAD_SECONDS: u64 = 10;
/// How long an answer may take to be read, once it is made.
const READING_SECONDS: u64 = 120;
/// Until a connection is tried again where none can be taken, as without a free descriptor.
const REST: Duration = Duration::from_millis(100);

/// A diagnosis that panicked, which a recording from elsewhere may bring about.
const BROKEN: &str = "this window could not be judged: that is a mistake in stallscope, which said more where it was started";

/// Takes connections for as long as it is let.
pub(super) async fn accept(listener: TcpListener, writer: Arc<PageWriter>) {
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    while let Ok(place) = places.clone().acquire_owned().await {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(REST).await;
            continue;
        };
        let writer = writer.clone();
        tokio::spawn(async move {
            attend(stream, &writer).await;
            drop(place);
        });
    }
}

/// One connection, until it is answered, or took too long.
async fn attend(stream: impl AsyncRead + AsyncWrite + Unpin, writer: &PageWriter) {
    let answered = &Notify::new();
    let service = service_fn(async |request: Request<Incoming>| {
        let answer = writer.answer(&request).await;
        answered.notify_one();
        Ok::<_, Infallible>(answer)
    });
    let connection = http1::Builder::new()
        .keep_alive(false)
        .max_header_size(MOST_HEAD_BYTES)
        .timer(TokioTimer::new())
        .header_read_timeout(Duration::from_secs(HEAD_SECONDS))
        .serve_connection(TokioIo::new(stream), service);
    let too_slow = async {
        answered.notified().await;
        tokio::time::sleep(Duration::from_secs(READING_SECONDS)).await;
    };
    tokio::select! {
        // Whoever sent nonsense, or went away, needs no word here.
        _ = connection => {}
        () = too_slow => {}
    }
}

impl PageWriter {
    async fn answer<B>(&self, request: &Request<B>) -> Answer {
        match self.access.admit(request) {
            Ok(Wanted::Page) => answer::page(&self.content),
            Ok(Wanted::Report(asked)) => self.report(asked).await,
            Err(refusal) => answer::refused(refusal),
        }
    }

    /// The report over a window. Who goes away while waiting for others leaves the queue; one that was
    /// begun ends before the next begins, whether anybody still waits for it or not.
    async fn report(&self, asked: Asked) -> Answer {
        let turn = self.judging.clone().acquire_owned().await;
        let make = self.content.report.clone();
        let made = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            make(asked)
        });
        match made.await {
            Ok(Ok(report)) => answer::report(report),
            Ok(Err(error)) => answer::error(StatusCode::BAD_REQUEST, &outputs::sentence(&error)),
            Err(_) => answer::error(StatusCode::INTERNAL_SERVER_ERROR, BROKEN),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
    use tokio::time::{Instant, timeout};

    use super::super::access_check::AccessCheck;
    use super::super::token::Token;
    use super::super::{Content, PageWriter};
    use super::*;

    const LONG: Duration = Duration::from_secs(3600);

    /// A desk, and what opens its door.
    fn writer(
        report: impl Fn(Asked) -> anyhow::Result<String> + Send + Sync + 'static,
    ) -> (PageWriter, String) {
        let token = Token::random().expect("this system has random numbers");
        let secret = token.text().to_owned();
        let content = Content {
            page: vec![b'x'; 1 << 20].into(),
            policy: "default-src 'none'".to_owned(),
            report: Arc::new(report),
        };
        let writer = PageWriter {
            access: AccessCheck::new(token, 7000),
            content,
            judging: Arc::new(Semaphore::new(1)),
        };
        (writer, secret)
    }

    /// A client that has asked for something, and the server's end. The wire holds 1 KiB.
    async fn asking(secret: &str, name: &str) -> (DuplexStream, DuplexStream) {
        let (mut client, server) = duplex(1 << 10);
        let head = format!("GET /{secret}/{name} HTTP/1.1\r\nHost: 127.0.0.1:7000\r\n\r\n");
        let written = client.write_all(head.as_bytes()).await;
        written.expect("the wire has room");
        (client, server)
    }

    async fn answered(writer: &PageWriter, secret: &str, name: &str) -> String {
        let (mut client, server) = asking(secret, name).await;
        let mut said = String::new();
        let (read, ()) = tokio::join!(client.read_to_string(&mut said), attend(server, writer));
        read.expect("an answer is text");
        said
    }

    #[tokio::test(start_paused = true)]
    async fn who_does_not_end_the_head_is_cut_off() {
        let (writer, _) = writer(|_| Ok(String::new()));
        for begun in ["", "GET / HTTP/1.1\r\nHost: "] {
            let (mut client, server) = duplex(1 << 10);
            let written = client.write_all(begun.as_bytes()).await;
            written.expect("the wire has room");
            let since = Instant::now();
            attend(server, &writer).await;
            assert_eq!(since.elapsed().as_secs(), HEAD_SECONDS);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn who_does_not_read_is_cut_off() {
        let (writer, secret) = writer(|_| Ok(String::new()));
        let (_client, server) = asking(&secret, "").await;
        let since = Instant::now();
        attend(server, &writer).await;
        assert_eq!(since.elapsed().as_secs(), READING_SECONDS);
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_for_others_waits_and_who_goes_away_is_forgotten() {
        let (writer, secret) = writer(|_| panic!("nobody's turn came"));
        let _turn = writer.judging.acquire().await.expect("it is never closed");
        let (client, server) = asking(&secret, "report.json").await;
        let attended = attend(server, &writer);
        tokio::pin!(attended);
        let waits = timeout(LONG, &mut attended).await.is_err();
        assert!(waits, "others are judged");
        drop(client);
        let left = timeout(LONG, attended).await;
        left.expect("nobody waits any more");
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_begun_for_somebody_who_left_keeps_its_turn() {
        let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
        let (resume, wait) = mpsc::channel::<()>();
        let wait = std::sync::Mutex::new(wait);
        let (writer, secret) = writer(move |_| {
            tell.send(()).expect("the test listens");
            wait.lock().expect("one at a time").recv()?;
            Ok("judged".to_owned())
        });
        let (client, server) = asking(&secret, "report.json").await;
        let gone = async {
            told.recv().await.expect("it is begun");
            drop(client);
        };
        tokio::join!(attend(server, &writer), gone);
        assert_eq!(writer.judging.available_permits(), 0);
        resume.send(()).expect("it waits");
        resume.send(()).expect("the next one will not");
        let next = answered(&writer, &secret, "report.json").await;
        assert!(next.ends_with("judged"), "{next}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_diagnosis_that_breaks_ends_nothing_else() {
        let (writer, secret) = writer(|asked| match asked.from_ns {
            Some(_) => panic!("a mistake"),
            None => Ok("judged".to_owned()),
        });
        let broken = answered(&writer, &secret, "report.json?from=1").await;
        assert!(broken.starts_with("HTTP/1.1 500 "), "{broken}");
        assert!(broken.contains(BROKEN), "{broken}");
        let next = answered(&writer, &secret, "report.json").await;
        assert!(next.starts_with("HTTP/1.1 200 "), "{next}");
    }
}
