#![expect(
    clippy::zombie_processes,
    reason = "wait4(2) waits for them, and tells their CPU time"
)]

use std::io::Read as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::*;
use crate::requirement::needed;

/// An event whose texts are its own.
#[derive(Clone, PartialEq, Debug)]
struct Seen {
    kind: Kind,
    pid: u32,
    start_ns: u64,
    at_ns: u64,
    cpu_ns: u64,
    parent: u32,
    status: u32,
    comm: String,
    path: String,
    arguments: String,
    is_cut: bool,
}

impl Seen {
    fn of(event: &Event<'_>) -> Self {
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        Self {
            kind: event.kind,
            pid: event.pid,
            start_ns: event.start_ns,
            at_ns: event.at_ns,
            cpu_ns: event.cpu_ns,
            parent: event.parent,
            status: event.status,
            comm: text(event.comm),
            path: text(event.path),
            arguments: text(event.arguments),
            is_cut: event.is_cut,
        }
    }
}

/// CPU time of a child as wait4(2) reports it, ns, and its status.
fn waited(child: &Child) -> (u64, i32) {
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: both are written by the kernel; the child is this process's own and was not waited for.
    let pid = unsafe { libc::wait4(child.id() as i32, &raw mut status, 0, usage.as_mut_ptr()) };
    assert_eq!(pid, child.id() as i32, "it was there to be waited for");
    // SAFETY: zeroed at first, and filled by the kernel.
    let usage = unsafe { usage.assume_init() };
    let ns = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1_000;
    (ns(usage.ru_utime) + ns(usage.ru_stime), status)
}

/// The events of one process up to when it is let go, which the kernel does a while after it was waited for.
fn events_of(processes: &mut Processes, pid: u32) -> Vec<Seen> {
    let mut all = Vec::new();
    for _ in 0..1_000 {
        let read = processes.read(|event| {
            if event.pid == pid {
                all.push(Seen::of(event));
            }
        });
        read.expect("the ring can be read");
        if all.iter().any(|it| it.kind == Kind::Free) {
            return all;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("{pid} is never let go: {all:?}");
}

fn kinds(all: &[Seen]) -> Vec<Kind> {
    all.iter().map(|it| it.kind).collect()
}

#[test]
fn a_program_is_seen_from_its_start_to_its_end_with_the_cpu_time_that_its_parent_is_told() {
    let Some(mut processes) = needed("programs in the kernel", Processes::load()) else {
        return;
    };
    let mut shell = Command::new("/bin/sh");
    // Threads of its own, which end before it does, are tested with `sort`.
    let script = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; exit 3";
    let child = shell.arg0("busy").args(["-c", script]).spawn();
    let child = child.expect("a shell starts");
    let (cpu_ns, status) = waited(&child);
    let all = events_of(&mut processes, child.id());
    assert_eq!(
        kinds(&all),
        [Kind::Fork, Kind::Exec, Kind::Exit, Kind::Free]
    );
    let [fork, exec, exit, free] = &all[..] else {
        unreachable!("four, as above");
    };
    assert!(
        all.iter()
            .all(|it| it.parent == std::process::id() || it.kind == Kind::Free)
    );
    assert!(all.iter().all(|it| it.start_ns == fork.start_ns));
    assert!(fork.start_ns <= fork.at_ns && fork.at_ns <= exec.at_ns && exec.at_ns <= exit.at_ns);
    assert_eq!(exec.path, "/bin/sh");
    assert_eq!(exec.arguments, format!("busy\0-c\0{script}\0"));
    assert!(!exec.is_cut);
    assert_eq!((exec.comm.as_str(), exit.comm.as_str()), ("sh", "sh"));
    assert_eq!((exit.status as i32, status), (3 << 8, 3 << 8));
    // rusage has whole microseconds, of both parts.
    assert!(
        free.cpu_ns.abs_diff(cpu_ns) < 2_000,
        "{} ns and {cpu_ns} ns",
        free.cpu_ns
    );
    assert!(exit.cpu_ns <= free.cpu_ns);
}

#[test]
fn threads_count_in_their_process_and_a_signal_is_told() {
    let Some(mut processes) = needed("programs in the kernel", Processes::load()) else {
        return;
    };
    let mut threads = Command::new(std::env::current_exe().expect("it runs"));
    threads.args([
        "--exact",
        "bpf::processes::tests::be_busy_in_threads",
        "--ignored",
    ]);
    let child = threads.stdout(Stdio::null()).spawn().expect("it starts");
    let (cpu_ns, status) = waited(&child);
    assert_eq!(status, 0);
    let all = events_of(&mut processes, child.id());
    let exits = kinds(&all).iter().filter(|it| **it == Kind::Exit).count();
    assert_eq!(exits, 1, "of its last thread only");
    let free = all.last().expect("it has been let go");
    assert!(
        free.cpu_ns.abs_diff(cpu_ns) < 2_000,
        "{free:?}, {cpu_ns} ns"
    );

    let mut cat = Command::new("cat")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("cat");
    cat.kill().expect("it is ours");
    let (_, status) = waited(&cat);
    let all = events_of(&mut processes, cat.id());
    let exit = all
        .iter()
        .find(|it| it.kind == Kind::Exit)
        .expect("it ended");
    assert_eq!(
        (
            exit.status as i32,
            std::process::ExitStatus::from_raw(status).signal()
        ),
        (status, Some(9))
    );
    drop(cat.stdin.take());
}

#[test]
fn the_older_way_to_see_the_last_thread_sees_it_too() {
    let loaded = may_report_processes().and_then(|()| quietly(|| Processes::loaded(false)));
    let Some(mut processes) = needed("programs in the kernel", loaded) else {
        return;
    };
    let mut threads = Command::new(std::env::current_exe().expect("it runs"));
    threads.args([
        "--exact",
        "bpf::processes::tests::be_busy_in_threads",
        "--ignored",
    ]);
    let child = threads.stdout(Stdio::null()).spawn().expect("it starts");
    waited(&child);
    let all = events_of(&mut processes, child.id());
    let kinds = kinds(&all);
    assert_eq!(kinds[..2], [Kind::Fork, Kind::Exec]);
    assert!(kinds[2..].starts_with(&[Kind::Exit]), "{kinds:?}");
    assert!(
        processes
            .probes()
            .iter()
            .all(|(name, _)| *name != "on_exit")
    );
}

/// What the test above runs as a process of its own.
#[test]
#[ignore = "a part of another test"]
fn be_busy_in_threads() {
    let threads: Vec<_> = (0..4_u64)
        .map(|seed| {
            std::thread::spawn(move || (0..3_000_000_u64).fold(seed, |a, b| a.rotate_left(7) ^ b))
        })
        .collect();
    let sum = threads.into_iter().map(|it| it.join().expect("it ends"));
    assert_ne!(sum.fold(0, |a, b| a ^ b), 1);
}

#[test]
fn long_arguments_are_cut_and_a_copy_that_starts_nothing_is_seen() {
    let Some(mut processes) = needed("programs in the kernel", Processes::load()) else {
        return;
    };
    let long = "x".repeat(700);
    // The copy in brackets starts nothing; its parent prints its number.
    let script = "(exit 5) & echo $!; wait $!; exit 0";
    let mut child = Command::new("/bin/sh")
        .args(["-c", script, &long])
        .stdout(Stdio::piped())
        .spawn()
        .expect("a shell starts");
    let mut said = String::new();
    let out = child.stdout.as_mut().expect("piped");
    out.read_to_string(&mut said).expect("it prints a number");
    waited(&child);
    let copy: u32 = said.trim().parse().expect("a pid");
    let mut all = Vec::new();
    for _ in 0..1_000 {
        let read = processes.read(|event| all.push(Seen::of(event)));
        read.expect("the ring can be read");
        if all
            .iter()
            .any(|it| it.kind == Kind::Free && it.pid == child.id())
        {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let exec = all
        .iter()
        .find(|it| it.kind == Kind::Exec && it.pid == child.id());
    let exec = exec.expect("it was started");
    assert!(exec.is_cut && exec.arguments.len() == 512, "{exec:?}");
    assert!(exec.arguments.starts_with("/bin/sh\0-c\0(exit 5)"));
    let of_copy: Vec<&Seen> = all.iter().filter(|it| it.pid == copy).collect();
    assert_eq!(
        (of_copy[0].kind, of_copy[0].parent),
        (Kind::Fork, child.id())
    );
    assert_eq!((of_copy[1].kind, of_copy[1].status), (Kind::Exit, 5 << 8));
    assert_eq!(processes.lost(), 0);
}

#[test]
fn records_that_are_none_are_no_events() {
    let whole = {
        let mut bytes = vec![0; size_of::<process_exec>()];
        bytes[0] = 2;
        bytes[offset_of!(process_exec, path_bytes)] = 3;
        bytes[offset_of!(process_exec, arguments_bytes)] = 2;
        bytes[offset_of!(process_exec, text)..][..5].copy_from_slice(b"/shsh");
        bytes
    };
    let event = event_of(&whole).expect("it is whole");
    assert_eq!((event.path, event.arguments), (&b"/sh"[..], &b"sh"[..]));
    for length in 0..whole.len() {
        if let Some(event) = event_of(&whole[..length]) {
            assert!(length >= offset_of!(process_exec, text) + 5, "{event:?}");
        }
    }
    let mut beyond = whole;
    beyond[offset_of!(process_exec, arguments_bytes) + 3] = 0xff;
    assert_eq!(event_of(&beyond), None);
    assert_eq!(event_of(&[9; 64]), None);
}
