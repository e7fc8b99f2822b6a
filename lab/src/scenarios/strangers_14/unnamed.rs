//! A cause for which the diagnosis had no name when it was written. To say that it cannot tell is right; a
//! wrong name and *healthy* are not.

use anyhow::Result;

use super::{cause, ninth, unknown};
use crate::scenario::{Cause, Expect, Kind, Scenario, SetUp};
use crate::scenarios::held_out::here;
use crate::stage::Stage;

/// What the requests of one visitor have in common.
const COOKIE: &str = "Cookie: PHPSESSID=0123456789abcdef0123456789";

/// The situation.
pub fn scenario() -> Scenario {
    Scenario {
        kind: Kind::Unnamed,
        ..cause(
            [
                "apache-session-file",
                "file of a session that a page keeps locked until it is done",
                "Six requests of one visitor at a time ask Apache for a page in PHP that waits 10 ms \
                 for a report, and PHP keeps the file of the session locked meanwhile, so that the \
                 others wait for it in turn.",
            ],
            Expect::undetermined_or(&[]),
            session_file,
        )
    }
}

/// From <http://konrness.com/php5/how-to-prevent-blocking-php-requests/>, <https://coderwall.com/p/h9gu8g/php-session-locking>
/// and the notes at <https://www.php.net/manual/en/function.session-start.php>: requests of one visitor wait for each other in
/// `session_start()`, until a page says `session_write_close()` when it has what it wants.
fn session_file(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = ninth::missing_php(&[]) {
        return Ok(SetUp::NotHere(why));
    }
    let kept = match cause {
        Cause::Made => "kept",
        Cause::Removed => "closed",
    };
    let folder = stage.unprivileged_folder("sessions")?;
    let page = [
        "sessions.php",
        include_str!("../../../programs/sessions.php"),
    ];
    let sessions = format!("\"{} {kept}\"", folder.display());
    let (_, port) = ninth::apache_with_php(stage, page, ["SESSIONS", &sessions])?;
    let address = here(&port);
    let words = [
        "load",
        &address,
        "--http",
        "/sessions.php",
        "--header",
        COOKIE,
    ];
    unknown(stage, &[&words[..], &["--connections", "6"]].concat())?.ready()
}
