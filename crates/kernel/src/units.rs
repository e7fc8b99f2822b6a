//! Which service, container or virtual machine a control group belongs to: by its path, and by the files in which
//! engines keep the names that people gave.
//!
//! No engine is asked, since its socket would let us do anything. What has no name that can be read keeps the
//! short form of its id, as the engines themselves print it.

mod names;

use std::path::Path;

use model::{MachineUnit, UnitKind};

/// The digits of a container's id that engines print.
const SHORT: usize = 12;
/// As long is an id in hexadecimal digits, a UUID without dashes.
const LEAST_HEX: usize = 32;
/// Engines by the word that systemd's scopes of their containers begin with.
const ENGINES: [(&str, Engine); 6] = [
    ("docker-", Engine::Docker),
    ("libpod-", Engine::Podman),
    ("cri-containerd-", Engine::Containerd),
    ("nerdctl-", Engine::Containerd),
    ("containerd-", Engine::Containerd),
    ("crio-", Engine::Crio),
];
/// `libpod-payload-ID` is the container in the group of a service that systemd started it as (`podman run
/// --cgroups=split`, which Quadlet's units use): its limits are there, and not at the service.
const PAYLOAD: &str = "payload-";
/// `libpod-conmon-ID.scope`, `crio-conmon-ID.scope`.
const MONITOR: &str = "conmon-";

/// Who runs a container.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Engine {
    Docker,
    Podman,
    Containerd,
    Crio,
    /// Only the id is known.
    Unknown,
}

/// What a control group belongs to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GroupUnit {
    /// The kind, and the group that has all of it.
    pub unit: MachineUnit,
    /// What people call it.
    pub name: String,
    /// Of a container or its monitor, who runs the container, and its id.
    container: Option<(Engine, String)>,
}

impl GroupUnit {
    /// The unit of the group at `path`; `None` where a group says nothing of what runs in it: the root, a user's
    /// login, a slice.
    pub fn of(path: &str) -> Option<Self> {
        let parts: Vec<&str> = path.split('/').collect();
        // What runs in a container or machine is a matter of its own; a service may have groups below it.
        let inside = [container, monitor, machine, service];
        let found = inside.into_iter().find_map(|kind| {
            let last = (1..parts.len()).rev();
            last.into_iter()
                .find_map(|place| Some((place, kind(&parts, place)?)))
        });
        match found {
            Some((place, mut found)) => {
                found.unit.group = Some(parts[..=place].join("/"));
                Some(found)
            }
            None => other(path, &parts),
        }
    }

    /// The same with the name that its engine's files below `root` have for it.
    #[must_use]
    pub fn named(mut self, root: &Path) -> Self {
        if let Some((engine, id)) = &self.container
            && let Some(name) = names::of(root, *engine, id)
        {
            self.name = match self.unit.kind {
                UnitKind::Group => monitor_of(&name),
                _ => name,
            };
        }
        self
    }

    fn new(kind: UnitKind, name: &str) -> Self {
        Self {
            unit: MachineUnit { kind, group: None },
            name: name.to_owned(),
            container: None,
        }
    }
}

/// The name of the container that the monitor `pid` in the /proc below `root` looks after, as its engine has it now;
/// `None` where that process is no monitor of a container.
///
/// For containers without a control group of their own, as those of users without root's rights often are.
pub fn monitored(root: &Path, pid: u32) -> Option<String> {
    let id = names::monitored(root, pid).filter(|id| is_id(id))?;
    Some(names::of(root, Engine::Podman, &id).unwrap_or_else(|| id[..SHORT].to_owned()))
}

fn container(parts: &[&str], place: usize) -> Option<GroupUnit> {
    let part = parts[place];
    let scope = part.strip_suffix(".scope").unwrap_or(part);
    let by_scope = engine_of(scope, "").or_else(|| engine_of(scope, PAYLOAD));
    let above = parts[place - 1];
    // The folder of a pod of Podman's has its containers and their monitors in it.
    let is_pod = parts.get(place + 1) == Some(&"conmon");
    let by_folder = (is_id(part) && !is_pod).then_some(match above {
        "docker" => (Engine::Docker, part),
        _ => (Engine::Unknown, part),
    });
    if let Some((engine, id)) = by_scope.or(by_folder) {
        let mut unit = GroupUnit::new(UnitKind::Container, &id[..SHORT]);
        unit.container = Some((engine, id.to_owned()));
        return Some(unit);
    }
    let lxc = part.strip_prefix("lxc.payload.");
    let lxc = lxc.or_else(|| Some(part).filter(|_| above == "lxc"));
    let nspawn = part.strip_prefix("systemd-nspawn@");
    let nspawn = nspawn.and_then(|name| name.strip_suffix(".service"));
    let name = lxc.or(nspawn).filter(|name| !name.is_empty())?;
    Some(GroupUnit::new(UnitKind::Container, &unescape(name)))
}

/// The process that an engine leaves beside each container, conmon: systemd has a scope for it.
fn monitor(parts: &[&str], place: usize) -> Option<GroupUnit> {
    let scope = parts[place].strip_suffix(".scope")?;
    let (engine, id) = engine_of(scope, MONITOR)?;
    let mut unit = GroupUnit::new(UnitKind::Group, &monitor_of(&id[..SHORT]));
    unit.container = Some((engine, id.to_owned()));
    Some(unit)
}

fn monitor_of(container: &str) -> String {
    format!("conmon of {container}")
}

/// The engine and the id in the name of a scope: the engine's word, `part` of the container, and the id.
fn engine_of<'a>(scope: &'a str, part: &str) -> Option<(Engine, &'a str)> {
    ENGINES.iter().find_map(|(prefix, engine)| {
        let id = scope.strip_prefix(prefix)?.strip_prefix(part)?;
        is_id(id).then_some((*engine, id))
    })
}

/// Of libvirt or systemd-machined.
fn machine(parts: &[&str], place: usize) -> Option<GroupUnit> {
    let part = parts[place];
    // Without systemd libvirt has folders of its own.
    let own = part.strip_suffix(".libvirt-qemu").map(unescape);
    let scope = part.strip_prefix("machine-");
    let scope = scope.and_then(|part| part.strip_suffix(".scope"));
    let name = own.or_else(|| scope.map(unescape))?;
    // `qemu-3-web`: the number is that of its start.
    let numbered = name.strip_prefix("qemu-");
    let qemu = numbered.and_then(|rest| rest.split_once('-'));
    let qemu = qemu.filter(|(number, _)| number.parse::<u32>().is_ok());
    Some(match qemu {
        Some((_, name)) => GroupUnit::new(UnitKind::VirtualMachine, name),
        None => GroupUnit::new(UnitKind::Container, &name),
    })
}

fn service(parts: &[&str], place: usize) -> Option<GroupUnit> {
    let part = parts[place];
    let service = part.strip_suffix(".service");
    // What runs below a user's manager is not one service.
    let service = service.filter(|name| !name.starts_with("user@"));
    let scope = part.strip_suffix(".scope");
    // A login, and what is left of the start.
    let scope = scope.filter(|name| *name != "init" && !name.starts_with("session-"));
    let name = service.or(scope)?;
    Some(GroupUnit::new(UnitKind::Service, &unescape(name)))
}

/// A group that no engine and no systemd made, as by hand or by a batch system.
fn other(path: &str, parts: &[&str]) -> Option<GroupUnit> {
    let last = parts.last().copied().filter(|last| !last.is_empty())?;
    let is_of_systemd = |part: &&str| {
        let kinds = [".slice", ".scope", ".service"];
        kinds.iter().any(|kind| part.ends_with(kind))
    };
    if parts.iter().any(is_of_systemd) || parts.contains(&"..") {
        return None;
    }
    // Nobody reads the rest of an id.
    let is_hex = last.len() >= LEAST_HEX && last.bytes().all(|byte| byte.is_ascii_hexdigit());
    let mut unit = GroupUnit::new(UnitKind::Group, if is_hex { &last[..SHORT] } else { last });
    unit.unit.group = Some(path.to_owned());
    Some(unit)
}

/// Whether it is what engines take for an id.
fn is_id(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// systemd writes `-` in a name as `\x2d` (systemd.unit(5)).
fn unescape(name: &str) -> String {
    let mut text = String::new();
    let mut rest = name;
    while let Some(at) = rest.find("\\x") {
        let (before, escaped) = rest.split_at(at);
        text.push_str(before);
        let digits = escaped.get(2..4);
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) if byte.is_ascii() => {
                text.push(char::from(byte));
                rest = &escaped[4..];
            }
            _ => {
                text.push_str("\\x");
                rest = &escaped[2..];
            }
        }
    }
    text + rest
}

#[cfg(test)]
mod tests;
