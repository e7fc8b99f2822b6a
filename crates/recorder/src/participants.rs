//! Who plays which part in a run: the workload, and who serves it as far as that is found.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use collectors::Command;
use model::{EntityKind, ExitKind, Part, Role, Sentence, Target, sentence};
use workloads::Ending;

use super::observer::Progress;
use super::plan::PlannedTarget;
use super::search::{Found, Search, no_connection, unserved};
use super::session::Session;
use super::workload_plan::WorkloadPlan;

/// After the first connection, the rest of them have this long to be made before they are counted aloud.
const SETTLE: Duration = Duration::from_secs(1);

/// Who plays which part, and what the user has been told about it.
pub(super) struct Participants {
    name: String,
    unit: &'static str,
    /// Whether the workload is known to be served by somebody else.
    is_served: bool,
    clients: Option<u32>,
    notices: Vec<Sentence>,
    announced: bool,
    first_found: Option<Instant>,
    /// The workload itself as target, for as long as no server of it is found.
    provisional: Option<usize>,
    /// Whether the user named who serves.
    named: bool,
    /// Where the workload connected to first: who connects to somebody is no target.
    contact: Option<SocketAddr>,
}

impl Participants {
    /// The parts before anything has started.
    pub(super) fn new(plan: &WorkloadPlan, targets: &[PlannedTarget]) -> Self {
        Self {
            name: plan.name.clone(),
            unit: plan.unit,
            is_served: plan.is_served,
            clients: plan.load.clients,
            notices: plan.notices.clone(),
            announced: false,
            first_found: None,
            provisional: None,
            named: targets.iter().any(|target| target.role == Role::Target),
            contact: None,
        }
    }

    /// Gives the workload its part; `generator` is its first process, here and below.
    pub(super) fn introduce(&mut self, session: &mut Session, generator: u32) {
        let pids = vec![generator];
        let role = if self.is_served || self.named {
            Role::Generator
        } else {
            self.provisional = Some(session.meta.targets.len());
            Role::Target
        };
        let workload = session.target(role, &self.name, "the command".into(), &pids);
        // Whoever serves it is no dependency, even where nobody is known to.
        session.placed(Role::Generator, &pids);
        session.measure(pids, workload);
    }

    /// The search for who serves the workload.
    pub(super) fn search(&self, session: &Session, generator: u32) -> Search {
        Search {
            proc: session.proc(),
            generator,
            name: self.name.clone(),
            named: self.named,
            expected: self.is_served,
            clients: self.clients,
        }
    }

    /// Whether a connection that a process with this role made may lead to a server.
    pub(super) fn may_lead_to_server(&self, role: Role) -> bool {
        // Nobody else has a part before a server is found.
        role == Role::Generator || self.provisional.is_some()
    }

    /// The workload, or whoever is measured in its place, connected to an address.
    pub(super) fn contacted(&mut self, address: SocketAddr) {
        /// Names are looked up by whoever wants to connect elsewhere.
        const DNS: u16 = 53;
        if address.port() != DNS {
            self.contact.get_or_insert(address);
        }
    }

    /// Makes a workload that connected somewhere what it is, a load generator, although nobody was found who serves
    /// it; to be called before the sampling ends.
    pub(super) fn demote(&mut self, session: &mut Session, generator: u32, lasted: Duration) {
        let Some(contact) = self.contact else {
            return;
        };
        let Some(index) = self.provisional.take() else {
            return;
        };
        session.meta.targets[index].role = Role::Generator;
        session.assign(vec![generator], Role::Generator);
        let sentence = unserved(&session.proc(), &self.name, contact, lasted);
        session.meta.no_target.get_or_insert(sentence);
    }

    /// Servers were found, or more of their processes.
    pub(super) fn found(&mut self, session: &mut Session, found: Found, generator: u32) {
        // Who has ended since is followed by others.
        let Some(name) = session.name_of(&found.roots) else {
            return;
        };
        if let Some(index) = self.provisional.take() {
            // It makes the load after all.
            session.meta.targets[index].role = Role::Generator;
            session.assign(vec![generator], Role::Generator);
        }
        let is_all = self
            .clients
            .is_some_and(|clients| found.connections >= clients);
        let serving = found.serving.clone();
        if !self.named {
            session.placed(Role::Target, &found.roots);
        }
        self.serve(session, found, &name);
        session.meta.no_target = None;
        session.sampler.tell(Command::Serving(serving));
        session.save_meta();
        if is_all {
            self.announce(session);
        }
    }

    /// Gives the servers their part, or adds to that of those who have it.
    fn serve(&mut self, session: &mut Session, found: Found, name: &str) {
        let is_first = self.first_found.is_none();
        self.first_found.get_or_insert_with(Instant::now);
        let mut targets = session.meta.targets.iter_mut();
        let server = targets.find(|target| target.role == Role::Target);
        match server {
            Some(server) if self.named || !is_first => {
                server.connections = found.connections;
                server.unit = self.unit.to_owned();
                if !self.named {
                    session.assign(found.roots, Role::Target);
                }
            }
            _ => {
                let server = Target {
                    unit: self.unit.to_owned(),
                    connections: found.connections,
                    ..session.target(Role::Target, name, found.found_by, &found.roots)
                };
                session.measure(found.roots, server);
            }
        }
    }

    /// The search gave up, for now.
    pub(super) fn not_found(&mut self, session: &mut Session, sentence: Sentence) {
        self.announce(session);
        session.notice(&sentence.to_string());
        session.meta.no_target = Some(sentence);
    }

    /// Announces the server once the rest of its connections had their time.
    pub(super) fn announce_settled(&mut self, session: &Session) {
        if self.first_found.is_some_and(|at| at.elapsed() >= SETTLE) {
            self.announce(session);
        }
    }

    /// Says once what was changed in the command, and who the target is.
    fn announce(&mut self, session: &Session) {
        if std::mem::replace(&mut self.announced, true) {
            return;
        }
        let mut targets = session.meta.targets.iter();
        let server = targets.find(|it| it.role == Role::Target && it.connections > 0);
        session.observer.progress(Progress::Introduced {
            notices: &self.notices,
            server,
        });
    }

    /// Says why there is no target, when there is none; returns whether that is the recorder's failure.
    pub(super) fn explain_absence(
        &self,
        session: &mut Session,
        exit: ExitKind,
        ending: &Ending,
        lasted: Duration,
    ) -> bool {
        let mut targets = session.meta.targets.iter();
        if targets.any(|target| target.role == Role::Target) {
            return false;
        }
        let failed = exit.status() != 0;
        let sentence = if failed {
            let ended = sentence!(
                "{} ended with status {} before a server of it was found",
                Part::name(EntityKind::Workload, &self.name),
                exit.status()
            );
            let between = [": "].into_iter().chain(std::iter::repeat("; "));
            let remarks = between.zip(ending.remarks.iter().cloned());
            remarks.fold(ended, |all, (between, remark)| all.and(between).and(remark))
        } else {
            let said = session.meta.no_target.take();
            said.unwrap_or_else(|| no_connection(&session.proc(), &self.name, lasted))
        };
        session.meta.no_target = Some(sentence);
        // Of a command that no adapter knows nobody said that it has one.
        !failed && self.is_served
    }
}
