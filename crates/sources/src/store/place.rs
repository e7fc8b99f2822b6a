//! Where a store is, and the right to ask it. Secrets go in and never come out.

use std::fmt;

use crate::Surroundings;
use crate::authorization::{TokenVariables, basic, bearer, bracketed};
use crate::url::{Endpoint, Url};

const TOKEN: TokenVariables = TokenVariables {
    token: "STALLSCOPE_PROMETHEUS_TOKEN",
    file: "STALLSCOPE_PROMETHEUS_TOKEN_FILE",
};
/// Where the API begins, below the store's own path.
const API: &str = "/api/v1";
/// What is said of a text that cannot be read. It quotes nothing: any part may be a secret.
const UNREADABLE: &str = "the value of --prometheus is no URL that this version reads: write http://HOST:PORT or https://HOST/PATH, with what stands before /api/v1 as PATH, and put a bearer token into STALLSCOPE_PROMETHEUS_TOKEN";

/// A store's address.
pub(super) struct Place {
    base: String,
    /// The same without its path, which may be a secret: some services have keys in theirs.
    shown: String,
    /// The header by which the store knows us, as it is sent.
    pub(super) authorization: Option<String>,
}

impl Place {
    /// Reads a URL.
    ///
    /// # Errors
    /// A sentence for the user that quotes nothing of the text.
    pub(super) fn parse(text: &str, around: &dyn Surroundings) -> Result<Self, String> {
        let text = Some(text.trim()).filter(|text| !text.is_empty());
        let scheme = |text: &str| match text.split_once("://") {
            Some((scheme, _)) if scheme.eq_ignore_ascii_case("https") => Some(("https", 443)),
            Some((scheme, _)) if scheme.eq_ignore_ascii_case("http") => Some(("http", 80)),
            Some(_) => None,
            // As Prometheus's own tools read HOST:PORT.
            None => Some(("http", 9090)),
        };
        let (text, (scheme, port)) = text
            .and_then(|text| Some((text, scheme(text)?)))
            .ok_or(UNREADABLE)?;
        let url = Url::parse(text, port).ok_or(UNREADABLE)?;
        let Endpoint::Tcp(host, port) = &url.endpoint else {
            return Err(UNREADABLE.to_owned());
        };
        if url.path.contains(['?', '#']) {
            return Err(UNREADABLE.to_owned());
        }
        // A user copies what stands in the browser, or the API's whole address.
        let path = url.path.trim_end_matches('/');
        let path = ["/graph", "/query", API]
            .iter()
            .find_map(|end| path.strip_suffix(end))
            .unwrap_or(path);
        let server = format!("{scheme}://{}:{port}", bracketed(host));
        let base = format!("{server}{path}");
        if !base.is_ascii() || base.parse::<ureq::http::Uri>().is_err() {
            return Err(UNREADABLE.to_owned());
        }
        Ok(Self {
            authorization: basic(&url).or(bearer(around, TOKEN)?),
            shown: match path.is_empty() {
                true => server,
                false => format!("{server}/..."),
            },
            base,
        })
    }

    /// The URL of a method of the API.
    pub(super) fn url(&self, method: &str) -> String {
        format!("{}{API}/{method}", self.base)
    }
}

/// As it stands in sentences and reports.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::url::tests::Around;
    use proptest::prelude::*;

    #[test]
    fn what_is_asked_and_by_what_right() {
        let around = Around(&[("STALLSCOPE_PROMETHEUS_TOKEN", "t0ken\n")]);
        for (text, url, authorization) in [
            ("db7", "http://db7:9090/api/v1/query", "Bearer t0ken"),
            ("http://db7/", "http://db7:80/api/v1/query", "Bearer t0ken"),
            (
                "HTTPS://mon:s3cret@[::1]:8481/select/0/prometheus/",
                "https://[::1]:8481/select/0/prometheus/api/v1/query",
                "Basic bW9uOnMzY3JldA==",
            ),
            (
                "http://db7:9090/graph",
                "http://db7:9090/api/v1/query",
                "Bearer t0ken",
            ),
            (
                "https://db7/prometheus/api/v1/",
                "https://db7:443/prometheus/api/v1/query",
                "Bearer t0ken",
            ),
        ] {
            let place = Place::parse(text, &around).unwrap_or_else(|it| panic!("{text}: {it}"));
            let asked = (place.url("query"), place.authorization.as_deref());
            assert_eq!(asked, (url.to_owned(), Some(authorization)), "{text}");
        }
    }

    #[test]
    fn what_is_no_url_is_refused_with_the_way_out() {
        for text in [
            "",
            "ftp://db7",
            "http://a:b@c@d",
            "db7:port",
            "/run/s.sock",
            "http://db7/?a=b",
        ] {
            let refused = Place::parse(text, &Around(&[])).err().expect(text);
            assert!(refused.contains("STALLSCOPE_PROMETHEUS_TOKEN"), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_sentence_quotes_a_secret(before in "[ -~]{0,20}", after in "[ -~]{0,20}", place in 0..3) {
            const SECRET: &str = "Xq7Zk9Wv";
            let text = match place {
                0 => format!("http://{before}:{SECRET}{after}@db7"),
                1 => format!("http://db7/{before}{SECRET}{after}"),
                _ => format!("http://db7/api?{before}{SECRET}{after}"),
            };
            match Place::parse(&text, &Around(&[])) {
                Err(sentence) => prop_assert!(!sentence.contains(SECRET), "{sentence}"),
                Ok(place) => prop_assert!(!place.to_string().contains(SECRET), "{place}"),
            }
        }
    }
}
