//! `burn`: threads that compute without end, or in bursts that come regularly.

use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;

use super::cpus::pin;
use super::request;

/// Arguments of `burn`.
#[derive(Args)]
pub struct BurnArguments {
    /// How many threads
    #[arg(long, default_value_t = 2)]
    threads: u32,
    /// Compute this long at a time, ms, and then sleep; without an end when it is 0
    #[arg(long, default_value_t = 0)]
    burst: u64,
    /// Sleep this long between bursts, ms
    #[arg(long, default_value_t = 10)]
    pause: u64,
    /// The one CPU that they may use
    #[arg(long)]
    cpu: Option<usize>,
}

/// Computes until killed.
pub fn burn(arguments: &BurnArguments) -> Result<u8> {
    // Threads inherit it.
    arguments.cpu.map(pin).transpose()?;
    let (burst, pause) = (arguments.burst, arguments.pause);
    let mut threads = Vec::new();
    for _ in 0..arguments.threads {
        let thread = std::thread::Builder::new().name("burn".to_owned());
        let forever = move || loop {
            if burst == 0 {
                request::compute(Duration::from_secs(1));
            } else {
                request::compute(Duration::from_millis(burst));
                std::thread::sleep(Duration::from_millis(pause));
            }
        };
        threads.push(thread.spawn(forever).context("cannot start a thread")?);
    }
    println!("burning");
    for thread in threads {
        let _: std::thread::Result<()> = thread.join();
    }
    Ok(0)
}
