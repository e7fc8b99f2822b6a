//! What `sadf -j` prints of a binary file of sar: rates and percentages over intervals, made into counters.

use model::{Entity, EntityKind, Quality, sentence};
use serde_json::Value;

use crate::draft::{Cell, Draft, Interval, all_cpus, machine};
use crate::{Imported, NotUnderstood, wall_clock};

const NS_PER_S: i64 = 1_000_000_000;
const ADVICE: &str = "make it again: LC_ALL=C sadf -j FILE -- -A";
const KB: f64 = 1024.0;

/// A number of an object: its key, the column that it fills, and how many of the column's unit one is.
struct Number {
    key: &'static str,
    table: &'static str,
    column: &'static str,
    scale: f64,
}

const fn of(table: &'static str, key: &'static str, column: &'static str, scale: f64) -> Number {
    Number {
        key,
        table,
        column,
        scale,
    }
}

/// Percent of an interval, as ns per ns.
const PERCENT: f64 = 0.01;
/// Per second, as an amount per ns.
const PER_S: f64 = 1e-9;

/// What grows, by the object that it stands in.
const RATES: &[(&str, &[Number])] = &[
    (
        "process-and-context-switch",
        &[
            of("load", "proc", "forks", PER_S),
            of("load", "cswch", "switches", PER_S),
        ],
    ),
    (
        "paging",
        &[
            of("paging", "pgpgin", "page_in_bytes", KB * PER_S),
            of("paging", "pgpgout", "page_out_bytes", KB * PER_S),
            of("paging", "fault", "faults", PER_S),
            of("paging", "majflt", "major_faults", PER_S),
            of("paging", "pgscank", "scan_kswapd", PER_S),
            of("paging", "pgscand", "scan_direct", PER_S),
        ],
    ),
    (
        "swap-pages",
        &[
            of("paging", "pswpin", "swap_in", PER_S),
            of("paging", "pswpout", "swap_out", PER_S),
        ],
    ),
    (
        "psi/psi-cpu",
        &[of("pressure", "some_avg", "cpu_some_ns", PERCENT)],
    ),
    (
        "psi/psi-io",
        &[
            of("pressure", "some_avg", "io_some_ns", PERCENT),
            of("pressure", "full_avg", "io_full_ns", PERCENT),
        ],
    ),
    (
        "psi/psi-mem",
        &[
            of("pressure", "some_avg", "memory_some_ns", PERCENT),
            of("pressure", "full_avg", "memory_full_ns", PERCENT),
        ],
    ),
];

/// What stands for an instant.
const INSTANTS: &[(&str, &[Number])] = &[
    (
        "queue",
        &[
            of("load", "ldavg-1", "load1_hundredths", 100.0),
            of("load", "ldavg-5", "load5_hundredths", 100.0),
            of("load", "ldavg-15", "load15_hundredths", 100.0),
            of("load", "runq-sz", "running", 1.0),
            of("load", "blocked", "blocked", 1.0),
        ],
    ),
    (
        "memory",
        &[
            of("memory", "memfree", "free_bytes", KB),
            of("memory", "avail", "available_bytes", KB),
            of("memory", "buffers", "buffers_bytes", KB),
            of("memory", "cached", "cached_bytes", KB),
            of("memory", "dirty", "dirty_bytes", KB),
            of("memory", "anonpg", "anonymous_bytes", KB),
            of("memory", "swpfree", "swap_free_bytes", KB),
        ],
    ),
];

/// Of each CPU; `user` and `system` stand in a file of `sar -u` without ALL, interrupts included.
const CPU: &[Number] = &[
    of("cpu", "user", "user_ns", PERCENT),
    of("cpu", "system", "system_ns", PERCENT),
    of("cpu", "usr", "user_ns", PERCENT),
    of("cpu", "nice", "nice_ns", PERCENT),
    of("cpu", "sys", "system_ns", PERCENT),
    of("cpu", "idle", "idle_ns", PERCENT),
    of("cpu", "iowait", "iowait_ns", PERCENT),
    of("cpu", "irq", "irq_ns", PERCENT),
    of("cpu", "soft", "softirq_ns", PERCENT),
    of("cpu", "steal", "steal_ns", PERCENT),
    of("cpu", "guest", "guest_ns", PERCENT),
];

/// Of each block device.
const DISK: &[Number] = &[
    of("disk", "rkB", "read_bytes", KB * PER_S),
    of("disk", "wkB", "write_bytes", KB * PER_S),
    of("disk", "util-percent", "busy_ns", PERCENT),
    // A mean length is ns of queueing per ns.
    of("disk", "aqu-sz", "queue_ns", 1.0),
];

/// Of each network interface.
const NETWORK: &[Number] = &[
    of("network", "rxpck", "rx_packets", PER_S),
    of("network", "txpck", "tx_packets", PER_S),
    of("network", "rxkB", "rx_bytes", KB * PER_S),
    of("network", "txkB", "tx_bytes", KB * PER_S),
];

/// The same of what went wrong.
const NETWORK_ERRORS: &[Number] = &[
    of("network", "rxerr", "rx_errors", PER_S),
    of("network", "txerr", "tx_errors", PER_S),
    of("network", "rxdrop", "rx_drops", PER_S),
    of("network", "txdrop", "tx_drops", PER_S),
];

#[derive(Default)]
struct Sar {
    draft: Draft,
}

pub(crate) fn read(text: &str) -> Result<Imported, NotUnderstood> {
    let json: Value = serde_json::from_str(text)
        .map_err(|error| NotUnderstood::at(error.line(), "the JSON of sadf -j, whole", ADVICE))?;
    let hosts = json.pointer("/sysstat/hosts").and_then(Value::as_array);
    let Some([host]) = hosts.map(Vec::as_slice) else {
        return Err(NotUnderstood::whole(
            "sysstat.hosts with one host, as sadf -j prints it",
            ADVICE,
        ));
    };
    let mut sar = Sar::default();
    let mut before = None;
    for record in list(host, "statistics") {
        let Some((end, length)) = time(record)? else {
            continue;
        };
        // The first interval begins where its length says, each other where the one before ended.
        let start = before.unwrap_or(end - length);
        if start >= end {
            return Err(NotUnderstood::whole(
                "times that grow in statistics",
                ADVICE,
            ));
        }
        // A record lies farther off than an interval behind a restart of the collection.
        let is_near = start >= end - 2 * length;
        let interval = Interval {
            start: if is_near { start } else { end - length },
            end,
        };
        if interval.start > start {
            sar.draft.hole(Interval {
                start,
                end: interval.start,
            });
        }
        sar.record(record, interval);
        before = Some(end);
    }
    sar.missing(host);
    let string = |key: &str| host.get(key).and_then(Value::as_str).map(str::to_owned);
    let cpus = host.get("number-of-cpus").and_then(Value::as_u64);
    Ok(Imported {
        node: string("nodename"),
        kernel: string("release"),
        cpus: cpus
            .and_then(|it| u32::try_from(it).ok())
            .filter(|it| (1..=65_536).contains(it)),
        ..sar.draft.finish("sar")?
    })
}

/// The end and the length of a record's interval, ns; `None` for a record without a time.
fn time(record: &Value) -> Result<Option<(i64, i64)>, NotUnderstood> {
    let Some(stamp) = record.get("timestamp") else {
        return Ok(None);
    };
    let word = |key: &str| stamp.get(key).and_then(Value::as_str).unwrap_or_default();
    let text = format!("{}T{}", word("date"), word("time"));
    let interval = stamp.get("interval").and_then(Value::as_i64);
    let interval = interval.filter(|it| (0..=86_400).contains(it));
    match (wall_clock::parse(&text), interval) {
        (Some(end), Some(interval)) => Ok(Some((end, interval.max(1) * NS_PER_S))),
        _ => Err(NotUnderstood::whole(
            format!("a date, a time and an interval, found {text:?}"),
            ADVICE,
        )),
    }
}

impl Sar {
    fn record(&mut self, record: &Value, interval: Interval) {
        for (place, numbers) in RATES {
            if let Some(object) = record.pointer(&format!("/{place}")) {
                self.rates(&machine(), object, numbers, interval);
            }
        }
        for (place, numbers) in INSTANTS {
            for number in *numbers {
                let value = record
                    .pointer(&format!("/{place}/{}", number.key))
                    .and_then(Value::as_f64);
                let value = value.filter(|it| (0.0..9e15).contains(it));
                if let Some(value) = value {
                    let cell = cell(number, Quality::Sampled);
                    self.draft.put(
                        cell,
                        &machine(),
                        interval.end,
                        (value * number.scale).round() as i64,
                    );
                }
            }
        }
        self.parts(record, interval);
    }

    /// What there is several of: CPUs, disks, interfaces.
    fn parts(&mut self, record: &Value, interval: Interval) {
        let cpus = list(record, "cpu-load");
        for cpu in cpus {
            let name = cpu.get("cpu").and_then(Value::as_str).unwrap_or_default();
            let entity = match name.parse::<u32>() {
                Ok(_) => Entity::new(EntityKind::Cpu, format!("cpu{name}"), name),
                // Beside each of them their mean says nothing more.
                Err(_) if name == "all" && cpus.len() == 1 => all_cpus(),
                Err(_) => continue,
            };
            self.rates(&entity, cpu, CPU, interval);
        }
        let network = record.get("network").unwrap_or(&Value::Null);
        for (key, numbers) in [("net-dev", NETWORK), ("net-edev", NETWORK_ERRORS)] {
            for interface in list(network, key) {
                if let Some(name) = interface.get("iface").and_then(Value::as_str) {
                    let entity = Entity::new(EntityKind::Interface, name, name);
                    self.rates(&entity, interface, numbers, interval);
                }
            }
        }
        for disk in list(record, "disk") {
            if let Some(name) = disk.get("disk-device").and_then(Value::as_str) {
                let entity = Entity::new(EntityKind::Disk, name, name);
                self.rates(&entity, disk, DISK, interval);
                self.operations(&entity, disk, interval);
            }
        }
    }

    fn rates(&mut self, entity: &Entity, object: &Value, numbers: &[Number], interval: Interval) {
        for number in numbers {
            let Some(value) = object.get(number.key).and_then(Value::as_f64) else {
                continue;
            };
            let cell = cell(number, Quality::Estimated);
            let amount = interval.length() * value * number.scale;
            self.draft.grow(cell, entity, interval, amount);
        }
    }

    /// Reads and writes, which sar adds up: divided by the bytes of each, as if they were of one size.
    fn operations(&mut self, disk: &Entity, object: &Value, interval: Interval) {
        let value = |key: &str| object.get(key).and_then(Value::as_f64);
        let Some((all, (read, written))) = value("tps").zip(value("rkB").zip(value("wkB"))) else {
            return;
        };
        for (column, bytes) in [("reads", read), ("writes", written)] {
            let number = of("disk", "tps", column, PER_S);
            let part = bytes / (read + written).max(f64::MIN_POSITIVE);
            let amount = interval.length() * all * part * number.scale;
            let cell = cell(&number, Quality::Estimated);
            self.draft.grow(cell, disk, interval, amount);
        }
    }

    /// Says what of the file a diagnosis would use, and is not there.
    fn missing(&mut self, host: &Value) {
        let records = list(host, "statistics");
        let has = |key: &str| records.iter().any(|record| record.pointer(key).is_some());
        if !has("/psi/psi-cpu") {
            self.draft.note("pressure", sentence!("pressure.cpu_some_ns, io_some_ns and memory_some_ns are not in the file: sar -A or sadc -S XALL records them"));
        }
        if !has("/cpu-load/1") {
            self.draft.note("cpu", sentence!("cpu.user_ns and the other times of each CPU are not in the file: give sadf -P ALL, as in sadf -j FILE -- -A"));
        }
        if !has("/disk") {
            self.draft.note("disk", sentence!("disk.busy_ns and the other columns of disks are not in the file: sadc -S DISK records them"));
        }
        self.draft.note("disk", sentence!("disk.read_ns and write_ns are not in the file: sar adds reads and writes up, so disk.reads and disk.writes were divided by their bytes"));
        let is_utc = records
            .iter()
            .all(|record| record.pointer("/timestamp/utc").and_then(Value::as_i64) == Some(1));
        if !is_utc {
            self.draft.note(
                "*",
                sentence!("The file has local times, which were taken for UTC"),
            );
        }
    }
}

fn cell(number: &Number, quality: Quality) -> Cell<'static> {
    Cell {
        table: number.table,
        column: number.column,
        source: number.key,
        quality,
    }
}

fn list<'a>(object: &'a Value, key: &str) -> &'a [Value] {
    object
        .get(key)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}
