//! `burn`: threads that compute without end.

use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;

use super::request;

/// Arguments of `burn`.
#[derive(Args)]
pub struct BurnArguments {
    /// How many threads
    #[arg(long, default_value_t = 2)]
    threads: u32,
}

/// Computes until killed.
pub fn burn(arguments: &BurnArguments) -> Result<u8> {
    let mut threads = Vec::new();
    for _ in 0..arguments.threads {
        let thread = std::thread::Builder::new().name("burn".to_owned());
        let forever = || loop {
            request::compute(Duration::from_secs(1));
        };
        threads.push(thread.spawn(forever).context("cannot start a thread")?);
    }
    println!("burning");
    for thread in threads {
        let _: std::thread::Result<()> = thread.join();
    }
    Ok(0)
}
