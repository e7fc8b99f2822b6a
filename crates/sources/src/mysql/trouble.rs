//! What went wrong between us and a server, as a sentence that says what to do.

use mysql::Error;

use super::address::Address;
use crate::{Trouble, TroubleKind};

/// Characters that are quoted of what a server says.
const LONGEST_QUOTE: usize = 200;
/// <https://mariadb.com/kb/en/mariadb-error-code-reference/>
const TOO_MANY_CONNECTIONS: u16 = 1040;
const WRONG_PASSWORD: [u16; 2] = [1045, 1698];
const REFUSED: [u16; 4] = [1044, 1142, 1143, 1227];

/// No connection came about, or a question was not answered.
pub(super) fn failed(error: &Error, address: &Address) -> Trouble {
    use TroubleKind::{Away, Denied};
    let (kind, advice) = match error {
        Error::MySqlError(said) if WRONG_PASSWORD.contains(&said.code) => (
            Denied,
            "put the right password into MYSQL_PWD or ~/.my.cnf (mode 600, [client]), or name another user: --mysql mysql://USER@HOST:PORT",
        ),
        Error::MySqlError(said) if said.code == TOO_MANY_CONNECTIONS => (
            Away,
            "it is asked again; MariaDB keeps a connection for who may use it (extra_port)",
        ),
        Error::MySqlError(_) => (Away, "it is asked again until the end of the run"),
        Error::DriverError(_) => (
            Away,
            "is it there, and does it let this user in without TLS? Name it: --mysql HOST:PORT or --mysql /run/mysqld/mysqld.sock; asked again until the end of the run",
        ),
        _ => (
            Away,
            "is it there? Name it: --mysql HOST:PORT or --mysql /run/mysqld/mysqld.sock; asked again until the end of the run",
        ),
    };
    Trouble {
        kind,
        sentence: format!(
            "MySQL ({address}) was not read: {}; {advice}",
            quoted(error)
        ),
    }
}

/// Whether the server refused a question for the rights of the user.
pub(super) fn is_refusal(error: &Error) -> bool {
    matches!(error, Error::MySqlError(said) if REFUSED.contains(&said.code))
}

/// What to do where the user may not see sessions and locks.
pub(super) fn hidden(error: &Error, address: &Address, rights: &str) -> String {
    format!(
        "sessions of MySQL and who blocks them are hidden ({address}): {}; {rights}",
        quoted(error)
    )
}

fn quoted(error: &Error) -> String {
    let said = match error {
        Error::MySqlError(said) => said.message.clone(),
        other => other.to_string(),
    };
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    said.chars().take(LONGEST_QUOTE).map(plain).collect()
}
