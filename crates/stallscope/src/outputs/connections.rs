//! Who talked to whom, a line for each port.

use analysis::{duration, percent, rate, storage};
use model::{PortReport, Report};

use super::layout::table;
use super::on_one_line;

/// Ports that are shown; the JSON has more.
const MOST_PORTS: usize = 9;
const HEADINGS: [&str; 7] = [
    "  Connections",
    "open",
    "new/s",
    "asked/s",
    "answered/s",
    "requests/s",
    "RTT",
];

/// The ports with most to say; nothing where that was not recorded.
pub(super) fn lines(report: &Report, width: usize) -> String {
    if report.connections.is_empty() {
        return String::new();
    }
    let mut rows = vec![HEADINGS.map(str::to_owned)];
    rows.extend(report.connections.iter().take(MOST_PORTS).map(row));
    let mut notes: Vec<String> = report
        .connections
        .iter()
        .take(MOST_PORTS)
        .filter_map(trouble)
        .collect();
    notes.truncate(2);
    let more = report.connections.len().saturating_sub(MOST_PORTS);
    if more > 0 {
        notes.push(format!("{more} more ports (--json)"));
    }
    table(&rows, &notes, width)
}

fn row(port: &PortReport) -> [String; 7] {
    let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    [
        on_one_line(&format!("    {}", port.sentence)),
        format!("{:.0}", port.open),
        rate(port.opened_per_second),
        storage(port.asked_bytes_per_second),
        storage(port.answered_bytes_per_second),
        or_none(port.requests_per_second.map(rate)),
        or_none(port.rtt_ns.or(port.answer_ns).map(duration)),
    ]
}

/// What went wrong there; `None` for nothing.
fn trouble(port: &PortReport) -> Option<String> {
    let counts = [
        (port.refused, "refused"),
        (port.reset, "reset"),
        (port.timed_out, "timed out"),
        (port.failed, "failed"),
    ];
    let mut all: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    if let Some(share) = port.retransmitted.filter(|it| *it >= 0.001) {
        all.push(format!("{} of segments sent again", percent(share)));
    }
    if port.short_lived > 0 {
        all.push(format!("{} lasted under 1 s", port.short_lived));
    }
    let place = match &port.path {
        Some(path) => on_one_line(path),
        None => format!("port {}", port.port),
    };
    (!all.is_empty()).then(|| format!("{place}: {}", all.join(", ")))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use model::{Party, Role};

    use super::*;

    fn port(sentence: &str) -> PortReport {
        PortReport {
            sentence: sentence.to_owned(),
            is_served: true,
            protocol: "tcp".to_owned(),
            port: 7100,
            path: None,
            servers: vec![Party {
                name: "yb-tserver".to_owned(),
                processes: 1,
                role: Role::Target,
            }],
            clients: Vec::new(),
            client_processes: 26,
            peers: Vec::new(),
            peer_count: 0,
            open: 26.0,
            opened: 40,
            opened_per_second: 4.0,
            short_lived: 12,
            refused: 3,
            reset: 0,
            timed_out: 0,
            failed: 0,
            asked_bytes_per_second: 2.5e6,
            answered_bytes_per_second: 12_000.0,
            requests_per_second: Some(5_100.0),
            rtt_ns: Some(62_000.0),
            connect_ns: None,
            answer_ns: None,
            retransmitted: Some(0.02),
        }
    }

    #[test]
    fn a_port_has_a_line_and_its_trouble_a_note() {
        let json = include_str!("../../fixtures/reports/cpu-quota.json");
        let mut report: Report = serde_json::from_str(json).expect("a report as it is written");
        assert_eq!(lines(&report, 90), "");
        report.connections = vec![port("26 postgres processes -> port 7100 (yb-tserver)")];
        report.connections.push(PortReport {
            requests_per_second: None,
            rtt_ns: None,
            retransmitted: None,
            short_lived: 0,
            refused: 0,
            ..port("dig -> UDP port\n53 of 10.0.0.2")
        });
        expect![[r#"
            at 99
                Connections                               open  new/s  asked/s  answered/s  requests/s      RTT
                  26 postgres processes -> port 7100 (y…    26   4.00  2.50 MB     12.0 kB       5,100  62.0 us
                  dig -> UDP port�53 of 10.0.0.2            26   4.00  2.50 MB     12.0 kB           -        -
                port 7100: 3 refused, 2 % of segments sent again, 12 lasted under 1 s
        "#]].assert_eq(&format!("at 99\n{}", lines(&report, 99)));
        report.connections = vec![port("x"); 20];
        let shown = lines(&report, 99);
        assert!(shown.lines().count() <= 12, "{shown}");
        assert!(shown.lines().all(|it| it.chars().count() < 100), "{shown}");
    }
}
