//! The rows of a made recording: what each entity's columns do at each look, and which looks leave a
//! row, as the sampler has it: rows where something changed, an unchanged stretch bounded on both sides.

use model::{Column, ColumnKind, EntityId, MISSING, Rows, Table, Timestamp, Unit};

use crate::mixed::Noise;

/// What the machine does at a time of the run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weather {
    /// Part of its time that a backend is on a CPU, waits for one, and is in fdatasync.
    pub(crate) run: f64,
    pub(crate) wait: f64,
    pub(crate) sync: f64,
    /// Operations per second of each connection, and their mean latency.
    pub(crate) throughput: f64,
    pub(crate) latency_ns: f64,
}

/// The run's thirds: little to do, full CPUs, and a slow disk.
pub(crate) const THIRDS: [Weather; 3] = [
    Weather {
        run: 0.05,
        wait: 0.01,
        sync: 0.0,
        throughput: 200.0,
        latency_ns: 4e6,
    },
    Weather {
        run: 0.15,
        wait: 0.60,
        sync: 0.0,
        throughput: 500.0,
        latency_ns: 1.9e6,
    },
    Weather {
        run: 0.04,
        wait: 0.01,
        sync: 0.7,
        throughput: 125.0,
        latency_ns: 7e6,
    },
];

/// How the values of a table move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Motion {
    /// Threads that answer requests.
    Backend,
    /// Threads of the load generator.
    Generator,
    /// Processes of server and generator, with the CPU time of such threads.
    Server,
    Cpu,
    /// The workload's own view, with so many connections.
    Signal(u32),
    /// Half of the counters move, and a third of the gauges.
    Any,
}

/// Some entities of one table, looked at together.
pub(crate) struct Followed {
    pub(crate) table: &'static Table,
    pub(crate) motion: Motion,
    /// Ticks of a tenth of a second between looks.
    pub(crate) every: i64,
    /// One entity in so many has something to do; the others do something once in a hundred looks.
    pub(crate) busy_of: usize,
    members: Vec<Member>,
    pub(crate) rows: Rows,
}

struct Member {
    id: EntityId,
    values: Vec<i64>,
    seen: Timestamp,
    unwritten: bool,
}

impl Followed {
    pub(crate) fn new(
        table: &'static Table,
        motion: Motion,
        every: i64,
        busy_of: usize,
        ids: &[EntityId],
    ) -> Self {
        let member = |id: &EntityId| Member {
            id: *id,
            values: table.columns.iter().map(first_value).collect(),
            seen: Timestamp::default(),
            unwritten: false,
        };
        Self {
            table,
            motion,
            every,
            busy_of,
            members: ids.iter().map(member).collect(),
            rows: Rows::with_capacity(table.columns.len(), 1024),
        }
    }

    /// Looks at all of them.
    pub(crate) fn look(&mut self, at: Timestamp, weather: &Weather, noise: &mut Noise) {
        let length = self.every as f64 * 1e8;
        for (index, member) in self.members.iter_mut().enumerate() {
            let first = member.seen == Timestamp::default();
            let moves = index % self.busy_of == 0 || noise.below(100) == 0;
            if !moves && !first {
                (member.seen, member.unwritten) = (at, true);
                continue;
            }
            if std::mem::take(&mut member.unwritten) {
                self.rows.push(member.seen, member.id, &member.values);
            }
            let moved = Move {
                table: self.table,
                length,
                weather,
            };
            moved.make(self.motion, &mut member.values, noise);
            member.seen = at;
            self.rows.push(at, member.id, &member.values);
        }
    }

    /// Looks at one more of them, which is not there for long.
    pub(crate) fn glimpse(
        &mut self,
        id: EntityId,
        times: impl Iterator<Item = Timestamp>,
        weather: &Weather,
        noise: &mut Noise,
    ) {
        let mut values: Vec<i64> = self.table.columns.iter().map(first_value).collect();
        let length = self.every as f64 * 1e8;
        for at in times {
            let moved = Move {
                table: self.table,
                length,
                weather,
            };
            moved.make(self.motion, &mut values, noise);
            self.rows.push(at, id, &values);
        }
    }

    /// The last look: the ends of unchanged stretches.
    pub(crate) fn finish(&mut self) {
        for member in &mut self.members {
            if std::mem::take(&mut member.unwritten) {
                self.rows.push(member.seen, member.id, &member.values);
            }
        }
    }
}

/// What is not there on most machines is missing: limits, and sources of other hierarchies.
fn first_value(column: &Column) -> i64 {
    let name = &*column.name;
    if name.contains("limit_") || name == "high_bytes" || name == "quota_ns" || name == "cpus" {
        return MISSING;
    }
    match (column.kind, column.unit) {
        (_, Unit::Code) => 0,
        (ColumnKind::Gauge, _) => 1 << 30,
        (ColumnKind::Counter, _) => 1_000_000_007,
    }
}

/// What counts only where something is wrong: on a healthy machine it stands still.
fn is_trouble(name: &str) -> bool {
    const WORDS: [&str; 8] = [
        "oom",
        "drop",
        "error",
        "overflow",
        "throttled",
        "events",
        "fails",
        "retransmitted",
    ];
    WORDS.iter().any(|word| name.contains(word))
}

/// One step of one entity.
struct Move<'a> {
    table: &'a Table,
    /// Of the time since the last look, ns.
    length: f64,
    weather: &'a Weather,
}

impl Move<'_> {
    fn make(&self, motion: Motion, values: &mut [i64], noise: &mut Noise) {
        let Weather { run, wait, .. } = *self.weather;
        match motion {
            Motion::Backend => self.thread(values, *self.weather, noise),
            Motion::Generator => {
                let own = Weather {
                    run: 4.0 * run,
                    wait: wait / 2.0,
                    sync: 0.0,
                    ..*self.weather
                };
                self.thread(values, own, noise);
            }
            Motion::Server => {
                self.any(values, noise);
                self.add(values, "user_ns", run, noise);
                self.add(values, "system_ns", run / 2.0, noise);
            }
            Motion::Cpu => self.cpu(values, noise),
            Motion::Signal(connections) => self.signal(values, connections, noise),
            Motion::Any => self.any(values, noise),
        }
    }

    /// A thread: on a CPU, waiting for one, else in the call that it was met in.
    fn thread(&self, values: &mut [i64], weather: Weather, noise: &mut Noise) {
        let Weather {
            run, wait, sync, ..
        } = weather;
        const RECEIVE: i64 = 45;
        const SYNC: i64 = 75;
        const CLIENT_READ: i64 = 0x0600_0000;
        const SYNC_EVENT: i64 = 0x0A00_004B;
        self.add(values, "run_ns", run, noise);
        self.add(values, "wait_ns", wait, noise);
        // Ticks of 10 ms.
        self.tick(values, "user_ns", run * 0.6, noise);
        self.tick(values, "system_ns", run * 0.4, noise);
        self.set(values, "slices", |slices| slices + 1 + noise.below(200));
        self.set(values, "minor_faults", |faults| {
            faults + noise.below(3) * noise.below(40)
        });
        self.set(values, "cpu", |cpu| {
            if noise.below(50) == 0 {
                noise.below(8)
            } else {
                cpu
            }
        });
        let met = noise.below(1000) as f64 / 1000.0;
        let (state, call, event) = if met < run + wait {
            (b'R', -2, 0)
        } else if met < run + wait + sync {
            (b'D', SYNC, SYNC_EVENT)
        } else {
            (b'S', RECEIVE, CLIENT_READ)
        };
        self.set(values, "state", |_| i64::from(state));
        self.set(values, "syscall", |_| call);
        self.set(values, "wait_event", |_| event);
    }

    fn cpu(&self, values: &mut [i64], noise: &mut Noise) {
        let Weather { run, sync, .. } = *self.weather;
        let busy = (run * 5.0).min(0.97);
        self.add(values, "user_ns", busy * 0.6, noise);
        self.add(values, "system_ns", busy * 0.35, noise);
        self.add(values, "softirq_ns", busy * 0.05, noise);
        let waiting = sync * (1.0 - busy) / 2.0;
        self.add(values, "iowait_ns", waiting, noise);
        self.add(values, "idle_ns", 1.0 - busy - waiting, noise);
    }

    fn signal(&self, values: &mut [i64], connections: u32, noise: &mut Noise) {
        let mut about = |value: f64| (value * (0.95 + noise.below(1000) as f64 / 1e4)) as i64;
        let milli = about(self.weather.throughput * f64::from(connections) * 1e3);
        let latency = about(self.weather.latency_ns);
        self.set(values, "interval_ns", |_| self.length as i64);
        self.set(values, "throughput_milli", |_| milli);
        self.set(values, "latency_mean_ns", |_| latency);
        self.set(values, "latency_stddev_ns", |_| latency / 2);
        self.set(values, "failed", |_| 0);
    }

    fn any(&self, values: &mut [i64], noise: &mut Noise) {
        for (index, (column, value)) in self.table.columns.iter().zip(values).enumerate() {
            let moves = match column.kind {
                ColumnKind::Counter => index % 2 == 0 && !is_trouble(&column.name),
                ColumnKind::Gauge => column.unit != Unit::Code && noise.below(3) == 0,
            };
            if *value != MISSING && moves {
                *value += match column.unit {
                    Unit::Nanoseconds => (self.length * 0.01) as i64 + noise.below(1_000_000),
                    Unit::Bytes => 4096 * noise.below(100),
                    _ => noise.below(8),
                };
            }
        }
    }

    /// A part of the time, give or take a fifth.
    fn add(&self, values: &mut [i64], column: &str, part: f64, noise: &mut Noise) {
        let around = 0.8 + noise.below(4000) as f64 / 1e4;
        self.set(values, column, |total| {
            total + (part * self.length * around) as i64
        });
    }

    fn tick(&self, values: &mut [i64], column: &str, part: f64, noise: &mut Noise) {
        const TICK_NS: i64 = 10_000_000;
        let drawn = noise.below(TICK_NS);
        self.set(values, column, |total| {
            total + ((part * self.length) as i64 + drawn) / TICK_NS * TICK_NS
        });
    }

    fn set(&self, values: &mut [i64], column: &str, to: impl FnOnce(i64) -> i64) {
        if let Some(position) = self.table.position(column) {
            values[position] = to(values[position]);
        }
    }
}
