//! Which endpoint, with which right: a URL, and a bearer token from the environment. Secrets go in and never come
//! out: not the user's part of the URL, not its query, and no path but the usual one.

use std::fmt;

use crate::Surroundings;
use crate::authorization::{TokenVariables, basic, bearer, bracketed};
use crate::url::{Endpoint, Url};

const DEFAULT_PORT: u16 = 80;
/// Where Prometheus asks, unless it is configured otherwise.
const USUAL_PATH: &str = "/metrics";
/// The bearer token, and the file that has it.
const TOKEN: TokenVariables = TokenVariables {
    token: "STALLSCOPE_SCRAPE_TOKEN",
    file: "STALLSCOPE_SCRAPE_TOKEN_FILE",
};
/// What is said of a text that cannot be read. It quotes nothing: any part may be a secret.
const UNREADABLE: &str = "the value of --scrape is no URL that this version reads: write http://HOST:PORT/metrics, with %40 for an @ and %20 for a space in it, and put a bearer token into STALLSCOPE_SCRAPE_TOKEN";
/// The way out where TLS is asked for.
const WITHOUT_TLS: &str = "this version speaks no TLS to endpoints: use a plain port of the endpoint, or something that speaks TLS for it (socat TCP-LISTEN:9101,bind=127.0.0.1,fork OPENSSL:HOST:9100, then --scrape http://localhost:9101/metrics)";

/// An endpoint and the right to ask it.
#[derive(Clone)]
pub(super) struct Address {
    pub(super) endpoint: Endpoint,
    /// What is asked for, as it is sent.
    pub(super) url: String,
    /// The header by which the endpoint knows us, as it is sent.
    pub(super) authorization: Option<String>,
    is_usual_path: bool,
}

impl Address {
    /// Reads a URL.
    ///
    /// # Errors
    /// A sentence for the user that quotes nothing of the text.
    pub(super) fn parse(text: &str, around: &dyn Surroundings) -> Result<Self, String> {
        // Without a word there would be a host all the same: this machine.
        let text = Some(text.trim()).filter(|text| !text.is_empty());
        let url = text.and_then(|text| Url::parse(text, DEFAULT_PORT));
        let url = url.ok_or(UNREADABLE)?;
        match url.scheme.as_deref() {
            Some("https") => return Err(WITHOUT_TLS.to_owned()),
            None | Some("http") => {}
            Some(_) => return Err(UNREADABLE.to_owned()),
        }
        let Endpoint::Tcp(host, port) = &url.endpoint else {
            return Err(UNREADABLE.to_owned());
        };
        let path = url.path.split('#').next().unwrap_or_default();
        let path = match path.chars().next() {
            None => USUAL_PATH.to_owned(),
            Some('?') => format!("{USUAL_PATH}{path}"),
            Some(_) => path.to_owned(),
        };
        let asked = format!("http://{}:{port}{path}", bracketed(host));
        // What cannot be sent is said now, not once a second.
        if !path.is_ascii() || asked.parse::<ureq::http::Uri>().is_err() {
            return Err(UNREADABLE.to_owned());
        }
        let bearer = bearer(around, TOKEN)?;
        Ok(Self {
            authorization: basic(&url).or(bearer),
            is_usual_path: path == USUAL_PATH,
            url: asked,
            endpoint: url.endpoint,
        })
    }
}

/// As it stands in sentences.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Endpoint::Tcp(host, port) = &self.endpoint else {
            return self.endpoint.fmt(f);
        };
        // Another path may be a secret: some services have keys in theirs.
        let path = match self.is_usual_path {
            true => USUAL_PATH,
            false => "/...",
        };
        write!(f, "http://{}:{port}{path}", bracketed(host))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::url::tests::Around;
    use proptest::prelude::*;

    fn parsed(text: &str) -> (String, String, Option<String>) {
        let around = Around(&[("STALLSCOPE_SCRAPE_TOKEN", "t0ken\n")]);
        let address = Address::parse(text, &around).unwrap_or_else(|it| panic!("{text}: {it}"));
        (
            address.url.clone(),
            address.to_string(),
            address.authorization,
        )
    }

    #[test]
    fn what_is_asked_and_what_is_shown() {
        const TOKEN: &str = "Bearer t0ken";
        for (text, url, shown, authorization) in [
            (
                "http://localhost:9100/metrics",
                "http://localhost:9100/metrics",
                "http://localhost:9100/metrics",
                TOKEN,
            ),
            (
                "db7:9100",
                "http://db7:9100/metrics",
                "http://db7:9100/metrics",
                TOKEN,
            ),
            (
                "http://[::1]?collect[]=cpu#top",
                "http://[::1]:80/metrics?collect[]=cpu",
                "http://[::1]:80/...",
                TOKEN,
            ),
            (
                "HTTP://mon:s%40cret@db7:9/k3y/metrics?token=s3cret",
                "http://db7:9/k3y/metrics?token=s3cret",
                "http://db7:9/...",
                "Basic bW9uOnNAY3JldA==",
            ),
        ] {
            let expected = (url.into(), shown.into(), Some(authorization.into()));
            assert_eq!(parsed(text), expected, "{text}");
        }
        let without = Address::parse("db7:1", &Around(&[])).expect("it is one");
        assert_eq!(without.authorization, None);
    }

    #[test]
    fn what_is_no_url_is_refused_with_the_way_out() {
        let refused = |text| Address::parse(text, &Around(&[])).err().expect(text);
        assert!(refused("https://db7:9100/metrics").contains("socat"));
        for text in [
            "",
            "ftp://db7",
            "http://a:b@c@d",
            "db7:port",
            "/run/s.sock",
            "http://db7/a b",
            "http://db7/\u{e9}",
        ] {
            assert!(refused(text).contains("STALLSCOPE_SCRAPE_TOKEN"), "{text}");
        }
    }

    #[test]
    fn a_token_that_cannot_be_sent_is_refused() {
        let refused = |around: &'static [(&str, &str)]| {
            let address = Address::parse("db7:1", &Around(around));
            address.err().expect("it is refused")
        };
        assert!(refused(&[("STALLSCOPE_SCRAPE_TOKEN", "a b")]).contains("one word"));
        // These surroundings have no file.
        assert!(refused(&[("STALLSCOPE_SCRAPE_TOKEN_FILE", "/secret")]).contains("chmod 600"));
    }

    proptest! {
        #[test]
        fn no_sentence_quotes_a_secret(before in "[ -~]{0,20}", after in "[ -~]{0,20}", place in 0..3) {
            const SECRET: &str = "Xq7Zk9Wv";
            let text = match place {
                0 => format!("http://{before}:{SECRET}{after}@db7"),
                1 => format!("http://db7/metrics?{before}{SECRET}{after}"),
                _ => format!("http://db7/{before}{SECRET}{after}"),
            };
            match Address::parse(&text, &Around(&[])) {
                Err(sentence) => prop_assert!(!sentence.contains(SECRET), "{sentence}"),
                Ok(address) => prop_assert!(!address.to_string().contains(SECRET), "{address}"),
            }
        }
    }
}
