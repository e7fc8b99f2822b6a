//! The fixture of every format opens, and says what it said when it was written.

use std::fmt::Write as _;
use std::path::Path;

use expect_test::expect;
use model::{MISSING, Timeline};
use recording::Reader;

fn as_text(timeline: &Timeline) -> String {
    let mut text = String::new();
    let window = timeline.window;
    writeln!(text, "window {} to {}", window.start, window.end).unwrap();
    for gap in &timeline.gaps {
        writeln!(text, "gap {} {}: {}", gap.table, gap.what, gap.reason).unwrap();
    }
    for record in timeline.entities.iter() {
        writeln!(text, "{record:?}").unwrap();
    }
    for string in timeline.strings.iter() {
        writeln!(text, "{string:?}").unwrap();
    }
    for data in timeline.tables() {
        let columns: Vec<_> = data.table.columns.iter().map(|c| &*c.name).collect();
        writeln!(
            text,
            "table {}: time entity {}",
            data.table.name,
            columns.join(" ")
        )
        .unwrap();
        for index in 0..data.len() {
            let (time, entity) = data.key(index);
            write!(text, "{} {}", time.as_ns(), entity.0).unwrap();
            for value in data.row(index) {
                if value == MISSING {
                    text.push_str(" -")
                } else {
                    write!(text, " {value}").unwrap()
                }
            }
            text.push('\n');
        }
    }
    text
}

fn opened(format: u32) -> String {
    let folder = format!("fixtures/format-{format}.stall");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let recording = Reader::open(&folder).unwrap();
    assert_eq!(recording.damage, []);
    let mut written = model::Meta {
        format_version: format,
        ..crate::sample::meta(true)
    };
    // These were written without the parts of sentences, and a text alone is foreign.
    const LAST_WITHOUT_PARTS: u32 = 5;
    let sentences = written.sentences_mut();
    for sentence in sentences.filter(|_| format <= LAST_WITHOUT_PARTS) {
        *sentence = sentence.to_string().into();
    }
    assert_eq!(recording.meta, written);
    as_text(&recording.timeline)
}

#[test]
fn format_1_opens_and_lacks_the_groups_of_later_formats() {
    expect![[r#"
        window 100.000 s to 104.000 s
        gap threads wait_ns: not allowed: needs CAP_BPF
        EntityRecord { id: EntityId(0), entity: Entity { kind: Thread, name: "leader", path: "tid:40@1" }, parent: None, group: None, pressure_group: None, memory_group: None, io_group: None, role: Target, serving: false, first_seen: Timestamp(100000000000), vanished: None }
        EntityRecord { id: EntityId(1), entity: Entity { kind: Thread, name: "worker2", path: "tid:41@1" }, parent: Some(EntityId(0)), group: Some(EntityId(7)), pressure_group: Some(EntityId(8)), memory_group: None, io_group: None, role: Target, serving: true, first_seen: Timestamp(100000000000), vanished: Some(Timestamp(103600000000)) }
        table threads: time entity run_ns state switches
        100100000000 0 1000000 82 10
        100100000000 1 500 83 -
        100200000000 1 700 - 3
        101200000000 0 5000000 82 12
        102000000000 1 - 68 4
        102000000000 0 6000000 83 12
        103500000000 1 900 83 9
    "#]].assert_eq(&opened(1));
}

#[test]
fn formats_2_to_6_open_alike() {
    let expected = expect![[r#"
        window 100.000 s to 104.000 s
        gap threads wait_ns: not allowed: needs CAP_BPF
        EntityRecord { id: EntityId(0), entity: Entity { kind: Thread, name: "leader", path: "tid:40@1" }, parent: None, group: None, pressure_group: None, memory_group: None, io_group: None, role: Target, serving: false, first_seen: Timestamp(100000000000), vanished: None }
        EntityRecord { id: EntityId(1), entity: Entity { kind: Thread, name: "worker2", path: "tid:41@1" }, parent: Some(EntityId(0)), group: Some(EntityId(7)), pressure_group: Some(EntityId(8)), memory_group: Some(EntityId(9)), io_group: None, role: Target, serving: true, first_seen: Timestamp(100000000000), vanished: Some(Timestamp(103600000000)) }
        table threads: time entity run_ns state switches
        100100000000 0 1000000 82 10
        100100000000 1 500 83 -
        100200000000 1 700 - 3
        101200000000 0 5000000 82 12
        102000000000 1 - 68 4
        102000000000 0 6000000 83 12
        103500000000 1 900 83 9
    "#]];
    (2..=6).for_each(|format| expected.assert_eq(&opened(format)));
}

#[test]
fn format_7_has_strings_and_is_else_as_format_6() {
    let (seventh, sixth) = (opened(7), opened(6));
    let (strings, rest): (Vec<&str>, Vec<&str>) =
        seventh.lines().partition(|line| line.starts_with("Text"));
    assert_eq!(rest, sixth.lines().collect::<Vec<_>>());
    let expected = [
        r#"Text { id: StringId(0), kind: Module, parent: None, text: "/usr/bin/a" }"#,
        r#"Text { id: StringId(1), kind: Function, parent: Some(StringId(0)), text: "main" }"#,
    ];
    assert_eq!(strings, expected);
}
