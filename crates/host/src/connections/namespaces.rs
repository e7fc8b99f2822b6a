//! The network namespaces that near processes live in, each with a netlink socket that was made in it:
//! sock_diag answers for the namespace in which its socket was made.
//!
//! A socket keeps its namespace alive, so it is closed when no near process lives there any more.

use std::collections::HashMap;
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::mpsc::{Receiver, Sender, channel};

use model::{EntityId, GapReason};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use sensors::{CONNECTION, TcpReading, parse_tcp};

use super::descriptors::Proc;
use crate::gaps::Gaps;
use crate::privileges::{Duty, give_up_all_but, may_enter};
use crate::sockets::netlink::{DATAGRAM, TYPE_SOCK_DIAG, diag_socket, each_answer};

/// Where processes live is read at their first looks, since they may enter a namespace after they
/// were started, and then now and then.
const FIRST_LOOKS: u8 = 3;
const LATER_LOOKS: u8 = 10;
/// Each is a dump of its own.
const MOST: usize = 16;

const AF_INET: u8 = 2;
const AF_INET6: u8 = 10;

struct Namespace {
    inode: u64,
    /// `None` where the kernel refused: asking again would not help.
    socket: Option<OwnedFd>,
    inhabited: bool,
}

/// Where a process lives.
struct Home {
    inode: u64,
    looks: u8,
    tracked: bool,
}

/// The namespaces of near processes.
pub(super) struct Namespaces {
    list: Vec<Namespace>,
    homes: HashMap<u32, Home>,
    /// Our own namespace.
    own: Option<u64>,
    buffer: Vec<u8>,
    worker: Option<NetnsWorker>,
}

impl Default for Namespaces {
    fn default() -> Self {
        Self {
            list: Vec::with_capacity(MOST),
            homes: HashMap::with_capacity(1_024),
            own: None,
            buffer: vec![0; DATAGRAM],
            worker: NetnsWorker::new(),
        }
    }
}

impl Namespaces {
    /// Opens what near processes live in, and closes what they have left.
    pub(super) fn follow(&mut self, proc: &Proc, tracked: &[(u32, EntityId)], gaps: &mut Gaps) {
        let own = *self
            .own
            .get_or_insert_with(|| proc.namespace_of(std::process::id()).unwrap_or(0));
        for home in self.homes.values_mut() {
            home.tracked = false;
        }
        for namespace in &mut self.list {
            namespace.inhabited = false;
        }
        for &(pid, _) in tracked {
            let home = self.homes.entry(pid).or_insert(Home {
                inode: own,
                looks: 0,
                tracked: true,
            });
            home.tracked = true;
            home.looks += 1;
            if home.looks <= FIRST_LOOKS || home.looks >= LATER_LOOKS {
                home.looks = home.looks.min(FIRST_LOOKS);
                // One that may not be looked at is taken to live where we do, as most do.
                home.inode = proc.namespace_of(pid).unwrap_or(own);
            }
            let inode = home.inode;
            self.inhabit(proc, (pid, inode), own, gaps);
        }
        self.homes.retain(|_, home| home.tracked);
        self.list.retain(|namespace| namespace.inhabited);
    }

    fn inhabit(&mut self, proc: &Proc, (pid, inode): (u32, u64), own: u64, gaps: &mut Gaps) {
        if let Some(known) = self.list.iter_mut().find(|known| known.inode == inode) {
            known.inhabited = true;
            return;
        }
        if self.list.len() >= MOST {
            let sentence = format!("only the first {MOST} network namespaces are looked into");
            gaps.say(&CONNECTION.name, "", GapReason::Unsupported(sentence));
            return;
        }
        let socket = if inode == own {
            diag_socket()
        } else {
            match proc.open_namespace(pid) {
                // Gone since its namespace was read: whoever else lives there leads there.
                Err(Errno::NOENT | Errno::SRCH | Errno::ACCESS) => return,
                opened => opened.and_then(|namespace| {
                    let worker = self.worker.as_ref().ok_or(Errno::PERM)?;
                    worker.socket_within(namespace)
                }),
            }
        };
        self.list.push(Namespace {
            inode,
            socket: socket.map_err(|errno| say_refusal(errno, gaps)).ok(),
            inhabited: true,
        });
    }

    /// Hands over every TCP socket of the namespaces, with the namespace's inode; returns whether all
    /// of them answered.
    pub(super) fn dump(&mut self, gaps: &mut Gaps, mut each: impl FnMut(u64, &TcpReading)) -> bool {
        let mut complete = true;
        self.list.retain_mut(|namespace| {
            let Some(socket) = &namespace.socket else {
                return true;
            };
            let inode = namespace.inode;
            let answers = [AF_INET, AF_INET6].map(|family| {
                dump(socket, family, &mut self.buffer, |message| {
                    if let Some(reading) = parse_tcp(message) {
                        each(inode, &reading);
                    }
                })
            });
            if let Some(errno) = answers.into_iter().find_map(Result::err) {
                complete = false;
                // What is left of the answer would be taken for the next one's.
                namespace.socket = None;
                say_refusal(errno, gaps);
                // Made anew at the next look, where only this answer went wrong.
                return !matches!(errno, Errno::NOBUFS | Errno::NOMEM | Errno::AGAIN);
            }
            true
        });
        complete
    }
}

/// A thread that goes to other namespaces and makes sockets there: no other thread leaves its own, and no
/// other keeps the privilege to.
struct NetnsWorker {
    to: Sender<OwnedFd>,
    back: Receiver<Result<OwnedFd, Errno>>,
}

impl NetnsWorker {
    /// `None` where it could go nowhere.
    fn new() -> Option<Self> {
        if !may_enter() {
            return None;
        }
        let home = File::open("/proc/thread-self/ns/net").ok()?;
        let (to, asked) = channel::<OwnedFd>();
        let (tell, back) = channel();
        let serve = move || {
            give_up_all_but(Duty::Entering);
            for namespace in asked {
                let made = enter(&namespace).and_then(|()| diag_socket());
                drop(namespace);
                // To stay would keep the namespace alive.
                let is_home = enter(&home).is_ok();
                if tell.send(made).is_err() || !is_home {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new()
            .name("namespaces".to_owned())
            .stack_size(64 * 1024)
            .spawn(serve);
        thread.is_ok().then_some(Self { to, back })
    }

    fn socket_within(&self, namespace: OwnedFd) -> Result<OwnedFd, Errno> {
        self.to.send(namespace).map_err(|_| Errno::PERM)?;
        self.back.recv().unwrap_or(Err(Errno::PERM))
    }
}

fn enter(namespace: &impl AsFd) -> Result<(), Errno> {
    move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))
}

fn say_refusal(errno: Errno, gaps: &mut Gaps) {
    let reason = match errno {
        Errno::PERM | Errno::ACCESS => GapReason::Denied(
            "connections in another network namespace are not seen: run as root".to_owned(),
        ),
        Errno::NOENT | Errno::OPNOTSUPP | Errno::PROTONOSUPPORT | Errno::AFNOSUPPORT => {
            GapReason::Unsupported(
                "this kernel does not report TCP connections: it needs CONFIG_INET_DIAG, as a module \
                 perhaps (modprobe tcp_diag)"
                    .to_owned(),
            )
        }
        // Gone with its process.
        Errno::SRCH => return,
        errno => GapReason::Malformed(format!("the kernel's answer about TCP connections: {errno}")),
    };
    gaps.say(&CONNECTION.name, "", reason);
}

/// Asks for all TCP sockets of a family, and hands over each message of the answer. A dump is made
/// while its reader waits, so this never sleeps.
fn dump(
    socket: &OwnedFd,
    family: u8,
    buffer: &mut [u8],
    mut each: impl FnMut(&[u8]),
) -> Result<(), Errno> {
    send(socket, &request(family), SendFlags::empty())?;
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

const REQUEST: usize = 72;

/// `struct nlmsghdr` and `struct inet_diag_req_v2`, asking for `tcp_info` of sockets in every state
/// that a connection has while a process holds it.
fn request(family: u8) -> [u8; REQUEST] {
    const REQUEST_AND_DUMP: u16 = 0x1 | 0x300;
    const TCP: u8 = 6;
    const WITH_INFO: u8 = 1 << 1;
    /// All but TIME_WAIT, CLOSE, LISTEN and NEW_SYN_RECV, as bits of the kernel's numbers.
    const STATES: u32 = 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4 | 1 << 5 | 1 << 8 | 1 << 9 | 1 << 11;
    let mut bytes = [0; REQUEST];
    bytes[..4].copy_from_slice(&(REQUEST as u32).to_ne_bytes());
    bytes[4..6].copy_from_slice(&TYPE_SOCK_DIAG.to_ne_bytes());
    bytes[6..8].copy_from_slice(&REQUEST_AND_DUMP.to_ne_bytes());
    bytes[16..19].copy_from_slice(&[family, TCP, WITH_INFO]);
    bytes[20..24].copy_from_slice(&STATES.to_ne_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn a_process_that_is_gone_closes_no_namespace_to_those_who_live_there() {
        let mut child = std::process::Command::new("true")
            .spawn()
            .expect("true runs");
        let gone = child.id();
        child.wait().expect("our own child");
        let proc = Proc::open(Path::new("/proc")).expect("/proc is readable");
        let (mut namespaces, mut gaps) = (Namespaces::default(), Gaps::default());
        let (own, other) = (1, 2);
        namespaces.inhabit(&proc, (gone, other), own, &mut gaps);
        assert!(namespaces.list.is_empty());
        assert_eq!(gaps.take_fresh().count(), 0);
    }
}
