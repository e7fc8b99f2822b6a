//! TCP sockets and local addresses, from `/proc/PID/net`.
//!
//! A network namespace is read through a process in it; its table is read once, so that both ends of a
//! connection are from the same moment.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use sensors::netlink::u32_at;

use kernel::netlink::{DATAGRAM, diag_socket, dump, tcp_request};

/// The state of a TCP socket, as far as it is needed here.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TcpState {
    /// Established at this end; it may still wait in the other end's accept queue.
    Established,
    /// Connecting.
    SynSent,
    /// The other end has closed the connection, this one has not yet.
    CloseWait,
    /// Listening.
    Listen,
    /// Any other state, by the kernel's number.
    Other(u8),
}

impl TcpState {
    /// The state with the kernel's number.
    fn of(number: u8) -> Self {
        match number {
            1 => Self::Established,
            2 => Self::SynSent,
            8 => Self::CloseWait,
            10 => Self::Listen,
            other => Self::Other(other),
        }
    }
}

/// A TCP socket, from a line of `/proc/net/tcp` or `tcp6`, or from sock_diag.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TcpSocket {
    /// The address of this end.
    pub local: SocketAddr,
    /// The address of the other end; port 0 for a listening socket.
    pub peer: SocketAddr,
    /// TCP state, by the kernel's number in the tables.
    pub state: TcpState,
    /// The user of the process that created or accepted it.
    pub uid: u32,
    /// The inode of its descriptor; 0 until a process accepts it.
    pub inode: u64,
}

/// Parses one line of `/proc/net/tcp` or `/proc/net/tcp6`; `None` for the heading or a malformed line.
pub fn parse_proc_net_tcp(line: &[u8]) -> Option<TcpSocket> {
    let mut fields = std::str::from_utf8(line).ok()?.split_ascii_whitespace();
    let local = parse_address(fields.nth(1)?)?;
    let peer = parse_address(fields.next()?)?;
    let state = TcpState::of(u8::from_str_radix(fields.next()?, 16).ok()?);
    // Skipped: queues, timer, retransmits; then uid, timeout, inode.
    let uid = fields.nth(3)?.parse().ok()?;
    let inode = fields.nth(1)?.parse().ok()?;
    Some(TcpSocket {
        local,
        peer,
        state,
        uid,
        inode,
    })
}

/// Parses `struct inet_diag_msg`; `None` if it is malformed.
pub(crate) fn parse_inet_diag(message: &[u8]) -> Option<TcpSocket> {
    const AF_INET: u8 = 2;
    const AF_INET6: u8 = 10;
    let family = *message.first()?;
    let address = |ip: usize, port: usize| {
        let bytes: [u8; 16] = message.get(ip..ip + 16)?.try_into().ok()?;
        let [a, b, c, d, ..] = bytes;
        let ip = match family {
            AF_INET => IpAddr::from([a, b, c, d]),
            AF_INET6 => IpAddr::from(bytes).to_canonical(),
            _ => return None,
        };
        let port = message.get(port..port + 2)?.try_into().ok()?;
        Some(SocketAddr::new(ip, u16::from_be_bytes(port)))
    };
    Some(TcpSocket {
        local: address(8, 4)?,
        peer: address(24, 6)?,
        state: TcpState::of(*message.get(1)?),
        uid: u32_at(message, 64)?,
        inode: u64::from(u32_at(message, 68)?),
    })
}

/// The kernel prints each 32-bit word of an address as a number in host byte order.
fn parse_address(text: &str) -> Option<SocketAddr> {
    let (hex, port) = text.split_once(':')?;
    let word = |index: usize| {
        let digits = hex.get(index * 8..index * 8 + 8)?;
        Some(u32::from_str_radix(digits, 16).ok()?.to_ne_bytes())
    };
    let ip = match hex.len() {
        8 => IpAddr::from(Ipv4Addr::from(word(0)?)),
        32 => {
            let mut bytes = [0; 16];
            for (index, quarter) in bytes.chunks_exact_mut(4).enumerate() {
                quarter.copy_from_slice(&word(index)?);
            }
            IpAddr::from(bytes).to_canonical()
        }
        _ => return None,
    };
    Some(SocketAddr::new(ip, u16::from_str_radix(port, 16).ok()?))
}

/// The IPv4 networks that `/proc/net/fib_trie` marks as local, with their prefix lengths.
pub(crate) fn parse_fib_trie(text: &[u8]) -> HashSet<(Ipv4Addr, u32)> {
    let mut found = HashSet::new();
    let mut address: Option<Ipv4Addr> = None;
    for line in String::from_utf8_lossy(text).lines() {
        let line = line.trim_start();
        if let Some(leaf) = line.strip_prefix("|-- ") {
            address = leaf.trim_end().parse().ok();
        } else if let (Some(prefix), Some(address)) = (line.strip_suffix(" host LOCAL"), address) {
            let length = prefix
                .strip_prefix('/')
                .and_then(|digits| digits.parse().ok());
            found.extend(
                length
                    .filter(|&length| length <= 32)
                    .map(|length| (address, length)),
            );
        }
    }
    found
}

/// The addresses in `/proc/net/if_inet6`.
pub(crate) fn parse_if_inet6(text: &[u8]) -> HashSet<Ipv6Addr> {
    let text = String::from_utf8_lossy(text);
    text.lines()
        .filter_map(|line| u128::from_str_radix(line.split_ascii_whitespace().next()?, 16).ok())
        .map(Ipv6Addr::from)
        .collect()
}

/// Every TCP socket of this network namespace that a process may hold.
fn tcp_sockets() -> Result<Vec<TcpSocket>, Errno> {
    /// All but TIME_WAIT, CLOSE, LAST_ACK, CLOSING and NEW_SYN_RECV, as bits of the kernel's numbers.
    const STATES: u32 = 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4 | 1 << 5 | 1 << 8 | 1 << 10;
    let socket = diag_socket()?;
    let mut found = Vec::new();
    let mut buffer = vec![0u8; DATAGRAM];
    dump(&socket, &tcp_request(0, STATES), &mut buffer, |message| {
        found.extend(parse_inet_diag(message));
    })?;
    Ok(found)
}

/// The TCP sockets of one network namespace.
#[derive(Clone, Debug, Default)]
pub(super) struct Namespace {
    net: PathBuf,
    pub(super) sockets: Vec<TcpSocket>,
}

impl Namespace {
    /// Reads the tables in `net`, a process's folder `net`; absent ones are empty.
    pub(super) fn read(net: PathBuf) -> Self {
        let mut sockets = Vec::new();
        for table in ["tcp", "tcp6"] {
            let text = fs::read(net.join(table)).unwrap_or_default();
            sockets.extend(
                text.split(|&byte| byte == b'\n')
                    .filter_map(parse_proc_net_tcp),
            );
        }
        Self { net, sockets }
    }

    /// Requests the sockets of our own namespace, whose folder is `net`, from the kernel; `None` if it does
    /// not answer. Sockets in TIME_WAIT are left out: with short connections there are tens of thousands, and
    /// the kernel takes 3 us to report each.
    pub(super) fn ask(net: PathBuf) -> Option<Self> {
        let sockets = tcp_sockets().ok()?;
        Some(Self { net, sockets })
    }

    /// The sockets by (local, peer). An accepted one takes precedence over a remnant in TIME_WAIT.
    pub(super) fn by_pair(&self) -> HashMap<(SocketAddr, SocketAddr), &TcpSocket> {
        let mut pairs: HashMap<_, &TcpSocket> = HashMap::with_capacity(self.sockets.len());
        for socket in &self.sockets {
            let known = pairs.entry((socket.local, socket.peer)).or_insert(socket);
            if known.inode == 0 {
                *known = socket;
            }
        }
        pairs
    }

    /// The addresses of listening sockets.
    pub(super) fn listening(&self) -> HashSet<SocketAddr> {
        self.listening_sockets()
            .map(|socket| socket.local)
            .collect()
    }

    /// The listening sockets.
    pub(super) fn listening_sockets(&self) -> impl Iterator<Item = &TcpSocket> {
        self.sockets
            .iter()
            .filter(|socket| socket.state == TcpState::Listen)
    }

    /// The listening sockets that accept connections to an address.
    pub(super) fn listening_at(&self, address: SocketAddr) -> impl Iterator<Item = &TcpSocket> {
        self.listening_sockets()
            .filter(move |socket| listens_at(&HashSet::from([socket.local]), address))
    }

    /// The addresses of this namespace. Read only on demand: `fib_trie` is long on a router.
    pub(super) fn addresses(&self) -> LocalAddresses {
        LocalAddresses {
            v4: parse_fib_trie(&fs::read(self.net.join("fib_trie")).unwrap_or_default()),
            v6: parse_if_inet6(&fs::read(self.net.join("if_inet6")).unwrap_or_default()),
        }
    }
}

/// Whether a local socket listens at that address, or at that port of every address.
pub(super) fn listens_at(listening: &HashSet<SocketAddr>, local: SocketAddr) -> bool {
    let any = [
        IpAddr::from(Ipv4Addr::UNSPECIFIED),
        IpAddr::from(Ipv6Addr::UNSPECIFIED),
    ];
    listening.contains(&local)
        || any
            .iter()
            .any(|&ip| listening.contains(&SocketAddr::new(ip, local.port())))
}

/// A machine's own addresses.
#[derive(Clone, Debug, Default)]
pub(super) struct LocalAddresses {
    v4: HashSet<(Ipv4Addr, u32)>,
    v6: HashSet<Ipv6Addr>,
}

impl LocalAddresses {
    /// Whether packets to that address stay on this machine.
    pub(super) fn contains(&self, ip: IpAddr) -> bool {
        if ip.is_loopback() {
            return true;
        }
        match ip {
            IpAddr::V6(ip) => self.v6.contains(&ip),
            IpAddr::V4(ip) => self.v4.iter().any(|&(network, length)| {
                let differing = u32::from(ip) ^ u32::from(network);
                length == 0 || differing >> (32 - length) == 0
            }),
        }
    }
}

/// The TCP sockets of a process's network namespace, whose link is `link`.
pub(super) fn namespace(proc: &Path, link: Option<&Path>, pid: u32) -> Namespace {
    let net = net_folder(proc, pid);
    // sock_diag reports our own namespace, whatever `proc` shows.
    let is_own = link.is_some()
        && link == namespace_link(proc, std::process::id()).as_deref()
        && proc == Path::new("/proc");
    let from_diag = is_own.then(|| Namespace::ask(net.clone())).flatten();
    from_diag.unwrap_or_else(|| Namespace::read(net))
}

/// Identifies a process's network namespace; `None` if it may not be read.
pub(super) fn namespace_link(proc: &Path, pid: u32) -> Option<PathBuf> {
    fs::read_link(proc.join(pid.to_string()).join("ns/net")).ok()
}

/// The folder with the tables of a process's network namespace, else of our own.
pub(super) fn net_folder(proc: &Path, pid: u32) -> PathBuf {
    let own = proc.join(pid.to_string()).join("net");
    if own.join("tcp").exists() {
        own
    } else {
        proc.join("net")
    }
}

/// The folder with the tables of the network namespace that is examined: our own, or with another root that
/// of its first process, because `net` would still be our own there.
pub(super) fn here(proc: &Path) -> PathBuf {
    if proc == Path::new("/proc") {
        proc.join("net")
    } else {
        net_folder(proc, 1)
    }
}
