//! Tables of what was counted in the kernel that are not what this version writes, or say what cannot be: no
//! share is out of bounds, and a person is told what was not believed.

use expect_test::expect;
use model::{Column, MISSING, Table, TableData, Unit};

use crate::drawing::{Drawn, drawn, headline, told, with};
use crate::locks::{FUTEX, ended_by};
use crate::robustness::assert_sane;
use crate::thread_times::saturated;

/// The same run with a table's rows made anew, of other columns where those are told.
fn changed(
    run: &Drawn,
    name: &str,
    columns: Option<Vec<Column>>,
    change: impl Fn(usize, &mut Vec<i64>),
) -> Drawn {
    let mut run = run.clone();
    let data = run.timeline.table(name).expect("it was drawn").clone();
    let columns = columns.map_or_else(|| data.table.columns.clone(), Into::into);
    let table = Table {
        columns,
        ..data.table.clone()
    };
    let mut copy = TableData::new(table);
    for index in 0..data.len() {
        let (time, entity) = data.key(index);
        let mut row: Vec<i64> = data.row(index).collect();
        change(index, &mut row);
        copy.push(time, entity, &row);
    }
    run.timeline.insert(copy);
    run
}

/// What is said of the accounts, and of all.
fn said(run: &Drawn) -> String {
    let report = run.diagnose();
    assert_sane(&report);
    let caveats = report.verdict.caveats.iter();
    let of_books = caveats.filter(|caveat| caveat.gate == "gate.books");
    let doubts: Vec<_> = of_books.map(|it| it.sentence.as_str()).collect();
    format!("{}: {}\n", headline(&report).cause, doubts.join("; "))
}

#[test]
fn books_that_cannot_be_are_not_used_and_that_is_said() {
    let run = drawn(&saturated());
    let columns = &sensors::thread_time::THREAD_TIME.columns;
    let on_cpu = columns.iter().position(|it| it.name == "on_cpu_ns");
    let on_cpu = on_cpu.expect("it is a column");
    let mut text = format!("as it was: {}", said(&run));
    let mut more = columns.to_vec();
    more.push(Column::counter("future_ns", Unit::Nanoseconds, "", ""));
    let a_class_too_many = changed(&run, "thread_time", Some(more), |_, row| {
        row.push(row[on_cpu] / 2);
        row[on_cpu] -= row[on_cpu] / 2;
    });
    text += &format!("a class too many: {}", said(&a_class_too_many));
    let fewer = columns
        .iter()
        .filter(|it| it.name != "on_cpu_ns")
        .cloned()
        .collect();
    let a_class_too_few = changed(&run, "thread_time", Some(fewer), |_, row| {
        row.remove(on_cpu);
    });
    text += &format!("a class too few: {}", said(&a_class_too_few));
    for (what, value) in [
        ("less than nothing", -1),
        ("nothing", MISSING),
        ("all there is", i64::MAX),
        ("the least", i64::MIN + 1),
    ] {
        let damaged = changed(&run, "thread_time", None, |index, row| {
            if index % 3 > 0 {
                row[on_cpu] = value;
            }
        });
        text += &format!("{what}: {}", said(&damaged));
    }
    expect![[r#"
        as it was: cpu.saturated: 
        a class too many: cpu.saturated: the ledger of 10 of 10 threads does not add up to their time: what those did is told from samples
        a class too few: cpu.saturated: the ledger of 10 of 10 threads does not add up to their time: what those did is told from samples
        less than nothing: cpu.saturated: the ledger of 10 of 10 threads does not add up to their time: what those did is told from samples
        nothing: cpu.saturated: the ledger of 10 of 10 threads does not add up to their time: what those did is told from samples
        all there is: cpu.saturated: the ledger of 10 of 10 threads does not add up to their time: what those did is told from samples
        the least: cpu.saturated: the ledger of 10 of 10 threads does not add up to their time: what those did is told from samples
    "#]].assert_eq(&text);
}

#[test]
fn wakeups_that_cannot_be_pass_nothing_on() {
    let run = drawn(&with(FUTEX, &ended_by("run", "sleep_ns")));
    let columns = &sensors::wakeup::WAKEUP.columns;
    let place = |name: &str| columns.iter().position(|it| it.name == name);
    let [sleep, on_cpu] = ["sleep_ns", "on_cpu_ns"].map(place);
    let [sleep, on_cpu] = [sleep, on_cpu].map(|it| it.expect("it is a column"));
    let mut text = String::new();
    // What one did less of than nothing makes another a multiple of all.
    let negative = changed(&run, "wakeup", None, |index, row| {
        row[sleep] = 1_000_000_000 * index as i64;
        row[on_cpu] = -999_000_000 * index as i64;
    });
    text += &told(&negative.diagnose());
    assert_sane(&negative.diagnose());
    for value in [-1, MISSING, i64::MAX, i64::MIN + 1] {
        for column in 0..columns.len() {
            let damaged = changed(&run, "wakeup", None, |index, row| {
                if index % 3 > 0 {
                    row[column] = value;
                }
            });
            assert_sane(&damaged.diagnose());
        }
    }
    expect![[r#"
        lock.futex | process server | consistent | 0.900 (0.900 to 0.900)
        A lock is the bottleneck: 90 % of each request was threads of server waiting for each other; run ended 100 % of these waits, 100 % of which were for somebody sleeping on a timer.
        helps: less time under the lock, or several locks instead of one: +305 % to +685 % by CPU law
        not: more clients, more threads, more CPUs, faster disk, more memory
        wrong if: run with half of the clients: if throughput falls as much, this is wrong
    "#]]
    .assert_eq(&text);
}
