//! What is answered, with the headers that keep it between this server and its page.

use hyper::body::Bytes;
use hyper::header::{self, HeaderValue};
use hyper::{Response, StatusCode};

use http_body_util::Full;
use serde_json::json;

use super::Content;
use super::access_check::Refusal;

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

/// No other page may show this one. A page cannot say it of itself: only a header can.
const NO_FRAME: &str = "frame-ancestors 'none'";

const HTML: &str = "text/html; charset=utf-8";
const JSON: &str = "application/json";

/// What is no page needs nothing.
const NO_PAGE: &str = "default-src 'none'";

pub(super) fn page(content: &Content) -> Answer {
    answer(StatusCode::OK, HTML, &content.policy, content.page.clone())
}

pub(super) fn report(report: String) -> Answer {
    answer(StatusCode::OK, JSON, NO_PAGE, report.into())
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
    answer(status, JSON, NO_PAGE, text.into())
}

fn answer(status: StatusCode, kind: &'static str, policy: &str, body: Bytes) -> Answer {
    let mut answer = Response::new(Full::new(body));
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    for (name, value) in ALWAYS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    let policy = HeaderValue::try_from(format!("{policy}; {NO_FRAME}"))
        .expect("a policy is a line of ASCII");
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    answer
}
