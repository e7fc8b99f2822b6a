//! Causes for which the diagnosis had no name when they were written. To say that it cannot tell is
//! right, and so is a name that it may have learned since; a wrong one and *healthy* are not.

use anyhow::Result;

use super::programs::{APACHE, LIGHTTPD, PYTHON, missing};
use super::{cause, first, second, servers, unknown};
use crate::scenario::{Cause, Expect, Kind, Scenario, SetUp, Who};
use crate::scenarios::held_out::here;
use crate::scenarios::loads::pgbench_script;
use crate::stage::Stage;

/// Letters of a line of the log: with a date, nearly as many as are written to a pipe at once.
const LINE: usize = 3_900;

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    let unnamed = |words, named, set_up| Scenario {
        kind: Kind::Unnamed,
        ..cause(words, Expect::undetermined_or(named), set_up)
    };
    vec![
        unnamed(
            [
                "lighttpd-paced-answers",
                "answers that the server itself slows down",
                "Four connections ask lighttpd for a text of 90 KB, and it is told to send each of \
                 them 512 KB per second.",
            ],
            &[],
            paced_answers,
        ),
        unnamed(
            [
                "apache-slow-log",
                "log written to a program that reads slowly",
                "Eight connections ask Apache for a small file, and each request writes a long line to \
                 a program that takes 4 ms to read it.",
            ],
            &[("net.remote", Who::Peer)],
            slow_log,
        ),
        unnamed(
            [
                "postgres-synchronous-standby",
                "commits that wait for another server's disk",
                "Eight pgbench clients insert a row per transaction, and each commit of PostgreSQL \
                 waits until a receiver of its log has that on a disk that takes its time.",
            ],
            &[("net.remote", Who::Peer), ("io.sync", Who::Peer)],
            synchronous_standby,
        ),
        unnamed(
            [
                "python-one-interpreter",
                "lock of an interpreter among threads that compute",
                "Eight connections, each with a thread of a Python server that computes some ms with \
                 each request, and threads of Python compute one at a time.",
            ],
            &[("lock.runtime", Who::Target), ("lock.futex", Who::Target)],
            one_interpreter,
        ),
    ]
}

fn paced_answers(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[LIGHTTPD]) {
        return Ok(SetUp::NotHere(why));
    }
    let pace = match cause {
        Cause::Made => "connection.kbytes-per-second = 512",
        Cause::Removed => "",
    };
    let (_, port) = servers::lighttpd(stage, pace)?;
    let address = here(&port);
    let words = [
        "load",
        &address,
        "--http",
        "/list.txt",
        "--connections",
        "4",
    ];
    unknown(stage, &words)?.ready()
}

fn slow_log(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[APACHE, PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let pause_us = match cause {
        Cause::Made => "4000",
        Cause::Removed => "0",
    };
    let folder = stage.unprivileged_folder("files")?;
    std::fs::write(folder.join("file"), "ok\n")?;
    let reader = include_str!("../../../programs/log_reader.py");
    let reader = stage.script("log_reader.py", reader)?;
    let directives = format!(
        "StartServers 1\nServerLimit 1\nThreadsPerChild 16\nMaxRequestWorkers 16\nDocumentRoot \
         {}\nLogFormat \"%t {}\" long\nCustomLog \"|{} {} {pause_us}\" long\n",
        folder.display(),
        "x".repeat(LINE),
        first::PYTHON,
        reader.display()
    );
    let (pid, port) = second::apache(stage, &["mpm_event"], &directives)?;
    let reader = servers::child_named(pid, "python")?;
    stage.cast.insert(Who::Peer, format!("pid:{reader}@"));
    let address = here(&port);
    let words = ["load", &address, "--http", "/file", "--connections", "8"];
    unknown(stage, &words)?.ready()
}

fn synchronous_standby(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    let disk = match stage.slow_disk() {
        Ok(disk) => disk,
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    // A commit that has to wait for a receiver would wait for ever before there is one.
    let server = stage.postgres(&[])?;
    server.execute("DROP TABLE IF EXISTS lab_log")?;
    server.execute("CREATE TABLE lab_log (client int)")?;
    let wait = match cause {
        Cause::Made => "synchronous_standby_names=*",
        Cause::Removed => "synchronous_standby_names=",
    };
    let server = stage.postgres(&["wal_level=replica", "max_wal_senders=4", wait])?;
    let mut receiver = server.client("pg_receivewal");
    receiver
        .args(["--synchronous", "--no-loop", "-D"])
        .arg(&disk);
    let receiver = stage.beside(receiver)?;
    stage.cast.insert(Who::Peer, format!("pid:{receiver}@"));
    let insert = "INSERT INTO lab_log VALUES (:client_id);\n";
    pgbench_script(stage, &["-c", "8", "-j", "1"], insert)?.ready()
}

fn one_interpreter(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let processes = match cause {
        Cause::Made => "1",
        Cause::Removed => "8",
    };
    let program = ["threads.py", include_str!("../../../programs/threads.py")];
    let (_, port) = servers::python(stage, program, &[processes, "40000"])?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "8"];
    unknown(stage, &words)?.ready()
}
