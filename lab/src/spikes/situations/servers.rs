//! Servers that stop by themselves. Nothing outside of them starts their spikes: no trigger is a right answer, and so is
//! the server's own work; another's name is wrong.

use std::process::Command;

use anyhow::{Context, Result};

use crate::scenarios::{free_port, here, missing, wait_for};
use crate::server::said;
use crate::spikes::situation::{
    Answer, By, Made, NOTED, Named, SCHEDULE, Situation, Timing, Variant,
};
use crate::stage::Stage;

/// A purpose-written server.
pub fn paused() -> Situation {
    Situation {
        name: "stopped-world",
        about: "A thread of the server holds the lock that each request takes, and computes for 300 ms.",
        timing: Timing::Recurring(5.0),
        follows: 1.0,
        answer: Answer {
            any_of: &[Named::Process("lab-serve")],
            or_none: true,
        },
        set_up: set_up_paused,
    }
}

fn set_up_paused(stage: &mut Stage, _: Variant) -> Result<Result<Made, String>> {
    let mut server = stage.own(&["serve", "pausing"])?;
    server.arg("--schedule").arg(stage.folder().join(SCHEDULE));
    server.arg("--noted").arg(stage.folder().join(NOTED));
    let (pid, line) = stage.beside_that_speaks(server)?;
    let (address, _) = said(&line).context("the server says where it is")?;
    Ok(Ok(Made {
        target: format!("pid:{pid}"),
        load: load(stage, address)?,
        logs: Vec::new(),
        by: By::Server,
    }))
}

/// Requests at a fixed rate.
fn load(stage: &Stage, address: &str) -> Result<Command> {
    let seconds = stage.seconds.to_string();
    let words = ["load", address, "--rate", "300", "--quiet"];
    stage.own(&[&words[..], &["--seconds", &seconds]].concat())
}

/// A Java virtual machine.
pub fn collected() -> Situation {
    Situation {
        name: "collected-garbage",
        about: "A Java server with a heap full of objects that stay asks for a full collection.",
        timing: Timing::Recurring(6.0),
        follows: 1.0,
        // Counters of the virtual machine, lines of its log, and its process.
        answer: Answer {
            any_of: &[
                Named::Process("java"),
                Named::Counter("java"),
                Named::Line("Pause Full"),
                Named::Line("Phase"),
            ],
            or_none: true,
        },
        set_up: set_up_collected,
    }
}

/// 24 bytes each.
const OBJECTS: &str = "12000000";

fn set_up_collected(stage: &mut Stage, _: Variant) -> Result<Result<Made, String>> {
    if let Some(reason) = missing(&["java", "javac"], "openjdk-17-jdk-headless") {
        return Ok(Err(reason));
    }
    let folder = stage.folder().to_path_buf();
    let text = include_str!("../../../programs/Collected.java");
    let file = stage.script("Collected.java", text)?;
    let mut compile = Command::new("javac");
    compile.arg("-d").arg(&folder).arg(file);
    stage.step(compile)?;
    let port = free_port()?.to_string();
    let log = folder.join("gc.log");
    let mut java = Command::new("java");
    java.args(["-XX:+UseSerialGC", "-Xms768m", "-Xmx768m"]);
    java.arg(format!("-Xlog:gc*:file={}", log.display()));
    java.arg("-cp")
        .arg(&folder)
        .args(["Collected", &port, OBJECTS]);
    java.args([folder.join(SCHEDULE), folder.join(NOTED)]);
    let pid = stage.beside(java)?;
    let address = here(&port);
    wait_for(&address)?;
    Ok(Ok(Made {
        target: format!("pid:{pid}"),
        load: load(stage, &address)?,
        logs: vec![log],
        by: By::Server,
    }))
}
