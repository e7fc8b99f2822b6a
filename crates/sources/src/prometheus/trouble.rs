//! What went wrong between us and an endpoint, as a sentence that says what to do.

use std::io;

use super::address::Address;
use super::text::Malformed;
use crate::{Trouble, TroubleKind};

/// No answer came.
pub(super) fn failed(error: &ureq::Error, address: &Address) -> Trouble {
    const AGAIN: &str = "asked again until the end of the run";
    let there = format!("is it there? Name it: --scrape http://HOST:PORT/metrics; {AGAIN}");
    let (said, advice) = match error {
        // What the socket says of a time that is over.
        ureq::Error::Io(error)
            if matches!(
                error.kind(),
                io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock
            ) =>
        {
            late()
        }
        ureq::Error::Timeout(_) => late(),
        ureq::Error::Io(error) => (error.to_string(), there),
        ureq::Error::HostNotFound | ureq::Error::ConnectionFailed => {
            ("there is no such host".to_owned(), there)
        }
        ureq::Error::BodyExceedsLimit(most) => (
            format!("the answer has more than {} MiB", most >> 20),
            "have it serve less, as with ?collect[]=cpu of a node exporter".to_owned(),
        ),
        // What such an error quotes may be the URL.
        _ => (
            "what answers there does not speak HTTP".to_owned(),
            "name the endpoint's own port: --scrape http://HOST:PORT/metrics".to_owned(),
        ),
    };
    away(&said, &advice, address)
}

fn late() -> (String, String) {
    (
        "it did not answer within 5 s".to_owned(),
        "it was too busy, or what it serves is too much; it is asked again".to_owned(),
    )
}

/// The endpoint answered with another status than 200.
pub(super) fn refused(status: u16, address: &Address) -> Trouble {
    let said = format!("it answered with status {status}");
    match status {
        401 | 403 => Trouble {
            kind: TroubleKind::Denied,
            sentence: sentence(
                &said,
                "put its bearer token into STALLSCOPE_SCRAPE_TOKEN, or name the file that has it in STALLSCOPE_SCRAPE_TOKEN_FILE",
                address,
            ),
        },
        300..=399 => away(
            &said,
            "it sends elsewhere, where a token might not belong: name that URL",
            address,
        ),
        404 => away(
            &said,
            "name its path: --scrape http://HOST:PORT/PATH",
            address,
        ),
        _ => away(&said, "its own log may say why", address),
    }
}

/// The answer is none of the format.
pub(super) fn malformed(error: &Malformed, address: &Address) -> Trouble {
    let (line, what) = (error.line, error.what);
    away(
        &format!("line {line} of the answer {what}"),
        "it must be Prometheus's text format or OpenMetrics: name such a path, --scrape http://HOST:PORT/metrics",
        address,
    )
}

fn away(said: &str, advice: &str, address: &Address) -> Trouble {
    Trouble {
        kind: TroubleKind::Away,
        sentence: sentence(said, advice, address),
    }
}

fn sentence(said: &str, advice: &str, address: &Address) -> String {
    format!("Prometheus endpoint ({address}) was not read: {said}; {advice}")
}
