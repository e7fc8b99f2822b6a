//! MariaDB and Redis.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use super::programs::{REDIS, missing};
use super::{cause, first, unknown};
use crate::scenario::{Cause, Expect, Load, Scenario, SetUp, Who};
use crate::scenarios::held_out::{
    MARIADB, MARIADB_PACKAGES, here, mariadb_client, mariadb_server, sysbench_load,
};
use crate::stage::Stage;

/// Orders, each with a number that is kept as text, as numbers from other systems are.
const ORDERS: &str = "CREATE TABLE lab_order (id INT PRIMARY KEY, number VARCHAR(20) NOT NULL, KEY \
    (number)); INSERT INTO lab_order SELECT seq, seq FROM seq_1_to_5000; ANALYZE TABLE lab_order";
/// More jobs than any run takes.
const JOBS: &str = "CREATE TABLE lab_job (id INT PRIMARY KEY, done TINYINT NOT NULL, KEY (done, id)); \
    INSERT INTO lab_job SELECT seq, 0 FROM seq_1_to_60000; ANALYZE TABLE lab_job";
/// What Redis hears when a job is done: it is to leave the list of those that somebody works on.
const LEAVE: [&str; 4] = ["--text", "LREM active 0 job\r\n", "--ends", "\r\n"];

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        cause(
            [
                "mariadb-numbers-as-text",
                "CPUs full of texts that are turned into numbers to be compared, which no index helps",
                "Eight sysbench threads look up orders in MariaDB by a number that is kept as text, \
                 and give it as a number, so that each of 5,000 has to be turned into one.",
            ],
            Expect::one("cpu.saturated", Who::Target),
            numbers_as_text,
        ),
        cause(
            [
                "mariadb-job-queue",
                "first open job of a table, which all workers want to have",
                "Eight sysbench threads take jobs from a table of MariaDB, and each locks the first \
                 open one and works on it for 5 ms, while the others wait to see whether it will be \
                 done.",
            ],
            Expect {
                // Each worker has the job in turn; without asking the server, nobody knows of its locks.
                or: &[
                    ("lock.database", Who::Generator),
                    ("lock.futex", Who::Target),
                ],
                ..Expect::one("lock.database", Who::Target)
            },
            job_queue,
        ),
        cause(
            [
                "redis-list-of-active-jobs",
                "one thread that looks through a whole list for each job that is done",
                "Eight connections tell Redis that a job is done, which it then looks for in a list of \
                 5,000 that are being worked on, from one end to the other.",
            ],
            Expect::one("cpu.single_thread", Who::Thread),
            list_of_active_jobs,
        ),
    ]
}

/// After <https://github.com/gabordemooij/redbean/issues/700>: a library gave a text that looks like a number as one, and
/// MySQL left the index on a column of text aside.
fn numbers_as_text(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = crate::scenarios::missing(&MARIADB, MARIADB_PACKAGES) {
        return Ok(SetUp::NotHere(why));
    }
    let (_, port) = mariadb_server(stage, &[], None)?;
    fill(stage, &port, ORDERS)?;
    let given = match cause {
        Cause::Made => "--given=number",
        Cause::Removed => "--given=text",
    };
    let text = include_str!("../../../programs/text_keys.lua");
    script_load(stage, &port, ["text_keys.lua", text], given)?.ready()
}

/// After <https://github.com/collectiveidea/delayed_job_active_record/pull/246>: workers that take jobs from a table of
/// MySQL waited for each other's locks, until they could skip rows that are locked.
fn job_queue(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = crate::scenarios::missing(&MARIADB, MARIADB_PACKAGES) {
        return Ok(SetUp::NotHere(why));
    }
    // Waits for the disk, and locks of rows that were only looked at, would be other causes.
    let settings = [
        "--innodb-flush-log-at-trx-commit=0",
        "--transaction-isolation=READ-COMMITTED",
    ];
    let (_, port) = mariadb_server(stage, &settings, None)?;
    fill(stage, &port, JOBS)?;
    let taken = match cause {
        Cause::Made => "--taken=wait",
        Cause::Removed => "--taken=skip",
    };
    let text = include_str!("../../../programs/take_jobs.lua");
    script_load(stage, &port, ["take_jobs.lua", text], taken)?.ready()
}

/// Has MariaDB run this on the database of the load.
fn fill(stage: &Stage, port: &str, sql: &str) -> Result<()> {
    let mut client = mariadb_client(port);
    client.args(["sbtest", "-e", sql]);
    stage.step(client)
}

/// Eight threads of sysbench with a script of our own, by name and text, and an option of it.
fn script_load(stage: &Stage, port: &str, [name, text]: [&str; 2], option: &str) -> Result<Load> {
    let script = stage.script(name, text)?;
    let words = [
        &Path::new(&script).display().to_string(),
        "--db-driver=mysql",
        "--mysql-host=127.0.0.1",
        &format!("--mysql-port={port}"),
        "--mysql-user=root",
        "--mysql-db=sbtest",
        "--threads=8",
        option,
        "run",
    ];
    let words = words.map(str::to_owned).to_vec();
    Ok(sysbench_load(stage, words))
}

/// After <https://github.com/hibiken/asynq/pull/921>: half of the CPU time of Redis went into the search for finished jobs
/// in a list of active ones.
fn list_of_active_jobs(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[REDIS]) {
        return Ok(SetUp::NotHere(why));
    }
    let jobs = match cause {
        Cause::Made => 5_000,
        Cause::Removed => 10,
    };
    let folder = stage.unprivileged_folder("redis")?;
    let (pid, port) = first::redis(stage, &[], &folder, &[])?;
    // The first thread of Redis is the one that runs commands.
    stage.cast.insert(Who::Thread, format!("/tid:{pid}"));
    let text = format!("for i = 1, {jobs} do redis.call('RPUSH', 'active', 'job:' .. i) end");
    let mut client = Command::new("redis-cli");
    client.args(["-p", &port, "EVAL", &text, "0"]);
    stage.step(client)?;
    let address = here(&port);
    let words = [&["load", &address, "--connections", "8"][..], &LEAVE].concat();
    unknown(stage, &words)?.ready()
}
