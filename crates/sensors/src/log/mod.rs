//! What logs say: lines by template, and calls by method, caller and callee. A collector reads the files and gives their
//! lines to `LogMiner`; here is what is taken from a line, and what the tables hold.
//!
//! No text of a line is kept, but for the constant words of templates (`template`) and the method and addresses of
//! calls (`call`).

mod call;
mod drain;
mod lines;
mod miner;
mod template;
mod tokens;

use model::{Column, EntityKind, Table, Unit};

pub use call::{CallName, LoggedCall};
pub use lines::{LONGEST_LINE, Lines};
pub use miner::{Change, LogMiner, OTHER_CALLS, OTHER_LINES, Subject};
pub use template::{UNTOLD, template_of};

const LINES: &str = "lines of the log";
const CALLS: &str = "lines METHOD CALLER:PORT => CALLEE:PORT ... took TIME";

/// A log: how much was written, and how much of that was read.
pub static LOG: Table = Table::new(
    "log",
    EntityKind::Log,
    "Logs that were named with `--log`: what was written to each, and how much of it was read.",
    LOG_COLUMNS,
);

static LOG_COLUMNS: &[Column] = &[
    Column::counter("lines", Unit::Count, "Lines.", LINES),
    Column::counter("bytes", Unit::Bytes, "Bytes of these.", LINES),
    Column::counter(
        "unmined_lines",
        Unit::Count,
        "Those of the lines that were counted only, because more came at once than is looked at: they are in no template \
         and no call.",
        LINES,
    ),
    Column::counter(
        "skipped_bytes",
        Unit::Bytes,
        "What was not read at all, because still more came at once: its lines are not counted.",
        LINES,
    ),
    Column::counter(
        "rotations",
        Unit::Count,
        "How often the file was replaced or cut off, and was read anew.",
        "stat(2): st_ino, st_size",
    ),
];

/// Lines of one template.
pub static LOG_TEMPLATE: Table = Table::new(
    "log_template",
    EntityKind::LogTemplate,
    "Lines of logs by template: what lines have in common, with `<*>` where they differ. A line that is a call is in \
     `logged_call` instead.",
    TEMPLATE_COLUMNS,
);

static TEMPLATE_COLUMNS: &[Column] = &[
    Column::counter("lines", Unit::Count, "Lines.", LINES),
    Column::counter("bytes", Unit::Bytes, "Bytes of these.", LINES),
];

/// Calls of one method by one caller to one callee.
pub static LOGGED_CALL: Table = Table::new(
    "logged_call",
    EntityKind::LoggedCall,
    "Calls that logs report, by method, caller (its address, whatever its port) and callee (address and port), at the \
     time when the line was read.",
    CALL_COLUMNS,
);

static CALL_COLUMNS: &[Column] = &[
    Column::counter("calls", Unit::Count, "Calls.", CALLS),
    Column::counter(
        "took_ns",
        Unit::Nanoseconds,
        "How long they took by the lines, which often give whole milliseconds.",
        CALLS,
    ),
    Column::counter(
        "over_10_ms",
        Unit::Count,
        "Those that took 10 ms or more.",
        CALLS,
    ),
    Column::counter(
        "over_100_ms",
        Unit::Count,
        "Those that took 100 ms or more.",
        CALLS,
    ),
    Column::counter(
        "over_1_s",
        Unit::Count,
        "Those that took 1 s or more.",
        CALLS,
    ),
];
