//! What pgbench says went wrong, from its standard error: counted, and the first of it kept.
//!
//! A failing run may print a line for each of its clients; memory does not grow with them.

use crate::quote::quote;

/// The error lines of one run.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Complaints {
    tool: &'static str,
    /// The first line that says what went wrong, cut.
    pub(super) first: Option<String>,
    /// The first hint, without its `pgbench: hint: `.
    pub(super) hint: Option<String>,
    /// Lines that say that a client ended early.
    pub(super) aborted_clients: u64,
    /// Whether pgbench called its results incomplete.
    pub(super) run_aborted: bool,
}

impl Complaints {
    /// None of this tool's yet.
    pub(super) fn of(tool: &'static str) -> Self {
        Self {
            tool,
            first: None,
            hint: None,
            aborted_clients: 0,
            run_aborted: false,
        }
    }

    /// Takes a line of standard error.
    pub(super) fn line(&mut self, line: &[u8]) {
        let text = String::from_utf8_lossy(line);
        let spoken = text
            .strip_prefix(self.tool)
            .and_then(|rest| rest.strip_prefix(": "));
        if let Some(hint) = spoken.and_then(|text| text.strip_prefix("hint: ")) {
            self.hint.get_or_insert_with(|| quote(hint));
            return;
        }
        let error = ["error: ", "fatal: "]
            .iter()
            .find_map(|kind| spoken?.strip_prefix(kind));
        // Before version 12 a message came without a prefix.
        let message = error.unwrap_or(&text);
        if message.starts_with("Run was aborted; the above results are incomplete") {
            self.run_aborted = true;
            return;
        }
        let aborted = is_aborted_client(message);
        self.aborted_clients += u64::from(aborted);
        if aborted || error.is_some() {
            self.first.get_or_insert_with(|| quote(&text));
        }
    }
}

/// `client 2 script 0 aborted in command 0 query 0: ERROR: ...`, and not `client 2 got an error`.
fn is_aborted_client(message: &str) -> bool {
    let Some(rest) = message.strip_prefix("client ") else {
        return false;
    };
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = match rest.strip_prefix(" script ") {
        Some(rest) => rest.trim_start_matches(|c: char| c.is_ascii_digit()),
        None => rest,
    };
    rest.starts_with(" aborted")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_what_they_count_as() {
        let mut complaints = Complaints::of("pgbench");
        for line in [
            "pgbench: client 5 got an error in command 4 (SQL) of script 0; ERROR:  it was aborted",
            "WARNING:  terminating connection due to immediate shutdown command",
        ] {
            complaints.line(line.as_bytes());
        }
        assert_eq!(complaints, Complaints::of("pgbench"));
        for line in [
            "client 0 aborted in state 8: ERROR:  relation \"t\" does not exist",
            "pgbench: error: client 2 script 0 aborted in command 0 query 0: ERROR:  division by zero",
            "pgbench: fatal: client 3 aborted while establishing connection",
            "pgbench: error: Run was aborted; the above results are incomplete.",
        ] {
            complaints.line(line.as_bytes());
        }
        assert_eq!(
            (complaints.aborted_clients, complaints.run_aborted),
            (3, true)
        );
        assert!(
            complaints
                .first
                .unwrap()
                .starts_with("client 0 aborted in state 8")
        );
    }
}
