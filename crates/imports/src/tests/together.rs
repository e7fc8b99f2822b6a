//! Several files as one recording.

use model::EntityKind;

use super::*;

#[test]
fn files_are_put_beside_each_other_by_their_wall_clocks() {
    let csv = "time,load1,cpu_some_avg10,io_some_avg10,memory_some_avg10\n1000000000,1,0,0,0\n1000000010,1,9,9,9\n";
    let vmstat = "r b swpd free buff cache si so bi bo in cs us sy id wa st UTC\n\
        1 0 0 1 1 1 0 0 0 0 1 1 1 1 98 0 0 2001-09-09 01:46:45\n\
        1 0 0 1 1 1 0 0 0 0 1 1 1 1 98 0 0 2001-09-09 01:46:55\n";
    let read = |text: &str| super::text(text.as_bytes(), None).expect("it is known");
    let both = merged(vec![read(csv), read(vmstat)]).expect("they are of one time");
    assert_eq!(both.tool, "monitor.csv, vmstat");
    // From 01:46:40 to 01:46:55.
    assert_eq!(both.window.len_ns(), 15_000_000_000);
    let said = notes(&both);
    assert!(said.contains("Several files have the table load"), "{said}");
    assert!(!said.contains("vmstat does not read pressure"), "{said}");
    assert!(
        said.contains("times of each CPU are not in the file"),
        "{said}"
    );
    let (_, rows) = both
        .tables
        .iter()
        .find(|(it, _)| it.name == "cpu")
        .expect("vmstat has it");
    let first = rows.times()[0].ns_since(both.window.start);
    assert_eq!(first, 5_000_000_000);
    let load = column(&both, "load", EntityKind::Machine, "load1_hundredths");
    assert_eq!(load, [100, 100]);
    let alone = merged(vec![read(csv)]).expect("one is enough");
    assert_eq!(alone, read(csv));
    let untimed = super::text(b"load1,io_some_avg10\n1,2\n1,2\n", Some(1_000_000_000));
    merged(vec![read(csv), untimed.expect("a period")]).expect_err("31 years lie between");
    merged(Vec::new()).expect_err("nothing to merge");
}
