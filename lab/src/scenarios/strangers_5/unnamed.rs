//! A cause for which the diagnosis had no name when it was written. To say that it cannot tell is right; a
//! wrong name and *healthy* are not.

use anyhow::Result;

use super::programs::{PERL, missing};
use super::{cause, servers, unknown};
use crate::scenario::{Cause, Expect, Kind, Scenario, SetUp};
use crate::scenarios::held_out::here;
use crate::stage::Stage;

/// The situation.
pub fn scenario() -> Scenario {
    Scenario {
        kind: Kind::Unnamed,
        ..cause(
            [
                "perl-one-session",
                "lock on a file that all requests want",
                "Eight connections ask a Perl server of twelve processes, each request of which keeps \
                 the file of its session locked for 2 ms, and all are of one session.",
            ],
            Expect::undetermined_or(&[]),
            one_session,
        )
    }
}

fn one_session(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[PERL]) {
        return Ok(SetUp::NotHere(why));
    }
    let sessions = match cause {
        Cause::Made => "one",
        Cause::Removed => "own",
    };
    let folder = stage.unprivileged_folder("sessions")?;
    let folder = folder.to_string_lossy();
    let (_, port) = servers::perl(stage, &["12", "0", &folder, sessions, "2000"])?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "8"];
    unknown(stage, &words)?.ready()
}
