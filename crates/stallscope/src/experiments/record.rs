//! `record`: attaches to what already runs.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use collectors::Command;
use kernel::Interrupts;

use super::database;
use super::finish::finish;
use super::plan;
use super::session::{Event, Session};
use crate::arguments::Record;
use crate::outputs::{Live, Screen};

const POLL: Duration = Duration::from_millis(100);
/// A sampler that has not ended by then never will; what is on disk is then all there is.
const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) fn record(arguments: &Record) -> Result<u8> {
    let options = &arguments.recording;
    // There is no workload to give the old limit back to.
    kernel::raise_descriptor_limit()?;
    kernel::check_root(&arguments.root)?;
    if options.target.is_empty() {
        let listening = targets::listening_here(&targets::listeners(&arguments.root.join("proc")));
        bail!(
            "record needs something to record: --target port:N, pid:N, unit:NAME, cgroup:PATH or name:REGEX (listening here: {listening})"
        );
    }
    let json = plan::json(options)?;
    let environment = kernel::environment(&arguments.root);
    let address = database::address(options)?;
    let named = plan::named_targets(options, &environment)?;
    let folder = plan::folder(options, "record");
    let mut meta = plan::meta("record", &named, &environment);
    meta.plan.trace_all = options.trace_all;
    let screen = Screen::new();
    let live = Live::new(screen.clone(), options.quiet, "");
    let (events, inbox) = channel();
    let tell = events.clone();
    let _interrupts =
        Interrupts::watch(move |interrupt| drop(tell.send(Event::Interrupt(interrupt))))?;
    let mut session = Session::start(&folder, meta, &environment, &events, live, screen)?;
    session.ask(address, &events);
    kernel::give_up_all_but(kernel::Duty::Recording);
    for named in &named {
        let name = session.name_of(&named.pids);
        let name = name.as_deref().unwrap_or(&named.text);
        let part = session.target(named.role, name, &named.text, &named.pids);
        session.measure(named.pids.clone(), part);
    }
    session.save_meta();
    let started = Instant::now();
    let mut stopping = None;
    while !session.ended {
        let asked = match inbox.recv_timeout(session.patience(POLL)) {
            Ok(Event::Interrupt(_)) => true,
            Ok(Event::SamplerEvent(event)) => {
                session.event(event);
                false
            }
            Ok(Event::Database(said)) => {
                session.database(said);
                false
            }
            Ok(_) | Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => false,
        };
        session.flush();
        let over = arguments
            .length
            .is_some_and(|length| started.elapsed() >= length);
        match stopping {
            None if asked || over => {
                stopping = Some(Instant::now());
                session.sampler.tell(Command::Stop);
            }
            None => session.live.show(started.elapsed().as_secs()),
            // The sampler answers within a tick: an impatient second Ctrl-C must not cut the end off.
            Some(since) if since.elapsed() >= PATIENCE => break,
            Some(_) => {}
        }
    }
    finish(session, json, options, &[])
}
