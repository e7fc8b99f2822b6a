//! One end of a connection, as people name it.

use std::fmt;
use std::net::SocketAddr;

use model::{EntityKind, Part, Sentence, sentence};

/// One end of a connection.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Endpoint {
    /// An address and a port; IPv4-mapped IPv6 addresses are written as IPv4.
    Inet(SocketAddr),
    /// The name of a unix socket: a path, or `@name` for an abstract one.
    Unix(String),
    /// A unix socket without a name, or one whose name is in another network namespace.
    UnnamedUnix,
}

impl Endpoint {
    /// What a client connects to, for people: `port 5432`, `unix socket /run/x.sock`.
    pub fn service(&self) -> Sentence {
        match self {
            Endpoint::Inet(address) => sentence!("port {}", address.port()),
            Endpoint::Unix(name) => {
                sentence!("unix socket {}", Part::name(EntityKind::Filesystem, name))
            }
            Endpoint::UnnamedUnix => "a unix socket without a visible name".into(),
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Endpoint::Inet(address) => address.fmt(f),
            named_or_not => named_or_not.service().fmt(f),
        }
    }
}
