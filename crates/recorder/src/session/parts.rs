//! Who gets which part: those whom the user named, parts of the machine, and programs at the other ends of connections.

use std::net::SocketAddr;
use std::sync::mpsc::channel;
use std::thread;

use model::{Role, Target, sentence};
use targets::Part;

use super::super::clients::Program;
use super::super::dependencies::{DependencySearch, Notice};
use super::super::event::Event;
use super::super::plan::PlannedTarget;
use super::Session;

impl Session {
    /// Gives the targets that the user named their parts.
    pub(in super::super) fn introduce(&mut self, targets: &[PlannedTarget]) {
        for PlannedTarget { role, text, pids } in targets {
            let name = self.name_of(pids).unwrap_or_else(|| text.to_string());
            let target = self.target(*role, &name, text.clone(), pids);
            self.placed(*role, pids);
            self.measure(pids.clone(), target);
        }
    }

    /// Follows parts of the machine, each as a target of its own.
    pub(in super::super) fn follow(&mut self, parts: Vec<Part>) {
        for part in parts {
            let found_by = match &part.unit.group {
                Some(_) => "its control group".into(),
                None => sentence!("pid:{}", part.pids.first().copied().unwrap_or(0)),
            };
            let target = Target {
                machine_unit: Some(part.unit),
                ..self.target(Role::Target, &part.name, found_by, &part.pids)
            };
            self.measure(part.pids, target);
        }
        self.save_meta();
    }

    /// Gives programs at the other ends of the targets' connections their part.
    pub(in super::super) fn introduce_programs(&mut self, role: Role, programs: Vec<Program>) {
        for program in programs {
            // Who has ended since neither asks nor answers.
            let Some(name) = self.name_of(&[program.pid]) else {
                continue;
            };
            let pids = vec![program.pid];
            let target = Target {
                connections: program.connections,
                ..self.target(role, &name, program.found_by, &pids)
            };
            self.placed(role, &pids);
            self.measure(pids, target);
        }
        self.save_meta();
    }

    /// Starts to look for whom the targets ask, until the session ends.
    pub(in super::super) fn search_for_dependencies(&mut self) {
        let search = DependencySearch {
            proc: self.proc(),
            own: self.own_pid(),
        };
        let (notices, listening) = channel();
        let events = self.events().clone();
        let report = move |found| events.send(Event::Dependencies(found)).is_ok();
        // Without a thread nobody is followed beside those who were named.
        let _ = thread::Builder::new()
            .name("dependencies".to_owned())
            .spawn(move || search.run(report, &listening));
        self.dependencies = Some(notices);
    }

    /// Tells that search who has a part.
    pub(in super::super) fn placed(&self, role: Role, pids: &[u32]) {
        self.tell(Notice::Placed(role, pids.to_vec()));
    }

    /// Tells it where somebody with a part connected to.
    pub(in super::super) fn contacted(&self, role: Role, address: SocketAddr) {
        if matches!(role, Role::Target | Role::Dependency) {
            self.tell(Notice::Contact(address));
        }
    }

    fn tell(&self, notice: Notice) {
        // Refused where the search has ended: then no more are followed.
        let _ = self.dependencies.as_ref().map(|it| it.send(notice));
    }
}
