//! What the programs in the kernel cost per event, by the kernel's own statistics and net of a program at
//! the same switches that does nothing; beside them one that does no more than read the clock. A load that
//! switches as often as it can is once the target's and once nobody's.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use host::{Probe, probe_costs};

const LOAD: Duration = Duration::from_secs(10);
/// A saturated pgbench -S on 2 CPUs.
const SWITCHES_PER_S: f64 = 25_000.0;

pub(crate) fn measure() -> Result<()> {
    for (near, whose) in [(true, "the target's"), (false, "the others'")] {
        let probes = probe_costs(near, load).map_err(|why| anyhow!("probes: {why}"))?;
        say(whose, &probes);
    }
    Ok(())
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
    let each = |name: &str| {
        let probe = probes.iter().find(|it| it.name == name && it.runs > 0);
        probe.map_or(0.0, |it| it.ns as f64 / it.runs as f64)
    };
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
