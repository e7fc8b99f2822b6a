//! The entity list: who the rows are about.

use std::sync::LazyLock;

use model::{Entity, EntityKind, EntityRecord, Meta, Target, UnitKind};
use regex::Regex;
use sensors::flow::{FlowName, Peer};
use sensors::log::{CallName, OTHER_CALLS, OTHER_LINES, UNTOLD};
use sensors::statement::{NO_STATEMENT, OTHER_STATEMENTS};
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
            .filter(|record| !is_label(&record.entity.path))
            .map(|record| &record.entity.name);
        let workload = meta.workload.iter().map(|workload| &workload.name);
        // A part of a machine is a service, a container or a virtual machine, which people name.
        let programs = meta.targets.iter().filter(|it| is_process(it));
        let targets = programs.map(|target| &target.name);
        let adapter = meta.workload.iter().filter_map(|it| it.adapter.as_ref());
        for name in entities.chain(workload).chain(targets).chain(adapter) {
            if is_program(name) {
                self.names.keep(name);
            }
        }
    }

    pub(super) fn program(&mut self, name: &str) -> String {
        if self.programs && self.names.is_preserved(name) {
            return name.to_owned();
        }
        self.names.of(Class::Program, name)
    }

    /// What something is called: a group and a filesystem by its path.
    pub(super) fn name(&mut self, kind: EntityKind, name: &str) -> String {
        match kind {
            EntityKind::Machine => self.host(name),
            EntityKind::Cgroup => text::path(&mut self.names, Class::Group, name),
            EntityKind::Filesystem | EntityKind::File => {
                text::path(&mut self.names, Class::Folder, name)
            }
            EntityKind::Process
            | EntityKind::Thread
            | EntityKind::Pool
            | EntityKind::Waker
            | EntityKind::Workload => self.program(name),
            EntityKind::WaitEvent => self.names.of(Class::Program, name),
            EntityKind::BlockStream => self.block_stream(name),
            EntityKind::Flow => self.flow(name),
            EntityKind::Cpu | EntityKind::Disk | EntityKind::GroupDisk => self.device(name),
            EntityKind::Interface => self.interface(name),
            EntityKind::Connection => self.names.of(Class::Word, name),
            // Labels may say anything, and a metric's name is somebody's own.
            EntityKind::Series => self.names.of(Class::Series, name),
            EntityKind::Log if name == "journal" => name.to_owned(),
            EntityKind::Log => text::path(&mut self.names, Class::Folder, name),
            EntityKind::LogTemplate => self.log_template(name),
            EntityKind::LoggedCall => self.logged_call(name),
            EntityKind::Statement => self.statement(name),
        }
    }

    /// Every field is named: a new one does not compile until somebody decides about it.
    pub(super) fn entity(&mut self, record: EntityRecord) -> EntityRecord {
        let EntityRecord {
            id: _,
            entity: Entity { kind, name, path },
            parent: _,
            group: _,
            pressure_group: _,
            memory_group: _,
            io_group: _,
            role: _,
            serving: _,
            first_seen: _,
            vanished: _,
        } = &record;
        let kind = *kind;
        let (name, path) = self.name_and_path(kind, name, path);
        EntityRecord {
            entity: Entity { kind, name, path },
            ..record
        }
    }

    fn name_and_path(&mut self, kind: EntityKind, name: &str, path: &str) -> (String, String) {
        match kind {
            EntityKind::Machine => (self.host(name), "/".to_owned()),
            EntityKind::Cgroup => {
                let path = self.name(kind, path);
                (last_part(&path), path)
            }
            EntityKind::WaitEvent if is_of_postgres(name, path) => {
                (name.to_owned(), self.number_path(path))
            }
            EntityKind::Process
            | EntityKind::Thread
            | EntityKind::Pool
            | EntityKind::Waker
            | EntityKind::File
            | EntityKind::BlockStream
            | EntityKind::Flow
            | EntityKind::LogTemplate
            | EntityKind::LoggedCall
            | EntityKind::Statement
            | EntityKind::WaitEvent => (self.name(kind, name), self.number_path(path)),
            // A label is what somebody called a request, and may be its URL.
            EntityKind::Workload if is_label(path) => {
                (text::value(&mut self.names, name), path.to_owned())
            }
            EntityKind::Workload => (self.name(kind, name), "workload".to_owned()),
            EntityKind::GroupDisk => (self.device(name), self.name(EntityKind::Cgroup, path)),
            EntityKind::Cpu
            | EntityKind::Disk
            | EntityKind::Filesystem
            | EntityKind::Interface
            | EntityKind::Log
            | EntityKind::Series => (self.name(kind, name), self.name(kind, path)),
            EntityKind::Connection => self.connection(name, path),
        }
    }

    /// A file or control group by its path, a disk, a program, or what Stallscope itself calls the rest.
    fn block_stream(&mut self, name: &str) -> String {
        static OWN: LazyLock<Regex> = LazyLock::new(|| {
            text::constant(
                r"^(?:journal|metadata|kernel threads|pid [0-9]+|inode [0-9]+|control group [0-9]+)$",
            )
        });
        if OWN.is_match(name) {
            return name.to_owned();
        }
        if name.starts_with('/') {
            return text::path(&mut self.names, Class::Folder, name);
        }
        match is_of_kernel(name) {
            true => name.to_owned(),
            false => self.program(name),
        }
    }

    /// A program, its pid, and its peer: an address, or a unix socket's path.
    fn flow(&mut self, name: &str) -> String {
        let Some(mut flow) = FlowName::parse(name) else {
            return self.names.of(Class::Word, name);
        };
        flow.process = self.program(&flow.process);
        flow.peer = match flow.peer {
            Peer::Address(address) => Peer::Address(self.names.of(Class::Address, &address)),
            Peer::Path(path) if path.starts_with('/') => {
                Peer::Path(text::path(&mut self.names, Class::Folder, &path))
            }
            Peer::Path(path) => Peer::Path(self.names.of(Class::Word, &path)),
            peer @ (Peer::Any | Peer::Others | Peer::Pair) => peer,
        };
        flow.to_string()
    }

    /// Words that a program logs may be anything; what Stallscope calls the rest stays.
    fn log_template(&mut self, name: &str) -> String {
        match name {
            UNTOLD | OTHER_LINES => name.to_owned(),
            text => self.names.of(Class::Word, text),
        }
    }

    /// A statement names tables and columns, which are somebody's own, but for what stands for none, and for an id.
    fn statement(&mut self, name: &str) -> String {
        let number = name.strip_prefix("statement ");
        match name {
            NO_STATEMENT | OTHER_STATEMENTS => name.to_owned(),
            _ if number.is_some_and(|it| it.parse::<i64>().is_ok()) => name.to_owned(),
            text => self.names.of(Class::Word, text),
        }
    }

    /// A method, and the addresses of both ends.
    fn logged_call(&mut self, name: &str) -> String {
        let Some(call) = CallName::parse(name) else {
            return match name {
                OTHER_CALLS => name.to_owned(),
                name => self.names.of(Class::Word, name),
            };
        };
        let mut address = |end: &str| {
            let known = text::address(&mut self.names, end);
            known.unwrap_or_else(|| self.names.of(Class::Word, end))
        };
        let (caller, callee) = (address(&call.caller), address(&call.callee));
        let method = self.names.of(Class::Function, &call.method);
        CallName {
            method,
            caller,
            callee,
        }
        .to_string()
    }

    /// `pid:17@256402`, `pid:17@256402/tid:18`, `pid:17@256402/pool:1/waker:2`, `requests:5`, `flow:7`, `254:0/write/7`: numbers
    /// only.
    fn number_path(&mut self, path: &str) -> String {
        static NUMBERS: LazyLock<Regex> = LazyLock::new(|| {
            text::constant(
                r"^(?:(?:requests|flow|log_template|logged_call):[0-9]+|[0-9]+:[0-9]+/(?:read|write|flush|discard|other)/[0-9]+|pid:[0-9]+@[0-9]+(?:/tid:[0-9]+|/file:[0-9]+|/requests|/pool:[0-9]+(?:/waker:[0-9]+|/event:[0-9]+)?)?)$",
            )
        });
        match NUMBERS.is_match(path) {
            true => path.to_owned(),
            // What tells it from others must stay different from theirs.
            false => self.names.of(Class::Word, path),
        }
    }

    /// `vda`, `dm-0`, `254:0`, `cpu3`: names that the kernel gives.
    fn device(&mut self, name: &str) -> String {
        match is_of_kernel(name) {
            true => name.to_owned(),
            false => self.names.of(Class::Device, name),
        }
    }

    /// Names that the kernel or systemd gives; others are somebody's own, and `enx...` is an address of
    /// the hardware.
    fn interface(&mut self, name: &str) -> String {
        static USUAL: LazyLock<Regex> = LazyLock::new(|| {
            text::constant(
                r"^(?:lo|(?:eth|wlan|bond|br|docker|tun|tap|ens|eno|ib|dummy|ifb)[0-9]{0,4}|(?:en|wl)[ops][a-z0-9]{1,12})$",
            )
        });
        if USUAL.is_match(name) {
            return name.to_owned();
        }
        self.names.of(Class::Interface, name)
    }

    /// `LOCAL-PEER` and `net:NAMESPACE/LOCAL-PEER@INODE`; where only requests are counted, a program's name.
    fn connection(&mut self, name: &str, path: &str) -> (String, String) {
        static SOCKET: LazyLock<Regex> =
            LazyLock::new(|| text::constant(r"^(net:[0-9]+)/.*(@[0-9]+)$"));
        static UNIX: LazyLock<Regex> =
            LazyLock::new(|| text::constant(r"^unix socket of pid [0-9]+$"));
        if UNIX.is_match(name) {
            return (name.to_owned(), self.number_path(path));
        }
        let mut end = |end| text::address(&mut self.names, end);
        let ends = name.split_once('-');
        let Some((local, peer)) = ends.and_then(|(local, peer)| Some((end(local)?, end(peer)?)))
        else {
            return (self.program(name), self.number_path(path));
        };
        let shown = format!("{local}-{peer}");
        let path = match SOCKET.captures(path) {
            Some(found) => format!("{}/{shown}{}", &found[1], &found[2]),
            None => self.number_path(path),
        };
        (shown, path)
    }
}

/// Whether the kernel calls a device so.
fn is_of_kernel(name: &str) -> bool {
    static OF_KERNEL: LazyLock<Regex> = LazyLock::new(|| {
        text::constant(
            r"^(?:cpu[0-9]+|[0-9]+:[0-9]+|(?:[sv]d|xvd)[a-z]{1,3}|nvme[0-9]+(?:c[0-9]+)?n[0-9]+|(?:dm-|md|loop|zram|ram|sr|fd|nbd|rbd|mmcblk|pmem|bcache|drbd)[0-9]+)$",
        )
    });
    OF_KERNEL.is_match(name)
}

/// Whether this is the path of a label of the workload's, which holds a number only.
fn is_label(path: &str) -> bool {
    let number = path.strip_prefix("workload/label:");
    number.is_some_and(|it| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether a target's name is that of its program, and not what somebody called a part of the machine.
pub(super) fn is_process(target: &Target) -> bool {
    let unit = target.machine_unit.as_ref();
    unit.is_none_or(|unit| unit.kind == UnitKind::Process)
}

/// What the kernel takes for a program's or thread's name, without what could be an address in it.
fn is_program(name: &str) -> bool {
    static PLAIN: LazyLock<Regex> = LazyLock::new(|| {
        text::constant(r"^[A-Za-z_(][\w+/:()#-]*(?:\.[\w+/:()#-]+)?(?: [\w+/:()#-]+)*$")
    });
    // `fd00::7-manager` is what NFS calls a thread of the kernel.
    let addresses = name.matches(':').count() > 1;
    name.len() <= 64 && !addresses && PLAIN.is_match(name)
}

/// Whether a wait is called as PostgreSQL calls the number that its path ends in.
fn is_of_postgres(name: &str, path: &str) -> bool {
    let code = path.rsplit(':').next().and_then(|code| code.parse().ok());
    let title = code.and_then(|code| wait_event::title(wait_event::VERSIONS, code));
    title.is_some_and(|title| title == name)
}

fn last_part(path: &str) -> String {
    match path.trim_end_matches('/').rsplit('/').next() {
        Some(last) if !last.is_empty() => last.to_owned(),
        _ => "/".to_owned(),
    }
}
