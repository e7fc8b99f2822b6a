//! What went wrong between us and a server, as a sentence that says what to do.

use std::io;

use super::address::Address;
use crate::{Trouble, TroubleKind};

/// What a user needs who asks for this and nothing else.
const RIGHTS: &str = "ACL SETUSER NAME on '>PASSWORD' -@all +info +slowlog|len +latency|latest";
/// Characters that are quoted of what a server says.
const LONGEST_QUOTE: usize = 200;

/// No connection came about, or a question was not answered.
pub(super) fn failed(error: &io::Error, address: &Address) -> Trouble {
    use io::ErrorKind::{InvalidData, PermissionDenied, TimedOut, UnexpectedEof, WouldBlock};
    let (kind, said, advice) = match error.kind() {
        TimedOut | WouldBlock => (
            TroubleKind::Away,
            "it did not answer".to_owned(),
            "it was too busy to answer within 2 s and is asked again",
        ),
        InvalidData | UnexpectedEof => return odd(address),
        PermissionDenied => (
            TroubleKind::Denied,
            error.to_string(),
            "run as a user who may open the socket (usermod -aG redis USER), or name its port",
        ),
        _ => (
            TroubleKind::Away,
            error.to_string(),
            "is it there? Name it: --redis HOST:PORT or --redis /run/redis/redis-server.sock; asked again until the end of the run",
        ),
    };
    Trouble {
        kind,
        sentence: format!("Redis ({address}) was not read: {said}; {advice}"),
    }
}

/// The server refused a command.
pub(super) fn refused(said: &str, address: &Address) -> Trouble {
    let advice = match said.split(' ').next().unwrap_or_default() {
        "NOAUTH" => "put the password into REDISCLI_AUTH, and name the user: --redis redis://USER@HOST:PORT".to_owned(),
        "WRONGPASS" => "put the right password into REDISCLI_AUTH, and name the user: --redis redis://USER@HOST:PORT".to_owned(),
        "NOPERM" => format!("its user needs no more than: {RIGHTS}"),
        _ => "name the server itself: --redis HOST:PORT".to_owned(),
    };
    let said: String = said.chars().take(LONGEST_QUOTE).collect();
    Trouble {
        kind: TroubleKind::Denied,
        sentence: format!("Redis ({address}) was not read: {said}; {advice}"),
    }
}

/// Whether a password was refused because the server has none; the second is what Redis 5 and older say.
pub(super) fn needs_no_password(said: &str) -> bool {
    said.contains("without any password configured") || said.contains("no password is set")
}

/// The answer was none that this version understands.
pub(super) fn odd(address: &Address) -> Trouble {
    Trouble {
        kind: TroubleKind::Away,
        sentence: format!(
            "Redis ({address}) was not read: what answers there does not speak its protocol, or ended the connection; name the server's plain port: --redis HOST:PORT"
        ),
    }
}
