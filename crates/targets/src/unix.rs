//! Unix sockets: names, peers and users from sock_diag; names alone from `/proc/net/unix`.
//!
//! sock_diag answers any user, but only for the caller's own network namespace. `/proc/net/unix` has no
//! peers: with it a connection is visible but cannot be followed.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

use rustix::io::Errno;
use sensors::netlink::{attributes, u32_at};

use super::inet::here;
use kernel::netlink::{DATAGRAM, diag_socket, dump, each_answer, unix_request};

/// One unix socket.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnixSocket {
    /// The inode of its descriptor.
    pub inode: u64,
    /// Whether it is a stream socket.
    pub stream: bool,
    /// Whether it listens.
    pub listening: bool,
    /// Whether it is connected.
    pub connected: bool,
    /// Its path, or `@name`. An accepted socket has the name of the listening one.
    pub name: Option<String>,
    /// The inode of the other end: 0 until that is accepted, `None` if unknown.
    pub peer: Option<u64>,
    /// The user of the process that created or accepted it; reported since Linux 5.3.
    pub uid: Option<u32>,
    /// The inodes of the clients that wait for this listening socket to accept them.
    pub waiting: Vec<u64>,
}

const SOCK_STREAM: u8 = 1;
const STATE_ESTABLISHED: u8 = 1;
const STATE_LISTEN: u8 = 10;

const DIAG_HEADER: usize = 16;
const DIAG_NAME: u16 = 0;
const DIAG_PEER: u16 = 2;
const DIAG_ICONS: u16 = 3;
const DIAG_UID: u16 = 7;

/// Parses the payload of one sock_diag message (`struct unix_diag_msg` and its attributes).
pub fn parse_unix_diag(message: &[u8]) -> Option<UnixSocket> {
    let header = message.get(..DIAG_HEADER)?;
    let (kind, state) = (header[1], header[2]);
    let mut socket = UnixSocket {
        inode: u64::from(u32_at(header, 4)?),
        stream: kind == SOCK_STREAM,
        listening: state == STATE_LISTEN,
        connected: state == STATE_ESTABLISHED,
        name: None,
        peer: None,
        uid: None,
        waiting: Vec::new(),
    };
    for (attribute, value) in attributes(message.get(DIAG_HEADER..)?) {
        match attribute {
            DIAG_NAME => socket.name = name_of(value),
            DIAG_PEER => socket.peer = u32_at(value, 0).map(u64::from),
            DIAG_ICONS => socket.waiting = clients_in(value),
            DIAG_UID => socket.uid = u32_at(value, 0),
            _ => {}
        }
    }
    Some(socket)
}

/// An array of inodes; 0 for a client that gave up.
fn clients_in(array: &[u8]) -> Vec<u64> {
    let words = (0..array.len())
        .step_by(4)
        .map_while(|at| u32_at(array, at));
    words.filter(|&inode| inode != 0).map(u64::from).collect()
}

/// Abstract names begin with a NUL, which is shown as `@`; paths end with one, which is left out.
fn name_of(bytes: &[u8]) -> Option<String> {
    let text = match bytes {
        [] => return None,
        [0, rest @ ..] => format!("@{}", String::from_utf8_lossy(rest).replace('\0', "@")),
        path => String::from_utf8_lossy(path)
            .trim_end_matches('\0')
            .to_owned(),
    };
    Some(text).filter(|text| !text.is_empty())
}

/// Parses one line of `/proc/net/unix`; `None` for the heading or a malformed line.
pub fn parse_proc_net_unix(line: &[u8]) -> Option<UnixSocket> {
    const ACCEPTS: u32 = 1 << 16;
    const CONNECTED: u8 = 3;
    let text = String::from_utf8_lossy(line);
    let mut fields = text.split_ascii_whitespace();
    let flags = u32::from_str_radix(fields.nth(3)?, 16).ok()?;
    let kind = u8::from_str_radix(fields.next()?, 16).ok()?;
    let state = u8::from_str_radix(fields.next()?, 16).ok()?;
    let inode = fields.next()?.parse().ok()?;
    // A path may have spaces: it is the rest of the line, from where the next field begins.
    let name = fields.next().and_then(|word| {
        let start = word.as_ptr() as usize - text.as_ptr() as usize;
        Some(text.get(start..)?.trim_end().to_owned())
    });
    Some(UnixSocket {
        inode,
        stream: kind == SOCK_STREAM,
        listening: flags & ACCEPTS != 0,
        connected: state == CONNECTED,
        name,
        peer: None,
        uid: None,
        waiting: Vec::new(),
    })
}

/// Every unix socket of this network namespace.
fn unix_sockets() -> Result<Vec<UnixSocket>, Errno> {
    let socket = diag_socket()?;
    let mut found = Vec::new();
    let mut buffer = vec![0u8; DATAGRAM];
    dump(&socket, &unix_request(), &mut buffer, |message| {
        found.extend(parse_unix_diag(message));
    })?;
    Ok(found)
}

/// Adds a datagram's sockets to `found`; true if it was the last one of the dump.
pub(crate) fn take_datagram(datagram: &[u8], found: &mut Vec<UnixSocket>) -> Result<bool, Errno> {
    each_answer(datagram, |message| found.extend(parse_unix_diag(message)))
}

/// The unix sockets of this network namespace at one moment.
#[derive(Clone, Debug, Default)]
pub(super) struct UnixTable {
    by_inode: HashMap<u64, UnixSocket>,
    /// By client: the other end of a client that waits is not in the table, only in the listening socket's
    /// entry.
    awaited_by_client: HashMap<u64, String>,
    listening: HashSet<String>,
    /// Whether the table has peers.
    pub(super) has_peers: bool,
}

impl UnixTable {
    /// Asks the kernel, or reads `/proc/net/unix` if it does not answer.
    pub(super) fn read(proc: &Path) -> Self {
        // With another root (the host's, mounted in a container; captured files) the sockets are not those of
        // our own namespace, which sock_diag reports.
        let from_diag = if proc == Path::new("/proc") {
            unix_sockets().ok()
        } else {
            None
        };
        let has_peers = from_diag.is_some();
        let sockets = from_diag.unwrap_or_else(|| {
            let text = fs::read(here(proc).join("unix")).unwrap_or_default();
            text.split(|&byte| byte == b'\n')
                .filter_map(parse_proc_net_unix)
                .collect()
        });
        Self {
            has_peers,
            ..Self::from_sockets(sockets)
        }
    }

    pub(super) fn from_sockets(sockets: Vec<UnixSocket>) -> Self {
        let mut table = Self::default();
        for socket in sockets {
            if let Some(name) = socket.name.as_ref().filter(|_| socket.listening) {
                table.listening.insert(name.clone());
                let waiting = socket.waiting.iter().map(|&client| (client, name.clone()));
                table.awaited_by_client.extend(waiting);
            }
            table.by_inode.insert(socket.inode, socket);
        }
        table
    }

    pub(super) fn get(&self, inode: u64) -> Option<&UnixSocket> {
        self.by_inode.get(&inode)
    }

    pub(super) fn listens_at(&self, name: &str) -> bool {
        self.listening.contains(name)
    }

    /// The name under which a client waits to be accepted.
    pub(super) fn awaited_by(&self, client: u64) -> Option<&str> {
        self.awaited_by_client.get(&client).map(String::as_str)
    }

    /// The listening stream sockets.
    pub(super) fn listening_sockets(&self) -> impl Iterator<Item = &UnixSocket> {
        self.by_inode
            .values()
            .filter(|socket| socket.listening && socket.stream)
    }
}
