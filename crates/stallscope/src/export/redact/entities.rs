//! The entity list: who the rows are about.

use std::sync::LazyLock;

use model::{Entity, EntityKind, EntityRecord, Meta};
use regex::Regex;
use sensors::wait_event;

use super::pseudonyms::Class;
use super::{Redactor, text};

impl Redactor {
    /// Names of programs, threads and of the workload are what a sentence of the verdict is about.
    pub(super) fn keep_programs(&mut self, meta: &Meta, entities: &[EntityRecord]) {
        let named = [
            EntityKind::Process,
            EntityKind::Thread,
            EntityKind::Pool,
            EntityKind::Waker,
            EntityKind::Workload,
        ];
        let entities = entities
            .iter()
            .filter(|record| named.contains(&record.entity.kind))
            .map(|record| &record.entity.name);
        let workload = meta.workload.iter().map(|workload| &workload.name);
        let targets = meta.targets.iter().map(|target| &target.name);
        let adapter = meta.workload.iter().filter_map(|it| it.adapter.as_ref());
        for name in entities.chain(workload).chain(targets).chain(adapter) {
            if is_program(name) {
                self.names.keep(name);
            }
        }
    }

    pub(super) fn program(&mut self, name: &str) -> String {
        if !self.programs {
            return self.names.of(Class::Program, name);
        }
        if self.names.is_preserved(name) {
            return name.to_owned();
        }
        self.sentence(name)
    }

    pub(super) fn entity(&mut self, record: EntityRecord) -> EntityRecord {
        let Entity { kind, name, path } = &record.entity;
        let host = (*kind == EntityKind::Machine).then(|| self.host(name));
        let names = &mut self.names;
        let (name, path) = match kind {
            EntityKind::Machine => (host.unwrap_or_default(), "/".to_owned()),
            EntityKind::Cgroup => {
                let path = text::path(names, Class::Group, path);
                (last_part(&path), path)
            }
            EntityKind::Process | EntityKind::Thread | EntityKind::Pool | EntityKind::Waker => {
                (self.program(name), process(path))
            }
            EntityKind::WaitEvent if is_of_postgres(name, path) => (name.clone(), process(path)),
            EntityKind::WaitEvent => (self.names.of(Class::Program, name), process(path)),
            EntityKind::Workload => (self.program(name), super::identifier(path)),
            EntityKind::Cpu | EntityKind::Disk => (device(name), device(path)),
            EntityKind::GroupDisk => {
                let path = text::path(names, Class::Group, path);
                (device(name), path)
            }
            EntityKind::Filesystem => (
                text::path(names, Class::Folder, name),
                text::path(names, Class::Folder, path),
            ),
            EntityKind::Interface => (self.interface(name), self.interface(path)),
            EntityKind::Connection => self.connection(name, path),
        };
        EntityRecord {
            entity: Entity {
                kind: *kind,
                name,
                path,
            },
            ..record
        }
    }

    /// Names that the kernel or systemd gives; others are somebody's own, and `enx...` is an address of
    /// the hardware.
    fn interface(&mut self, name: &str) -> String {
        static USUAL: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(
                r"^(?:lo|(?:eth|wlan|bond|br|docker|tun|tap|ens|eno|ib|dummy|ifb)[0-9]{0,4}|(?:en|wl)[ops][a-z0-9]{1,12})$",
            )
            .expect("the pattern is a constant")
        });
        if USUAL.is_match(name) {
            return name.to_owned();
        }
        self.names.of(Class::Interface, name)
    }

    /// `LOCAL-PEER` and `net:NAMESPACE/LOCAL-PEER@INODE`.
    fn connection(&mut self, name: &str, path: &str) -> (String, String) {
        let names = &mut self.names;
        let end = |names: &mut _, end: &str| {
            text::address(names, end).unwrap_or_else(|| names.of(Class::Word, end))
        };
        let shown = match name.split_once('-') {
            Some((local, peer)) => {
                let (local, peer) = (end(names, local), end(names, peer));
                format!("{local}-{peer}")
            }
            None => end(names, name),
        };
        let around = path.split_once(name).filter(|(before, after)| {
            let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
            before
                .strip_prefix("net:")
                .and_then(|namespace| namespace.strip_suffix('/'))
                .is_some_and(number)
                && after.strip_prefix('@').is_some_and(number)
        });
        let path = match around {
            Some((before, after)) => format!("{before}{shown}{after}"),
            // What tells it from others must stay different from theirs.
            None => names.of(Class::Word, path),
        };
        (shown, path)
    }
}

/// What the kernel takes for a program's or thread's name, without what could be an address in it.
fn is_program(name: &str) -> bool {
    static PLAIN: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^[A-Za-z_(][\w+/:()#-]*(?:\.[\w+/:()#-]+)?$")
            .expect("the pattern is a constant")
    });
    // `fd00::7-manager` is what NFS calls a thread of the kernel.
    let addresses = name.matches(':').count() > 1;
    name.len() <= 64 && !addresses && PLAIN.is_match(name)
}

/// `pid:17@256402`, `pid:17@256402/tid:18`, `pid:17@256402/pool:1/waker:2`: numbers only.
fn process(path: &str) -> String {
    static NUMBERS: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r"^pid:[0-9]+@[0-9]+(?:/tid:[0-9]+|/pool:[0-9]+(?:/waker:[0-9]+|/event:[0-9]+)?)?$",
        )
        .expect("the pattern is a constant")
    });
    if NUMBERS.is_match(path) {
        path.to_owned()
    } else {
        "***".to_owned()
    }
}

/// Whether a wait is called as PostgreSQL calls the number that its path ends in.
fn is_of_postgres(name: &str, path: &str) -> bool {
    let code = path.rsplit(':').next().and_then(|code| code.parse().ok());
    let title = code.and_then(|code| wait_event::title(wait_event::VERSIONS, code));
    title.is_some_and(|title| title == name)
}

/// `vda`, `dm-0`, `254:0`, `cpu3`: names by the kernel's own rules.
fn device(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || ":-_!/".contains(c);
    if name.len() <= 40 && name.chars().all(plain) {
        name.to_owned()
    } else {
        "***".to_owned()
    }
}

fn last_part(path: &str) -> String {
    match path.trim_end_matches('/').rsplit('/').next() {
        Some(last) if !last.is_empty() => last.to_owned(),
        _ => "/".to_owned(),
    }
}
