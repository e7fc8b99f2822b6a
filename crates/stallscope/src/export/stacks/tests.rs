//! Drawn samples in every format.

use expect_test::expect;
use model::{
    Entity, EntityEvent, EntityId, EntityRecord, StringId, StringKind, TableData, Text,
    ThreadTimeClass,
};
use prost::Message as _;
use sensors::stack::{CPU_SAMPLE, STACK, SYMBOL, WAIT_SAMPLE};

use super::*;

fn at(milliseconds: i64) -> Timestamp {
    Timestamp::from_ns(100_000_000_000 + milliseconds * 1_000_000)
}

/// A server with a thread, and the recorder.
fn add_entities(timeline: &mut Timeline) {
    let mut add = |id: u32, kind, [name, path]: [&str; 2], parent: Option<u32>, role| {
        let record = EntityRecord::new(EntityId(id), Entity::new(kind, name, path), at(0));
        timeline.entities.apply(EntityEvent {
            time: at(0),
            record: EntityRecord {
                parent: parent.map(EntityId),
                role,
                ..record
            },
        });
    };
    add(0, EntityKind::Machine, ["m", "/"], None, Role::Background);
    let (server, recorder) = (["server;x", "pid:70@9"], ["stallscope", "pid:5@9"]);
    add(1, EntityKind::Process, server, None, Role::Target);
    add(
        2,
        EntityKind::Thread,
        ["a", "tid:71@9"],
        Some(1),
        Role::Target,
    );
    add(3, EntityKind::Process, recorder, None, Role::Recorder);
}

fn add_strings(timeline: &mut Timeline) {
    let texts = [
        (StringKind::Module, None, "/bin/server"),
        (StringKind::Module, None, "[kernel]"),
        (StringKind::Function, Some(0), "main"),
        (StringKind::Function, Some(0), "work"),
        (StringKind::Function, Some(3), "inlined"),
        (StringKind::Function, Some(1), "do_futex"),
    ];
    for (id, (kind, parent, text)) in (0..).zip(texts) {
        assert!(timeline.strings.insert(Text {
            id: StringId(id),
            kind,
            parent: parent.map(StringId),
            text: text.into(),
        }));
    }
}

/// The thread in `main`, `work` and the kernel, the process in a function without a name.
fn add_samples(timeline: &mut Timeline) {
    let table = |table: &model::Table, rows: &[(i64, u32, &[i64])]| {
        let mut data = TableData::new(table.clone());
        for (ms, entity, values) in rows {
            data.push(at(*ms), EntityId(*entity), values);
        }
        data
    };
    let stacks: &[(i64, u32, &[i64])] = &[
        (1, 0, &[0, MISSING, 0, 0x10]),
        (1, 0, &[1, 0, 0, 0x20]),
        (1, 0, &[2, 1, 1, 0x30]),
        (1, 0, &[3, MISSING, 0, 0x40]),
    ];
    let symbols: &[(i64, u32, &[i64])] = &[
        (999, 0, &[0, 0x10, 2]),
        (999, 0, &[0, 0x20, 4]),
        (999, 0, &[1, 0x30, 5]),
    ];
    let samples: &[(i64, u32, &[i64])] = &[
        (20, 2, &[2, 20_000_000, 0, 0]),
        (40, 2, &[2, 20_000_000, 0, 0]),
        (60, 1, &[3, 20_000_000, 0, 0]),
        (70, 3, &[0, 20_000_000, 0, 0]),
        (80, 2, &[MISSING, 20_000_000, 0, 0]),
    ];
    timeline.insert(table(&STACK, stacks));
    timeline.insert(table(&SYMBOL, symbols));
    timeline.insert(table(&CPU_SAMPLE, samples));
    let [futex, sync] = [ThreadTimeClass::Futex, ThreadTimeClass::IoSync].map(|it| it as i64);
    // The first stands for three like it; the third has no stack, and the recorder's own waits are not drawn.
    let wait = |stack, class, ns, weight_ns| {
        let of_waker = [MISSING; 3];
        [&[stack, class, ns, weight_ns], &of_waker[..], &[MISSING, 0]].concat()
    };
    let waits = [
        (30, 2, wait(2, futex, 1_000_000, 3_000_000)),
        (50, 2, wait(2, sync, 2_000_000, 2_000_000)),
        (90, 1, wait(MISSING, futex, 500_500, 500_500)),
        (95, 3, wait(2, futex, 9_000_000, 9_000_000)),
    ];
    let waits: Vec<(i64, u32, &[i64])> = waits
        .iter()
        .map(|(at, entity, row)| (*at, *entity, &row[..]))
        .collect();
    timeline.insert(table(&WAIT_SAMPLE, &waits));
}

fn recording() -> Recording {
    let mut timeline = Timeline::new(Window::new(at(0), at(1_000)));
    add_entities(&mut timeline);
    add_strings(&mut timeline);
    add_samples(&mut timeline);
    let meta: Meta = serde_json::from_value(serde_json::json!({
        "format_version": model::FORMAT_VERSION,
        "identity": {
            "recording_id": "1", "machine_id": "", "boot_id": "", "node": "",
            "stallscope": "0.1.0", "anchor_realtime_ns": 1_700_000_000_000_000_000_i64, "anchor_boottime": at(0),
        },
        "plan": model::Plan::default(),
        "window": timeline.window,
        "complete": true, "cpus": 2, "environment": {}, "targets": [], "workload": null, "gaps": [],
        "cost": model::Cost::default(),
    }))
    .expect("a description");
    Recording {
        meta,
        timeline,
        damage: Vec::new(),
    }
}

fn written(write: fn(&Profile<'_>, &mut dyn Write) -> Result<()>) -> Vec<u8> {
    let recording = recording();
    let profile = Profile::of(&recording, recording.timeline.window).expect("it has stacks");
    let mut bytes = Vec::new();
    write(&profile, &mut bytes).expect("memory");
    bytes
}

fn written_waits(write: fn(&Profile<'_>, &mut dyn Write) -> Result<()>) -> Vec<u8> {
    let recording = recording();
    let profile = Profile::of_waits(&recording, recording.timeline.window);
    let mut bytes = Vec::new();
    write(&profile.expect("it has waits"), &mut bytes).expect("memory");
    bytes
}

#[test]
fn folded_waits_have_their_time_and_end_with_what_was_waited_for() {
    let text = String::from_utf8(written_waits(folded::write)).expect("text");
    expect![[r#"
        server,x;futex 501
        server,x;main;work;inlined;do_futex;fsync 2000
        server,x;main;work;inlined;do_futex;futex 3000
    "#]]
    .assert_eq(&text);
}

fn unpacked(packed: &[u8]) -> pprof::ProfileMessage {
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(packed), &mut bytes)
        .expect("gzip");
    pprof::ProfileMessage::decode(&bytes[..]).expect("a profile")
}

#[test]
fn waits_are_contentions_with_a_delay_in_pprof() {
    let read = unpacked(&written_waits(pprof::write));
    for word in ["contentions", "delay", "futex", "fsync"] {
        assert!(read.string_table.iter().any(|it| it == word), "{word}");
    }
    let mut values: Vec<&[i64]> = read.sample.iter().map(|it| &it.value[..]).collect();
    values.sort_unstable();
    let expected: [&[i64]; 3] = [&[1, 500_500], &[1, 2_000_000], &[1, 3_000_000]];
    assert_eq!(values, expected);
}

#[test]
fn speedscope_weighs_waits_by_their_time() {
    let text = String::from_utf8(written_waits(speedscope::write)).expect("text");
    let read: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let profile = &read["profiles"][0];
    assert_eq!(profile["endValue"], 5_500_500);
    assert_eq!(
        profile["weights"],
        serde_json::json!([3_000_000, 2_000_000, 500_500])
    );
}

#[test]
fn folded_stacks_begin_with_the_program() {
    let text = String::from_utf8(written(folded::write)).expect("text");
    expect![[r#"
        server,x 1
        server,x;main;work;inlined;do_futex 2
        server,x;server+0x40 1
    "#]]
    .assert_eq(&text);
}

#[test]
fn speedscope_has_a_profile_for_each_program() {
    let text = String::from_utf8(written(speedscope::write)).expect("text");
    let text = text.replace(env!("CARGO_PKG_VERSION"), "VERSION");
    expect![[r#"
        {"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":"stallscope VERSION","shared":{"frames":[{"name":"main","file":"/bin/server"},
        {"name":"work","file":"/bin/server"},
        {"name":"inlined","file":"/bin/server"},
        {"name":"do_futex","file":"[kernel]"},
        {"name":"server+0x40","file":"/bin/server"}]},
        "profiles":[{"type":"sampled","name":"server;x","unit":"nanoseconds","startValue":0,"endValue":80000000,"samples":[[0,1,2,3],[0,1,2,3],[4],[]],"weights":[20000000,20000000,20000000,20000000]}]}"#]].assert_eq(&text.replace("},", "},\n"));
}

#[test]
fn pprof_adds_up_samples_of_a_thread_and_a_stack() {
    let read = unpacked(&written(pprof::write));
    let name = |id: &u64| {
        let location = read.location.iter().find(|it| it.id == *id).expect("there");
        let function = location.line[0].function_id;
        let function = read.function.iter().find(|it| it.id == function);
        read.string_table[function.expect("there").name as usize].clone()
    };
    let samples: Vec<(String, Vec<i64>)> = read
        .sample
        .iter()
        .map(|sample| {
            let names: Vec<String> = sample.location_id.iter().map(name).collect();
            (names.join(" < "), sample.value.clone())
        })
        .collect();
    assert_eq!(read.string_table[0], "");
    let expected = [
        ("server+0x40", vec![1, 20_000_000]),
        ("", vec![1, 20_000_000]),
        ("do_futex < inlined < work < main", vec![2, 40_000_000]),
    ];
    assert_eq!(
        samples,
        expected.map(|(names, value)| (names.to_owned(), value))
    );
}

#[test]
fn perfetto_has_each_sample_at_its_time() {
    let trace = perfetto::Trace::decode(&written(perfetto::write)[..]).expect("a trace");
    let names = trace.packet[0].interned_data.as_ref().expect("in front");
    let names = names.function_names.iter().map(|name| {
        let bytes = name.str.clone().unwrap_or_default();
        String::from_utf8(bytes).expect("text")
    });
    let names: Vec<String> = names.collect();
    assert_eq!(
        names,
        ["main", "work", "inlined", "do_futex", "server+0x40"]
    );
    let samples = trace.packet[1..].iter().map(|packet| {
        let sample = packet.perf_sample.as_ref().expect("one each");
        (
            packet.timestamp.map(|ns| ns / 1_000_000),
            sample.callstack_iid,
        )
    });
    let samples: Vec<_> = samples.collect();
    let at = |ms: u64| Some(100_000 + ms);
    assert_eq!(
        samples,
        [
            (at(20), Some(1)),
            (at(40), Some(1)),
            (at(60), Some(2)),
            (at(80), None)
        ]
    );
}
