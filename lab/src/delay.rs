//! A slow network where the kernel has no netem: a client in a network namespace of its own, whose packets to this
//! machine and back lie in a queue for a while.
//!
//! Two TUN devices, one here and one in the namespace, are read and written by four threads: whatever
//! one device sends comes out of the other one after the delay. Server programs stay where they are
//! and are reached at `server_address()`; the client is started with `client_command_prefix()`.
//! Everything goes when the value is dropped; of a run that was killed only the name of its namespace
//! is left, since its devices live no longer than the process that holds them open.

use std::ffi::OsString;
use std::io;
use std::net::Ipv4Addr;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use tun_rs::{DeviceBuilder, SyncDevice};

use crate::leftovers;

/// Where `ip netns` keeps the names of namespaces.
pub const NAMESPACES: &str = "/run/netns";
/// All addresses are in here: reserved for benchmarks (RFC 2544), so no network is hidden by them. A
/// server must let it in (`host all all 198.18.0.0/15 trust`).
pub const NETWORK: &str = "198.18.0.0/15";
/// Each run has four addresses of its own, by its pid.
const FIRST: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 0);
const SLOTS: u32 = 1 << 15;
/// More packets than these in one direction are dropped, as a router does.
const QUEUE: usize = 10_000;
/// A TUN packet is no longer than this, whatever the MTU.
const LONGEST: usize = 65_536;

/// A client's namespace at the end of a slow network.
pub struct Delay {
    names: Names,
    relays: Vec<JoinHandle<()>>,
    devices: Vec<Arc<SyncDevice>>,
}

/// What a delay is made of, by name.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Names {
    namespace: String,
    here: String,
    there: String,
    server: Ipv4Addr,
    client: Ipv4Addr,
}

impl Delay {
    /// Makes the namespace and its slow way here and back. A round trip takes twice `each_way`.
    pub fn start(each_way: Duration) -> Result<Self> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let names = Names::of(std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        ip(&["netns", "add", &names.namespace])?;
        // From here on `drop` cleans up.
        let mut delay = Self {
            names,
            relays: Vec::new(),
            devices: Vec::new(),
        };
        delay.connect(each_way)?;
        Ok(delay)
    }

    /// Where the client finds servers of this machine that listen on all addresses or on this one.
    pub fn server_address(&self) -> Ipv4Addr {
        self.names.server
    }

    /// What to put before a command to run it at the far end.
    pub fn client_command_prefix(&self) -> Vec<OsString> {
        ["ip", "netns", "exec", &self.names.namespace]
            .map(OsString::from)
            .to_vec()
    }

    fn connect(&mut self, each_way: Duration) -> Result<()> {
        let Names {
            namespace,
            here,
            there,
            server,
            client,
        } = self.names.clone();
        let (server, client) = (server.to_string(), client.to_string());
        let near = self.device(&here)?;
        let far = self.device(&there)?;
        ip(&["link", "set", &there, "netns", &namespace])?;
        ip(&["addr", "add", &server, "peer", &client, "dev", &here])?;
        ip(&["link", "set", &here, "up"])?;
        let within = ["-n", &namespace];
        let far_end = ["addr", "add", &client, "peer", &server, "dev", &there];
        ip(&[&within[..], &far_end].concat())?;
        ip(&[&within[..], &["link", "set", "lo", "up"]].concat())?;
        ip(&[&within[..], &["link", "set", &there, "up"]].concat())?;
        for (from, to) in [(&near, &far), (&far, &near)] {
            let (queue, queued) = sync_channel(QUEUE);
            let (from, to) = (Arc::clone(from), Arc::clone(to));
            self.relay("take packets", move || take(&from, &queue, each_way))?;
            self.relay("give packets", move || give(&to, &queued))?;
        }
        Ok(())
    }

    fn device(&mut self, name: &str) -> Result<Arc<SyncDevice>> {
        let device = DeviceBuilder::new().name(name).enable(false).build_sync();
        let device = Arc::new(device.with_context(|| {
            format!("cannot make the TUN device {name}: it needs root and /dev/net/tun")
        })?);
        self.devices.push(Arc::clone(&device));
        Ok(device)
    }

    fn relay(&mut self, name: &str, work: impl FnOnce() + Send + 'static) -> Result<()> {
        let thread = std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(work);
        self.relays.push(thread.context("cannot start a thread")?);
        Ok(())
    }
}

impl Drop for Delay {
    fn drop(&mut self) {
        let Names {
            namespace,
            here,
            there,
            ..
        } = &self.names;
        // A device that is removed wakes its reader with an error; so the relays end.
        let far = ip(&["-n", namespace, "link", "del", there]);
        let near = ip(&["link", "del", here]);
        if far.is_ok() && near.is_ok() {
            for relay in self.relays.drain(..) {
                // A relay holds nothing that its panic could spoil.
                let _ = relay.join();
            }
        }
        self.devices.clear();
        if let Err(error) = remove_namespace(namespace) {
            eprintln!("stallscope-lab: {error:#}");
        }
    }
}

impl Names {
    fn of(pid: u32, number: u32) -> Self {
        let slot = pid.wrapping_mul(4).wrapping_add(number) % SLOTS;
        let first = u32::from(FIRST) + 4 * slot;
        Self {
            namespace: format!("{}-{number}", leftovers::name_of(pid)),
            // Fifteen letters are the most that an interface's name has.
            here: format!("slab{pid}s{number}"),
            there: format!("slab{pid}c{number}"),
            server: Ipv4Addr::from(first + 1),
            client: Ipv4Addr::from(first + 2),
        }
    }
}

/// Removes a namespace; a device that is still in it goes with it.
pub fn remove_namespace(name: &str) -> Result<()> {
    ip(&["netns", "del", name])
}

/// A packet, and when it is due at the other end.
type Underway = (Instant, Vec<u8>);

/// Until the device is removed.
fn take(device: &SyncDevice, queue: &SyncSender<Underway>, delay: Duration) {
    let mut buffer = vec![0; LONGEST];
    loop {
        match device.recv(&mut buffer) {
            Ok(length) => {
                let packet = buffer[..length].to_vec();
                // Full: the packet is lost, as on any network.
                let _ = queue.try_send((Instant::now() + delay, packet));
            }
            Err(error) if is_passing(&error) => {}
            Err(_) => return,
        }
    }
}

/// Until the reader of the other device has ended.
fn give(device: &SyncDevice, queued: &Receiver<Underway>) {
    while let Ok((due, packet)) = queued.recv() {
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        // Refused while the device is down, and after it was removed.
        let _ = device.send(&packet);
    }
}

/// A device that is not up yet, or not any more for a moment, refuses to be read.
fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock
    )
}

fn ip(arguments: &[&str]) -> Result<()> {
    let output = Command::new("ip").args(arguments).output();
    let output = output.context("cannot run ip: apt-get install iproute2")?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    bail!("`ip {}` refused: {}", arguments.join(" "), said.trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::requirement;
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::path::Path;
    use std::process::Stdio;

    #[test]
    fn names_fit_and_addresses_are_of_the_network() {
        for (pid, number) in [(1, 0), (4_194_304, 9), (u32::MAX / 2, 3)] {
            let names = Names::of(pid, number);
            let (network, length) = NETWORK.split_once('/').expect("a prefix length");
            let length: u32 = length.parse().expect("a number");
            let first: Ipv4Addr = network.parse().expect("an address");
            let differing = u32::from(first) ^ u32::from(names.server);
            assert_eq!(differing >> (32 - length), 0, "{}", names.server);
            assert_ne!(names.server, names.client);
        }
        let names = Names::of(4_194_304, 9);
        assert!(names.here.len() <= 15 && names.there.len() <= 15);
    }

    /// How long a byte takes to a server here and back to a client there.
    fn round_trips(delay: &Delay, count: usize) -> Vec<Duration> {
        let listener = TcpListener::bind((delay.server_address(), 0)).expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let mut words = delay.client_command_prefix();
        // cat sends back what it receives: bash's own sockets spare a dependency.
        let script = format!(
            "exec 3<>/dev/tcp/{}/{port}; cat <&3 >&3",
            delay.server_address()
        );
        words.extend(["bash", "-c", &script].map(OsString::from));
        let mut client = Command::new(&words[0]);
        client.args(&words[1..]).stdin(Stdio::null());
        let mut client = client.spawn().expect("the client starts");
        let (mut server, _) = listener.accept().expect("it connects");
        let trips = (0..count).map(|_| {
            let began = Instant::now();
            server.write_all(b"x").expect("sent");
            server.read_exact(&mut [0]).expect("sent back");
            began.elapsed()
        });
        let trips = trips.collect();
        drop(server);
        client.wait().expect("our own child");
        trips
    }

    #[test]
    fn a_round_trip_takes_twice_the_delay_and_nothing_is_left() {
        let delay = match Delay::start(Duration::from_millis(20)) {
            Ok(delay) => delay,
            Err(error) => return requirement::skip("a slow network", &format!("{error:#}")),
        };
        let trips = round_trips(&delay, 5);
        let least = trips.iter().min().expect("five of them");
        // A machine that is busy may be late, but never early.
        assert!(*least >= Duration::from_millis(40), "{trips:?}");
        assert!(*least < Duration::from_millis(80), "{trips:?}");
        let names = delay.names.clone();
        drop(delay);
        assert!(!Path::new(NAMESPACES).join(&names.namespace).exists());
        assert!(!Path::new("/sys/class/net").join(&names.here).exists());
    }
}
