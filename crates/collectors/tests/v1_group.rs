//! A v1 group as the sampler records it, compared with a v2 group of the same processes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command as Program, Stdio};
use std::sync::mpsc::channel;
use std::thread::sleep;
use std::time::{Duration, Instant};

use collectors::{Command, Sampler, SamplerEvent, Settings};
use kernel::bpf::thread_time::ThreadTime;
use kernel::requirement::{needed, skipped};
use kernel::{Hierarchies, environment};
use model::{EntityId, EntityKind, EntityRecord, Role};
use rustix::process::Signal;

/// A group that this test makes; dropping it ends its processes and removes it.
struct Group {
    folder: PathBuf,
    processes: Vec<Child>,
}

impl Group {
    /// `None` if none can be made there. Groups of two hierarchies are told apart by their names.
    fn within(mount: &Path, name: &str) -> Option<Self> {
        let folder = mount.join(format!("stallscope-{name}-{}", std::process::id()));
        std::fs::create_dir(&folder).ok()?;
        Some(Self {
            folder,
            processes: Vec::new(),
        })
    }

    /// The path of the group as entities have it.
    fn path(&self) -> String {
        format!("/{}", self.folder.file_name().expect("one").display())
    }

    /// Starts a process in it that wants a CPU all the time.
    fn burn_on(&mut self, cpu: u32) -> u32 {
        let folder = self.folder.display();
        let script =
            format!("echo $$ > {folder}/cgroup.procs; taskset -pc {cpu} $$; while :; do :; done");
        let mut shell = Program::new("sh");
        let shell = shell.args(["-c", &script]).stdout(Stdio::null());
        kernel::signal_at_parents_end(shell, Signal::KILL);
        let child = shell.spawn().expect("it can be started");
        let pid = child.id();
        self.processes.push(child);
        pid
    }

    /// Moves a process into it.
    fn take(&self, pid: u32) {
        let file = self.folder.join("cgroup.procs");
        std::fs::write(file, pid.to_string()).expect("root may move it");
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for process in &mut self.processes {
            let _ = process.kill();
            let _ = process.wait();
        }
        let end = Instant::now() + Duration::from_secs(3);
        while std::fs::remove_dir(&self.folder).is_err() && Instant::now() < end {
            sleep(Duration::from_millis(20));
        }
    }
}

const RECORDED: Duration = Duration::from_secs(7);

/// Rows of a table by entity: times and values.
type Rows = BTreeMap<EntityId, Vec<(i64, Vec<i64>)>>;

/// The sampler's rows for a target, by table, and all entities at the end.
fn recorded(target: &[u32]) -> (BTreeMap<&'static str, Rows>, Vec<EntityRecord>) {
    let settings = Settings::default();
    let environment = environment(&settings.root);
    let (sender, inbox) = channel();
    let sink = move |event| drop(sender.send(event));
    let sampler = Sampler::start(&settings, &environment, sink).expect("it can be started");
    sampler.tell(Command::Assign {
        pids: target.to_vec(),
        role: Role::Target,
    });
    sleep(RECORDED);
    sampler.tell(Command::Stop);
    let (mut tables, mut entities) = (BTreeMap::<_, Rows>::new(), BTreeMap::new());
    loop {
        match inbox
            .recv_timeout(Duration::from_secs(30))
            .expect("it ends")
        {
            SamplerEvent::Rows(table, rows) => {
                let series = tables.entry(table.name.as_ref()).or_default();
                for (time, entity, values) in rows.iter() {
                    let rows = series.entry(entity).or_default();
                    rows.push((time.as_ns(), values.to_vec()));
                }
            }
            SamplerEvent::Entities(events) => {
                let records = events.into_iter().map(|it| (it.record.id, it.record));
                entities.extend(records);
            }
            SamplerEvent::Ended(_) => break,
            _ => {}
        }
    }
    (tables, entities.into_values().collect())
}

/// A thread is counted from its first event on; by this time a thread that waits for a CPU has had one.
const SETTLED_NS: i64 = 1_000_000_000;

/// When all threads have had a first event.
fn settled(rows: &[(i64, Vec<i64>)]) -> i64 {
    rows[0].0 + SETTLED_NS
}

/// Growth of a column as a share of the time since `since`.
fn share(rows: &[(i64, Vec<i64>)], column: usize, since: i64) -> f64 {
    assert!(rows.is_sorted_by_key(|(time, _)| *time), "{rows:?}");
    let begin = rows.partition_point(|(time, _)| *time < since);
    let [(from, first), .., (to, last)] = &rows[begin..] else {
        panic!("there are two rows: {rows:?}");
    };
    (last[column] - first[column]) as f64 / (to - from) as f64
}

#[test]
fn a_v1_group_has_pressure_and_supplies_that_of_its_processes() {
    let loaded = ThreadTime::load(std::env::consts::ARCH);
    if needed("thread-time accounting", loaded).is_none() {
        return;
    }
    let mounts = std::fs::read("/proc/self/mountinfo").expect("it can be read");
    let hierarchies = Hierarchies::from_mountinfo(&mounts, Path::new("/"));
    let limited = hierarchies.v1.get("cpu").map(|mount| mount.point.as_path());
    // Dropped last: the processes are the other group's.
    let Some(limited) = limited.and_then(|mount| Group::within(mount, "v1-group")) else {
        return skipped(
            "PSI groups",
            "there is no v1 hierarchy with the cpu controller that groups can be made in",
        );
    };
    let mount = hierarchies.v2.expect("there is a v2 hierarchy").point;
    let mut around = Group::within(&mount, "v2-group").expect("root may make groups");
    let pids = [0, 0, 1, 1].map(|cpu| around.burn_on(cpu));
    pids.iter().for_each(|pid| limited.take(*pid));
    sleep(Duration::from_millis(300));
    // Background processes in the group count as they do in the kernel.
    let (tables, entities) = recorded(&pids[..2]);
    let group = |path: &str| {
        let mut found = entities.iter().filter(|it| it.entity.path == path);
        let found = found.find(|it| it.vanished.is_none());
        found.expect("it is known").id
    };
    let [own, kernels] = [&limited, &around].map(|it| group(&it.path()));
    // Both end their 2 s intervals at different times; with this load some threads wait at all times.
    for (table, columns) in [("cgroup_pressure", 0..1), ("cgroup_stall", 0..2)] {
        for column in columns {
            let counted = format!("counted_{table}");
            let [own, kernels] =
                [(counted.as_str(), own), (table, kernels)].map(|(table, group)| {
                    let rows = &tables[table][&group];
                    share(rows, column, settled(rows))
                });
            println!("{table} {column}: {own:.4} here, {kernels:.4} the kernel's");
            assert!((own - kernels).abs() < 0.02, "{table}: {own} and {kernels}");
        }
    }
    let is_target =
        |it: &&EntityRecord| it.entity.kind == EntityKind::Process && it.role == Role::Target;
    let targets: Vec<_> = entities.iter().filter(is_target).collect();
    assert_eq!(targets.len(), 2, "{targets:?}");
    for process in targets {
        assert_eq!(process.group, Some(own), "{process:?}");
        assert_eq!(process.pressure_group, Some(own), "{process:?}");
    }
}
