//! Real node exporters, scraped by a real store.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use model::ClusterReport;

use super::prints;
use super::store::{PROMETHEUS, Store};
use crate::brought;
use crate::needs;
use crate::other_servers::free_port;
use crate::place::{JSON, Place};
use crate::process::Running;

const EXPORTER: &str = "prometheus-node-exporter";

/// One on a loopback address, with the target that it is for Prometheus.
fn exporter(program: &Path, host: &str) -> (String, Running) {
    let at = format!("{host}:{}", free_port());
    let mut command = Command::new(program);
    command.arg(format!("--web.listen-address={at}"));
    (at, Running::start(command))
}

#[test]
fn real_node_exporters_are_read_by_their_names() {
    if needs::program(PROMETHEUS) && needs::program(EXPORTER) {
        real_nodes(Path::new(EXPORTER), Path::new(PROMETHEUS));
    }
}

#[test]
fn new_node_exporters_are_read_from_prometheus_3() {
    let tool = |name: &str| brought::tool("stores.sh", &format!("stores/bin/{name}"));
    if let (Some(exporter), Some(store)) = (tool("node_exporter"), tool("prometheus")) {
        real_nodes(&exporter, &store);
    }
}

fn real_nodes(program: &Path, store: &Path) {
    if !needs::pressure() {
        return;
    }
    let place = Place::new();
    let nodes = ["127.0.0.2", "127.0.0.3"].map(|host| exporter(program, host));
    let targets: Vec<String> = nodes.iter().map(|it| format!("'{}'", it.0)).collect();
    place.write("prometheus.yml", format!(
        "global: {{scrape_interval: 1s, scrape_timeout: 1s}}\nscrape_configs: [{{job_name: node, static_configs: [{{targets: [{}]}}]}}]\n",
        targets.join(", ")
    ));
    let store = Store::started(&place, store, &[]);
    std::thread::sleep(Duration::from_secs(3));
    let busy = place.shell("timeout 12 sh -c 'while :; do :; done & while :; do :; done & while :; do :; done & wait'").output();
    busy.expect("a shell");
    let (url, words) = (store.url(), ["explain", "--prometheus"]);
    let further = [
        "--instance",
        "127.*",
        "--last",
        "10s",
        "--json",
        JSON,
        "--also",
        "node_intr_total",
    ];
    let ended = place.run(&[&words[..], &[&url], &further].concat());
    prints(ended.status(0), "127.0.0.2");
    let report: ClusterReport = serde_json::from_str(&place.read(JSON)).expect("a report");
    assert_eq!(report.nodes.len(), 2);
    assert_eq!(report.resolution_ns, 1_000_000_000);
    for node in &report.nodes {
        for quantity in [
            "cpu_some",
            "io_some",
            "memory_some",
            "cpu_busy",
            "memory_available",
            "page_cache",
            "steal",
        ] {
            assert!(
                node.means.contains_key(quantity),
                "{quantity} of {}: {:?}",
                node.name,
                node.means
            );
        }
        // Not every kernel has /proc/schedstat.
        let counts = std::path::Path::new("/proc/schedstat").exists();
        assert_eq!(node.means.contains_key("waiting_tasks"), counts);
        assert!(node.means["cpu_some"] > 0.3, "{:?}", node.means);
        assert!(node.memory_bytes.is_some_and(|it| it > 1e8) && node.kernel.is_some());
    }
}
