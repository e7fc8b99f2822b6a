//! What sampling this machine costs: `cargo run --release -p collectors --example sampling -- SECONDS [PID]`
//! samples, with PID as the target, and prints the CPU time and the rows of each table.
#![allow(clippy::print_stdout)]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use collectors::{Command, Sampler, SamplerEvent, Settings};
use kernel::environment;
use model::Role;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let seconds: u64 = arguments.next().map_or(Ok(10), |text| text.parse())?;
    let settings = Settings::default();
    kernel::raise_descriptor_limit()?;
    let seen = Arc::new(Mutex::new((BTreeMap::<String, usize>::new(), 0, 0, 0)));
    let in_sink = Arc::clone(&seen);
    let sampler = Sampler::start(&settings, &environment(&settings.root), move |event| {
        let Ok(mut seen) = in_sink.lock() else { return };
        match event {
            SamplerEvent::Rows(table, rows) => {
                *seen.0.entry(table.name.to_string()).or_default() += rows.len();
            }
            SamplerEvent::Gap(gap) => println!("{} {}: {}", gap.table, gap.what, gap.reason),
            SamplerEvent::Ended(ending) => {
                (seen.1, seen.2) = (ending.cost.cpu_ns, ending.cost.wall_ns);
                seen.3 = ending.cost.fast_period_ns;
            }
            _ => {}
        }
    })?;
    if let Some(pid) = arguments.next() {
        sampler.tell(Command::Assign {
            pids: vec![pid.parse()?],
            role: Role::Target,
        });
    }
    std::thread::sleep(Duration::from_secs(seconds));
    drop(sampler);
    let seen = seen.lock().map_err(|_| "the sampler came to grief")?;
    for (table, rows) in &seen.0 {
        println!("{rows:>8} rows of {table}");
    }
    println!(
        "{:.2} % of a CPU over {} s; target every {} ms",
        seen.1 as f64 / seen.2 as f64 * 100.0,
        seconds,
        seen.3 / 1_000_000
    );
    Ok(())
}
