use model::{EntityKind, MISSING};
use proptest::prelude::*;

use super::*;

mod captured;
mod processes;
mod together;
mod tools;
mod traces;

const SAR: &str = include_str!("../../fixtures/sar/load.json");
const TWICE: &str = include_str!("../../fixtures/monitor/twice.csv");

/// The values of a column about the first entity of that kind.
fn column(imported: &Imported, table: &str, kind: EntityKind, column: &str) -> Vec<i64> {
    let (table, rows) = imported
        .tables
        .iter()
        .find(|(it, _)| it.name == table)
        .expect("the table is there");
    let place = table.position(column).expect("the column is there");
    let whom = imported
        .entities
        .iter()
        .find(|it| it.entity.kind == kind)
        .expect("it is there")
        .id;
    let own = rows.iter().filter(|(_, entity, _)| *entity == whom);
    own.map(|(_, _, values)| values[place])
        .filter(|value| *value != MISSING)
        .collect()
}

fn notes(imported: &Imported) -> String {
    imported
        .notes
        .iter()
        .map(|(_, note)| note.to_string() + "\n")
        .collect()
}

#[test]
fn avg10_becomes_the_time_between() {
    // 0 before, then one interval of 10 s at 50 %: avg10 = 50 * (1 - e^-1) = 31.606; then 50 % again.
    let csv =
        "time,load1,cpu_some_avg10\n1000000000,0.5,0\n1000000010,1,31.606\n1000000020,1,43.233\n";
    let imported = text(csv.as_bytes(), None).expect("it is a CSV");
    let totals = column(&imported, "pressure", EntityKind::Machine, "cpu_some_ns");
    assert_eq!(totals.len(), 3);
    assert!((totals[1] - 5_000_000_000).abs() < 1_000_000, "{totals:?}");
    assert!((totals[2] - 10_000_000_000).abs() < 1_000_000, "{totals:?}");
    assert_eq!(
        column(&imported, "load", EntityKind::Machine, "load1_hundredths"),
        [50, 100, 100]
    );
    assert!(notes(&imported).contains("pressure.memory_some_ns is not in the file"));
}

#[test]
fn a_column_that_was_written_twice_is_said() {
    let imported = text(TWICE.as_bytes(), None).expect("a script wrote it");
    let said = notes(&imported);
    assert!(
        said.contains("Columns 4 and 6 of the file hold the same numbers in every row"),
        "{said}"
    );
    assert!(said.contains("for io some"), "{said}");
    assert_eq!(imported.resolution_ns, 10_000_000_000);
    let without_header: String = TWICE
        .lines()
        .skip(1)
        .map(|line| line.to_owned() + "\n")
        .collect();
    let same = text(without_header.as_bytes(), None).expect("places say what they are");
    assert_eq!(same.tables, imported.tables);
    assert!(notes(&same).contains("no header"));
    // Where io stands in the place of memory, memory is not known.
    let in_its_place = "time,load1,cpu,io,mem\n100,1,1,2,2\n110,1,1,5,5\n120,1,1,6,6\n";
    let said = notes(&text(in_its_place.as_bytes(), None).expect("it is a CSV"));
    assert!(
        said.contains("pressure.memory_some_ns is not in the file"),
        "{said}"
    );
}

#[test]
fn nothing_is_declared_exact() {
    for file in [SAR, TWICE] {
        let imported = text(file.as_bytes(), None).expect("it is known");
        let columns = imported
            .tables
            .iter()
            .flat_map(|(table, _)| table.columns.iter());
        assert!(columns.clone().count() > 3);
        for column in columns {
            assert!(
                column.quality > model::Quality::Exact,
                "{} of {}",
                column.name,
                column.source
            );
        }
    }
}

#[test]
fn mistakes_are_told_with_their_line() {
    let error = |csv: &str| {
        text(csv.as_bytes(), None)
            .expect_err("it is wrong")
            .to_string()
    };
    let comma = "time,load1,cpu_some_avg10\n1000000000,0,5,0\n";
    assert!(error(comma).starts_with(
        "line 2: expected 3 fields as before, found 4; write it again under LC_ALL=C"
    ));
    assert!(error("time,load1\n1,2\n0,2\n").starts_with("line 3: expected a later time"));
    assert!(error("load1,cpu_some_avg10\n1,2\n2,2\n").contains("--period 10s"));
    assert!(error("time,load1\n1,x\n2,2\n").starts_with("line 2: expected a number in field 2"));
    assert!(error("{\"sysstat\": \n").starts_with("line 2: expected the JSON of sadf -j"));
}

fn snapshot(path: &str, total: u64) -> Snapshot {
    let bytes = format!(
        "some avg10=0.00 avg60=0.00 avg300=0.00 total={total}\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n"
    );
    Snapshot {
        path: path.to_owned(),
        bytes: bytes.into_bytes(),
    }
}

#[test]
fn totals_of_snapshots_are_taken_as_they_are() {
    let files = [
        snapshot("1764139200/io", 1_000),
        snapshot("1764139210/io", 5_000),
        snapshot("cpu.2025-11-26T06:40:00Z", 4),
    ];
    let imported = snapshots(&files).expect("names have times");
    assert_eq!(
        column(&imported, "pressure", EntityKind::Machine, "io_some_ns"),
        [1_000_000, 5_000_000]
    );
    let error = snapshots(&[snapshot("first/io", 1)]).expect_err("no time");
    assert!(
        error
            .to_string()
            .starts_with("expected a time in the name first/io; name each")
    );
    snapshots(&[snapshot("1764139200/io", 9), snapshot("1764139210/io", 5)])
        .expect_err("it was restarted");
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400), period in proptest::option::of(any::<i64>())) {
        let _ = text(&bytes, period);
        let _ = snapshots(&[Snapshot { path: String::from_utf8_lossy(&bytes).into_owned(), bytes }]);
    }

    #[test]
    fn no_cut_panics(cut in 0..20_000_usize, change in 0..20_000_usize, byte in any::<u8>()) {
        let all = [SAR, TWICE, tools::VMSTAT, tools::IOSTAT, processes::PIDSTAT, processes::ATOP, traces::PERF];
        for file in all {
            let mut bytes = file.as_bytes()[..cut.min(file.len())].to_vec();
            let place = change % bytes.len().max(1);
            if let Some(at) = bytes.get_mut(place) {
                *at = byte;
            }
            for period in [None, Some(1)] {
                let _ = text(&bytes, period);
            }
        }
    }

    #[test]
    fn no_words_panic(words in proptest::collection::vec("(time|load1|cpu|io|mem|[0-9]{1,19}|0.5|\n|-1|1e300)", 0..40)) {
        let _ = text(words.join(",").replace(",\n,", "\n").as_bytes(), Some(1));
    }

    #[test]
    fn no_lines_in_another_order_panic(lines in proptest::collection::vec((0..7_usize, 0..40_usize), 0..60), period in proptest::option::of(any::<i64>())) {
        let all = [SAR, TWICE, tools::VMSTAT, tools::IOSTAT, processes::PIDSTAT, processes::ATOP, traces::PERF];
        let line = |(file, line): (usize, usize)| all[file].lines().nth(line).unwrap_or_default();
        let mixed: Vec<&str> = lines.into_iter().map(line).collect();
        if let Ok(imported) = text(mixed.join("\n").as_bytes(), period) {
            let _ = merged(vec![imported.clone(), imported]);
        }
    }
}
