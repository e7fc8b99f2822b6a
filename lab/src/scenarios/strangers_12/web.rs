//! nginx.

use std::ffi::OsString;

use anyhow::{Context, Result};

use super::programs::{NGINX, PYTHON, WRK, missing, wrk};
use super::{cause, first, second, servers};
use crate::scenario::{Cause, Expect, Load, Scenario, SetUp, Who};
use crate::stage::Stage;

/// Users of the generator in Python.
const USERS: &str = "16";

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        cause(
            [
                "nginx-one-worker-accepts",
                "connections that one of several workers has all accepted",
                "wrk asks nginx for a list, which is compressed each time, over sixteen connections, \
                 and by the settings whoever of its two workers has the mutex for that takes all \
                 connections that wait.",
            ],
            Expect::one("cpu.single_thread", Who::Thread),
            one_worker_accepts,
        ),
        cause(
            [
                "nginx-python-generator",
                "generator without time left",
                "Sixteen users with 2 ms to think of a load generator in Python, one process, ask nginx for \
                 a small file, and what their library does for each request takes all of a CPU.",
            ],
            Expect::one("load.client", Who::Generator),
            python_generator,
        ),
    ]
}

/// From <https://blog.cloudflare.com/the-sad-state-of-linux-socket-balancing/>, where one worker of nginx had far more
/// connections than the others and was the slowest, and
/// <https://mailman.nginx.org/pipermail/nginx/2012-November/036392.html>: with `accept_mutex` one worker takes most.
fn one_worker_accepts(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[NGINX, WRK]) {
        return Ok(SetUp::NotHere(why));
    }
    let (events, listens) = match cause {
        Cause::Made => ("accept_mutex on; multi_accept on;", ""),
        // Connections are dealt out.
        Cause::Removed => ("", "reuseport"),
    };
    let (pid, port) = servers::nginx_accepting(stage, events, listens)?;
    if cause == Cause::Made {
        let worker = servers::who_accepts(pid)?;
        stage.cast.insert(Who::Thread, format!("/tid:{worker}"));
    }
    let mut load = wrk(stage, &port, 16);
    load.command.pop();
    let url = format!("http://127.0.0.1:{port}/list.txt");
    load.command
        .extend(["-H", second::GZIP, &url].map(Into::into));
    load.ready()
}

/// From <https://docs.locust.io/en/stable/increasing-request-rate.html>: "CPU usage above 90%!" means that the generator,
/// one process in Python, is what is measured, and a cheaper client of HTTP is among the remedies;
/// <https://ajmani.dev/distributed-load-testing-with-locust> describes a test that measured the laptop it ran on.
fn python_generator(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[NGINX, PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let client = match cause {
        Cause::Made => "library",
        Cause::Removed => "plain",
    };
    let (_, port) = servers::nginx_accepting(stage, "", "reuseport")?;
    let items: Vec<String> = (0..20)
        .map(|item| format!("{{\"id\": {item}, \"name\": \"item {item}\", \"price\": {item}.5}}"))
        .collect();
    let file = stage.folder().join("site").join("item.json");
    std::fs::write(file, format!("[{}]", items.join(", "))).context("cannot write a file")?;
    let program = stage.script("swarm.py", include_str!("../../../programs/swarm.py"))?;
    let seconds = stage.seconds.to_string();
    let words = [&port, USERS, &seconds, client].map(OsString::from);
    let command = [OsString::from(first::PYTHON), program];
    Load::new(command.into_iter().chain(words)).ready()
}
