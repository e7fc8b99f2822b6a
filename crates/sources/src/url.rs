//! Addresses of servers as their own tools take them: a URL, `HOST:PORT`, or the path of a socket.

use std::fmt;

/// Where a server listens.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Endpoint {
    /// A host, by name or address, and a TCP port.
    Tcp(String, u16),
    /// The path of a unix socket.
    Socket(String),
}

impl Endpoint {
    /// What is known of it, by name.
    pub(crate) fn facts(&self) -> Vec<(&'static str, String)> {
        match self {
            Self::Tcp(host, port) => vec![("host", host.clone()), ("port", port.to_string())],
            Self::Socket(path) => vec![("host", path.clone())],
        }
    }
}

/// As it stands in sentences.
impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(host, port) => write!(f, "{host} port {port}"),
            Self::Socket(path) => f.write_str(path),
        }
    }
}

/// The parts of an address.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Url {
    pub(crate) scheme: Option<String>,
    pub(crate) user: Option<String>,
    pub(crate) password: Option<String>,
    pub(crate) endpoint: Endpoint,
    /// What stands behind a host: from the first `/`, `?` or `#` on.
    pub(crate) path: String,
}

impl Url {
    /// Reads an address. `None` where it is none, or where a part of a password could be taken for a name,
    /// which would be shown: what stands before the last @ is never taken for a host.
    pub(crate) fn parse(text: &str, default_port: u16) -> Option<Self> {
        let (scheme, rest) = match text.split_once("://") {
            Some((scheme, rest)) => (Some(scheme.to_ascii_lowercase()), rest),
            None => (None, text),
        };
        let (account, place) = match rest.rsplit_once('@') {
            Some((account, _)) if scheme.is_none() || account.contains('@') => return None,
            Some((account, place)) => (Some(account), place),
            None => (None, rest),
        };
        let (user, password) = match account.map(|it| it.split_once(':').unwrap_or((it, ""))) {
            // Then the @ stands in a path or a query, and before it perhaps a password.
            Some((user, _)) if user.contains(['/', '?', '#', '=']) => return None,
            Some((user, password)) => (decoded(user)?, decoded(password)?),
            None => (String::new(), String::new()),
        };
        let present = |text: String| (!text.is_empty()).then_some(text);
        Some(Self {
            scheme,
            user: present(user),
            password: present(password),
            endpoint: endpoint(place, default_port)?,
            path: place
                .find(['/', '?', '#'])
                .map_or_else(String::new, |at| place[at..].to_owned()),
        })
    }
}

/// `/path`, `HOST`, `HOST:PORT` or `[ADDRESS]:PORT`; a database or a query behind it is passed over.
fn endpoint(place: &str, default_port: u16) -> Option<Endpoint> {
    if place.starts_with('/') {
        let path = place.split('?').next()?;
        return is_name(path).then(|| Endpoint::Socket(path.to_owned()));
    }
    let place = place.split(['/', '?', '#']).next()?;
    let (host, port) = match place.strip_prefix('[').map(|it| it.split_once(']')) {
        Some(Some((host, rest))) => (host, rest.strip_prefix(':')),
        Some(None) => return None,
        None => match place.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (place, None),
        },
    };
    let port = port.map_or(Some(default_port), |port| port.parse().ok())?;
    let host = if host.is_empty() { "localhost" } else { host };
    is_name(host).then(|| Endpoint::Tcp(host.to_owned(), port))
}

/// Whether something may stand in a sentence as a host or a path.
fn is_name(text: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || "/.-_:+~%".contains(c);
    text.chars().all(is_plain)
}

/// A text with its `%40` and the like replaced; `None` where that gives no UTF-8.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        let code = (first == b'%').then(|| behind.get(..2)).flatten();
        let code = code.filter(|code| code.iter().all(u8::is_ascii_hexdigit));
        let code = code.and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &behind[2..];
            }
            None => {
                bytes.push(first);
                rest = behind;
            }
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
pub(crate) mod tests {
    use std::path::Path;

    use super::*;
    use crate::Surroundings;
    use proptest::prelude::*;

    /// An environment of these variables, and nothing else.
    pub(crate) struct Around(pub(crate) &'static [(&'static str, &'static str)]);

    impl Surroundings for Around {
        fn variable(&self, name: &str) -> Option<String> {
            let found = self.0.iter().find(|(known, _)| *known == name)?;
            Some(found.1.to_owned())
        }
        fn user(&self) -> Option<String> {
            Some("me".to_owned())
        }
        fn secret_file(&self, _: &Path) -> Option<String> {
            None
        }
        fn exists(&self, _: &Path) -> bool {
            false
        }
    }

    #[test]
    fn percent_signs_are_decoded() {
        assert_eq!(decoded("a%40b%3A%"), Some("a@b:%".to_owned()));
        assert_eq!(decoded("%ff"), None);
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[ -~\u{e9}]{0,40}") {
            let _ = Url::parse(&text, 1);
        }
    }
}
