//! A recording of what runs already, from its targets to its end; without any, of the whole machine.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use collectors::Command;
use kernel::Duty;
use model::Role;

use super::clients::ClientSearch;
use super::event::Event;
use super::observer::Progress;
use super::plan::PlannedTarget;
use super::session::Session;
use super::survey::PartSearch;

const POLL: Duration = Duration::from_millis(100);
/// A sampler that has not ended by then never will; what is on disk is then all there is.
const PATIENCE: Duration = Duration::from_secs(10);

/// Records until the time is over or an interrupt comes.
pub(super) fn watch(session: &mut Session, targets: &[PlannedTarget], length: Option<Duration>) {
    kernel::give_up_all_but(Duty::Recording);
    // Of the whole machine everybody is a target.
    if !targets.is_empty() {
        session.search_for_dependencies();
    }
    session.introduce(targets);
    session.save_meta();
    // Each ends when it is dropped.
    let _survey = targets.is_empty().then(|| survey(session));
    let _clients = search_for_clients(session, targets);
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
            Ok(Event::Follow(parts)) => {
                session.follow(parts);
                false
            }
            Ok(Event::Clients(clients)) => {
                session.introduce_programs(Role::Generator, clients);
                false
            }
            Ok(Event::Dependencies(found)) => {
                session.introduce_programs(Role::Dependency, found);
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

/// Starts to look for those who are to be followed, until the sender is dropped.
fn survey(session: &Session) -> Sender<()> {
    let survey = PartSearch {
        proc: session.proc(),
        own: session.own_pid(),
    };
    let events = session.events().clone();
    let report = move |parts| events.send(Event::Follow(parts)).is_ok();
    // Without a thread nobody is followed, and the end says so.
    beside("survey", move |stopped| survey.run(report, stopped))
}

/// Starts to look for who asks the targets, until the sender is dropped; not where the user has named who makes the
/// load.
fn search_for_clients(session: &Session, targets: &[PlannedTarget]) -> Option<Sender<()>> {
    let served = targets.iter().filter(|it| it.role == Role::Target);
    let served: Vec<u32> = served.flat_map(|it| &it.pids).copied().collect();
    if served.is_empty() || targets.iter().any(|it| it.role == Role::Generator) {
        return None;
    }
    let search = ClientSearch {
        proc: session.proc(),
        own: session.own_pid(),
        targets: served,
    };
    let events = session.events().clone();
    let report = move |clients| events.send(Event::Clients(clients)).is_ok();
    // Without a thread no client is known, like those on other machines.
    Some(beside("clients", move |stopped| {
        search.run(report, stopped)
    }))
}

/// Starts a search on a thread of its own, which ends when the sender is dropped.
fn beside(name: &str, search: impl FnOnce(&Receiver<()>) + Send + 'static) -> Sender<()> {
    let (stop, stopped) = channel();
    let _ = thread::Builder::new()
        .name(name.to_owned())
        .spawn(move || search(&stopped));
    stop
}
