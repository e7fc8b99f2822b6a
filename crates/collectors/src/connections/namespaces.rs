//! The network namespaces of tracked processes, each with a netlink socket created in it: sock_diag answers
//! for the namespace in which its socket was created.
//!
//! A socket keeps its namespace alive, so it is closed when no tracked process is there any more.

use std::collections::HashMap;
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::mpsc::{Receiver, Sender, channel};

use model::{EntityId, GapReason, Part, sentence};
use rustix::io::Errno;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use sensors::{CONNECTION, TcpReading, parse_tcp};

use super::descriptors::Proc;
use crate::gaps::Gaps;
use kernel::netlink::{DATAGRAM, diag_socket, dump, tcp_request};
use kernel::privileges::{Duty, give_up_all_but, may_enter};

/// A process may enter a namespace after its start, so its namespace is read at each of its first looks, and
/// after that at every tenth.
const FIRST_LOOKS: u8 = 3;
const LATER_LOOKS: u8 = 10;
/// Namespaces at most: each needs a dump of its own.
const MOST: usize = 16;

/// Ask for `tcp_info` (`INET_DIAG_INFO`, as a bit).
const WITH_INFO: u8 = 1 << 1;
/// Every state that a connection has while a process holds it: all but TIME_WAIT, CLOSE, LISTEN and NEW_SYN_RECV, as
/// bits of the kernel's numbers.
const STATES: u32 = 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4 | 1 << 5 | 1 << 8 | 1 << 9 | 1 << 11;

struct Namespace {
    inode: u64,
    /// `None` if the kernel refused: a second attempt would not help.
    socket: Option<OwnedFd>,
    inhabited: bool,
}

/// A process's namespace.
struct Home {
    inode: u64,
    looks: u8,
    tracked: bool,
}

/// The namespaces of tracked processes.
pub(super) struct Namespaces {
    list: Vec<Namespace>,
    homes: HashMap<u32, Home>,
    /// Inode of our own namespace.
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
    /// Opens the namespaces of tracked processes, and closes those that they have left.
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
                // If it cannot be read, the process is assumed to be in our namespace, as most are.
                home.inode = proc.namespace_of(pid).unwrap_or(own);
            }
            let inode = home.inode;
            self.inhabit(proc, pid, inode, own, gaps);
        }
        self.homes.retain(|_, home| home.tracked);
        self.list.retain(|namespace| namespace.inhabited);
    }

    fn inhabit(&mut self, proc: &Proc, pid: u32, inode: u64, own: u64, gaps: &mut Gaps) {
        if let Some(known) = self.list.iter_mut().find(|known| known.inode == inode) {
            known.inhabited = true;
            return;
        }
        if self.list.len() >= MOST {
            let sentence = sentence!("only the first {} network namespaces are looked into", MOST);
            gaps.report(&CONNECTION.name, "", GapReason::Unsupported(sentence));
            return;
        }
        let socket = if inode == own {
            diag_socket()
        } else {
            match proc.open_namespace(pid) {
                // The process has exited meanwhile: another one of the same namespace will lead to it.
                Err(Errno::NOENT | Errno::SRCH | Errno::ACCESS) => return,
                opened => opened.and_then(|namespace| {
                    let worker = self.worker.as_ref().ok_or(Errno::PERM)?;
                    worker.socket_within(namespace)
                }),
            }
        };
        self.list.push(Namespace {
            inode,
            socket: socket.map_err(|errno| report_refusal(errno, gaps)).ok(),
            inhabited: true,
        });
    }

    /// Calls `each` for every TCP socket with the inode of its namespace; returns whether all namespaces
    /// answered.
    pub(super) fn dump(&mut self, gaps: &mut Gaps, mut each: impl FnMut(u64, &TcpReading)) -> bool {
        let mut complete = true;
        self.list.retain_mut(|namespace| {
            let Some(socket) = &namespace.socket else {
                return true;
            };
            let inode = namespace.inode;
            let request = tcp_request(WITH_INFO, STATES);
            let answer = dump(socket, &request, &mut self.buffer, |message| {
                if let Some(reading) = parse_tcp(message) {
                    each(inode, &reading);
                }
            });
            if let Err(errno) = answer {
                complete = false;
                // The rest of this answer would be taken for the next one's, so the socket is closed.
                namespace.socket = None;
                report_refusal(errno, gaps);
                // The socket is created again at the next look if only this answer failed.
                return !matches!(errno, Errno::NOBUFS | Errno::NOMEM | Errno::AGAIN);
            }
            true
        });
        complete
    }
}

/// A thread that enters other namespaces and creates sockets there. No other thread leaves its namespace or
/// keeps the privilege to do so.
struct NetnsWorker {
    to: Sender<OwnedFd>,
    back: Receiver<Result<OwnedFd, Errno>>,
}

impl NetnsWorker {
    /// `None` without the privilege to enter namespaces.
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
                // A thread that stayed there would keep the namespace alive.
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

fn report_refusal(errno: Errno, gaps: &mut Gaps) {
    let reason = match errno {
        Errno::PERM | Errno::ACCESS => GapReason::Denied(
            "connections in another network namespace are not seen: run as root".into(),
        ),
        Errno::NOENT | Errno::OPNOTSUPP | Errno::PROTONOSUPPORT | Errno::AFNOSUPPORT => {
            GapReason::Unsupported(
                "this kernel does not report TCP connections: it needs CONFIG_INET_DIAG, as a module \
                 perhaps (modprobe tcp_diag)"
                    .into(),
            )
        }
        // The process has exited.
        Errno::SRCH => return,
        errno => GapReason::Malformed(sentence!(
            "the kernel's answer about TCP connections: {}",
            Part::error(errno.raw_os_error())
        )),
    };
    gaps.report(&CONNECTION.name, "", reason);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn an_exited_process_does_not_block_its_namespace_for_others() {
        let mut child = std::process::Command::new("true")
            .spawn()
            .expect("true runs");
        let gone = child.id();
        child.wait().expect("our own child");
        let proc = Proc::open(Path::new("/proc")).expect("/proc is readable");
        let (mut namespaces, mut gaps) = (Namespaces::default(), Gaps::default());
        let (own, other) = (1, 2);
        namespaces.inhabit(&proc, gone, other, own, &mut gaps);
        assert!(namespaces.list.is_empty());
        assert_eq!(gaps.take_fresh().count(), 0);
    }
}
