//! A recording of what runs already, from its targets to its end.

use std::time::{Duration, Instant};

use collectors::Command;
use kernel::Duty;

use super::event::Event;
use super::observer::Progress;
use super::plan::PlannedTarget;
use super::session::Session;

const POLL: Duration = Duration::from_millis(100);
/// A sampler that has not ended by then never will; what is on disk is then all there is.
const PATIENCE: Duration = Duration::from_secs(10);

/// Records until the time is over or an interrupt comes.
pub(super) fn watch(session: &mut Session, targets: &[PlannedTarget], length: Option<Duration>) {
    kernel::give_up_all_but(Duty::Recording);
    session.introduce(targets);
    session.save_meta();
    let started = Instant::now();
    let mut stopping = None;
    while !session.ended {
        let is_asked = match session.receive(session.patience(POLL)) {
            Ok(Event::Interrupt(_)) => true,
            Ok(Event::Sampler(event)) => {
                session.sampled(event);
                false
            }
            Ok(Event::Application(number, message)) => {
                session.application(number, message);
                false
            }
            Ok(_) | Err(_) => false,
        };
        session.flush();
        let is_over = length.is_some_and(|length| started.elapsed() >= length);
        match stopping {
            None if is_asked || is_over => {
                stopping = Some(Instant::now());
                session.sampler.tell(Command::Stop);
            }
            None => session
                .observer
                .progress(Progress::Elapsed(started.elapsed())),
            // The sampler answers within a tick: an impatient second Ctrl-C must not cut the end off.
            Some(since) if since.elapsed() >= PATIENCE => break,
            Some(_) => {}
        }
    }
}
