//! A workload from its start to its end, with its server, while it is recorded.

use std::net::SocketAddr;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use collectors::{Command, SamplerEvent};
use kernel::Duty;
use model::{ExitKind, Outcome, Role};
use workloads::ResultsFile;

use super::error::Result;
use super::event::Event;
use super::latency_log::LatencyLogs;
use super::observer::Progress;
use super::participants::Participants;
use super::plan::PlannedTarget;
use super::results_file;
use super::search::SearchEvent;
use super::session::Session;
use super::workload::{Output, Workload};
use super::workload_plan::WorkloadPlan;

/// How often the workload's end is looked for.
const POLL: Duration = Duration::from_millis(50);
/// A sampler that has not ended by then never will; what is on disk is then all there is.
const PATIENCE: Duration = Duration::from_secs(10);

/// What became of a workload.
pub struct WorkloadEnd {
    /// How it ended.
    pub exit: ExitKind,
    /// Whether it succeeded and nobody who serves it was found; the recording's description says why.
    pub is_server_missing: bool,
}

/// Runs a workload while it is recorded.
///
/// # Errors
/// When it cannot be started; the recording is then removed.
pub(super) fn run(
    session: &mut Session,
    plan: WorkloadPlan,
    targets: &[PlannedTarget],
) -> Result<WorkloadEnd> {
    let mut participants = Participants::new(&plan, targets);
    let log = plan
        .log
        .map(|log| LatencyLogs::create(log, session.folder()));
    let log = log.transpose().inspect_err(|_| session.abandon())?;
    let results = plan.results;
    let output = Output::new(
        plan.heard,
        plan.stdout,
        session.observer.clone(),
        session.events().clone(),
    );
    let workload = Workload::start(&plan.argv, session.descriptors, output)
        .inspect_err(|_| session.abandon())?;
    if let Some(described) = &mut session.meta.workload {
        described.is_heard = workload.is_heard();
    }
    kernel::give_up_all_but(Duty::Recording);
    let started = Instant::now();
    session.search_for_dependencies();
    session.introduce(targets);
    participants.introduce(session, workload.pid());
    session.save_meta();
    let mut running = Running {
        session,
        workload,
        participants,
        log,
        results,
        started,
    };
    let contacts = running.search();
    let exit = running.watch(&contacts);
    drop(contacts);
    Ok(running.end(exit))
}

struct Running<'a> {
    session: &'a mut Session,
    workload: Workload,
    participants: Participants,
    /// Where the workload writes the latency of single operations.
    log: Option<LatencyLogs>,
    /// Where it writes results by its command line.
    results: Option<ResultsFile>,
    started: Instant,
}

impl Running<'_> {
    /// Starts to search for who serves the workload, until the sender is dropped: it takes the addresses
    /// that the workload connected to.
    fn search(&self) -> Sender<SocketAddr> {
        let search = self.participants.search(self.session, self.workload.pid());
        let (contacts, contacted) = channel();
        let events = self.session.events().clone();
        let report = move |event| events.send(Event::Search(event)).is_ok();
        // Without a thread no server is found, and the end says so.
        let _ = thread::Builder::new()
            .name("search".to_owned())
            .spawn(move || search.run(report, &contacted));
        contacts
    }

    /// Until the workload ends; those who search for its server are told whom it connected to.
    fn watch(&mut self, contacts: &Sender<SocketAddr>) -> ExitKind {
        loop {
            match self.session.receive(self.session.patience(POLL)) {
                Ok(Event::Sampler(SamplerEvent::Contact(role, address))) => {
                    if self.participants.may_lead_to_server(role) {
                        self.participants.contacted(address);
                        // Refused only where the search has ended.
                        let _ = contacts.send(address);
                    }
                    self.session.contacted(role, address);
                }
                Ok(event) => self.handle(event),
                Err(_) => {}
            }
            self.session.flush();
            if let Some(exit) = self.workload.ended() {
                return exit;
            }
            self.participants.announce_settled(self.session);
            let elapsed = Progress::Elapsed(self.started.elapsed());
            self.session.observer.progress(elapsed);
        }
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Sampler(event) => self.session.sampled(event),
            Event::Bins(bins) => self.session.bins(&bins),
            Event::Search(SearchEvent::Found(found)) => {
                let generator = self.workload.pid();
                self.participants.found(self.session, found, generator);
            }
            Event::Search(SearchEvent::Connected(address)) => {
                self.participants.contacted(address);
            }
            Event::Search(SearchEvent::NotFound(sentence)) => {
                self.participants.not_found(self.session, sentence);
            }
            Event::Application(number, message) => self.session.application(number, message),
            Event::Interrupt(interrupt) => self.workload.interrupt(interrupt),
            Event::Dependencies(found) => {
                self.session.introduce_programs(Role::Dependency, found);
            }
            // Beside a workload nobody surveys the machine.
            Event::Follow(_) | Event::Clients(_) => {}
        }
    }

    /// Ends the sampling, takes the last of the output, and notes how it all ended.
    fn end(mut self, exit: ExitKind) -> WorkloadEnd {
        let ended = kernel::boottime();
        // What was found in the last moment still counts.
        while let Ok(event) = self.session.receive(Duration::ZERO) {
            self.handle(event);
        }
        let lasted = self.started.elapsed();
        let generator = self.workload.pid();
        self.participants.demote(self.session, generator, lasted);
        self.session.sampler.tell(Command::Stop);
        self.await_sampler();
        let Self {
            session,
            workload,
            participants,
            log,
            results,
            ..
        } = self;
        let (bins, mut ending) = workload.finish(exit, ended);
        session.bins(&bins);
        if let Some(log) = log {
            let sample = log.read(&session.meta, ended);
            session.latencies(&sample.rows);
            ending.remarks.extend(sample.remark);
        }
        if let Some(file) = results {
            let operations = results_file::read(&file, &session.meta, &mut ending);
            session.operations(&operations, ended);
        }
        let is_server_missing = participants.explain_absence(session, exit, &ending, lasted);
        if let Some(workload) = &mut session.meta.workload {
            workload.outcome = Some(Outcome {
                ended,
                exit,
                summary: ending.summary,
                remarks: ending.remarks,
                complaints: ending.complaints,
            });
        }
        WorkloadEnd {
            exit,
            is_server_missing,
        }
    }

    /// Takes what the sampler and the others still have, until the sampler has ended.
    fn await_sampler(&mut self) {
        let deadline = Instant::now() + PATIENCE;
        while !self.session.ended {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.session.receive(left) {
                Ok(Event::Sampler(event)) => self.session.sampled(event),
                Ok(Event::Bins(bins)) => self.session.bins(&bins),
                Ok(Event::Application(number, message)) => {
                    self.session.application(number, message);
                }
                // It ends already: a Ctrl-C that the workload was quicker to obey must not cut the recording off.
                Ok(
                    Event::Search(_)
                    | Event::Interrupt(_)
                    | Event::Follow(_)
                    | Event::Clients(_)
                    | Event::Dependencies(_),
                ) => {}
                Err(_) => return,
            }
        }
    }
}
