//! Workloads on which nothing was tuned: other servers, with causes that are known by construction.
//! Thresholds are fixed in a commit before these are run.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::loads::own;
use crate::scenario::{Cause, Costs, Expect, Load, Scenario, Set, SetUp, Who};
use crate::stage::{Limit, Stage};
use crate::{binary, interrupt};

/// A server that does not answer by then never will.
const START_LIMIT: Duration = Duration::from_secs(20);
/// 0.3 of one CPU, in us per 100 ms.
const QUOTA: u32 = 30_000;

/// All of them.
pub fn scenarios() -> [Scenario; 4] {
    let held_out = |name, mechanism, about, expect, set_up| {
        Scenario::of_one_cause(Set::HeldOut, [name, mechanism, about], expect, set_up)
    };
    [
        held_out(
            "redis-script",
            "one thread serves all",
            "Eight connections of redis-benchmark run a script in Redis, which computes in one \
             thread.",
            Expect::one("cpu.single_thread", Who::Thread),
            redis_script,
        ),
        held_out(
            "nginx-quota",
            "CPU quota",
            "Eight connections ask nginx for a small file, and its control group may use 0.3 of \
             one CPU.",
            Expect::one("cpu.quota", Who::LimitedGroup),
            nginx_quota,
        ),
        Scenario {
            costs: Costs::Latency,
            ..held_out(
                "mariadb-saturated",
                "full CPUs",
                "Eight sysbench threads read single rows from MariaDB as fast as they can.",
                Expect::one("cpu.saturated", Who::Target),
                mariadb_saturated,
            )
        },
        held_out(
            "mariadb-quota",
            "CPU quota",
            "Eight sysbench threads read single rows from MariaDB, whose control group may use \
             0.3 of one CPU.",
            Expect::one("cpu.quota", Who::LimitedGroup),
            mariadb_quota,
        ),
    ]
}

/// What it would take to run, where programs are missing.
pub fn missing(programs: &[&str], packages: &str) -> Option<String> {
    let absent = programs
        .iter()
        .find(|name| binary::in_path(name).is_none())?;
    Some(format!("there is no {absent}: apt-get install {packages}"))
}

/// Starts a Redis; its process and its port.
pub fn redis(stage: &mut Stage) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let folder = stage.unprivileged_folder("redis")?;
    let mut redis = stage.unprivileged("redis-server");
    redis.args(["--port", &port, "--bind", "127.0.0.1", "--save", ""]);
    redis.args(["--logfile", "log", "--dir"]).arg(folder);
    let pid = stage.beside(redis)?;
    wait_for(&here(&port))?;
    Ok((pid, port))
}

/// The address of a port on this machine.
pub fn here(port: &str) -> String {
    format!("127.0.0.1:{port}")
}

/// Starts an nginx with two workers that serves `/file`, of 1,000 bytes; its process and its port.
pub fn nginx(stage: &mut Stage, workers: u32) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let folder = stage.unprivileged_folder("nginx")?;
    std::fs::write(folder.join("file"), "x".repeat(1000)).context("cannot write a file")?;
    let places = format!(
        "root {}; location /ok {{ return 200 ok; }}",
        folder.display()
    );
    let pid = nginx_with(stage, workers, &port, "", &places)?;
    Ok((pid, port))
}

/// Starts an nginx with these directives for web servers, and for its own one; its process.
pub(super) fn nginx_with(
    stage: &mut Stage,
    workers: u32,
    port: &str,
    all: &str,
    own: &str,
) -> Result<u32> {
    let folder = stage.unprivileged_folder("nginx")?;
    let configuration = folder.join("nginx.conf");
    let text = nginx_configuration(&folder, port, workers, [all, own]);
    std::fs::write(&configuration, text).context("cannot write nginx's configuration")?;
    let mut nginx = stage.unprivileged("nginx");
    nginx.args(["-e", "stderr", "-p"]).arg(&folder);
    nginx.arg("-c").arg(configuration);
    let pid = stage.beside(nginx)?;
    wait_for(&here(port))?;
    Ok(pid)
}

fn redis_script(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&["redis-server", "redis-benchmark"], "redis-server") {
        return Ok(SetUp::NotHere(why));
    }
    let (pid, port) = redis(stage)?;
    // The first thread of Redis is the one that runs commands.
    stage.cast.insert(Who::Thread, format!("/tid:{pid}"));
    let rounds = match cause {
        Cause::Made => 10_000,
        Cause::Removed => 10,
    };
    let seconds = stage.seconds;
    // It counts requests, not seconds; a loop that is ended from outside has no summary.
    let line = format!(
        "timeout {seconds} redis-benchmark -p {port} -c 8 -n 100000000 eval \
         'local s = 0 for i = 1, {rounds} do s = s + i end return s' 0 || true; \
         redis-benchmark -p {port} -c 8 -n 2000 eval \
         'local s = 0 for i = 1, {rounds} do s = s + i end return s' 0 | tail -n 8"
    );
    Load::new(["sh", "-c", &line]).ready()
}

fn nginx_quota(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&["nginx"], "nginx-light") {
        return Ok(SetUp::NotHere(why));
    }
    let (pid, port) = nginx(stage, 2)?;
    if let Some(why) = quota(stage, pid, cause) {
        return Ok(SetUp::NotHere(why));
    }
    let address = format!("127.0.0.1:{port}");
    own(
        stage,
        &["load", &address, "--http", "/file", "--connections", "8"],
    )?
    .ready()
}

fn nginx_configuration(folder: &Path, port: &str, workers: u32, [all, own]: [&str; 2]) -> String {
    let folder = folder.display();
    let places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
    let places: String = places
        .iter()
        .map(|place| format!("{place}_temp_path {folder}/{place};\n"))
        .collect();
    format!(
        "daemon off;\nworker_processes {workers};\npid {folder}/pid;\nevents {{}}\nhttp {{\n\
         access_log off;\nkeepalive_requests 100000000;\n{places}\
         {all}\nserver {{ listen 127.0.0.1:{port}; {own} }}\n}}\n"
    )
}

fn mariadb_saturated(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    let threads = match cause {
        Cause::Made => "8",
        Cause::Removed => "1",
    };
    mariadb(stage, threads, None)
}

fn mariadb_quota(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    mariadb(stage, "8", Some(cause))
}

fn mariadb(stage: &mut Stage, threads: &str, limited: Option<Cause>) -> Result<SetUp> {
    if let Some(why) = missing(&MARIADB, MARIADB_PACKAGES) {
        return Ok(SetUp::NotHere(why));
    }
    let (pid, port) = mariadb_server(stage, &[], None)?;
    let mut prepare = Command::new("sysbench");
    prepare.args(sysbench("oltp_point_select", &port, "1", "prepare"));
    stage.step(prepare)?;
    if let Some(why) = limited.and_then(|cause| quota(stage, pid, cause)) {
        return Ok(SetUp::NotHere(why));
    }
    Ok(SetUp::Ready(sysbench_load(
        stage,
        sysbench("oltp_point_select", &port, threads, "run"),
    )))
}

/// sysbench with a line per second.
pub(super) fn sysbench_load(stage: &Stage, words: Vec<String>) -> Load {
    let seconds = format!("--time={}", stage.seconds);
    let first = ["sysbench", &seconds, "--report-interval=1"].map(str::to_owned);
    // Its latency of an interval is a quantile: of the mean it says nothing before the end.
    Load::new(first.into_iter().chain(words)).with("--metric", r"throughput=tps: ([0-9.]+)")
}

/// What `mariadb_server` and sysbench need.
pub(super) const MARIADB: [&str; 4] = ["mariadbd", "mariadb-install-db", "mariadb", "sysbench"];
/// Where that is from.
pub(super) const MARIADB_PACKAGES: &str = "mariadb-server sysbench";

/// Starts a MariaDB with an empty database `sbtest` and these settings, and its redo log on another
/// disk where one is given; its process and its port.
pub(super) fn mariadb_server(
    stage: &mut Stage,
    settings: &[&str],
    log_on: Option<&Path>,
) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let data = mariadb_data(stage)?;
    let mut server = stage.unprivileged("mariadbd");
    server.args(["--no-defaults", "--bind-address=127.0.0.1", "--port", &port]);
    server.arg(format!("--datadir={}", data.display()));
    server.arg(format!("--socket={}/socket", data.display()));
    server.arg(format!("--log-error={}/log", data.display()));
    server.args(settings);
    if let Some(disk) = log_on {
        let log = "ib_logfile0";
        std::fs::copy(data.join(log), disk.join(log)).context("cannot copy the redo log")?;
        stage.give_away(&disk.join(log))?;
        server.arg(format!("--innodb-log-group-home-dir={}", disk.display()));
    }
    let pid = stage.beside(server)?;
    wait_for(&here(&port))?;
    let mut create = mariadb_client(&port);
    create.args(["-e", "CREATE DATABASE sbtest"]);
    stage.step(create)?;
    Ok((pid, port))
}

/// The data of a new MariaDB; where.
pub(super) fn mariadb_data(stage: &Stage) -> Result<PathBuf> {
    let data = stage.unprivileged_folder("mariadb")?;
    mariadb_install(stage, &data)?;
    Ok(data)
}

/// Makes the data of a new MariaDB in a folder of its own.
pub fn mariadb_install(stage: &Stage, data: &Path) -> Result<()> {
    let mut install = stage.unprivileged("mariadb-install-db");
    install.args(["--no-defaults", "--skip-test-db"]);
    install.args(["--auth-root-authentication-method=normal"]);
    install.arg(format!("--datadir={}", data.display()));
    stage.step(install)
}

/// The client of a MariaDB.
pub fn mariadb_client(port: &str) -> Command {
    let mut client = Command::new("mariadb");
    client.args(["--no-defaults", "-h", "127.0.0.1", "-P", port, "-u", "root"]);
    client
}

/// The words of a sysbench test on that database.
pub(super) fn sysbench(test: &str, port: &str, threads: &str, verb: &str) -> Vec<String> {
    [
        test,
        "--db-driver=mysql",
        "--mysql-host=127.0.0.1",
        &format!("--mysql-port={port}"),
        "--mysql-user=root",
        "--mysql-db=sbtest",
        "--tables=1",
        "--table-size=10000",
        &format!("--threads={threads}"),
        verb,
    ]
    .map(str::to_owned)
    .to_vec()
}

/// Limits a server's CPUs, or only puts it into a group; the answer says why that cannot be.
pub(super) fn quota(stage: &mut Stage, pid: u32, cause: Cause) -> Option<String> {
    let quota = (cause == Cause::Made).then_some(QUOTA);
    match stage.confine("limited", pid, &[Limit::CpuQuota(quota)]) {
        Ok(group) => {
            stage.cast.insert(Who::LimitedGroup, group.path);
            None
        }
        Err(error) => Some(format!("{error:#}")),
    }
}

/// A port that was free a moment ago.
pub fn free_port() -> Result<u16> {
    let any = TcpListener::bind(("127.0.0.1", 0)).context("cannot find a free port")?;
    Ok(any.local_addr().context("cannot read a free port")?.port())
}

/// Waits until a server listens there.
pub fn wait_for(address: &str) -> Result<()> {
    wait_for_so_long(address, START_LIMIT)
}

/// The same for one that may take that long to start.
pub fn wait_for_so_long(address: &str, limit: Duration) -> Result<()> {
    let address: SocketAddr = address.parse().context("an address")?;
    let since = Instant::now();
    while since.elapsed() < limit {
        if TcpStream::connect(address).is_ok() {
            return Ok(());
        }
        interrupt::pause()?;
    }
    bail!("no server listens at {address} after {} s", limit.as_secs())
}
