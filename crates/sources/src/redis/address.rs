//! Which Redis, as whom: a URL, `HOST:PORT` or the path of a socket. A password goes in and never comes out.

use std::fmt;

use crate::Surroundings;
use crate::url::{Endpoint, Url};

const DEFAULT_PORT: u16 = 6379;
/// What is said of a text that cannot be read. It quotes nothing: any part may be a secret.
const UNREADABLE: &str = "the value of --redis is no address that this version reads: write redis://USER@HOST:PORT, HOST:PORT or the path of a socket, and put the password into REDISCLI_AUTH; write %40 for an @ in a user's name";
/// The way out where TLS is asked for.
const WITHOUT_TLS: &str = "this version speaks no TLS to Redis: use the server's unix socket (--redis /run/redis/redis-server.sock), its plain port, or an SSH tunnel (ssh -L 6380:localhost:6379 SERVER, then --redis localhost:6380)";

/// A server and the user to be there.
#[derive(Clone)]
pub(super) struct Address {
    pub(super) endpoint: Endpoint,
    pub(super) user: Option<String>,
    pub(super) password: Option<String>,
}

impl Address {
    /// Reads an address; an empty one is the server on this machine.
    ///
    /// # Errors
    /// A sentence for the user that quotes nothing of the text.
    pub(super) fn parse(text: &str, around: &dyn Surroundings) -> Result<Self, String> {
        let text = text.trim();
        let text = if text.is_empty() { "localhost" } else { text };
        let url = Url::parse(text, DEFAULT_PORT).ok_or(UNREADABLE)?;
        match url.scheme.as_deref() {
            Some("rediss" | "valkeys") => return Err(WITHOUT_TLS.to_owned()),
            None | Some("redis" | "valkey" | "unix" | "redis+unix" | "redis-socket") => {}
            Some(_) => return Err(UNREADABLE.to_owned()),
        }
        // As redis-cli, which reads it where no password was typed.
        let around = || {
            let password = around.variable("REDISCLI_AUTH");
            password.filter(|password| !password.is_empty())
        };
        Ok(Self {
            endpoint: url.endpoint,
            user: url.user,
            password: url.password.or_else(around),
        })
    }
}

/// As it stands in sentences; the password is no part of it.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.endpoint)?;
        match &self.user {
            Some(user) => write!(f, ", user {user}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::url::tests::Around;
    use proptest::prelude::*;

    fn parsed(text: &str) -> (String, Option<String>) {
        let around = Around(&[("REDISCLI_AUTH", "fr0m-variable")]);
        let address = Address::parse(text, &around).unwrap_or_else(|it| panic!("{text}: {it}"));
        (address.to_string(), address.password)
    }

    #[test]
    fn urls_hosts_and_sockets() {
        for (text, shown, password) in [
            ("", "localhost port 6379", "fr0m-variable"),
            ("db7:6380", "db7 port 6380", "fr0m-variable"),
            ("redis://:s3cret@db7/3", "db7 port 6379", "s3cret"),
            (
                "redis://mon:s%40cret@[::1]:6380",
                "::1 port 6380, user mon",
                "s@cret",
            ),
            (
                "redis://mon@db7",
                "db7 port 6379, user mon",
                "fr0m-variable",
            ),
            ("/run/redis.sock", "/run/redis.sock", "fr0m-variable"),
            ("unix://mon:pw@/run/r.sock", "/run/r.sock, user mon", "pw"),
        ] {
            let expected = (shown.to_owned(), Some(password.to_owned()));
            assert_eq!(parsed(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_address_is_refused_with_the_way_out() {
        let refused = |text| Address::parse(text, &Around(&[])).err().expect(text);
        assert!(refused("rediss://db7").contains("ssh -L"));
        for text in ["http://db7", "redis://a:b@c@d", "db7:port", "a b"] {
            assert!(refused(text).contains("REDISCLI_AUTH"), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_sentence_quotes_a_password(before in "[ -~]{0,20}", after in "[ -~]{0,20}") {
            const SECRET: &str = "Xq7Zk9Wv";
            let text = format!("redis://{before}:{SECRET}{after}@db7");
            match Address::parse(&text, &Around(&[])) {
                Err(sentence) => prop_assert!(!sentence.contains(SECRET), "{sentence}"),
                Ok(address) => prop_assert!(!address.to_string().contains(SECRET), "{address}"),
            }
        }
    }
}
