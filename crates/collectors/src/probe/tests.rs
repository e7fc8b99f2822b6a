//! A probe on files that the test writes.

use sensors::{Facts, Sensor};

use super::series::MOST_PARTS;
use super::*;
use model::{Entity, EntityKind};

/// A sensor with its table in `out`.
fn recorded(sensor: &'static Sensor, out: &mut Output) -> Recorded {
    let table = out.open(sensor.table);
    Recorded { sensor, table }
}

#[test]
fn interfaces_of_ever_new_names_take_no_more_and_more_memory() {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    let is_network = |sensor: &&&Sensor| sensor.sources[0].path == "proc/net/dev";
    let sensor = sensors::all()
        .iter()
        .find(is_network)
        .expect("it is listed");
    let (mut scratch, mut out) = (Scratch::new(Facts::default()), Output::default());
    let recorded = recorded(sensor, &mut out);
    let place = |source: usize| (source == 0).then(|| file.path().to_path_buf());
    let at = Timestamp::from_ns;
    let machine = Entity::new(EntityKind::Machine, "m", "/");
    let machine = out.registry.add(machine, None, at(0));
    let mut probe = Probe::open(recorded, machine, place, &mut out.gaps).expect("a file");
    let line = |name: &str| format!("{name}: 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\n");
    for number in 0..MOST_PARTS as i64 + 100 {
        let text = format!("a\nb\n{}{}", line("eth0"), line(&format!("veth{number}")));
        std::fs::write(file.path(), text).expect("written");
        probe.sample(at(1 + number), &mut scratch, &mut out);
    }
    assert!(probe.series.parts.len() <= MOST_PARTS);
    let events = out.registry.take_events().unwrap_or_default();
    let ended = events
        .iter()
        .filter(|event| event.record.vanished.is_some());
    let ended: Vec<&str> = ended.map(|it| it.record.entity.name.as_str()).collect();
    assert_eq!(
        (ended.first(), ended.len()),
        (Some(&"veth0"), MOST_PARTS - 1)
    );
    assert_eq!(out.gaps.take_fresh().count(), 0);
}

#[test]
fn unchanged_probes_are_read_less_often_until_they_change() {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    let is_load = |sensor: &&&Sensor| sensor.table.name == "load";
    let sensor = sensors::all().iter().find(is_load).expect("it is listed");
    let write = |load: &str| {
        std::fs::write(file.path(), format!("{load} 0.00 0.00 1/2 3\n")).expect("written");
    };
    write("0.00");
    let (mut scratch, mut out) = (Scratch::new(Facts::default()), Output::default());
    let recorded = recorded(sensor, &mut out);
    let place = |source: usize| (source == 0).then(|| file.path().to_path_buf());
    let machine = out.registry.add(
        Entity::new(EntityKind::Machine, "m", "/"),
        None,
        Timestamp::default(),
    );
    let mut probe = Probe::open(recorded, machine, place, &mut out.gaps).expect("a file");
    let mut times = 0;
    let mut reads = |probe: &mut Probe, deadlines: usize| {
        let mut read = 0;
        for _ in 0..deadlines {
            times += 1;
            if !probe.skips_deadline(Look::Due) {
                probe.sample(Timestamp::from_ns(times), &mut scratch, &mut out);
                read += 1;
            }
        }
        read
    };
    assert_eq!(reads(&mut probe, 5), 5);
    assert_eq!(reads(&mut probe, 8), 4);
    assert_eq!(reads(&mut probe, 40), 10);
    assert!(!probe.skips_deadline(Look::Last), "series reach the end");
    write("1.00");
    let found = (1..=4).find(|_| reads(&mut probe, 1) == 1);
    assert!(found.is_some());
    assert_eq!(reads(&mut probe, 4), 4);
}

#[test]
fn an_unchanged_first_source_leaves_the_parts_as_they_were_seen() {
    let folder = tempfile::tempdir().expect("a folder");
    let is_io = |sensor: &&&Sensor| sensor.table.name == "cgroup_io";
    let sensor = sensors::all().iter().find(is_io).expect("it is listed");
    let write = |bytes: u64| {
        let text = format!("254:0 Read {bytes}\n254:0 Write 0\n");
        std::fs::write(folder.path().join(sensor.sources[2].path), text).expect("written");
    };
    write(5);
    let at = Timestamp::from_ns;
    let mut out = Output::default();
    let group = out
        .registry
        .add(Entity::new(EntityKind::Cgroup, "g", "/g"), None, at(0));
    let mut scratch = Scratch::new(Facts::default());
    let recorded = recorded(sensor, &mut out);
    let place = |source: usize| Some(folder.path().join(sensor.sources[source].path));
    let mut probe = Probe::open(recorded, group, place, &mut out.gaps).expect("a file");
    for time in 1..=4 {
        if time == 4 {
            write(9);
        }
        probe.sample(at(time), &mut scratch, &mut out);
    }
    for time in 5..=8 {
        if time == 7 {
            out.force_full_rows();
        }
        probe.sample(at(time), &mut scratch, &mut out);
    }
    let rows = out.tables[recorded.table]
        .rows
        .iter()
        .map(|(time, _, row)| (time.as_ns(), row[0]));
    let expected = [(1, 5), (3, 5), (4, 9), (6, 9), (7, 9)];
    assert_eq!(rows.collect::<Vec<_>>(), expected);
}
