//! `run`: a workload, its server, and the verdict.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use anyhow::Result;
use collectors::{Command, SamplerEvent};
use kernel::Interrupts;
use model::{ExitKind, Outcome, Role, Target};
use workloads::Ending;

use super::command::Typed;
use super::database;
use super::finish::finish;
use super::latency_log::LatencyLogs;
use super::plan::{self, Named, ROOT};
use super::search::{Found, Search, no_connection};
use super::session::{Event, Session};
use super::workload::{Stdout, Workload};
use crate::arguments::Run;
use crate::outputs::{self, JsonFile, Live, Screen};

/// How often the workload's end is looked for.
const POLL: Duration = Duration::from_millis(50);
/// A sampler that has not ended by then never will; what is on disk is then all there is.
const PATIENCE: Duration = Duration::from_secs(10);
/// After the first connection, the rest of them have this long to be made before they are counted aloud.
const SETTLE: Duration = Duration::from_secs(1);

pub(crate) fn run(arguments: &Run) -> Result<u8> {
    let options = &arguments.recording;
    let descriptors = kernel::raise_descriptor_limit()?;
    let json = plan::json(options)?;
    let environment = kernel::environment(Path::new(ROOT));
    let address = database::address(options)?;
    let named = plan::named_targets(options, &environment)?;
    let mut typed = Typed::new(arguments)?;
    let folder = plan::folder(options, &typed.name);
    let log = typed.log_into(&folder);
    let mut meta = plan::meta("run", &named, &environment);
    meta.plan.trace_all = options.trace_all;
    meta.workload = Some(typed.description());
    let screen = Screen::new();
    let live = Live::new(screen.clone(), options.quiet, &typed.load.rate_unit);
    let (events, inbox) = channel();
    let tell = events.clone();
    let _interrupts =
        Interrupts::watch(move |interrupt| drop(tell.send(Event::Interrupt(interrupt))))?;
    let mut session = Session::start(&folder, meta, &environment, &events, live, screen.clone())?;
    session.ask(address, &events);
    let stdout = if json.as_ref().is_some_and(JsonFile::is_stdout) {
        Stdout::ToStderr
    } else {
        Stdout::ToStdout
    };
    let Typed {
        argv,
        name,
        known,
        load,
        notices,
        unit,
        reader,
        ..
    } = typed;
    let log = log.map(|log| log.create(session.folder())).transpose();
    let log = log.inspect_err(|_| session.abandon())?;
    let workload = Workload::start(&argv, reader, stdout, descriptors, &screen, &events)
        .inspect_err(|_| session.abandon())?;
    kernel::give_up_all_but(kernel::Duty::Recording);
    let participants = Participants {
        name,
        unit,
        known,
        clients: load.clients,
        notices,
        announced: false,
        first_found: None,
        provisional: None,
        named: named.iter().any(|target| target.role == Role::Target),
    };
    let mut running = Running {
        session,
        workload,
        participants,
        log,
        started: Instant::now(),
    };
    running.introduce(&named);
    let search = running.search();
    let (contacts, contacted) = channel();
    let tell = events.clone();
    let searching = std::thread::Builder::new()
        .name("search".to_owned())
        .spawn(move || search.run(&tell, &contacted));
    let exit = running.watch(&inbox, &contacts);
    drop((contacts, searching));
    let ended = running.end(exit, &inbox, stdout);
    let finished = finish(ended.session, json, options, &arguments.fail_if);
    match (exit.status(), finished) {
        (0, finished) => Ok(ended.own.max(finished?)),
        // The workload's own failure weighs more than what went wrong in telling of it.
        (status, finished) => {
            if let Err(error) = finished {
                screen.say(&format!("stallscope: {}", outputs::sentence(&error)));
                screen.flush();
            }
            Ok(u8::try_from(status).unwrap_or(u8::MAX))
        }
    }
}

/// Who plays which part, and what the user has been told about it.
struct Participants {
    name: String,
    unit: &'static str,
    known: bool,
    clients: Option<u32>,
    notices: Vec<String>,
    announced: bool,
    first_found: Option<Instant>,
    /// The workload itself as target, for as long as no server of it is found.
    provisional: Option<usize>,
    /// Whether the user named who serves.
    named: bool,
}

struct Running {
    session: Session,
    workload: Workload,
    participants: Participants,
    /// Where the workload writes the latency of single operations.
    log: Option<LatencyLogs>,
    started: Instant,
}

/// A run that has ended.
struct Ended {
    session: Session,
    /// 125 when Stallscope could not do its part.
    own: u8,
}

impl Running {
    /// Gives the workload and the named targets their parts.
    fn introduce(&mut self, named: &[Named]) {
        for Named { role, text, pids } in named {
            let name = self.session.name_of(pids).unwrap_or_else(|| text.clone());
            let named = self.session.target(*role, &name, text, pids);
            self.session.measure(pids.clone(), named);
        }
        let pids = vec![self.workload.pid()];
        let role = if self.participants.known || self.participants.named {
            Role::Generator
        } else {
            Role::Target
        };
        if role == Role::Target {
            self.participants.provisional = Some(self.session.meta.targets.len());
        }
        let workload = self
            .session
            .target(role, &self.participants.name, "the command", &pids);
        self.session.measure(pids, workload);
        self.session.save_meta();
    }

    fn search(&self) -> Search {
        Search {
            generator: self.workload.pid(),
            name: self.participants.name.clone(),
            named: self.participants.named,
            expected: self.participants.known,
            clients: self.participants.clients,
        }
    }

    /// Until the workload ends; those who search for its server are told whom it connected to.
    fn watch(&mut self, inbox: &Receiver<Event>, contacts: &Sender<SocketAddr>) -> ExitKind {
        loop {
            match inbox.recv_timeout(self.session.patience(POLL)) {
                Ok(Event::SamplerEvent(SamplerEvent::Contact(role, address))) => {
                    // Nobody else has a part before a server is found.
                    if role == Role::Generator || self.participants.provisional.is_some() {
                        // Refused only where the search has ended.
                        let _ = contacts.send(address);
                    }
                }
                Ok(event) => self.handle(event),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
            self.session.flush();
            if let Some(exit) = self.workload.ended() {
                return exit;
            }
            if self
                .participants
                .first_found
                .is_some_and(|found| found.elapsed() >= SETTLE)
            {
                self.announce();
            }
            self.session.live.show(self.started.elapsed().as_secs());
        }
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::SamplerEvent(event) => self.session.event(event),
            Event::Bins(bins) => self.session.bins(&bins),
            Event::Found(found) => self.found(found),
            Event::Database(said) => self.session.database(said),
            Event::NotFound(sentence) => {
                self.announce();
                self.session.screen.say(&format!("stallscope: {sentence}"));
                self.session.meta.no_target = Some(sentence);
            }
            Event::Interrupt(interrupt) => self.workload.interrupt(interrupt),
        }
    }

    /// Servers were found, or more of their processes.
    fn found(&mut self, found: Found) {
        // Who has ended since is followed by others.
        let Some(name) = self.session.name_of(&found.roots) else {
            return;
        };
        let named = self.participants.named;
        let first = self.participants.first_found.is_none();
        self.participants
            .first_found
            .get_or_insert_with(Instant::now);
        if let Some(index) = self.participants.provisional.take() {
            // It makes the load after all.
            self.session.meta.targets[index].role = Role::Generator;
            self.session.sampler.tell(Command::Assign {
                pids: vec![self.workload.pid()],
                role: Role::Generator,
            });
            self.session.expect_no_answer();
        }
        let server = self
            .session
            .meta
            .targets
            .iter_mut()
            .find(|target| target.role == Role::Target);
        match server {
            Some(server) if named || !first => {
                server.connections = found.connections;
                server.unit = self.participants.unit.to_owned();
                if !named {
                    self.session.sampler.tell(Command::Assign {
                        pids: found.roots,
                        role: Role::Target,
                    });
                    self.session.expect_no_answer();
                }
            }
            _ => {
                let server = Target {
                    unit: self.participants.unit.to_owned(),
                    connections: found.connections,
                    ..self
                        .session
                        .target(Role::Target, &name, &found.found_by, &found.roots)
                };
                self.session.measure(found.roots, server);
            }
        }
        self.session.meta.no_target = None;
        self.session.sampler.tell(Command::Serving(found.serving));
        self.session.save_meta();
        if self
            .participants
            .clients
            .is_some_and(|clients| found.connections >= clients)
        {
            self.announce();
        }
    }

    /// Says once what was changed in the command, and who the target is.
    fn announce(&mut self) {
        if std::mem::replace(&mut self.participants.announced, true) {
            return;
        }
        let mut words: Vec<String> = self
            .participants
            .notices
            .iter()
            .map(|notice| format!("{notice}."))
            .collect();
        let server = self
            .session
            .meta
            .targets
            .iter()
            .find(|target| target.role == Role::Target && target.connections > 0);
        words.extend(server.map(|server| {
            let over = if server.found_by.starts_with("unix socket") {
                "a unix socket".to_owned()
            } else {
                server.found_by.clone()
            };
            // Of a server that is not known, one process may have all connections.
            let unit = match server.unit.as_str() {
                "process" => "connection",
                known => known,
            };
            let serving = analysis::count(server.connections, unit);
            format!("Target: {}, {serving} on {over}", server.name)
        }));
        if !words.is_empty() {
            self.session
                .screen
                .say(words.join(" ").trim_end_matches('.'));
        }
    }

    /// Ends the sampling, takes the last of the output, and notes how it all ended.
    fn end(mut self, exit: ExitKind, inbox: &Receiver<Event>, stdout: Stdout) -> Ended {
        let ended = kernel::boottime();
        // What was found in the last moment still counts.
        while let Ok(event) = inbox.try_recv() {
            self.handle(event);
        }
        self.session.sampler.tell(Command::Stop);
        let lasted = self.started.elapsed();
        let deadline = Instant::now() + PATIENCE;
        while !self.session.ended {
            match inbox.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(Event::SamplerEvent(event)) => self.session.event(event),
                Ok(Event::Bins(bins)) => self.session.bins(&bins),
                Ok(Event::Database(said)) => self.session.database(said),
                // It ends already: a Ctrl-C that the workload was quicker to obey must not cut the recording off.
                Ok(Event::Found(_) | Event::NotFound(_) | Event::Interrupt(_)) => {}
                Err(_) => break,
            }
        }
        let Self {
            mut session,
            workload,
            participants,
            log,
            ..
        } = self;
        let (bins, mut ending) = workload.finish(exit, ended, stdout);
        session.bins(&bins);
        if let Some(log) = log {
            let (rows, remark) = log.read(&session.meta, ended);
            session.latencies(&rows);
            ending.remarks.extend(remark);
        }
        let own = explain_absence(&mut session, &participants, exit, &ending, lasted);
        if let Some(workload) = &mut session.meta.workload {
            workload.outcome = Some(Outcome {
                ended,
                exit,
                summary: ending.summary,
                remarks: ending.remarks,
                complaints: ending.complaints,
            });
        }
        Ended { session, own }
    }
}

/// Says why there is no target, when there is none; returns 125 when that is Stallscope's failure.
fn explain_absence(
    session: &mut Session,
    participants: &Participants,
    exit: ExitKind,
    ending: &Ending,
    lasted: Duration,
) -> u8 {
    const COULD_NOT: u8 = 125;
    if session
        .meta
        .targets
        .iter()
        .any(|target| target.role == Role::Target)
    {
        return 0;
    }
    let failed = exit.status() != 0;
    let sentence = if failed {
        let remarks = ending.remarks.join("; ");
        let why = if remarks.is_empty() {
            String::new()
        } else {
            format!(": {remarks}")
        };
        format!(
            "{} ended with status {} before a server of it was found{why}",
            participants.name,
            exit.status()
        )
    } else {
        session
            .meta
            .no_target
            .take()
            .unwrap_or_else(|| no_connection(&participants.name, lasted))
    };
    session.meta.no_target = Some(sentence);
    if failed { 0 } else { COULD_NOT }
}
