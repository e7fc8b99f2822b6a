//! Parents and roles of processes, from a folder that imitates /proc.

use tempfile::TempDir;

use super::*;
use crate::cgroups::Cgroups;
use kernel::hierarchies::Hierarchies;

struct Machine {
    root: TempDir,
    processes: Processes,
    scratch: Scratch,
    cgroups: Cgroups,
    out: Output,
    now: Timestamp,
}

impl Machine {
    fn new() -> Self {
        let root = tempfile::tempdir().expect("a temporary folder");
        std::fs::create_dir(root.path().join("proc")).expect("a folder");
        let mut out = Output::default();
        Self {
            processes: Processes::new(root.path(), None, &mut out).expect("it was just made"),
            root,
            scratch: Scratch::new(sensors::Facts::default()),
            cgroups: Cgroups::new(Hierarchies::default(), Vec::new()),
            out,
            now: Timestamp::from_ns(1),
        }
    }

    fn folder(&self, pid: u32) -> PathBuf {
        self.root.path().join("proc").join(pid.to_string())
    }

    fn begin(&self, pid: u32, parent: u32) {
        let stat =
            format!("{pid} (p) S {parent} 0 0 0 -1 0 0 0 0 0 5 6 0 0 20 0 1 0 {pid} 0 0 0\n");
        std::fs::create_dir_all(self.folder(pid)).expect("a folder");
        std::fs::write(self.folder(pid).join("stat"), stat).expect("written");
    }

    fn end(&self, pid: u32) {
        std::fs::remove_dir_all(self.folder(pid)).expect("it is there");
    }

    fn scan(&mut self) {
        self.now = self.now + 1;
        let (cgroups, scratch) = (&mut self.cgroups, &mut self.scratch);
        self.processes
            .scan(self.now, cgroups, scratch, &mut self.out);
    }

    fn assign(&mut self, pid: u32, role: Role) {
        let registry = &mut self.out.registry;
        self.processes.assign(&[pid], role, self.now, registry);
    }

    fn role(&self, pid: u32) -> Role {
        self.processes.by_pid[&pid].role
    }

    fn parent(&self, pid: u32) -> Option<EntityId> {
        let entity = self.processes.entity(pid).expect("it is known");
        self.out.registry.get(entity)?.parent
    }
}

#[test]
fn a_child_has_its_parent_in_any_order_of_discovery() {
    let mut machine = Machine::new();
    for (pid, parent) in [(20, 0), (30, 20), (31, 30), (7, 31), (8, 7)] {
        machine.begin(pid, parent);
    }
    machine.scan();
    assert_eq!(machine.parent(20), None);
    for (pid, parent) in [(30, 20), (31, 30), (7, 31), (8, 7)] {
        let parent = machine.processes.entity(parent);
        assert_eq!(machine.parent(pid), parent, "{pid}");
    }
    machine.assign(30, Role::Target);
    for pid in [30, 31, 7, 8] {
        assert_eq!(machine.role(pid), Role::Target, "{pid}");
    }
    machine.begin(9, 8);
    machine.begin(3, 9);
    machine.scan();
    assert_eq!(
        (machine.role(9), machine.role(3)),
        (Role::Target, Role::Target)
    );
    assert_eq!(machine.role(20), Role::Background);
}

#[test]
fn a_reused_pid_is_no_parent() {
    let mut machine = Machine::new();
    machine.begin(50, 0);
    machine.begin(100, 50);
    machine.scan();
    machine.end(50);
    machine.scan();
    // The pid 50 is reused by a process whose parent is the former child.
    machine.begin(50, 100);
    machine.scan();
    machine.assign(50, Role::Target);
    machine.scan();
    assert_eq!(
        (machine.role(50), machine.role(100)),
        (Role::Target, Role::Background)
    );
    machine.assign(100, Role::Generator);
    assert_eq!(machine.role(50), Role::Generator);
}
