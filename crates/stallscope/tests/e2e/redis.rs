//! `--redis`: what a real Redis reports, with the rights that the documentation names and no others.

use std::process::Command;

use crate::needs;
use crate::other_servers::{free_port, started};
use crate::place::Place;
use crate::postgres;
use crate::postgres_word::{growth, pid_of, sentences, values};
use crate::process::{Ended, Running};
use crate::secrets::keeps;

const PASSWORD: &str = "Rq4Tn8XuNeverToBeSeen";
const WRONG: &str = "Wm2Kd7ZpNeverToBeSeen";
/// As in docs/sources.md.
const RIGHTS: &str = "-@all +info +slowlog|len +latency|latest";

/// A server in this place with a user `monitor` of these rights.
fn server(place: &Place, port: u16, rights: &str) -> Option<Running> {
    if !needs::program("redis-server") {
        return None;
    }
    let mut command = Command::new("redis-server");
    command.args(["--port", &port.to_string(), "--bind", "127.0.0.1"]);
    command.args(["--save", "", "--latency-monitor-threshold", "5", "--dir"]);
    command.arg(place.path());
    command.args(["--user", "monitor", "on", &format!(">{PASSWORD}")]);
    command.args(rights.split(' '));
    Some(started(command, port))
}

fn record(place: &Place, address: &str, load: &str) -> Ended {
    let words = ["run", "--redis", address, "--", "sh", "-c", load];
    let mut command = place.stallscope(&words);
    command.env("REDISCLI_AUTH", PASSWORD);
    Running::start(command).end()
}

#[test]
fn counters_and_spikes_are_recorded_about_the_servers_process() {
    if !needs::root() {
        return;
    }
    let _alone = postgres::alone();
    let (place, port) = (Place::new(), free_port());
    let Some(server) = server(&place, port, RIGHTS) else {
        return;
    };
    // A slow script, then commands, each in a second of its own.
    let load = format!(
        "sleep 2; redis-cli -p {port} eval 'for i = 1, 20000000 do end' 0; sleep 1.5; redis-cli -p {port} -r 500 get none > out; sleep 2"
    );
    let address = format!("redis://monitor@127.0.0.1:{port}");
    let ended = record(&place, &address, &load);
    ended.status(0);
    keeps(PASSWORD, &place, &ended);
    let recording = place.opened();
    let (timeline, meta) = (&recording.timeline, &recording.meta);
    assert_eq!(sentences(&meta.gaps, "redis"), [""; 0]);
    assert_eq!(meta.environment["redis.user"], "monitor");
    for name in ["version", "maxmemory_policy", "host", "port"] {
        let name = format!("redis.{name}");
        assert!(meta.environment.contains_key(&name), "{name}");
    }
    let data = timeline.table("redis").expect("it was asked");
    let owner = data.key(0).1;
    assert_eq!(pid_of(timeline, owner), server.pid());
    let values = |column| values(timeline, "redis", owner, column);
    let growth = |column| growth(timeline, "redis", owner, column);
    assert!(
        growth("keyspace_misses") == 500,
        "{}",
        growth("keyspace_misses")
    );
    assert!(growth("commands") > 500 && growth("command_time_ns") > 5_000_000);
    assert_eq!(values("clients_limit")[0], 10_000);
    let spikes = values("command_spike_ns");
    assert!(spikes.iter().any(|spike| *spike >= 5_000_000), "{spikes:?}");
    assert_eq!(spikes.last(), Some(&0), "it is old by then: {spikes:?}");
}

#[test]
fn what_its_user_may_not_ask_is_a_gap_with_the_rights_that_it_needs() {
    let _alone = postgres::alone();
    let (place, port) = (Place::new(), free_port());
    let Some(_server) = server(&place, port, "-@all +info") else {
        return;
    };
    let address = format!("monitor@127.0.0.1:{port}");
    place
        .run(&["record", "--redis", &address, "--target", "pid:1"])
        .says("is no address that this version reads");
    let ended = record(&place, &format!("redis://{address}"), "sleep 2");
    ended.says("+slowlog|len +latency|latest");
    keeps(PASSWORD, &place, &ended);
    let recording = place.opened();
    let said = sentences(&recording.meta.gaps, "redis");
    assert_eq!(said.len(), 2, "{said:?}");
    let data = recording.timeline.table("redis").expect("INFO is allowed");
    assert!(!data.is_empty());

    let wrong = format!("redis://monitor:{WRONG}@127.0.0.1:{port}");
    let place = Place::new();
    let ended = record(&place, &wrong, "sleep 2; echo done");
    ended
        .says("WRONGPASS")
        .says("put the right password into REDISCLI_AUTH");
    assert_eq!(ended.out_text(), "done\n");
    keeps(WRONG, &place, &ended);
    assert_eq!(sentences(&place.opened().meta.gaps, "redis").len(), 1);

    // The user without a name has no password here, and needs none.
    let place = Place::new();
    record(&place, &format!("127.0.0.1:{port}"), "sleep 2");
    let gaps = place.opened().meta.gaps;
    assert_eq!(sentences(&gaps, "redis"), [""; 0]);
}

#[test]
fn a_redis_that_is_not_there_or_wants_tls_is_told_with_the_way_out() {
    let place = Place::new();
    let ended = record(&place, "127.0.0.1:1", "sleep 1");
    ended.says("127.0.0.1 port 1").says("refused");
    assert_eq!(sentences(&place.opened().meta.gaps, "redis").len(), 1);
    let place = Place::new();
    let words = ["record", "--redis", "rediss://h", "--target", "pid:1"];
    place.run(&words).says("ssh -L");
    assert!(place.recordings().is_empty());
}
