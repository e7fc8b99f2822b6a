//! More clients than the server admits: most of them wait for a place, and the server is idle.

use anyhow::{Context, Result};

use super::loads::own;
use crate::postgres::DATABASE;
use crate::scenario::{Cause, Costs, Expect, Kind, SECONDS, Scenario, Set, SetUp, Who};
use crate::stage::Stage;

/// A role without privileges: three places are kept for superusers, so that one can look.
const ROLE: &str = "lab_application";

/// The scenario.
pub fn scenario() -> Scenario {
    Scenario {
        name: "connection-limit",
        about: "Forty workers without a connection pool each want a session for 0.2 s, and the \
                server admits thirteen at a time.",
        set: Set::Tuned,
        mechanism: "connections used up",
        kind: Kind::Cause,
        expect: Expect::one("limit.connections", Who::Target),
        seconds: SECONDS,
        costs: Costs::Throughput,
        set_up,
    }
}

fn set_up(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    let limit = match cause {
        Cause::Made => "max_connections=16",
        Cause::Removed => "max_connections=100",
    };
    let server = stage.postgres(&[limit, "superuser_reserved_connections=3"])?;
    server.execute(&format!("DROP ROLE IF EXISTS {ROLE}"))?;
    server.execute(&format!("CREATE ROLE {ROLE} LOGIN"))?;
    let (dsn, socket) = (server.dsn(), server.socket());
    let socket = socket.to_str().context("a path of our own is text")?;
    let words = ["sessions", socket, "--user", ROLE, "--database", DATABASE];
    own(stage, &words)?.with("--postgres", dsn).ready()
}
