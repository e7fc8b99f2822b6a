//! Time by statement, of a process that plays a database server: its entry is written into its memory from outside.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;

use sensors::statement::{LAYOUTS, Part};

use super::*;
use crate::remote_memory::StatementPlace;

/// Room at the end of the heap: the pointer to the entry, the entry, and its text.
const ROOM: u64 = 1_024;
const ENTRY: u64 = 16;
const TEXT: u64 = 512;
/// STATE_IDLE of layout 0.
const IDLE: u32 = 1;

/// A process whose first thread has an entry.
pub(super) struct Server {
    process: Started,
    memory: File,
    /// Where the pointer to the entry is.
    place: u64,
    changes: u32,
}

impl Server {
    /// Nothing is under way at first.
    pub(super) fn new(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::null());
        let process = Started::new(&mut command);
        // Until its program has a heap.
        std::thread::sleep(Duration::from_millis(100));
        let folder = format!("/proc/{}", process.0.id());
        let maps = std::fs::read_to_string(format!("{folder}/maps")).expect("it is ours");
        let heap = maps.lines().find(|it| it.ends_with("[heap]"));
        let range = heap.and_then(|it| it.split(' ').next()).expect("a heap");
        let (_, end) = range.split_once('-').expect("a range");
        let place = u64::from_str_radix(end, 16).expect("a number") - ROOM;
        let memory = OpenOptions::new()
            .read(true)
            .write(true)
            .open(format!("{folder}/mem"));
        let mut server = Self {
            process,
            memory: memory.expect("it can be written"),
            place,
            changes: 0,
        };
        server.write(0, &(place + ENTRY).to_ne_bytes());
        server.write(
            ENTRY + u64::from(LAYOUTS[0].text),
            &(place + TEXT).to_ne_bytes(),
        );
        server.fill_in();
        server.set(IDLE, 0);
        server
    }

    /// The entry is the process's own from now on.
    fn fill_in(&self) {
        self.write(ENTRY + 4, &self.pid().to_ne_bytes());
    }

    /// The entry is as a process that ended left it.
    fn leave(&self) {
        self.write(ENTRY + 4, &0_u32.to_ne_bytes());
    }

    pub(super) fn pid(&self) -> u32 {
        self.process.0.id()
    }

    fn write(&self, at: u64, bytes: &[u8]) {
        let written = self.memory.write_all_at(bytes, self.place + at);
        written.expect("its heap is mapped");
    }

    /// A statement is under way from now on.
    pub(super) fn run(&mut self, id: u64) {
        let text = format!("statement number {id}\0");
        self.write(TEXT, text.as_bytes());
        self.set(LAYOUTS[0].running, id);
    }

    fn set(&mut self, state: u32, id: u64) {
        self.changes += 2;
        self.write(ENTRY + 32, &u64::from(self.changes).to_ne_bytes());
        self.write(ENTRY + u64::from(LAYOUTS[0].state), &state.to_ne_bytes());
        self.write(ENTRY + u64::from(LAYOUTS[0].id), &id.to_ne_bytes());
        self.write(ENTRY, &self.changes.to_ne_bytes());
    }

    /// Wakes a process that reads its standard input; it goes to sleep again.
    pub(super) fn wake(&mut self) {
        let input = self.process.0.stdin.as_mut().expect("a pipe");
        input.write_all(b"\n").expect("it reads");
        std::thread::sleep(Duration::from_millis(20));
    }

    pub(super) fn assigned(&self, membership: Membership) -> Assigned {
        Assigned {
            role: Role::Target,
            place: None,
            statement: Some(StatementPlace {
                pointer: self.place,
                layout: 0,
            }),
            wait_event: 0,
            membership,
        }
    }
}

/// Loaded, with a server as target.
fn loaded_with(program: &str) -> Option<(ThreadTime, Server, MutexGuard<'static, ()>)> {
    let (mut thread_time, alone) = loaded()?;
    let server = Server::new(Command::new(program));
    let assigned = server.assigned(Membership::default());
    let assigned = thread_time.assign(server.pid(), assigned);
    assigned.expect("there is room");
    thread_time.publish();
    Some((thread_time, server, alone))
}

/// A reading: the server's account, and the sums of all statements.
struct Looked {
    record: Record,
    sums: Vec<StatementSum>,
}

impl Looked {
    fn at(thread_time: &mut ThreadTime, server: &Server) -> Self {
        let record = read(thread_time, server.pid());
        let mut sums = Vec::new();
        let losses = thread_time.statements(&mut StatementBuffer::default(), &mut sums);
        assert_eq!(losses.expect("they can be read").drops, 0);
        Self { record, sums }
    }

    fn of(&self, id: u64) -> StatementSum {
        let own = self.sums.iter().find(|it| it.id == id);
        *own.unwrap_or_else(|| panic!("{id} is not among {:?}", self.sums))
    }

    /// Time of the account, and of all statements, ns.
    fn totals(&self) -> [u64; 2] {
        let account = &self.record.account;
        let all = account.ns.iter().chain(&account.queued_ns).sum();
        [all, self.sums.iter().flat_map(|it| it.ns).sum()]
    }
}

#[test]
fn what_another_process_left_in_the_entry_is_nobodys() {
    let Some((mut thread_time, mut server, _alone)) = loaded_with("cat") else {
        return;
    };
    server.leave();
    server.run(11);
    server.wake();
    server.wake();
    server.fill_in();
    server.run(22);
    server.wake();
    server.wake();
    let looked = Looked::at(&mut thread_time, &server);
    assert!(
        looked.sums.iter().all(|it| it.id != 11),
        "{:?}",
        looked.sums
    );
    assert_eq!(looked.of(22).calls, 1);
}

#[test]
fn a_sleep_belongs_to_who_went_to_sleep_and_idle_time_to_nobody() {
    let Some((mut thread_time, mut server, _alone)) = loaded_with("cat") else {
        return;
    };
    let pause = || std::thread::sleep(Duration::from_millis(200));
    server.run(11);
    server.wake();
    let first = Looked::at(&mut thread_time, &server);
    pause();
    server.run(0);
    server.wake();
    // While it is parsed it has no id.
    pause();
    server.run(22);
    server.wake();
    pause();
    let second = Looked::at(&mut thread_time, &server);
    let [account, statements] = [0, 1].map(|at| second.totals()[at] - first.totals()[at]);
    println!(
        "{account} ns of the thread, {statements} of its statements: {:?}",
        second.sums
    );
    assert_eq!(account, statements);
    let client = |id| second.of(id).ns[Part::Client as usize];
    assert!(client(11) >= 200_000_000);
    assert!(client(22) >= 400_000_000, "what was held back too");
    assert!(second.sums.iter().all(|it| it.id != 0), "{:?}", second.sums);
    assert_eq!((second.of(11).calls, second.of(22).calls), (1, 1));
    assert_eq!(
        thread_time.take_statement_text(22).as_deref(),
        Some(b"statement number 22".as_slice())
    );
    assert_eq!(
        thread_time.take_statement_text(22),
        None,
        "it is taken once"
    );

    server.set(IDLE, 22);
    server.wake();
    let third = Looked::at(&mut thread_time, &server);
    pause();
    server.wake();
    let fourth = Looked::at(&mut thread_time, &server);
    assert_eq!(third.totals()[1], fourth.totals()[1], "idle");
}

#[test]
fn samples_divide_a_long_time_on_a_cpu() {
    let Some((mut thread_time, mut server, _alone)) = loaded_with("yes") else {
        return;
    };
    if let Some(why) = thread_time.unsampled_statements() {
        skipped("samples of CPUs", why);
        return;
    }
    // So long that what others take of the CPU meanwhile is about the same part of both.
    for _ in 0..5 {
        server.run(11);
        std::thread::sleep(Duration::from_millis(600));
        server.run(22);
        std::thread::sleep(Duration::from_millis(200));
    }
    let found = Looked::at(&mut thread_time, &server);
    let cpu = |id| found.of(id).ns[Part::OnCpu as usize];
    let (long, short) = (cpu(11), cpu(22));
    println!("{long} and {short} ns of {:?}", found.record);
    assert!(short > 0 && long > 2 * short && long < 4 * short);
}
