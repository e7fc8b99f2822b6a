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
    /// Its serving threads, alike.
    pub workers: Vec<EntityId>,
    /// Those that do something else.
    pub hot: Vec<EntityId>,
    /// The generator's process.
    pub loadgen: Option<EntityId>,
    /// Its threads.
    pub loaders: Vec<EntityId>,
    /// One per `rest` lane.
    pub rest: Vec<EntityId>,
    pub workload: EntityId,
    /// Whom lanes of tables may name, by kind.
    named: BTreeMap<(EntityKind, String), EntityId>,
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
        let own = drawing.word("group").unwrap_or(HOME);
        let of = |setting| groups[drawing.word(setting).unwrap_or(own)];
        let home = Home {
            cpu: groups[own],
            memory: of("memory_group"),
            io: of("io_group"),
        };
        let start = run.map_or(0, |lane| {
            (0..drawing.seconds).find(|s| lane.seen(*s)).unwrap_or(0)
        });
        let mut people = People {
            machine,
            cpus,
            server: run.map(|_| {
                register.enter(EntityKind::Process, "server", "pid:10@1", |record| {
                    home.take(record);
                })
            }),
            workers: Vec::new(),
            hot: Vec::new(),
            named: BTreeMap::new(),
            loadgen: None,
            loaders: Vec::new(),
            rest: Vec::new(),
            workload,
            found_at: super::at(start as f64),
            groups,
        };
        people.serve(run, home, &mut register);
        people.serve(drawing.lane("hot"), home, &mut register);
        people.load(drawing.lane("gen"), &mut register);
        people.disturb(drawing, &mut register);
        people.name(drawing, &mut register);
        people
    }

    fn serve(&mut self, lane: Option<&Lane>, home: Home, register: &mut Register<'_>) {
        let server = self.server;
        let Some(lane) = lane else {
            return;
        };
        let (hot, first) = (lane.name == "hot", 100 + self.workers.len());
        for number in 0..lane.times {
            let path = format!("pid:{}@2", first + number);
            let name = if hot { "hot" } else { "worker" };
            let process = register.enter(EntityKind::Process, name, &path, |record| {
                home.take(record);
                record.serving = true;
                record.parent = server;
            });
            let thread = register.thread(process, &path);
            let threads = if hot {
                &mut self.hot
            } else {
                &mut self.workers
            };
            threads.push(thread);
            let name = format!("{name}{}", number + 1);
            self.named
                .insert((EntityKind::Process, name.clone()), process);
            self.named.insert((EntityKind::Thread, name), thread);
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
        let named = self.loaders.iter().enumerate();
        self.named.extend(
            named.map(|(number, id)| ((EntityKind::Thread, format!("loader{}", number + 1)), *id)),
        );
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
                    record.memory_group = Some(group);
                    record.io_group = Some(group);
                }));
        }
    }

    /// Enters whom lanes of tables speak of and nobody knows yet.
    fn name(&mut self, drawing: &Drawing, register: &mut Register<'_>) {
        let known = [
            ("server", self.server, EntityKind::Process),
            ("loadgen", self.loadgen, EntityKind::Process),
        ];
        for (name, id, kind) in known {
            let id = id.map(|id| ((kind, name.to_owned()), id));
            self.named.extend(id);
        }
        for (number, id) in self.rest.iter().enumerate() {
            let name = format!("other{}", number + 1);
            self.named.insert((EntityKind::Process, name), *id);
        }
        for (number, id) in self.cpus.iter().enumerate() {
            self.named
                .insert((EntityKind::Cpu, format!("cpu{number}")), *id);
        }
        for (path, id) in &self.groups {
            self.named.insert((EntityKind::Cgroup, path.clone()), *id);
        }
        for lane in &drawing.lanes {
            let Some((kind, about)) = lane
                .column()
                .map(|(table, _)| table.entity)
                .zip(lane.about.as_ref())
            else {
                continue;
            };
            if self.named.contains_key(&(kind, about.clone())) {
                continue;
            }
            let parent = match kind {
                EntityKind::Disk
                | EntityKind::Filesystem
                | EntityKind::Interface
                | EntityKind::LogTemplate => None,
                EntityKind::GroupDisk => lane.path().map(|path| self.groups[path]),
                EntityKind::Connection => self.holder(about),
                EntityKind::File | EntityKind::Flow => self.server,
                EntityKind::Waker => self.pools(about, register),
                _ => panic!("nobody is called {about}"),
            };
            let role = match kind {
                EntityKind::Connection => Role::Target,
                _ => Role::Background,
            };
            let name = match about.strip_prefix("calls:") {
                Some(port) => format!("server (1) -> 10.0.0.3:{port}"),
                None if kind == EntityKind::LogTemplate => about.replace('_', " "),
                None => about.clone(),
            };
            let id = register.enter(kind, &name, about, |record| {
                record.parent = parent;
                record.role = role;
            });
            self.named.insert((kind, about.clone()), id);
        }
    }

    /// The pool whose waits are ended: in `run<hot` that of `run`, by that of `hot`.
    fn pools(&mut self, waker: &str, register: &mut Register<'_>) -> Option<EntityId> {
        let (woken, by) = waker.split_once('<').expect("a waker is POOL<POOL");
        for pool in [woken, by] {
            let key = (EntityKind::Pool, pool.to_owned());
            let path = format!("pool:{pool}");
            self.named
                .entry(key)
                .or_insert_with(|| register.enter(EntityKind::Pool, pool, &path, |_| ()));
        }
        Some(self.called(EntityKind::Pool, woken))
    }

    /// The process that holds a connection: `c2` is the second serving one's.
    fn holder(&self, connection: &str) -> Option<EntityId> {
        let number = connection.strip_prefix('c').expect("a connection is cN");
        let worker = self
            .named
            .get(&(EntityKind::Process, format!("worker{number}")));
        worker.copied()
    }

    /// Whom a lane of a table is about; several where it names none of many.
    pub fn about(&self, lane: &Lane, kind: EntityKind) -> Vec<EntityId> {
        match (&lane.about, kind) {
            (Some(about), kind) => vec![self.called(kind, about)],
            (None, EntityKind::Machine) => vec![self.machine],
            (None, EntityKind::Cpu) => self.cpus.clone(),
            (None, EntityKind::Thread) => self.workers.clone(),
            (None, _) => panic!("whom is {} about?", lane.name),
        }
    }

    /// Who is called so.
    pub fn called(&self, kind: EntityKind, name: &str) -> EntityId {
        let id = self.named.get(&(kind, name.to_owned()));
        *id.unwrap_or_else(|| panic!("nobody is called {name}"))
    }
}

/// The control groups of the target.
#[derive(Clone, Copy)]
struct Home {
    cpu: EntityId,
    memory: EntityId,
    io: EntityId,
}

impl Home {
    fn take(self, record: &mut EntityRecord) {
        record.role = Role::Target;
        record.group = Some(self.cpu);
        record.pressure_group = Some(self.cpu);
        record.memory_group = Some(self.memory);
        record.io_group = Some(self.io);
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
        let mut record = EntityRecord::new(id, Entity::new(kind, name, path), time);
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
        let named = drawing.lanes.iter().filter_map(Lane::path);
        let settings = ["group", "memory_group", "io_group"];
        let settings = settings.into_iter().filter_map(|name| drawing.word(name));
        let mut groups = BTreeMap::new();
        for path in named.chain(settings).chain([HOME]) {
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
