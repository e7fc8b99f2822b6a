//! Servers in Node.js, Python and Java.

use std::fs::File;
use std::path::Path;

use anyhow::{Context, Result, bail};
use rustix::io::Errno;

use super::programs::{JAVA, NODE, PYTHON, WRK, missing, wrk};
use super::{beside, cause, first, servers, third, unknown};
use crate::scenario::{Cause, Expect, Scenario, SetUp, Who};
use crate::scenarios::held_out::here;
use crate::stage::{Limit, Stage};

/// More than the disk has inodes.
const MOST_FILES: u32 = 1_000_000;
/// What server and worker may keep in memory: hundreds of requests of the worker.
const MEMORY: u64 = 128 << 20;
/// Objects over which the virtual machine walks for tens of ms.
const OBJECTS: &str = "4000000";

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        cause(
            [
                "node-synchronous-appends",
                "writes to a file that is opened to be synchronous",
                "Four connections ask Node.js, which notes each request in a file that it has opened \
                 with O_SYNC, on a disk that takes its time, and calls no fsync; recorded without \
                 its load.",
            ],
            Expect::one("io.sync", Who::Target),
            synchronous_appends,
        ),
        cause(
            [
                "python-no-inodes",
                "file system without inodes",
                "Four connections ask a Python server that makes a file for each request, on a disk \
                 with room and without inodes, so that it tries three times and gives up.",
            ],
            Expect::one("io.full_disk", Who::Filesystem),
            no_inodes,
        ),
        cause(
            [
                "python-killed-worker",
                "worker that is killed for memory and started again",
                "wrk asks a Python server over four connections, whose one worker keeps 256 KB with \
                 each request until the kernel kills it at the 128 MB of its group, and the next one \
                 loads for 0.5 s before it serves.",
            ],
            Expect::one("memory.oom", Who::LimitedGroup),
            killed_worker,
        ),
        cause(
            [
                "java-monitoring",
                "monitoring that stops all threads",
                "Four connections ask a Java service, in which monitoring asks every 10 ms who holds \
                 which locks, for which the virtual machine stops all threads and walks over its heap.",
            ],
            Expect {
                // The walk is a thread's, and a whole CPU's.
                or: &[("cpu.single_thread", Who::Thread)],
                ..Expect::one("lock.runtime", Who::Target)
            },
            monitoring,
        ),
    ]
}

fn synchronous_appends(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[NODE]) {
        return Ok(SetUp::NotHere(why));
    }
    let disk = match stage.slow_disk() {
        Ok(disk) => disk,
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    stage.give_away(&disk)?;
    let flag = match cause {
        Cause::Made => "as",
        Cause::Removed => "a",
    };
    let (pid, port) = servers::appending(stage, &disk.join("audit"), flag)?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "4"];
    beside(stage, pid, &words)?.ready()
}

fn no_inodes(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let disk = match stage.slow_disk() {
        Ok(disk) => disk,
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    stage.give_away(&disk)?;
    let folder = disk.display().to_string();
    let program = ["keeping.py", include_str!("../../../programs/keeping.py")];
    let (_, port) = third::python(stage, program, &[&folder])?;
    if cause == Cause::Made {
        use_up_inodes(&disk)?;
        stage.cast.insert(Who::Filesystem, folder);
    }
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "4"];
    unknown(stage, &words)?.ready()
}

/// Makes empty files until the disk has no inode for another one.
fn use_up_inodes(disk: &Path) -> Result<()> {
    let folder = disk.join("many");
    std::fs::create_dir(&folder).context("cannot make a folder")?;
    for number in 0..MOST_FILES {
        if let Err(error) = File::create(folder.join(number.to_string())) {
            if error.raw_os_error() == Some(Errno::NOSPC.raw_os_error()) {
                return Ok(());
            }
            return Err(error).with_context(|| format!("cannot fill {}", folder.display()));
        }
    }
    bail!("{} takes more than {MOST_FILES} files", folder.display())
}

fn killed_worker(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[PYTHON, WRK]) {
        return Ok(SetUp::NotHere(why));
    }
    let word = match cause {
        Cause::Made => "keeps",
        Cause::Removed => "forgets",
    };
    let program = ["reviving.py", include_str!("../../../programs/reviving.py")];
    let (pid, port) = third::python(stage, program, &[word])?;
    match stage.confine("limited", pid, &[Limit::Memory(MEMORY)]) {
        Ok(group) => stage.cast.insert(Who::LimitedGroup, group.path),
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    // The first worker has loaded by then.
    let address = here(&port);
    let warm_up = ["load", &address, "--http", "/", "--connections", "1"];
    stage.step(stage.own(&[&warm_up[..], &["--seconds", "1"]].concat())?)?;
    wrk(stage, &port, 4).ready()
}

fn monitoring(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[JAVA]) {
        return Ok(SetUp::NotHere(why));
    }
    let watched = match cause {
        Cause::Made => "1",
        Cause::Removed => "0",
    };
    let program = [
        "Monitored",
        include_str!("../../../programs/Monitored.java"),
    ];
    let options = ["-XX:+UseSerialGC", "-Xms512m", "-Xmx512m"];
    let (pid, port) = first::java_class(stage, program, &options, &["8", OBJECTS, watched])?;
    let walker = first::thread_named(pid, "VM Thread")?;
    let walker = walker.context("the virtual machine stops threads by one of its own")?;
    stage.cast.insert(Who::Thread, format!("/tid:{walker}"));
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "4"];
    unknown(stage, &words)?.ready()
}
