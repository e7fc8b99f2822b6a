//! What the programs in the kernel cost per event, by the kernel's own statistics and net of a program at
//! the same switches that does nothing; beside them one that does no more than read the clock. A load that
//! switches as often as it can is once the target's and once nobody's.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use kernel::bpf::thread_time::Question;
use kernel::{Probe, block_costs, flow_costs, probe_costs, process_costs, request_costs};
use model::Role;
use rustix::fs::OFlags;

const LOAD: Duration = Duration::from_secs(10);
/// A saturated pgbench -S on 2 CPUs.
const SWITCHES_PER_S: f64 = 25_000.0;

pub(crate) fn measure() -> Result<()> {
    for (role, asked, whose) in [
        (Role::Target, &Question::ALL[..], "the target's"),
        (Role::Target, &[], "the target's, thread time alone"),
        (Role::Background, &Question::ALL, "the others'"),
    ] {
        let probes = probe_costs(role, asked, load).map_err(|why| anyhow!("probes: {why}"))?;
        say(whose, &probes);
    }
    let whose = [
        (Some(Role::Target), 1.0, "the server's, each timed"),
        (Some(Role::Target), 0.0, "the server's, none timed"),
        (Some(Role::Generator), 1.0, "the generator's, each timed"),
        (Some(Role::Generator), 0.0, "the generator's, none timed"),
        (None, 1.0, "the others'"),
    ];
    for (part, timed, whose) in whose {
        let probes = request_costs(part, timed, requests);
        say_requests(whose, &probes.map_err(|why| anyhow!("probes: {why}"))?);
    }
    let probes = block_costs(block_requests).map_err(|why| anyhow!("probes: {why}"))?;
    say_block(&probes);
    let probes = flow_costs(requests).map_err(|why| anyhow!("probes: {why}"))?;
    say_flow(&probes);
    let probes = process_costs(programs).map_err(|why| anyhow!("probes: {why}"))?;
    say_programs(&probes);
    Ok(())
}

/// A program that does nothing, started again as soon as it has ended.
fn programs() {
    let end = Instant::now() + LOAD;
    while Instant::now() < end {
        if Command::new("true").status().is_err() {
            return;
        }
    }
}

fn say_programs(probes: &[Probe]) {
    let started = probes.iter().find(|it| it.name == "sched_process_exec");
    let started = started.map_or(0, |it| it.runs).max(1);
    let ns: u64 = probes.iter().map(|it| it.ns).sum();
    for probe in probes.iter().filter(|it| it.runs > 0) {
        println!(
            "probes: processes: {}: {:.0} ns each of {} runs",
            probe.name,
            each(probes, probe.name),
            probe.runs
        );
    }
    println!(
        "probes: processes: {:.0} ns a program, statistics included",
        ns as f64 / started as f64
    );
}

/// A thread that reads a file of 1 MiB past the page cache, 4 KiB at a time, as often as it can.
fn block_requests() {
    const BLOCK: usize = 4_096;
    const BLOCKS: u64 = 256;
    let end = Instant::now() + LOAD;
    let Ok(folder) = tempfile::tempdir_in(".") else {
        return;
    };
    let path = folder.path().join("read");
    let written = File::create(&path).and_then(|mut it| {
        it.write_all(&vec![7; BLOCK * BLOCKS as usize])?;
        it.sync_all()
    });
    let mut direct = OpenOptions::new();
    let direct = direct
        .read(true)
        .custom_flags(OFlags::DIRECT.bits().cast_signed())
        .open(&path);
    let (Ok(()), Ok(file)) = (written, direct) else {
        return;
    };
    let mut room = vec![0; 2 * BLOCK];
    let first = room.as_ptr().align_offset(BLOCK);
    let blocks = (0..BLOCKS).cycle();
    for at in blocks.take_while(|_| Instant::now() < end) {
        let read = file.read_exact_at(&mut room[first..first + BLOCK], at * BLOCK as u64);
        if read.is_err() {
            return;
        }
    }
}

fn say_block(probes: &[Probe]) {
    let completed = probes.iter().find(|it| it.name == "block_rq_complete");
    let requests = completed.map_or(0, |it| it.runs).max(1);
    let ns: u64 = probes.iter().map(|it| it.ns).sum();
    for probe in probes.iter().filter(|it| it.runs > 0) {
        println!(
            "probes: block requests: {}: {:.0} ns each of {} runs",
            probe.name,
            each(probes, probe.name),
            probe.runs
        );
    }
    println!(
        "probes: block requests: {:.0} ns a request, statistics included",
        ns as f64 / requests as f64
    );
}

/// What TCP costs at the hooks of who talks to whom, where nothing is to be counted call by call.
fn say_flow(probes: &[Probe]) {
    for probe in probes.iter().filter(|it| it.runs > 0) {
        println!(
            "probes: flows, of TCP: {}: {:.0} ns each of {} runs",
            probe.name,
            each(probes, probe.name),
            probe.runs
        );
    }
}

/// A server that answers a client's requests over TCP, one after the other, as often as it can; it looks
/// for more after each reply as event loops do.
fn requests() {
    let end = Instant::now() + LOAD;
    let Ok(listener) = TcpListener::bind("127.0.0.1:0") else {
        return;
    };
    let Ok(address) = listener.local_addr() else {
        return;
    };
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let Ok((mut served, _)) = listener.accept() else {
                return;
            };
            let mut bytes = [0; 64];
            let mut wait = true;
            while served.set_nonblocking(!wait).is_ok() {
                match served.read(&mut bytes) {
                    Ok(1..) if served.write_all(&bytes).is_ok() => wait = false,
                    Err(error) if error.kind() == ErrorKind::WouldBlock => wait = true,
                    _ => return,
                }
            }
        });
        scope.spawn(move || {
            let Ok(mut client) = TcpStream::connect(address) else {
                return;
            };
            let mut bytes = [0; 64];
            while Instant::now() < end
                && client.write_all(&bytes).is_ok()
                && client.read_exact(&mut bytes).is_ok()
            {}
        });
    });
}

fn say_requests(whose: &str, probes: &[Probe]) {
    let nothing = each(probes, "nothing");
    for probe in probes.iter().filter(|it| it.runs > 1_000) {
        println!(
            "probes: requests: {whose}: {}: {:.0} ns each of {} runs, {:.0} net of nothing",
            probe.name,
            each(probes, probe.name),
            probe.runs,
            each(probes, probe.name) - nothing
        );
    }
    let sends = probes.iter().find(|it| it.name == "sock_send_length");
    let all = probes
        .iter()
        .filter(|it| it.name.starts_with("so") || it.name.starts_with("sk_"));
    let net: f64 = all.map(|it| it.ns as f64 - nothing * it.runs as f64).sum();
    if let Some(sends) = sends {
        println!(
            "probes: requests: {whose}: {:.0} ns a request with both its ends, net of nothing",
            net / (sends.runs as f64 / 2.0)
        );
    }
}

fn each(probes: &[Probe], name: &str) -> f64 {
    let probe = probes.iter().find(|it| it.name == name && it.runs > 0);
    probe.map_or(0.0, |it| it.ns as f64 / it.runs as f64)
}

/// Two pairs of threads, each waking the other.
fn load() {
    let end = Instant::now() + LOAD;
    std::thread::scope(|scope| {
        for _ in 0..2 {
            let Ok((mut here, mut there)) = UnixStream::pair() else {
                return;
            };
            scope.spawn(move || {
                let mut byte = [0];
                while there.read_exact(&mut byte).is_ok() && there.write_all(&byte).is_ok() {}
            });
            scope.spawn(move || {
                let mut byte = [0];
                while Instant::now() < end
                    && here.write_all(&byte).is_ok()
                    && here.read_exact(&mut byte).is_ok()
                {}
            });
        }
    });
}

fn say(whose: &str, probes: &[Probe]) {
    let each = |name| each(probes, name);
    let nothing = each("nothing");
    for probe in probes.iter().filter(|it| it.runs > 0) {
        let ns = each(probe.name);
        println!(
            "probes: {whose}: {}: {ns:.0} ns each of {} runs, {:.0} net of nothing",
            probe.name,
            probe.runs,
            ns - nothing
        );
    }
    let both = each("sched_switch") + each("sched_wakeup") - 2.0 * nothing;
    let cpus = std::thread::available_parallelism().map_or(1, usize::from) as f64;
    println!(
        "probes: {whose}: at {SWITCHES_PER_S} switches and as many wake-ups a second {:.2} % of {cpus} CPUs, net of nothing",
        both * SWITCHES_PER_S / 1e9 / cpus * 100.0
    );
}
