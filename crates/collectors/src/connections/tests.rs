//! Real connections of this process, read from the running kernel.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use model::{EntityEvent, Role, Rows};

use super::*;
use crate::{Command, Sampler, SamplerEvent, Settings};

/// Rows of the table `connection`, and all entities.
#[derive(Default)]
struct Seen {
    rows: Vec<(u32, Vec<i64>)>,
    entities: Vec<EntityEvent>,
}

impl Seen {
    fn take(&mut self, event: SamplerEvent) {
        match event {
            SamplerEvent::Rows(table, rows) if table.name == "connection" => self.add_rows(&rows),
            SamplerEvent::Entities(events) => self.entities.extend(events),
            _ => {}
        }
    }

    fn add_rows(&mut self, rows: &Rows) {
        let new = rows.iter();
        self.rows
            .extend(new.map(|(_, entity, values)| (entity.0, values.to_vec())));
    }

    fn newest(&self, name: &str) -> Option<&EntityEvent> {
        let named = |event: &&EntityEvent| event.record.entity.name == name;
        self.entities.iter().rev().find(named)
    }

    fn last_row(&self, name: &str) -> Vec<i64> {
        let id = self
            .newest(name)
            .expect("the connection is an entity")
            .record
            .id
            .0;
        let rows = self.rows.iter().rev();
        let row = rows.clone().find(|(entity, _)| *entity == id);
        row.expect("it has rows").1.clone()
    }
}

fn sampler() -> (Sampler, std::sync::mpsc::Sender<Command>) {
    let settings = Settings::default();
    let environment = kernel::environment(&settings.root);
    let (sampler, commands, _) = Sampler::new(&settings, &environment).expect("/proc is readable");
    (sampler, commands)
}

fn measure(commands: &std::sync::mpsc::Sender<Command>, pid: u32) {
    let pids = vec![pid];
    let role = Role::Target;
    commands
        .send(Command::Assign { pids, role })
        .expect("the sampler lives");
}

/// Steps until `happened`: with many sockets a look may be put off.
fn until(sampler: &mut Sampler, seen: &mut Seen, happened: &dyn Fn(&Seen) -> bool) {
    for _ in 0..100 {
        for _ in 0..10 {
            sampler.step(&mut |event| seen.take(event));
        }
        if happened(seen) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    panic!("it does not happen");
}

#[test]
fn a_loopback_connection_has_its_round_trip_and_its_bytes() {
    let (mut sampler, commands) = sampler();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let local = listener.local_addr().expect("an address");
    let mut client = TcpStream::connect(local).expect("a connection");
    let (mut server, _) = listener.accept().expect("its other end");
    client.write_all(&[7; 10_000]).expect("room");
    server.read_exact(&mut [0; 10_000]).expect("all of it");
    measure(&commands, std::process::id());
    let mut seen = Seen::default();
    let end = client.local_addr().expect("an address");
    let (out, back) = (format!("{end}-{local}"), format!("{local}-{end}"));
    until(&mut sampler, &mut seen, &|seen| seen.newest(&out).is_some());
    let column = |name: &str| sensors::CONNECTION.position(name).expect("a column");
    let (sent, received) = (seen.last_row(&out), seen.last_row(&back));
    assert!(sent[column("rtt_ns")] > 0, "{sent:?}");
    assert_eq!(sent[column("state")], 1);
    assert!(sent[column("bytes_sent")] >= 10_000, "{sent:?}");
    assert_eq!(received[column("bytes_received")], 10_000);
    let record = &seen.newest(&out).expect("an entity").record;
    let holder = record.parent.expect("its holder is known");
    let holder = seen.entities.iter().find(|event| event.record.id == holder);
    let holder = &holder.expect("the holder is an entity").record.entity.path;
    assert!(
        holder.starts_with(&format!("pid:{}@", std::process::id())),
        "{holder}"
    );

    client.write_all(&[7; 500]).expect("room");
    until(&mut sampler, &mut seen, &|seen| {
        seen.last_row(&out)[column("bytes_sent")] == 10_500
            && seen.last_row(&back)[column("receive_queue_bytes")] == 500
    });

    drop((client, server));
    until(&mut sampler, &mut seen, &|seen| {
        let newest = seen.newest(&out);
        newest.is_some_and(|event| event.record.vanished.is_some())
    });
}

#[test]
fn more_sockets_than_can_be_remembered_are_left_out() {
    let (mut sockets, mut buffer) = (HashMap::new(), TableBuffer::new(&CONNECTION));
    let local = SocketAddr::from(([127, 0, 0, 1], 1));
    let mut reading = TcpReading {
        cookie: 0,
        inode: 0,
        local,
        peer: local,
        values: [0; 18],
    };
    let mut dump = Dump {
        sockets: &mut sockets,
        buffer: &mut buffer,
        now: Timestamp::default(),
        number: 1,
    };
    let mut room = |inode| {
        (reading.cookie, reading.inode) = (inode, inode);
        dump.take(0, &reading)
    };
    let most = MOST_SOCKETS as u64;
    assert!((1..=most).all(&mut room));
    assert!(!room(most + 1));
    assert!(room(most), "it is known");
    assert_eq!(sockets.len(), MOST_SOCKETS);
}

/// A process in its own network namespace, connected to itself there; killed when this is dropped.
struct Elsewhere(std::process::Child);

impl Elsewhere {
    const CONNECT: &str = r#"ip link set lo up && exec perl -MIO::Socket::INET -e '
        $| = 1;
        $listener = IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1:5432") or die;
        $client = IO::Socket::INET->new(PeerAddr => "127.0.0.1:5432") or die;
        $server = $listener->accept;
        print "connected\n";
        sleep 60'"#;

    /// `None` if the kernel or the machine cannot create one.
    fn start() -> Option<Self> {
        let mut command = std::process::Command::new("unshare");
        command.args(["--net", "sh", "-c", Self::CONNECT]);
        command.stdout(std::process::Stdio::piped());
        kernel::signal_at_parents_end(&mut command, rustix::process::Signal::KILL);
        let mut child = command.spawn().ok()?;
        let mut answer = [0; 9];
        let result = child.stdout.as_mut().map(|out| out.read_exact(&mut answer));
        let started = Self(child);
        matches!(result, Some(Ok(()))).then_some(started)
    }
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        // The process may have exited already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn connections_in_another_network_namespace_are_seen() {
    let Some(elsewhere) = Elsewhere::start() else {
        let why = "it needs root, unshare, ip and perl";
        return kernel::requirement::skipped("another network namespace", why);
    };
    let (mut sampler, commands) = sampler();
    let mut seen = Seen::default();
    measure(&commands, elsewhere.0.id());
    let ends = |seen: &Seen| {
        let named = |event: &&EntityEvent| event.record.entity.name.contains("127.0.0.1:5432");
        seen.entities.iter().filter(named).count()
    };
    until(&mut sampler, &mut seen, &|seen| ends(seen) == 2);
    drop(elsewhere);
    let gone = |event: &EntityEvent| event.record.vanished.is_some();
    let all_gone = |seen: &Seen| {
        let paths = seen.entities.iter().filter(|event| gone(event));
        let of_it = paths.filter(|event| event.record.entity.name.contains("127.0.0.1:5432"));
        of_it.count() == 2
    };
    until(&mut sampler, &mut seen, &all_gone);
}

/// Measures the cost of a look: `cargo test --release -p collectors -- --ignored --nocapture a_look`.
#[test]
#[ignore = "prints figures and judges none"]
fn a_look_at_a_hundred_and_a_thousand_connections() {
    const LOOKS: i64 = 200;
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let local = listener.local_addr().expect("an address");
    kernel::raise_descriptor_limit().expect("a test may open some");
    let mut ends = Vec::new();
    for count in [0, 100, 1_000] {
        while ends.len() < count {
            ends.push(TcpStream::connect(local).expect("a connection"));
            ends.push(listener.accept().expect("its other end").0);
        }
        let mut out = Output::default();
        let own = Entity::new(EntityKind::Process, "own", "pid");
        let holder = out.registry.add(own, None, boottime());
        let mut connections = Connections::new(Path::new("/"), &mut out);
        let tracked = [(std::process::id(), holder)];
        let first = thread_cpu_ns();
        connections.look(tracked.into_iter(), &mut out);
        let began = thread_cpu_ns();
        for _ in 0..LOOKS {
            for end in ends.iter_mut().step_by(2) {
                end.write_all(b"x").expect("room");
            }
            connections.next_dump = Timestamp::default();
            connections.look(tracked.into_iter(), &mut out);
        }
        let spent = thread_cpu_ns() - began;
        let writing = thread_cpu_ns();
        for _ in 0..LOOKS {
            for end in ends.iter_mut().step_by(2) {
                end.write_all(b"x").expect("room");
            }
        }
        let each = (spent - (thread_cpu_ns() - writing)) / LOOKS;
        println!(
            "{} connections: first look {} us, later {} us",
            connections.followed,
            (began - first) / 1_000,
            each / 1_000
        );
    }
}
