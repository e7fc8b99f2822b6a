//! `relay`: two TUN devices, and every packet that leaves one arrives at the other some time later, unless it is lost on
//! the way.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::Args;
use tun_rs::{DeviceBuilder, SyncDevice};

/// A packet of a TUN device is at most this long: MTU 1500, with room.
const LONGEST: usize = 4096;

/// Arguments of `relay`.
#[derive(Args)]
pub struct RelayArguments {
    /// Name of the device on the client's side
    #[arg(long)]
    near: String,
    /// Name of the device on the server's side
    #[arg(long)]
    far: String,
    /// Delay in each direction, ms
    #[arg(long)]
    delay: u64,
    /// One packet of so many is lost in each direction, at random; none for 0
    #[arg(long, default_value_t = 0)]
    lose: u64,
}

/// Which packets are lost: random enough, and the same in each run.
struct Losses {
    one_of: u64,
    state: u64,
}

impl Losses {
    fn next(&mut self) -> bool {
        // Knuth's constants.
        self.state = self
            .state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        self.one_of > 0 && (self.state >> 33).is_multiple_of(self.one_of)
    }
}

/// Relays until killed.
pub fn relay(arguments: &RelayArguments) -> Result<u8> {
    let device = |name: &str| {
        DeviceBuilder::new()
            .name(name)
            .enable(false)
            .build_sync()
            .map(Arc::new)
            .with_context(|| format!("cannot make the network device {name} (needs root)"))
    };
    let (near, far) = (device(&arguments.near)?, device(&arguments.far)?);
    let delay = Duration::from_millis(arguments.delay);
    let mut threads = Vec::new();
    for (number, (from, to)) in [(&near, &far), (&far, &near)].into_iter().enumerate() {
        let (give, take) = channel();
        let losses = Losses {
            one_of: arguments.lose,
            state: number as u64,
        };
        let (from, to) = (Arc::clone(from), Arc::clone(to));
        threads.push(start(move || receive(&from, delay, losses, &give))?);
        threads.push(start(move || pass_on(&to, &take))?);
    }
    println!("relaying");
    for thread in threads {
        let _ = thread.join();
    }
    Ok(0)
}

fn start(work: impl FnOnce() + Send + 'static) -> Result<std::thread::JoinHandle<()>> {
    let thread = std::thread::Builder::new().name("relay".to_owned());
    thread.spawn(work).context("cannot start a thread")
}

fn receive(
    from: &SyncDevice,
    delay: Duration,
    mut losses: Losses,
    give: &Sender<(Instant, Vec<u8>)>,
) {
    let mut buffer = [0; LONGEST];
    loop {
        match from.recv(&mut buffer) {
            Ok(_) if losses.next() => {}
            Ok(length) => {
                let packet = (Instant::now() + delay, buffer[..length].to_vec());
                if give.send(packet).is_err() {
                    return;
                }
            }
            // A device that is not up yet has nothing to say.
            Err(_) => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}

fn pass_on(to: &SyncDevice, take: &Receiver<(Instant, Vec<u8>)>) {
    // Packets come in order and have the same delay: the first is always the next that is due.
    for (due, packet) in take {
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        // Lost when the other side is not up: as on any network.
        let _ = to.send(&packet);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn about_one_of_so_many_is_lost() {
        let lost = |one_of| {
            let mut losses = Losses { one_of, state: 1 };
            (0..10_000).filter(|_| losses.next()).count()
        };
        assert_eq!(lost(0), 0);
        assert!((150..250).contains(&lost(50)));
    }
}
