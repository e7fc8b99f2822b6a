//! Asking sock_diag: which unix sockets are there, and who is connected to whom.
//!
//! Nothing here needs privilege. Sockets, datagrams and refusals are the same for other families.

use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with,
    sockopt,
};
use sensors::netlink::{messages, u32_at};

use super::inet::{TcpSocket, parse_inet_diag};
use super::unix::{UnixSocket, parse_unix_diag};

const TYPE_ERROR: u16 = 2;
const TYPE_DONE: u16 = 3;
pub(crate) const TYPE_SOCK_DIAG: u16 = 20;

/// The kernel fills at most 32 KiB per datagram of a dump, whatever the receiver offers.
pub(crate) const DATAGRAM: usize = 32 * 1024;

/// A dump is made while the caller waits in `recv`; a second means that no answer will come.
const PATIENCE: Duration = Duration::from_secs(1);

/// A socket that asks about the network namespace of the calling thread, wherever that goes later.
pub(crate) fn diag_socket() -> Result<OwnedFd, Errno> {
    let socket = socket_with(
        AddressFamily::NETLINK,
        SocketType::DGRAM,
        SocketFlags::CLOEXEC,
        Some(netlink::SOCK_DIAG),
    )?;
    sockopt::set_socket_timeout(&socket, sockopt::Timeout::Recv, Some(PATIENCE))?;
    Ok(socket)
}

/// Every unix socket of this network namespace.
pub(super) fn unix_sockets() -> Result<Vec<UnixSocket>, Errno> {
    let socket = diag_socket()?;
    send(&socket, &request(), SendFlags::empty())?;
    let mut found = Vec::new();
    let mut buffer = vec![0u8; DATAGRAM];
    loop {
        let (length, _) = recv(&socket, &mut buffer[..], RecvFlags::empty())?;
        if take_datagram(buffer.get(..length).unwrap_or_default(), &mut found)? {
            return Ok(found);
        }
    }
}

/// Every TCP socket of this network namespace that a process may hold.
pub(super) fn tcp_sockets() -> Result<Vec<TcpSocket>, Errno> {
    const AF_INET: u8 = 2;
    const AF_INET6: u8 = 10;
    let socket = diag_socket()?;
    let mut found = Vec::new();
    let mut buffer = vec![0u8; DATAGRAM];
    for family in [AF_INET, AF_INET6] {
        send(&socket, &tcp_request(family), SendFlags::empty())?;
        loop {
            let (length, _) = match recv(&socket, &mut buffer[..], RecvFlags::empty()) {
                Err(Errno::INTR) => continue,
                received => received?,
            };
            let datagram = buffer.get(..length).unwrap_or_default();
            if each_answer(datagram, |message| found.extend(parse_inet_diag(message)))? {
                break;
            }
        }
    }
    Ok(found)
}

/// `struct nlmsghdr` and `struct inet_diag_req_v2`, asking for no attributes.
fn tcp_request(family: u8) -> [u8; 72] {
    const REQUEST_AND_DUMP: u16 = 0x1 | 0x300;
    const TCP: u8 = 6;
    /// All but TIME_WAIT, CLOSE, LAST_ACK, CLOSING and NEW_SYN_RECV, as bits of the kernel's numbers.
    const STATES: u32 = 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4 | 1 << 5 | 1 << 8 | 1 << 10;
    let mut bytes = [0; 72];
    bytes[..4].copy_from_slice(&72u32.to_ne_bytes());
    bytes[4..6].copy_from_slice(&TYPE_SOCK_DIAG.to_ne_bytes());
    bytes[6..8].copy_from_slice(&REQUEST_AND_DUMP.to_ne_bytes());
    bytes[16..18].copy_from_slice(&[family, TCP]);
    bytes[20..24].copy_from_slice(&STATES.to_ne_bytes());
    bytes
}

/// `struct nlmsghdr` and `struct unix_diag_req`, asking for all states; to show: names, peers,
/// clients that wait, users.
fn request() -> Vec<u8> {
    const LENGTH: u32 = 40;
    const REQUEST_AND_DUMP: u16 = 0x1 | 0x300;
    const ALL_STATES: u32 = u32::MAX;
    const SHOW: u32 = 0x1 | 0x4 | 0x8 | 0x40;
    const AF_UNIX: u32 = 1;
    let mut bytes = Vec::with_capacity(LENGTH as usize);
    bytes.extend(LENGTH.to_ne_bytes());
    bytes.extend(TYPE_SOCK_DIAG.to_ne_bytes());
    bytes.extend(REQUEST_AND_DUMP.to_ne_bytes());
    bytes.extend([0; 8]);
    bytes.extend([AF_UNIX as u8, 0, 0, 0]);
    bytes.extend(ALL_STATES.to_ne_bytes());
    bytes.extend(0u32.to_ne_bytes());
    bytes.extend(SHOW.to_ne_bytes());
    bytes.extend([0; 8]);
    bytes
}

/// Adds a datagram's sockets to `found`; true when it was the last one of the dump.
pub(crate) fn take_datagram(datagram: &[u8], found: &mut Vec<UnixSocket>) -> Result<bool, Errno> {
    each_answer(datagram, |message| found.extend(parse_unix_diag(message)))
}

/// Hands over the answers in a datagram of a dump; true when it was the last one.
pub(crate) fn each_answer(datagram: &[u8], mut take: impl FnMut(&[u8])) -> Result<bool, Errno> {
    for (kind, payload) in messages(datagram) {
        match kind {
            TYPE_DONE => return Ok(true),
            TYPE_ERROR => return Err(error_in(payload)),
            TYPE_SOCK_DIAG => take(payload),
            _ => {}
        }
    }
    // An empty datagram would be asked for without end.
    if datagram.is_empty() {
        Err(Errno::IO)
    } else {
        Ok(false)
    }
}

fn error_in(payload: &[u8]) -> Errno {
    let number = u32_at(payload, 0).map_or(0, |word| word.cast_signed().saturating_neg());
    Errno::from_raw_os_error(if (1..4096).contains(&number) {
        number
    } else {
        libc::EIO
    })
}
