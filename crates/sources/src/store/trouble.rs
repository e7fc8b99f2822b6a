//! What went wrong between us and a store, as a sentence that says what to do.

use std::io;

use super::place::Place;

/// What is taken of a store's own words, in characters.
const MOST_QUOTED: usize = 300;

/// No answer came.
pub(super) fn failed(error: &ureq::Error, place: &Place) -> String {
    const THERE: &str = "is it there? Name it: --prometheus http://HOST:PORT";
    let is_late = |error: &io::Error| {
        matches!(
            error.kind(),
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock
        )
    };
    const LATE: &str = "it did not answer in time";
    const LESS: &str = "ask for less: narrow --from and --to, or --instance";
    let (said, advice) = match error {
        ureq::Error::Io(error) if is_late(error) => (LATE.to_owned(), LESS),
        ureq::Error::Timeout(ureq::Timeout::Connect) => {
            ("it takes no connection".to_owned(), THERE)
        }
        ureq::Error::Timeout(_) => (LATE.to_owned(), LESS),
        ureq::Error::Io(error) if error.to_string().contains("CaUsedAsEndEntity") => (
            "its certificate is an authority's own".to_owned(),
            "give the store a certificate that an authority signed, and name the authority's: --ca FILE",
        ),
        // What the TLS library says stands in an error of its own inside.
        ureq::Error::Io(error) if error.to_string().contains("certificate") => (
            error.to_string(),
            "name the certificates that it is signed with: --ca FILE",
        ),
        ureq::Error::Io(error) => (error.to_string(), THERE),
        ureq::Error::HostNotFound | ureq::Error::ConnectionFailed => {
            ("there is no such host".to_owned(), THERE)
        }
        ureq::Error::BodyExceedsLimit(most) => {
            (format!("an answer has more than {} MiB", most >> 20), LESS)
        }
        ureq::Error::Tls(said) => ((*said).to_owned(), "is it http:// there?"),
        // What such an error quotes may be the URL.
        _ => (
            "what answers there does not speak HTTP".to_owned(),
            "is it https:// there?",
        ),
    };
    sentence(&said, advice, place)
}

/// The store answered with another status than 200; its own words stand in `error` of the body.
pub(super) fn refused(status: u16, body: &[u8], place: &Place) -> String {
    let own = String::from_utf8_lossy(body);
    let own = own.split("\"error\":\"").nth(1).unwrap_or_default();
    let own: String = own
        .split("\",\"")
        .next()
        .unwrap_or_default()
        .chars()
        .filter(|it| !it.is_control())
        .take(MOST_QUOTED)
        .collect();
    let own = own.trim_end_matches(['"', '}']);
    let said = match own.is_empty() {
        true => format!("it answered with status {status}"),
        false => format!("it answered with status {status}: {own}"),
    };
    let advice = match status {
        401 | 403 => {
            "put its bearer token into STALLSCOPE_PROMETHEUS_TOKEN, name the file that has it in STALLSCOPE_PROMETHEUS_TOKEN_FILE, or write http://USER:PASSWORD@HOST"
        }
        300..=399 => "it sends elsewhere, where a token might not belong: name that URL",
        // What a server says to plain HTTP at a port for TLS.
        400 if own.is_empty() => "is it https:// there?",
        404 => "name the path before /api/v1: --prometheus http://HOST:PORT/PATH",
        422 => "ask for less: narrow --from and --to, or --instance",
        503 => "it starts just now, or has too much to do: try again, or narrow --from and --to",
        _ => "its own log may say why",
    };
    sentence(&said, advice, place)
}

fn sentence(said: &str, advice: &str, place: &Place) -> String {
    format!("the store {place} was not read: {said}; {advice}")
}
