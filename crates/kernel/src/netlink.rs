//! sock_diag requests: sockets of this network namespace, and which are connected to which.
//!
//! Nothing here needs privilege. Sockets, datagrams and errors are handled alike for all address families.

use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with,
    sockopt,
};
use sensors::netlink::{messages, u32_at};

const TYPE_ERROR: u16 = 2;
const TYPE_DONE: u16 = 3;
/// `TCPDIAG_GETSOCK` and `SOCK_DIAG_BY_FAMILY` (include/uapi/linux/inet_diag.h, sock_diag.h).
const TYPE_TCP_DIAG: u16 = 18;
const TYPE_SOCK_DIAG: u16 = 20;

/// The kernel fills at most 32 KiB per datagram of a dump, whatever the receiver offers.
pub const DATAGRAM: usize = 32 * 1024;

/// The kernel makes a dump while the caller waits in `recv`; after a second no answer will come.
const TIMEOUT: Duration = Duration::from_secs(1);

/// A socket for the network namespace that the calling thread is in now, wherever the thread goes later.
pub fn diag_socket() -> Result<OwnedFd, Errno> {
    let socket = socket_with(
        AddressFamily::NETLINK,
        SocketType::DGRAM,
        SocketFlags::CLOEXEC,
        Some(netlink::SOCK_DIAG),
    )?;
    sockopt::set_socket_timeout(&socket, sockopt::Timeout::Recv, Some(TIMEOUT))?;
    Ok(socket)
}

/// Asks for sockets and hands over each message of the answer. The kernel makes the dump while its reader
/// waits, so this never sleeps.
pub fn dump(
    socket: &OwnedFd,
    request: &[u8],
    buffer: &mut [u8],
    mut each: impl FnMut(&[u8]),
) -> Result<(), Errno> {
    send(socket, request, SendFlags::empty())?;
    loop {
        let length = match recv(socket, &mut *buffer, RecvFlags::empty()) {
            Ok((length, _)) => length,
            Err(Errno::INTR) => continue,
            Err(errno) => return Err(errno),
        };
        if each_answer(buffer.get(..length).unwrap_or_default(), &mut each)? {
            return Ok(());
        }
    }
}

const TCP_REQUEST: usize = 76;

/// `struct nlmsghdr` and `struct inet_diag_req`: TCP sockets in `states` (bits of the kernel's numbers), with the
/// attributes in `extensions`.
///
/// The older of the two requests, because it alone asks for IPv4 and IPv6 at once (net/ipv4/inet_diag.c,
/// `inet_diag_dump_compat`): the kernel walks its whole table of connections for each request, 262,144 places on a
/// usual machine, which costs more than anything that is found there.
pub fn tcp_request(extensions: u8, states: u32) -> [u8; TCP_REQUEST] {
    const REQUEST_AND_DUMP: u16 = 0x1 | 0x300;
    let mut bytes = [0; TCP_REQUEST];
    bytes[..4].copy_from_slice(&(TCP_REQUEST as u32).to_ne_bytes());
    bytes[4..6].copy_from_slice(&TYPE_TCP_DIAG.to_ne_bytes());
    bytes[6..8].copy_from_slice(&REQUEST_AND_DUMP.to_ne_bytes());
    bytes[19] = extensions;
    bytes[68..72].copy_from_slice(&states.to_ne_bytes());
    bytes
}

/// `struct nlmsghdr` and `struct unix_diag_req`, asking for all states; to show: names, peers,
/// clients that wait, users.
pub fn unix_request() -> Vec<u8> {
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

/// Calls `take` for each answer in a datagram of a dump; true if it was the last datagram.
pub fn each_answer(datagram: &[u8], mut take: impl FnMut(&[u8])) -> Result<bool, Errno> {
    for (kind, payload) in messages(datagram) {
        match kind {
            TYPE_DONE => return Ok(true),
            TYPE_ERROR => return Err(error_in(payload)),
            TYPE_TCP_DIAG | TYPE_SOCK_DIAG => take(payload),
            _ => {}
        }
    }
    // The caller would ask for more without end.
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
