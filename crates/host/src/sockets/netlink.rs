//! One question to sock_diag: which unix sockets are there, and who is connected to whom.
//!
//! The bytes are taken apart by hand with every bound checked; nothing here needs privilege.

use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with,
    sockopt,
};

use super::unix::{UnixSocket, parse_unix_diag};

const HEADER: usize = 16;
const TYPE_ERROR: u16 = 2;
const TYPE_DONE: u16 = 3;
const TYPE_SOCK_DIAG: u16 = 20;

/// The kernel fills at most 32 KiB per datagram of a dump, whatever the receiver offers.
const DATAGRAM: usize = 32 * 1024;

/// A dump is made while the caller waits in `recv`; a second means that no answer will come.
const PATIENCE: Duration = Duration::from_secs(1);

/// Every unix socket of this network namespace.
pub(super) fn unix_sockets() -> Result<Vec<UnixSocket>, Errno> {
    let socket = socket_with(
        AddressFamily::NETLINK,
        SocketType::DGRAM,
        SocketFlags::CLOEXEC,
        Some(netlink::SOCK_DIAG),
    )?;
    sockopt::set_socket_timeout(&socket, sockopt::Timeout::Recv, Some(PATIENCE))?;
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
pub(super) fn take_datagram(datagram: &[u8], found: &mut Vec<UnixSocket>) -> Result<bool, Errno> {
    let mut rest = datagram;
    while let Some(length) = u32_at(rest, 0).map(|length| length as usize) {
        let Some(payload) = rest.get(HEADER..length) else {
            break;
        };
        match u16_at(rest, 4) {
            Some(TYPE_DONE) => return Ok(true),
            Some(TYPE_ERROR) => return Err(error_in(payload)),
            Some(TYPE_SOCK_DIAG) => found.extend(parse_unix_diag(payload)),
            _ => {}
        }
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
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

/// The attributes (`struct nlattr`) in a message: type and value.
pub(super) fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    const ATTRIBUTE_HEADER: usize = 4;
    std::iter::from_fn(move || {
        let length = usize::from(u16_at(bytes, 0)?);
        let kind = u16_at(bytes, 2)?;
        let value = bytes.get(ATTRIBUTE_HEADER..length)?;
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((kind, value))
    })
}

/// The number at that offset, in the byte order of this machine.
pub(super) fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    let word = bytes.get(offset..)?.first_chunk()?;
    Some(u32::from_ne_bytes(*word))
}

fn u16_at(bytes: &[u8], offset: usize) -> Option<u16> {
    let word = bytes.get(offset..)?.first_chunk()?;
    Some(u16::from_ne_bytes(*word))
}
