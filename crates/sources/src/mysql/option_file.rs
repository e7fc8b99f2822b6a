//! The option file of MySQL's and MariaDB's tools, as far as it says where to connect and as whom.
//!
//! <https://dev.mysql.com/doc/refman/8.4/en/option-files.html>. Files that it includes are not read.

use crate::url::Endpoint;

/// The groups that `mysql` and `mariadb` read; of an option that stands several times the last counts.
const GROUPS: [&str; 5] = [
    "client",
    "client-server",
    "client-mariadb",
    "mysql",
    "mariadb-client",
];
const DEFAULT_PORT: u16 = 3306;

/// What a file says.
#[derive(Default, PartialEq, Eq, Debug)]
pub(super) struct Options {
    pub(super) user: Option<String>,
    pub(super) password: Option<String>,
    /// A host goes before a socket, as only one of them can be meant.
    pub(super) endpoint: Option<Endpoint>,
}

impl Options {
    /// Reads a file's text.
    pub(super) fn read(text: &str) -> Self {
        let (mut options, mut is_ours) = (Self::default(), false);
        let (mut host, mut port, mut socket) = (None, DEFAULT_PORT, None);
        for line in text.lines().map(str::trim) {
            if let Some(group) = line.strip_prefix('[') {
                is_ours = GROUPS.contains(&group.trim_end_matches(']'));
            }
            let Some((name, value)) = line.split_once('=').filter(|_| is_ours) else {
                continue;
            };
            let value = Some(unquoted(value.trim()));
            match name.trim() {
                "user" => options.user = value,
                "password" => options.password = value,
                "host" => host = value,
                "socket" => socket = value,
                "port" => port = value.and_then(|it| it.parse().ok()).unwrap_or(port),
                _ => {}
            }
        }
        // `localhost` means the socket to these tools.
        let host = host.filter(|host| host != "localhost");
        options.endpoint = match (host, socket) {
            (Some(host), _) => Some(Endpoint::Tcp(host, port)),
            (None, socket) => socket.map(Endpoint::Socket),
        };
        options
    }
}

/// A value without its quotes. Unquoted, it ends where a comment begins; `\\`, `\s` and the like are
/// written by the tools for a backslash and a space.
fn unquoted(value: &str) -> String {
    let quote = value.chars().next().filter(|c| ['"', '\''].contains(c));
    let quoted = quote.and_then(|quote| value[1..].split_once(quote));
    let plain = match quoted {
        Some((inside, _)) => inside,
        None => value.split(" #").next().unwrap_or_default().trim_end(),
    };
    let mut chars = plain.chars();
    let mut text = String::with_capacity(plain.len());
    while let Some(c) = chars.next() {
        match (c, c == '\\') {
            (_, true) => match chars.next() {
                Some('s') => text.push(' '),
                Some('t') => text.push('\t'),
                Some('n') => text.push('\n'),
                Some('r') => text.push('\r'),
                other => text.extend(other),
            },
            (c, false) => text.push(c),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn groups_of_the_client_count_and_the_last_one_wins() {
        let read = Options::read(
            "user=nobody\n[mysqld]\nuser=mysql\nsocket=/srv/s\n\
             # comment = x\n[client]\nuser = me\npassword=\"p#a s\\\\s\"\nport=3307\n\
             [mysql]\nuser=mon # who asks\nhost = db7\nskip-ssl\n",
        );
        let wanted = Options {
            user: Some("mon".to_owned()),
            password: Some("p#a s\\s".to_owned()),
            endpoint: Some(Endpoint::Tcp("db7".to_owned(), 3307)),
        };
        assert_eq!(read, wanted);
        let read = Options::read("[client]\nhost=localhost\nsocket=/tmp/s\n");
        assert_eq!(read.endpoint, Some(Endpoint::Socket("/tmp/s".to_owned())));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "(\\[client\\]|password|=|[\"' #\\\\\n\u{e9}a]){0,20}") {
            Options::read(&text);
        }
    }
}
