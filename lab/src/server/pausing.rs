//! `serve pausing`: a thread per connection, and a thread that stops them all at the times of a schedule, as a collector
//! of garbage does. It computes meanwhile, and nothing outside of the server starts it.

use std::fs::File;
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;

use super::request;
use super::schedule::{note, sleep_until, wait_for};

/// Arguments of `serve pausing`.
#[derive(Args)]
pub struct PausingArguments {
    /// Where to listen
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: String,
    /// How long a request computes, us
    #[arg(long, default_value_t = 200)]
    compute: u64,
    /// How long the world stops, ms
    #[arg(long, default_value_t = 300)]
    pause: u64,
    /// When it stops: lines of a time (ms since 1970) and a label; may be written later
    #[arg(long)]
    schedule: PathBuf,
    /// Where each pause is noted
    #[arg(long)]
    noted: PathBuf,
}

/// Serves until killed.
pub fn serve(arguments: &PausingArguments) -> Result<u8> {
    let listener = request::listen(&arguments.listen)?;
    request::say(&listener, rustix::thread::gettid().as_raw_nonzero().get())?;
    let world = Arc::new(RwLock::new(()));
    let compute = Duration::from_micros(arguments.compute);
    collect(arguments, Arc::clone(&world))?;
    request::answer_each(&listener, "worker", move |stream, _| {
        answer(stream, &world, compute);
    })
}

fn collect(arguments: &PausingArguments, world: Arc<RwLock<()>>) -> Result<()> {
    let noted = File::create(&arguments.noted)
        .with_context(|| format!("cannot write {}", arguments.noted.display()))?;
    let (schedule, pause) = (arguments.schedule.clone(), arguments.pause);
    let thread = std::thread::Builder::new().name("collector".to_owned());
    let stop = move || -> Result<()> {
        let mut noted = noted;
        for line in wait_for(&schedule)? {
            sleep_until(line.at_ms);
            note(&mut noted, &line.label)?;
            let stopped = world.write().unwrap_or_else(PoisonError::into_inner);
            request::compute(Duration::from_millis(pause));
            drop(stopped);
        }
        Ok(())
    };
    let complain = move || {
        if let Err(error) = stop() {
            eprintln!("collector: {error:#}");
        }
    };
    thread.spawn(complain).context("cannot start a thread")?;
    Ok(())
}

fn answer(mut stream: TcpStream, world: &RwLock<()>, compute: Duration) {
    while request::receive(&mut stream) {
        let running = world.read().unwrap_or_else(PoisonError::into_inner);
        request::compute(compute);
        drop(running);
        if !request::send(&mut stream) {
            return;
        }
    }
}
