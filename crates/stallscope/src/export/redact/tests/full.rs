//! A recording that has every field of a description and an entity of every kind, written out in full: a new
//! field does not compile here until somebody says what it holds.

use std::collections::BTreeMap;

use model::{
    Complaint, ComplaintKind, Cost, CrossCheck, Entity, EntityEvent, EntityId, EntityKind,
    EntityRecord, ExitKind, Firing, Gap, GapReason, Goal, Identity, Latency, LatencyQuantile, Load,
    MachineUnit, Mark, Meta, Outcome, Part, Plan, Provenance, ReadEvery, Role, ScriptSummary,
    Segment, Summary, Target, Timeline, Timestamp, UnitKind, Window, WorkloadRun, sentence,
};
use recording::Recording;
use serde_json::Value;

const AT: Timestamp = Timestamp::from_ns(1);

/// A recording in every text of which stands `word`; programs and threads are called `program`.
pub(super) fn telling(word: &str, program: &str) -> Recording {
    let whole = serde_json::to_value(meta()).expect("it is JSON");
    let mut meta: Meta = serde_json::from_value(reworded(whole, word)).expect("it is a meta");
    for target in &mut meta.targets {
        target.name = program.to_owned();
    }
    if let Some(workload) = &mut meta.workload {
        workload.name = program.to_owned();
        workload.adapter = Some(program.to_owned());
        for form in [
            "-x@", "--@", "--@=7", "--time=@", "@=7", "a @ b", "'@'", "x@y",
        ] {
            workload.command.push(form.replace('@', word));
        }
    }
    add_keys(&mut meta, word);
    for kind in EntityKind::ALL {
        let sentence = sentence!(
            "{} {}",
            word.to_owned(),
            Part::name(kind, name(kind, word, program))
        );
        meta.gaps.push(Gap {
            table: "disk".to_owned(),
            what: Part::name(kind, name(kind, word, program)).into(),
            window: None,
            reason: GapReason::Denied(sentence),
        });
    }
    let mut timeline = Timeline::new(meta.window);
    timeline.gaps.clone_from(&meta.gaps);
    let structured = [
        (
            EntityKind::Connection,
            format!("{word}-{word}:5"),
            format!("net:4/{word}-{word}:5@6"),
        ),
        (
            EntityKind::Cgroup,
            format!("{word}.service"),
            format!("/system.slice/{word}.service"),
        ),
        (
            EntityKind::GroupDisk,
            "254:0".to_owned(),
            format!("/system.slice/{word}.service/254:0"),
        ),
    ];
    let plain = EntityKind::ALL.map(|kind| (kind, name(kind, word, program), word.to_owned()));
    for (id, (kind, name, path)) in plain.into_iter().chain(structured).enumerate() {
        let record = EntityRecord::new(EntityId(id as u32), Entity::new(kind, name, path), AT);
        timeline.entities.apply(EntityEvent { time: AT, record });
    }
    add_tables(&mut timeline, word);
    timeline.marks.extend(Mark::new(AT, word));
    Recording {
        meta,
        timeline,
        damage: Vec::new(),
    }
}

fn name(kind: EntityKind, word: &str, program: &str) -> String {
    let is_program = matches!(
        kind,
        EntityKind::Process
            | EntityKind::Thread
            | EntityKind::Pool
            | EntityKind::Waker
            | EntityKind::Workload
    );
    if is_program { program } else { word }.to_owned()
}

/// A description with `word` in place of every text that can hold it: words of the format's own lists cannot.
fn reworded(whole: Value, word: &str) -> Value {
    fn reword(whole: &mut Value, place: &str, word: &str) {
        let Some(value) = whole.pointer_mut(place) else {
            return;
        };
        match value {
            Value::String(text) => {
                let before = std::mem::replace(text, word.to_owned());
                if serde_json::from_value::<Meta>(whole.clone()).is_err() {
                    *whole.pointer_mut(place).expect("it was there") = before.into();
                }
            }
            Value::Array(values) => {
                for number in 0..values.len() {
                    reword(whole, &format!("{place}/{number}"), word);
                }
            }
            Value::Object(members) => {
                let names: Vec<String> = members.keys().cloned().collect();
                for name in names {
                    reword(whole, &format!("{place}/{name}"), word);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    let mut whole = whole;
    reword(&mut whole, "", word);
    whole
}

/// Names where names are keys.
fn add_keys(meta: &mut Meta, word: &str) {
    let key = || word.to_owned();
    meta.environment.insert(key(), key());
    // Declared public, whatever it is.
    let release = "6.1.0-13-amd64".to_owned();
    meta.environment
        .insert("kernel.release".to_owned(), release);
    let every = ReadEvery {
        near_ns: 1,
        rest_ns: 1,
    };
    meta.plan.periods.insert(key(), every);
    meta.cost.kernel_bytes.insert(key(), 1);
    meta.cost.corrections.insert(key(), 1);
    meta.cost.programs.insert(key(), None);
}

/// Tables and columns that this version does not describe, or describes otherwise.
fn add_tables(timeline: &mut Timeline, word: &str) {
    let text = || word.to_owned().into();
    let mut known = workloads::LATENCY_SAMPLE.clone();
    let mut unknown = known.columns[0].clone();
    (unknown.name, unknown.help, unknown.source, unknown.since) = (text(), text(), text(), text());
    let columns = known.columns.to_mut();
    (columns[0].help, columns[0].source, columns[0].since) = (text(), text(), text());
    columns.insert(1, unknown);
    (known.help, known.covered_by) = (text(), text());
    let mut other = known.clone();
    other.name = text();
    for table in [known, other] {
        let width = table.columns.len() as i64;
        let values: Vec<i64> = (0..width).collect();
        timeline.table_mut(&table).push(AT, EntityId(0), &values);
    }
}

/// A description that lacks nothing.
pub(super) fn meta() -> Meta {
    let environment = [
        "kernel.release",
        "kernel.version",
        "postgres.host",
        "postgres.user",
        "redis.host",
        "redis.user",
        "redis.run_id",
    ];
    let told = |by: &str| sentence!("told by {}", by.to_owned());
    Meta {
        format_version: 4,
        identity: Identity {
            recording_id: "8bd0000b".to_owned(),
            machine_id: "m".to_owned(),
            boot_id: "b".to_owned(),
            node: "n".to_owned(),
            stallscope: "0.1.0".to_owned(),
            anchor_realtime_ns: 1,
            anchor_boottime: AT,
        },
        plan: plan(told("user")),
        window: Window::new(AT, Timestamp::from_ns(9_000_000_000)),
        complete: true,
        cpus: 2,
        environment: environment
            .map(|name| (name.to_owned(), "e".to_owned()))
            .into(),
        targets: vec![target()],
        no_target: Some(told("search")),
        workload: Some(workload()),
        gaps: vec![Gap {
            table: "disk".to_owned(),
            what: told("kernel"),
            window: Some(Window::new(AT, AT)),
            reason: GapReason::Malformed(told("file")),
        }],
        cost: cost(),
        segment: Some(Segment {
            number: 3,
            continues: true,
        }),
        firings: vec![Firing {
            at: AT,
            trigger: "pressure.cpu.some>60% for 4s".to_owned(),
            value: "71 %".to_owned(),
            suppressed: 2,
        }],
    }
}

fn plan(named: model::Sentence) -> Plan {
    Plan {
        stack_rate: Some(49),
        min_wait_ns: Some(1_000),
        command: "run".to_owned(),
        targets: vec![named],
        fast_period_ns: 1,
        typed: vec!["stallscope".to_owned(), "run".to_owned()],
        periods: BTreeMap::from([(
            "disk".to_owned(),
            ReadEvery {
                near_ns: 1,
                rest_ns: 1,
            },
        )]),
        trace_all: true,
        goals: [Latency::Mean, Latency::Quantile(0.99)]
            .map(|of| Goal { of, below_ns: 1 })
            .into(),
    }
}

fn target() -> Target {
    Target {
        role: Role::Target,
        root: Some(EntityId(2)),
        name: "postgres".to_owned(),
        unit: "backend".to_owned(),
        version: Some("15".to_owned()),
        found_by: sentence!("port {}", 5432),
        connections: 1,
        cpus_allowed: Some(1),
        allowed: vec![3],
        found_at: AT,
        machine_unit: Some(MachineUnit {
            kind: UnitKind::Service,
            group: Some("/system.slice/a.service".to_owned()),
        }),
    }
}

fn workload() -> WorkloadRun {
    WorkloadRun {
        name: "pgbench".to_owned(),
        command: ["pgbench", "-c", "8"].map(str::to_owned).to_vec(),
        adapter: Some("pgbench".to_owned()),
        notices: vec!["pgbench: added -P 1".into()],
        signals: vec!["latency:us=([0-9]+)".to_owned()],
        is_heard: true,
        quantiles_option: Some("--quantiles".to_owned()),
        load: Load {
            clients: Some(8),
            threads: Some(1),
            rate: Some(1.0),
            rate_unit: "tps".to_owned(),
            clients_option: Some("-c".to_owned()),
            rate_option: Some("-R".to_owned()),
        },
        latency: Provenance::ToolMean,
        started: AT,
        outcome: Some(Outcome {
            ended: AT,
            exit: ExitKind::Code(1),
            summary: Some(summary()),
            remarks: vec!["pgbench aborted its run.".into()],
            complaints: vec![Complaint {
                kind: ComplaintKind::TooManyConnections,
                count: 2,
                message: "FATAL".to_owned(),
            }],
        }),
    }
}

fn summary() -> Summary {
    Summary {
        version: Some("pgbench (PostgreSQL) 15".to_owned()),
        complete: true,
        transaction_type: Some("<builtin: select only>".to_owned()),
        clients: Some(1),
        threads: Some(1),
        duration_s: Some(1.0),
        completed: Some(1),
        failed: Some(1),
        skipped: Some(1),
        retried: Some(1),
        retries: Some(1),
        late: Some(1),
        latency_mean_ns: Some(1),
        latency_stddev_ns: Some(1),
        latency_quantiles: vec![LatencyQuantile {
            q: 0.5,
            latency_ns: 1,
        }],
        latency_derived: true,
        lag_mean_ns: Some(1),
        lag_max_ns: Some(1),
        connect_ns: Some(1),
        throughput: Some(1.0),
        scripts: vec![ScriptSummary {
            name: "a.sql".to_owned(),
            weight: Some(1),
            completed: Some(1),
            failed: Some(1),
            throughput: Some(1.0),
            latency_mean_ns: Some(1),
            latency_stddev_ns: Some(1),
            latency_quantiles: vec![LatencyQuantile {
                q: 0.5,
                latency_ns: 1,
            }],
        }],
    }
}

fn cost() -> Cost {
    Cost {
        cpu_ns: 1,
        wall_ns: 1,
        ticks: 1,
        late_ticks: 1,
        lateness_max_ns: 1,
        fast_period_ns: 1,
        memory_locked: true,
        priority: "normal".to_owned(),
        resident_bytes: 1,
        kernel_bytes: BTreeMap::from([("tasks".to_owned(), 1)]),
        corrections: BTreeMap::from([("disk.reads".to_owned(), 1)]),
        programs: BTreeMap::from([("tasks".to_owned(), Some("no BTF".into()))]),
        cross_check: Some(CrossCheck {
            compared: 1,
            diff: 1,
            worst_ns: 1,
            switches_missed: 1,
            drops: 1,
        }),
    }
}
