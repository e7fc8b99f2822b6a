//! What holds for every sensor, whatever its files hold: no number comes out that does not stand
//! there whole.

use model::MISSING;
use proptest::prelude::*;
use sensors::{Facts, Reading, Sensor, Subject};

/// Captured from a kernel.
const CAPTURED: &[(&str, &[u8])] = &[
    (
        "proc/stat",
        include_bytes!("../fixtures/kernel/this-6.18/stat"),
    ),
    (
        "proc/loadavg",
        include_bytes!("../fixtures/kernel/this-6.18/loadavg"),
    ),
    (
        "proc/meminfo",
        include_bytes!("../fixtures/kernel/this-6.18/meminfo"),
    ),
    (
        "proc/vmstat",
        include_bytes!("../fixtures/kernel/this-6.18/vmstat"),
    ),
    (
        "proc/diskstats",
        include_bytes!("../fixtures/kernel/this-6.18/diskstats"),
    ),
    (
        "proc/net/dev",
        include_bytes!("../fixtures/kernel/this-6.18/net.dev"),
    ),
    (
        "proc/net/snmp",
        include_bytes!("../fixtures/kernel/this-6.18/net.snmp"),
    ),
    (
        "proc/net/netstat",
        include_bytes!("../fixtures/kernel/this-6.18/net.netstat"),
    ),
    (
        "proc/net/softnet_stat",
        include_bytes!("../fixtures/kernel/this-6.18/net.softnet_stat"),
    ),
    (
        "proc/pressure/cpu",
        include_bytes!("../fixtures/kernel/this-6.18/pressure.cpu"),
    ),
    (
        "cpu.pressure",
        include_bytes!("../fixtures/kernel/this-6.18/cgroup.cpu.pressure"),
    ),
    (
        "cpu.stat",
        include_bytes!("../fixtures/kernel/this-6.18/cgroup.cpu.stat"),
    ),
    (
        "memory.stat",
        include_bytes!("../fixtures/kernel/this-6.18/v1.memory.stat"),
    ),
    (
        "memory.usage_in_bytes",
        include_bytes!("../fixtures/kernel/this-6.18/v1.memory.usage_in_bytes"),
    ),
    (
        "schedstat",
        include_bytes!("../fixtures/kernel/this-6.18/pid.schedstat"),
    ),
    (
        "stat",
        include_bytes!("../fixtures/kernel/this-6.18/pid.stat"),
    ),
    ("cpu.max", b"150000 100000\n"),
    ("cpu.cfs_quota_us", b"150000\n"),
    ("cpuset.cpus.effective", b"0-3,8\n"),
    (
        "io.stat",
        b"254:0 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=5 dios=6\n",
    ),
    ("syscall", b"202 0x7f 0x0 0x0 0x0 0x0 0x0 0x7ffc 0x7f00\n"),
];

/// Each part's name, if it has one, and its values.
type Rows = Vec<(Option<Vec<u8>>, Vec<i64>)>;

/// The rows of a sensor that can read one source only.
fn rows(sensor: &Sensor, source: usize, text: &[u8]) -> Rows {
    let mut bytes = vec![None; sensor.sources.len()];
    bytes[source] = Some(text);
    let reading = Reading {
        bytes: &bytes,
        facts: Facts::default(),
    };
    let mut rows = Rows::new();
    let _ = (sensor.parse)(&reading, &mut |subject, values| {
        let name = match subject {
            Subject::Own => None,
            Subject::Part(_, name) => Some(name.to_vec()),
        };
        rows.push((name, values.to_vec()));
    });
    rows
}

/// Every source of every sensor that something was captured of, and that gives rows by itself.
fn sources() -> impl Iterator<Item = (&'static Sensor, usize, &'static [u8])> {
    let all = sensors::all().iter().copied();
    let each = all.flat_map(|sensor| (0..sensor.sources.len()).map(move |at| (sensor, at)));
    each.filter_map(|(sensor, at)| {
        let path = sensor.sources[at].path;
        let (_, text) = CAPTURED.iter().find(|(name, _)| *name == path)?;
        (!rows(sensor, at, text).is_empty()).then_some((sensor, at, *text))
    })
}

#[test]
fn nothing_that_was_captured_is_left_out() {
    for (path, _) in CAPTURED {
        let tried = |(sensor, at, _): (&Sensor, usize, _)| sensor.sources[at].path == *path;
        assert!(sources().any(tried), "{path} gives no rows");
    }
}

#[test]
fn a_text_that_is_cut_anywhere_gives_what_its_whole_lines_give() {
    for (sensor, at, text) in sources() {
        for cut in 0..text.len().min(3_000) {
            let text = &text[..cut];
            let lines = text.iter().rposition(|byte| *byte == b'\n');
            let whole = &text[..lines.map_or(0, |end| end + 1)];
            let path = sensor.sources[at].path;
            assert_eq!(
                rows(sensor, at, text),
                rows(sensor, at, whole),
                "{path} {cut}"
            );
        }
    }
}

/// The text with its numbers replaced.
fn with_numbers(text: &[u8], mut number: impl FnMut() -> String) -> Vec<u8> {
    let mut replaced = Vec::new();
    let mut before = b' ';
    for run in text.chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit()) {
        // `cpu0` and `sda1` are names.
        if run[0].is_ascii_digit() && b" =\t".contains(&before) {
            replaced.extend(number().into_bytes());
        } else {
            replaced.extend_from_slice(run);
        }
        before = run[run.len() - 1];
    }
    replaced
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn numbers_beyond_64_bits_are_missing_and_not_wrapped(beyond in (1u128 << 63)..(1 << 90)) {
        for (sensor, at, text) in sources() {
            let path = sensor.sources[at].path;
            // Hexadecimal, and 32 bits by the kernel's own format; a list of CPUs is tested by itself.
            if path.ends_with("softnet_stat") || path.ends_with("cpus.effective") {
                continue;
            }
            let text = with_numbers(text, || beyond.to_string());
            for (name, values) in rows(sensor, at, &text) {
                for (column, value) in sensor.table.columns.iter().zip(values) {
                    prop_assert!(value == MISSING, "{path} {name:?} {}: {value}", column.name);
                }
            }
        }
    }

    #[test]
    fn what_comes_out_of_cpu_lines_is_what_went_in(cpus in prop::collection::vec(prop::array::uniform10(0..1i64 << 32), 1..9)) {
        let mut text = String::from("cpu  1 2 3 4 5 6 7 8 9 10\n");
        for (number, times) in cpus.iter().enumerate() {
            let times: Vec<String> = times.iter().map(i64::to_string).collect();
            text += &format!("cpu{number} {}\n", times.join(" "));
        }
        text += "intr 1 2 3\n";
        let found = rows(of("cpu"), 0, text.as_bytes());
        prop_assert_eq!(found.len(), cpus.len());
        for ((number, times), (name, values)) in cpus.iter().enumerate().zip(found) {
            prop_assert_eq!(name, Some(format!("cpu{number}").into_bytes()));
            let ticks: Vec<i64> = values.iter().map(|ns| ns / Facts::default().tick_ns).collect();
            prop_assert_eq!(&ticks[..], &times[..ticks.len()]);
        }
    }

    #[test]
    fn what_comes_out_of_pressure_is_what_went_in(some in 0..1i64 << 50, full in 0..1i64 << 50, average in 0..100u32) {
        let line = |kind, total| format!("{kind} avg10={average}.01 avg60=0.00 avg300=9.99 total={total}\n");
        let text = line("some", some) + &line("full", full);
        let sensor = of("pressure");
        let io = sensor.sources.iter().position(|source| source.path.ends_with("io"));
        let found = rows(sensor, io.expect("it is read"), text.as_bytes());
        let values: Vec<i64> = found[0].1.iter().copied().filter(|it| *it != MISSING).collect();
        prop_assert_eq!(values, [some * 1_000, full * 1_000]);
    }

    #[test]
    fn what_comes_out_of_schedstat_is_what_went_in(times in prop::array::uniform3(0..i64::MAX)) {
        let [run, wait, slices] = times;
        let found = rows(of("thread"), 0, format!("{run} {wait} {slices}\n").as_bytes());
        prop_assert_eq!(&found[0].1[..3], &times);
    }

    #[test]
    fn what_comes_out_of_cpu_stat_is_what_went_in(usage in 0..1i64 << 50, periods in 0..1i64 << 50, order: bool) {
        let mut lines = [format!("usage_usec {usage}\n"), format!("nr_periods {periods}\n")];
        if order {
            lines.reverse();
        }
        let found = rows(of("cgroup_cpu"), 0, lines.concat().as_bytes());
        prop_assert_eq!(&found[0].1[..2], &[usage * 1_000, periods]);
    }
}

fn of(table: &str) -> &'static Sensor {
    let mut all = sensors::all().iter();
    all.find(|sensor| sensor.table.name == table)
        .expect("there is such a table")
}
