//! `ring`: event loops on io_uring that wait for a connection which never comes.
//!
//! The kernel counts such a wait as one for I/O (`io_cqring_schedule` sets `in_iowait` while requests
//! are pending): an idle loop shows as io pressure of nearly 100 %, and costs nobody anything.

use anyhow::{Context, Result};
use clap::Args;
use monoio::net::TcpListener;

/// Arguments of `ring`.
#[derive(Args)]
pub struct RingArguments {
    /// How many loops
    #[arg(long, default_value_t = 2)]
    threads: u32,
}

/// Waits until killed.
pub fn wait(arguments: &RingArguments) -> Result<u8> {
    let mut threads = Vec::new();
    for _ in 0..arguments.threads {
        let thread = std::thread::Builder::new().name("ring".to_owned());
        threads.push(thread.spawn(listen).context("cannot start a thread")?);
    }
    println!("waiting");
    for thread in threads {
        match thread.join() {
            Ok(ended) => ended?,
            Err(_) => anyhow::bail!("a loop ended"),
        }
    }
    Ok(0)
}

fn listen() -> Result<()> {
    let mut runtime = monoio::RuntimeBuilder::<monoio::IoUringDriver>::new()
        .build()
        .context(
            "cannot make an io_uring: the kernel forbids it (kernel.io_uring_disabled) or has none",
        )?;
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").context("cannot listen")?;
        let _ = listener.accept().await;
        Ok(())
    })
}
