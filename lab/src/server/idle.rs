//! `idle`: threads that sleep, and wake a little, as most of a machine's do.

use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;

use super::request;

/// What a thread does when it wakes.
const WORK: Duration = Duration::from_micros(10);
/// How long it sleeps, so that they do not all wake at once.
const SLEEPS_MS: [u64; 5] = [400, 530, 670, 790, 910];
const STACK_BYTES: usize = 32 * 1024;

/// Arguments of `idle`.
#[derive(Args)]
pub struct IdleArguments {
    /// How many threads, the first one with them
    #[arg(long, default_value_t = 4)]
    threads: usize,
}

/// Sleeps until killed.
pub fn idle(arguments: &IdleArguments) -> Result<u8> {
    for number in 1..arguments.threads {
        let thread = std::thread::Builder::new()
            .name("idle".to_owned())
            .stack_size(STACK_BYTES);
        thread
            .spawn(move || forever(number))
            .context("cannot start a thread")?;
    }
    println!("idle");
    forever(0)
}

fn forever(number: usize) -> ! {
    loop {
        std::thread::sleep(Duration::from_millis(SLEEPS_MS[number % SLEEPS_MS.len()]));
        request::compute(WORK);
    }
}
