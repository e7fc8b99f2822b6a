//! Real sockets of this process and of children, through the running kernel.

use std::collections::HashSet;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::super::inet::{Namespace, TcpState};
use super::super::{
    Connection, Connections, Endpoint, Error, Served, Servers, TargetSpec, Transport, clients_of,
    connections_of, guess_by_owner, resolve, servers_of, start_ticks,
};

const PROC: &str = "/proc";
/// The kernel's number of the state.
const TIME_WAIT: u8 = 6;

/// A child has copies of all descriptors from fork to exec: a scan must not see another test's.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A child that holds a socket and does nothing; killed when this is dropped.
struct Holder(Child);

impl Holder {
    fn of(socket: impl Into<OwnedFd>) -> Self {
        Self(Self::command(socket).spawn().unwrap())
    }

    fn command(socket: impl Into<OwnedFd>) -> Command {
        let mut command = Command::new("sleep");
        command.arg("60").stdin(Stdio::from(socket.into()));
        kernel::signal_at_parents_end(&mut command, rustix::process::Signal::KILL);
        command
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        // The child may have exited already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// This process's connections to one endpoint: other tests run beside this one.
fn made_to(wanted: &Endpoint) -> Connections {
    let mut made = connections_of(Path::new(PROC), &[std::process::id()]);
    made.list
        .retain(|connection: &Connection| connection.peer == *wanted);
    made
}

fn served_by(made: &Connections) -> Vec<(u32, usize)> {
    let found = servers_of(Path::new(PROC), made, &HashSet::new());
    found
        .served
        .iter()
        .map(|served| (served.pid, served.connections))
        .collect()
}

#[test]
fn who_made_an_accepted_connection_is_a_client() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let (tcp, address) = listen("127.0.0.1:0");
    let unix = UnixListener::bind(&path).unwrap();
    // The client's ends are in a child each, ours are those that were accepted.
    let by_tcp = Holder::of(TcpStream::connect(address).unwrap());
    let by_unix = Holder::of(UnixStream::connect(&path).unwrap());
    let _accepted = (tcp.accept().unwrap(), unix.accept().unwrap());
    let own = std::process::id();
    let found = clients_of(Path::new(PROC), &[own], &HashSet::from([own]));
    let of = |holder: &Holder| {
        let client = found.iter().find(|it| it.pid == holder.0.id());
        client.map(|it| (it.endpoint.to_string(), it.connections))
    };
    assert_eq!(of(&by_tcp), Some((format!("port {}", address.port()), 1)));
    // A socket that is a standard stream is none that was connected for requests, at the end that is asked about.
    let named = format!("unix socket {}", path.display());
    assert_eq!(of(&by_unix), Some((named, 1)));
}

fn listen(address: &str) -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind(address).unwrap();
    let local = listener.local_addr().unwrap();
    (listener, local)
}

#[test]
fn tcp_is_followed_to_the_process_that_accepted() {
    let _alone = alone();
    for address in ["127.0.0.1:0", "[::1]:0"] {
        let (listener, local) = listen(address);
        let _client = TcpStream::connect(local).unwrap();
        let peer = Endpoint::Inet(local);
        let waiting = servers_of(Path::new(PROC), &made_to(&peer), &HashSet::new());
        let own = std::process::id();
        let listens = |served: &Served| (served.pid, served.endpoint.clone());
        let listening: Vec<_> = waiting.listening.iter().map(listens).collect();
        assert_eq!(listening, [(own, peer.service())], "{address}");
        assert_eq!(
            waiting,
            Servers {
                pending: vec![peer.clone()],
                listening: waiting.listening.clone(),
                ..Servers::default()
            }
        );
        let excluded = servers_of(Path::new(PROC), &made_to(&peer), &HashSet::from([own]));
        assert_eq!(excluded.listening, [], "{address}");
        let (accepted, _) = listener.accept().unwrap();
        let child = Holder::of(accepted);
        let made = made_to(&peer);
        assert_eq!(
            (made.list.len(), made.list[0].transport),
            (1, Transport::Tcp)
        );
        assert_eq!(served_by(&made), [(child.0.id(), 1)], "{address}");
        let nobody = servers_of(Path::new(PROC), &made, &HashSet::from([child.0.id()]));
        assert_eq!(nobody, Servers::default(), "excluded");
    }
}

#[test]
fn sock_diag_and_proc_net_agree_except_for_time_wait() {
    let _alone = alone();
    for address in ["127.0.0.1:0", "[::1]:0", "[::]:0"] {
        let (listener, local) = listen(address);
        let (_client, accepted) = pair(&listener, local);
        let remnant = pair(&listener, local);
        // The end that closes first keeps the remnant.
        drop(remnant.1);
        drop(remnant.0);
        let of_port = |namespace: Namespace| {
            let sockets = namespace.sockets.into_iter();
            let tracked =
                sockets.filter(|it| [it.local.port(), it.peer.port()].contains(&local.port()));
            let mut reported: Vec<_> = tracked
                .map(|it| (it.local, it.peer, it.inode, it.state))
                .collect();
            reported.sort_by_key(|it| (it.0, it.1));
            reported
        };
        let net = Path::new(PROC).join("net");
        let mut printed = of_port(Namespace::read(net.clone()));
        assert_eq!(printed.len(), 4, "{printed:?}");
        printed.retain(|it| it.3 != TcpState::Other(TIME_WAIT));
        let Some(from_diag) = Namespace::ask(net) else {
            println!("skipped: this kernel has no sock_diag for TCP");
            return;
        };
        assert_eq!(of_port(from_diag), printed, "{address}");
        drop(accepted);
    }
}

/// Both ends of a connection: the client's and the accepted one.
fn pair(listener: &TcpListener, local: SocketAddr) -> (TcpStream, TcpStream) {
    let client = TcpStream::connect(local).unwrap();
    (client, listener.accept().unwrap().0)
}

#[test]
fn ipv4_within_ipv6_is_ipv4() {
    let _alone = alone();
    let (listener, local) = listen("[::]:0");
    let v4 = SocketAddr::from(([127, 0, 0, 1], local.port()));
    let _clients = [
        TcpStream::connect(v4).unwrap(),
        TcpStream::connect(v4).unwrap(),
    ];
    let _accepted = [listener.accept().unwrap(), listener.accept().unwrap()];
    assert_eq!(
        served_by(&made_to(&Endpoint::Inet(v4))),
        [(std::process::id(), 2)]
    );
}

#[test]
fn unix_is_followed_to_the_process_that_accepted() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let listener = UnixListener::bind(&path).unwrap();
    let _client = UnixStream::connect(&path).unwrap();
    let peer = Endpoint::Unix(path.display().to_string());
    let waiting = servers_of(Path::new(PROC), &made_to(&peer), &HashSet::new());
    assert_eq!(
        waiting,
        Servers {
            pending: vec![peer.clone()],
            ..Servers::default()
        }
    );
    let child = Holder::of(listener.accept().unwrap().0);
    let made = made_to(&peer);
    assert_eq!(
        (made.list.len(), made.list[0].transport),
        (1, Transport::Unix)
    );
    assert_eq!(served_by(&made), [(child.0.id(), 1)]);
}

#[test]
fn a_port_means_the_topmost_process_that_listens() {
    let _alone = alone();
    let (listener, local) = listen("127.0.0.1:0");
    let spec = TargetSpec::Port(local.port());
    let find = |exclude: &[u32]| {
        let exclude = exclude.iter().copied().collect();
        resolve(Path::new(PROC), &[], &spec, &exclude)
    };
    let this = std::process::id();
    let own = Err(Error::Measuring {
        spec: spec.to_string(),
    });
    assert_eq!(find(&[this]), own, "never this process");
    let child = Holder::of(listener);
    assert_eq!(find(&[this]), Ok(vec![child.0.id()]));
    assert_eq!(find(&[this, child.0.id()]), own);
}

#[test]
fn the_dead_are_not_alive() {
    let _alone = alone();
    let mut child = Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    let error = resolve(
        Path::new(PROC),
        &[],
        &TargetSpec::Pid(child.id()),
        &HashSet::new(),
    );
    assert_eq!(error, Err(Error::NotAlive { pid: child.id() }));
}

/// A user id that is hopefully unused on the machine.
const STRANGER: u32 = 54_321;

#[test]
fn the_owner_of_a_running_server_is_guessed() {
    let _alone = alone();
    if !rustix::process::geteuid().is_root() {
        let why = "only root may start a process as another user";
        return kernel::requirement::skipped("a server's owner", why);
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let listener = UnixListener::bind(&path).unwrap();
    let child = Holder(
        Holder::command(listener)
            .uid(STRANGER)
            .gid(STRANGER)
            .spawn()
            .unwrap(),
    );
    let hidden = super::super::Hidden {
        endpoint: "port 1".into(),
        uid: Some(STRANGER),
        connections: 1,
    };
    let started = start_ticks(Path::new(PROC), std::process::id()).unwrap();
    let guess = guess_by_owner(Path::new(PROC), &hidden, started, &HashSet::new()).unwrap();
    assert_eq!(
        (guess.roots, guess.serving),
        (vec![child.0.id()], vec![child.0.id()])
    );
}
