//! Who is recorded beside the targets, since they ask it.

use std::net::SocketAddr;
use std::sync::mpsc::channel;
use std::thread;

use model::Role;

use super::super::dependencies::{DependencySearch, Notice};
use super::super::event::Event;
use super::Session;

impl Session {
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
