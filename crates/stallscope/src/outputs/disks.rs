//! What block devices did: each in a sentence, then for whom, one line each.

use analysis::{duration, percent, rate};
use model::{DiskReport, DiskWork, IoPart, IoPattern, Report};

use super::layout::{labelled, table};
use super::on_one_line;

/// Disks and streams that are shown; the JSON has more.
const MOST_DISKS: usize = 4;
const MOST_STREAMS: usize = 8;
/// Streams with less of the disk's time are left out.
const LEAST: f64 = 0.01;
const HEADINGS: [&str; 8] = [
    "",
    "rate/s",
    "size",
    "seq.",
    "depth",
    "bursts",
    "queue p99",
    "at device",
];

/// The disks that did most; nothing where their requests were not recorded.
pub(super) fn lines(report: &Report, width: usize) -> String {
    let disks = report.disks.iter().take(MOST_DISKS);
    disks.map(|disk| lines_of(disk, width)).collect()
}

/// What the busiest disks did, where there is room for little: `vda (log: 16-32 KiB, sequential, ...)`.
pub(super) fn in_short(disks: &[DiskWork]) -> String {
    let disks = disks.iter();
    let disks = disks.map(|it| format!("{} ({})", it.entity.name, it.sentence));
    on_one_line(&disks.collect::<Vec<_>>().join(", "))
}

fn lines_of(disk: &DiskReport, width: usize) -> String {
    let label = on_one_line(&format!("Disk {}", disk.entity.name));
    let mut text = labelled(&label, &disk.sentence, width);
    let mut rows = vec![HEADINGS.map(str::to_owned)];
    rows[0][0] = format!("  {label}");
    rows.extend(disk.operations.iter().map(|it| row(it, "all")));
    let all: f64 = disk.operations.iter().map(|it| it.in_flight).sum();
    let streams = disk.streams.iter().take(MOST_STREAMS);
    let streams = streams.take_while(|it| it.in_flight >= LEAST * all);
    rows.extend(streams.map(|it| row(it, &it.name)));
    let more = disk.streams.len() + disk.operations.len() + 1 - rows.len();
    let mut notes = vec!["at device: median / p99".to_owned()];
    if more > 0 {
        notes.push(format!("{more} smaller streams (--json)"));
    }
    text.push_str(&table(&rows, &notes, width));
    text
}

fn row(pattern: &IoPattern, name: &str) -> [String; 8] {
    let part = match pattern.part {
        IoPart::All | IoPart::Data => String::new(),
        part if part.word() == name => String::new(),
        part => format!(" ({})", part.word()),
    };
    // Of a path the end tells more.
    let name = name.rsplit('/').next().unwrap_or(name);
    let short = |ns: Option<f64>| ns.map_or_else(|| "-".to_owned(), duration);
    let device = &pattern.device;
    [
        on_one_line(&format!("    {} {name}{part}", pattern.operation)),
        rate(pattern.per_second),
        analysis::sizes(pattern).unwrap_or_else(|| "-".to_owned()),
        percent(pattern.sequential),
        format!("{:.1}", pattern.depth),
        pattern
            .bursts
            .map_or_else(|| "-".to_owned(), |it| format!("{it:.1}")),
        short(pattern.queue.p99_ns),
        format!("{} / {}", short(device.median_ns), short(device.p99_ns)),
    ]
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use model::{Entity, EntityKind, IoTimes};

    use super::*;

    fn pattern(name: &str, part: IoPart, in_flight: f64) -> IoPattern {
        IoPattern {
            name: name.to_owned(),
            part,
            operation: "write".to_owned(),
            streams: 1,
            requests: 9_000,
            per_second: 900.0,
            bytes: 9_000 << 14,
            errors: 0,
            size_from: Some(16 << 10),
            size_to: Some(32 << 10),
            sequential: 0.999,
            synced: Some(1.0),
            fua: 0.0,
            depth: 1.0,
            in_flight,
            in_flight_most: 1,
            bursts: Some(1.02),
            peak_per_second: 950.0,
            queue: IoTimes::default(),
            device: IoTimes {
                mean_ns: 2.1e5,
                median_ns: Some(2e5),
                p99_ns: Some(1.5e6),
            },
        }
    }

    #[test]
    fn a_disk_has_a_sentence_and_its_largest_streams() {
        let json = include_str!("../../fixtures/reports/cpu-quota.json");
        let mut report: Report = serde_json::from_str(json).expect("a report as it is written");
        assert_eq!(lines(&report, 90), "");
        report.disks = vec![DiskReport {
            entity: Entity::new(EntityKind::Disk, "vda", "vda"),
            sentence: "log: 16-32 KiB, sequential, one at a time, 0.210 ms".to_owned(),
            operations: vec![pattern("vda", IoPart::All, 0.21)],
            parts: Vec::new(),
            streams: vec![
                pattern("/var/lib/pg_wal/0\n1", IoPart::Log, 0.2),
                pattern("journal", IoPart::Journal, 0.009),
                pattern("kernel threads", IoPart::Data, 0.001),
            ],
            processes: Vec::new(),
            groups: Vec::new(),
        }];
        expect![[r#"
            at 100
              Disk vda    log: 16-32 KiB, sequential, one at a time, 0.210 ms
                Disk vda           rate/s       size    seq.  depth  bursts  queue p99           at device
                  write all           900  16-32 KiB  99.9 %    1.0     1.0          -  0.200 ms / 1.50 ms
                  write 0�1 (log)     900  16-32 KiB  99.9 %    1.0     1.0          -  0.200 ms / 1.50 ms
                  write journal       900  16-32 KiB  99.9 %    1.0     1.0          -  0.200 ms / 1.50 ms
                at device: median / p99; 1 smaller streams (--json)
        "#]]
        .assert_eq(&format!("at 100\n{}", lines(&report, 100)));
    }
}
