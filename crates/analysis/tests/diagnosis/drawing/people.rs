//! Who is in a drawing.

use std::collections::BTreeMap;

use model::{Entity, EntityEvent, EntityId, EntityKind, EntityRecord, Role, Timeline, Timestamp};

use super::lanes::{Drawing, Lane};

/// Where the target lives unless the drawing says otherwise.
const HOME: &str = "/server";

/// The numbers of everything that has rows.
pub struct People {
    pub machine: EntityId,
    pub cpus: Vec<EntityId>,
    pub groups: BTreeMap<String, EntityId>,
    /// Root of the target's tree.
    pub server: Option<EntityId>,
    /// Its serving threads.
    pub workers: Vec<EntityId>,
    /// The generator's process.
    pub loadgen: Option<EntityId>,
    /// Its threads.
    pub loaders: Vec<EntityId>,
    /// One per `rest` lane.
    pub rest: Vec<EntityId>,
    pub workload: EntityId,
    /// When the target was first seen.
    pub found_at: Timestamp,
}

impl People {
    /// Enters everybody whom the drawing speaks of.
    pub fn of(drawing: &Drawing, timeline: &mut Timeline) -> Self {
        let mut register = Register { timeline, next: 0 };
        let machine = register.enter(EntityKind::Machine, "machine", "/", |_| ());
        let workload = register.enter(EntityKind::Workload, "loadgen", "loadgen", |_| ());
        let cpus = (0..drawing.cpus())
            .map(|n| {
                register.enter(
                    EntityKind::Cpu,
                    &format!("cpu{n}"),
                    &format!("cpu{n}"),
                    |_| (),
                )
            })
            .collect();
        let groups = register.groups(drawing);
        let run = drawing.lane("run");
        let home = groups[drawing.word("group").unwrap_or(HOME)];
        let start = run.map_or(0, |lane| {
            (0..drawing.seconds).find(|s| lane.seen(*s)).unwrap_or(0)
        });
        let mut people = People {
            machine,
            cpus,
            server: run.map(|_| {
                register.enter(EntityKind::Process, "server", "pid:10@1", |record| {
                    record.role = Role::Target;
                    record.group = Some(home);
                    record.pressure_group = Some(home);
                })
            }),
            workers: Vec::new(),
            loadgen: None,
            loaders: Vec::new(),
            rest: Vec::new(),
            workload,
            found_at: super::at(start as f64),
            groups,
        };
        people.serve(run, home, &mut register);
        people.load(drawing.lane("gen"), &mut register);
        people.disturb(drawing, &mut register);
        people
    }

    fn serve(&mut self, run: Option<&Lane>, home: EntityId, register: &mut Register<'_>) {
        let server = self.server;
        for number in 0..run.map_or(0, |lane| lane.times) {
            let path = format!("pid:{}@2", 100 + number);
            let process = register.enter(EntityKind::Process, "worker", &path, |record| {
                record.role = Role::Target;
                record.serving = true;
                record.parent = server;
                record.group = Some(home);
                record.pressure_group = Some(home);
            });
            self.workers.push(register.thread(process, &path));
        }
    }

    fn load(&mut self, gen_lane: Option<&Lane>, register: &mut Register<'_>) {
        let Some(lane) = gen_lane else {
            return;
        };
        let process = register.enter(EntityKind::Process, "loadgen", "pid:20@3", |record| {
            record.role = Role::Generator;
        });
        self.loadgen = Some(process);
        self.loaders = (0..lane.times)
            .map(|number| register.thread(process, &format!("pid:20@3/{number}")))
            .collect();
    }

    fn disturb(&mut self, drawing: &Drawing, register: &mut Register<'_>) {
        let parent = register.enter(EntityKind::Process, "shell", "pid:30@4", |_| ());
        for (number, lane) in drawing.all("rest").enumerate() {
            let group = self.groups[lane.group.as_deref().unwrap_or("/")];
            let path = format!("pid:{}@4", 31 + number);
            let name = format!("other{}", number + 1);
            self.rest
                .push(register.enter(EntityKind::Process, &name, &path, |record| {
                    record.parent = Some(parent);
                    record.group = Some(group);
                }));
        }
    }
}

struct Register<'a> {
    timeline: &'a mut Timeline,
    next: u32,
}

impl Register<'_> {
    fn enter(
        &mut self,
        kind: EntityKind,
        name: &str,
        path: &str,
        more: impl FnOnce(&mut EntityRecord),
    ) -> EntityId {
        let id = EntityId(self.next);
        self.next += 1;
        let time = self.timeline.window.start;
        let mut record = EntityRecord {
            id,
            entity: Entity::new(kind, name, path),
            parent: None,
            group: None,
            pressure_group: None,
            memory_group: None,
            io_group: None,
            role: Role::Rest,
            serving: false,
            first_seen: time,
            vanished: None,
        };
        more(&mut record);
        self.timeline.entities.apply(EntityEvent { time, record });
        id
    }

    fn thread(&mut self, process: EntityId, path: &str) -> EntityId {
        let path = format!("{path} thread");
        self.enter(EntityKind::Thread, "thread", &path, |record| {
            record.parent = Some(process);
        })
    }

    /// Every group that is named, and those above it.
    fn groups(&mut self, drawing: &Drawing) -> BTreeMap<String, EntityId> {
        let named = drawing
            .lanes
            .iter()
            .filter_map(|lane| lane.group.as_deref());
        let mut groups = BTreeMap::new();
        for path in named.chain([drawing.word("group").unwrap_or(HOME)]) {
            for (end, _) in path.match_indices('/').chain([(path.len(), "")]) {
                let above = if end == 0 { "/" } else { &path[..end] };
                if !groups.contains_key(above) {
                    let name = above.rsplit('/').next().unwrap_or(above);
                    let id = self.enter(EntityKind::Cgroup, name, above, |_| ());
                    groups.insert(above.to_owned(), id);
                }
            }
        }
        groups
    }
}
