//! What the tables report a recording whose `meta.json` is lost.

use model::{
    Cost, Entities, EntityKind, EntityRecord, FORMAT_VERSION, Identity, Meta, Plan, Role,
    TableData, Target, Timestamp, Window,
};

/// A `meta.json` from what the tables hold; what they do not tell is empty.
pub(crate) fn meta(entities: &Entities, tables: &[TableData]) -> Meta {
    let times = || {
        tables
            .iter()
            .flat_map(|data| (0..data.len()).map(|row| data.key(row).0))
    };
    let start = times().min().unwrap_or(Timestamp::from_ns(0));
    let window = Window::new(start, times().max().unwrap_or(start));
    let cpus = entities.of_kind(EntityKind::Cpu).count();
    Meta {
        format_version: FORMAT_VERSION,
        identity: Identity {
            recording_id: String::new(),
            machine_id: String::new(),
            boot_id: String::new(),
            node: String::new(),
            stallscope: String::new(),
            anchor_realtime_ns: 0,
            anchor_boottime: start,
        },
        plan: Plan {
            command: "record".to_owned(),
            ..Plan::default()
        },
        window,
        complete: false,
        cpus: u32::try_from(cpus).unwrap_or(u32::MAX),
        environment: Default::default(),
        targets: targets(entities),
        no_target: None,
        workload: None,
        gaps: Vec::new(),
        cost: Cost::default(),
        segment: None,
        firings: Vec::new(),
    }
}

/// The topmost processes of each part.
fn targets(entities: &Entities) -> Vec<Target> {
    let plays = |record: &EntityRecord| {
        record.entity.kind == EntityKind::Process
            && matches!(record.role, Role::Target | Role::Generator)
    };
    let below = |record: &EntityRecord| {
        let parent = record.parent.and_then(|parent| entities.get(parent));
        parent.is_some_and(|parent| plays(parent) && parent.role == record.role)
    };
    entities
        .iter()
        .filter(|record| plays(record) && !below(record))
        .map(|record| Target {
            role: record.role,
            root: Some(record.id),
            name: record.entity.name.clone(),
            unit: "process".to_owned(),
            version: None,
            found_by: "the entity list".into(),
            connections: 0,
            cpus_allowed: None,
            allowed: Vec::new(),
            found_at: record.first_seen,
            machine_unit: None,
        })
        .collect()
}
