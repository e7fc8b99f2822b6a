//! What is answered, with the headers that keep it between this server and its page.

use hyper::body::Bytes;
use hyper::header::{self, HeaderValue};
use hyper::{Response, StatusCode};

use http_body_util::Full;
use serde_json::json;

use super::door::Refusal;

/// An answer, whole in memory.
pub(super) type Answer = Response<Full<Bytes>>;

/// What a browser must not do with an answer, whatever it is: guess its type, keep it, tell others its
/// address, or show it to pages from elsewhere. There is no header that would allow those to read it.
const ALWAYS: [(header::HeaderName, &str); 6] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (CROSS_ORIGIN_RESOURCE_POLICY, "same-origin"),
    (CROSS_ORIGIN_OPENER_POLICY, "same-origin"),
];
const CROSS_ORIGIN_RESOURCE_POLICY: header::HeaderName =
    header::HeaderName::from_static("cross-origin-resource-policy");
const CROSS_ORIGIN_OPENER_POLICY: header::HeaderName =
    header::HeaderName::from_static("cross-origin-opener-policy");

/// What the page may do at most. The policy that stands in the page narrows it down to its own program.
const PAGE_POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// Anything else is no page.
const NO_PAGE_POLICY: &str = "default-src 'none'; frame-ancestors 'none'";

const HTML: &str = "text/html; charset=utf-8";
const JSON: &str = "application/json";

pub(super) fn page(page: Bytes) -> Answer {
    let mut answer = answer(StatusCode::OK, HTML, page);
    let policy = HeaderValue::from_static(PAGE_POLICY);
    answer
        .headers_mut()
        .insert(header::CONTENT_SECURITY_POLICY, policy);
    answer
}

pub(super) fn report(report: String) -> Answer {
    answer(StatusCode::OK, JSON, report.into())
}

pub(super) fn refused(refusal: Refusal) -> Answer {
    let mut answer = error(refusal.status(), refusal.sentence());
    if refusal == Refusal::Method {
        let allowed = HeaderValue::from_static("GET, HEAD");
        answer.headers_mut().insert(header::ALLOW, allowed);
    }
    answer
}

/// A sentence for the person before the page.
pub(super) fn error(status: StatusCode, sentence: &str) -> Answer {
    let text = json!({ "error": sentence }).to_string() + "\n";
    answer(status, JSON, text.into())
}

fn answer(status: StatusCode, kind: &'static str, body: Bytes) -> Answer {
    let mut answer = Response::new(Full::new(body));
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    for (name, value) in ALWAYS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    let policy = HeaderValue::from_static(NO_PAGE_POLICY);
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    answer
}
