//! Which server, as whom: what the user typed, completed as `mysql` does from ~/.my.cnf and MYSQL_PWD. A
//! password goes in and never comes out.

use std::fmt;
use std::path::Path;

use super::option_file::Options;
use crate::Surroundings;
use crate::url::{Endpoint, Url};

const DEFAULT_PORT: u16 = 3306;
/// Where servers put their socket: Debian's place, then Red Hat's. Not /tmp, the project's own: there anybody may
/// listen, and whoever does may ask for the password in clear.
const SOCKETS: [&str; 2] = ["/run/mysqld/mysqld.sock", "/var/lib/mysql/mysql.sock"];
/// What is said of a text that cannot be read. It quotes nothing: any part may be a secret.
const UNREADABLE: &str = "the value of --mysql is no address that this version reads: write mysql://USER@HOST:PORT, HOST:PORT or the path of a socket, and put the password into MYSQL_PWD or ~/.my.cnf; write %40 for an @ in a user's name";

/// A server and the user to be there.
#[derive(Clone)]
pub(super) struct Address {
    pub(super) endpoint: Endpoint,
    pub(super) user: String,
    pub(super) password: Option<String>,
}

impl Address {
    /// Reads an address; an empty one is the server on this machine, or the one of the option file.
    ///
    /// # Errors
    /// A sentence for the user that quotes nothing of the text.
    pub(super) fn parse(text: &str, around: &dyn Surroundings) -> Result<Self, String> {
        let set = |name| around.variable(name).filter(|value| !value.is_empty());
        let home = set("HOME");
        let file = home.and_then(|home| around.secret_file(&Path::new(&home).join(".my.cnf")));
        let options = Options::read(&file.unwrap_or_default());
        let text = text.trim();
        let url = match text {
            "" => None,
            text => Some(Url::parse(text, DEFAULT_PORT).ok_or(UNREADABLE)?),
        };
        let scheme = url.as_ref().and_then(|url| url.scheme.as_deref());
        if !matches!(scheme, None | Some("mysql" | "mariadb" | "unix")) {
            return Err(UNREADABLE.to_owned());
        }
        let (endpoint, user, password) = match url {
            Some(url) => (Some(url.endpoint), url.user, url.password),
            None => (None, None, None),
        };
        // As `mysql`: what was typed, then the file, then the environment.
        let password = password.or(options.password).or_else(|| set("MYSQL_PWD"));
        let user = user.or(options.user).or_else(|| around.user());
        let near = || {
            let there = SOCKETS.iter().find(|path| around.exists(Path::new(path)));
            there.map_or_else(
                || Endpoint::Tcp("localhost".to_owned(), DEFAULT_PORT),
                |path| Endpoint::Socket((*path).to_owned()),
            )
        };
        Ok(Self {
            endpoint: endpoint.or(options.endpoint).unwrap_or_else(near),
            user: user.unwrap_or_else(|| "root".to_owned()),
            password,
        })
    }
}

/// As it stands in sentences; the password is no part of it.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, user {}", self.endpoint, self.user)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A user's home with an option file and a server's socket, where `set` says so.
    struct Around {
        set: bool,
    }

    impl Surroundings for Around {
        fn variable(&self, name: &str) -> Option<String> {
            let value = match name {
                "HOME" => "/home/me",
                "MYSQL_PWD" => "fr0m-variable",
                _ => return None,
            };
            Some(value.to_owned())
        }
        fn user(&self) -> Option<String> {
            Some("me".to_owned())
        }
        fn secret_file(&self, path: &Path) -> Option<String> {
            let wanted = self.set && path == Path::new("/home/me/.my.cnf");
            wanted.then(|| "[client]\nuser=mon\npassword=fr0m-file\n".to_owned())
        }
        fn exists(&self, path: &Path) -> bool {
            path == Path::new("/var/lib/mysql/mysql.sock")
        }
    }

    fn parsed(text: &str, set: bool) -> (String, Option<String>) {
        let address = Address::parse(text, &Around { set });
        let address = address.unwrap_or_else(|it| panic!("{text}: {it}"));
        (address.to_string(), address.password)
    }

    #[test]
    fn urls_hosts_sockets_and_what_completes_them() {
        for (text, set, shown, password) in [
            (
                "",
                false,
                "/var/lib/mysql/mysql.sock, user me",
                "fr0m-variable",
            ),
            ("", true, "/var/lib/mysql/mysql.sock, user mon", "fr0m-file"),
            ("db7", true, "db7 port 3306, user mon", "fr0m-file"),
            (
                "/tmp/s.sock",
                false,
                "/tmp/s.sock, user me",
                "fr0m-variable",
            ),
            (
                "mariadb://u:s%40cret@[::1]:3307/db",
                true,
                "::1 port 3307, user u",
                "s@cret",
            ),
        ] {
            let wanted = (shown.to_owned(), Some(password.to_owned()));
            assert_eq!(parsed(text, set), wanted, "{text}");
        }
    }

    #[test]
    fn what_is_no_address_is_not_quoted() {
        for text in ["u:s3cret@db7", "redis://:s3cret@h", "mysql://u:s3@cret@h"] {
            let sentence = Address::parse(text, &Around { set: false }).err();
            let sentence = sentence.expect("it is none");
            assert!(
                !sentence.contains("cret@") && !sentence.contains("s3"),
                "{sentence}"
            );
        }
    }

    proptest! {
        #[test]
        fn no_sentence_quotes_what_was_typed(
            before in "(mysql://)?[ -~]{0,30}",
            mark in "[:=]",
            after in "[ -~]{0,30}",
        ) {
            const SECRET: &str = "Xq7Zk9Wv";
            let text = format!("{before}{mark}{SECRET}@{after}");
            match Address::parse(&text, &Around { set: false }) {
                Ok(address) => prop_assert!(!address.to_string().contains(SECRET), "{text}"),
                Err(sentence) => prop_assert!(!sentence.contains(SECRET), "{sentence}"),
            }
        }
    }
}
