//! Apache with PHP, and lighttpd.

use std::ffi::OsString;

use anyhow::Result;

use super::programs::{LIGHTTPD, PYTHON, missing};
use super::{cause, downstream, first, ninth, second, unknown};
use crate::scenario::{Cause, Expect, Load, Scenario, SetUp, Who};
use crate::scenarios::held_out::here;
use crate::stage::Stage;

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        cause(
            [
                "apache-events-before-answer",
                "events that a page sends to a collector before it answers",
                "Four connections ask Apache for a page in PHP, which reports a warning to a collector \
                 of events that takes 20 ms to accept it, and answers then.",
            ],
            Expect::one("net.remote", Who::Peer),
            events_before_answer,
        ),
        cause(
            [
                "lighttpd-virtual-users",
                "generator whose users are threads of one interpreter and look into each answer",
                "Eight users of a generator in Python ask lighttpd for a list, and each takes every \
                 answer apart, one user at a time.",
            ],
            Expect::one("load.client", Who::Generator),
            virtual_users,
        ),
    ]
}

/// After <https://github.com/getsentry/sentry-php/issues/1295>: every call of an API waited for the reporter of errors,
/// which sends what it has in the request.
fn events_before_answer(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = ninth::missing_php(&[]) {
        return Ok(SetUp::NotHere(why));
    }
    let sleep_us = match cause {
        Cause::Made => 20_000,
        Cause::Removed => 0,
    };
    let (collector, address) = downstream(stage, sleep_us)?;
    let peer = format!("pid:{collector}@ {address}");
    stage.cast.insert(Who::Peer, peer);
    let page = ["events.php", include_str!("../../../programs/events.php")];
    let (pid, port) = ninth::apache_with_php(stage, page, ["COLLECTOR", &address])?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/events.php"];
    let load = unknown(stage, &[&words[..], &["--connections", "4"]].concat())?;
    // The collector was started before it.
    load.with("--target", format!("pid:{pid}")).ready()
}

/// After <https://github.com/locustio/locust/issues/313>: no more than 600 requests per second, on a machine with CPUs to
/// spare, from a generator in Python that has the time of one CPU.
fn virtual_users(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[LIGHTTPD, PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let (_, port) = second::lighttpd(stage, 0)?;
    let program = include_str!("../../../programs/virtual_users.py");
    let program = stage.script("virtual_users.py", program)?;
    let seconds = stage.seconds.to_string();
    let mut words = vec!["--port", &port, "--seconds", &seconds];
    if cause == Cause::Made {
        words.push("--look");
    }
    let words = words.into_iter().map(OsString::from);
    let command = [OsString::from(first::PYTHON), program];
    Load::new(command.into_iter().chain(words)).ready()
}
