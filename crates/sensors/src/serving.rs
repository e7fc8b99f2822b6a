//! Serving: whether a thread of the target slept inside a request that it had read and not yet answered, or between
//! two.
//!
//! What a worker waits for inside a request is part of that request's time, and what it waits for outside is the next
//! one. That is known of servers in which one thread reads a request and answers it before it reads another
//! (`answered`); where others answer (`answered_for_others`) it is not, as in an event loop or where goroutines are
//! scheduled onto threads. Counted while the programs that see reads are attached (`bpf/lib/serving.bpf.h`): what is
//! in neither column is not known.

use model::{Column, EntityKind, Quality, Table, Unit};

use crate::THREAD_TIME_COVERAGE;

const SLEEPS: &str = "sched_switch, sock_recv_length, sock_send_length by BPF";
const REPLIES: &str = "sock_recv_length, sock_send_length by BPF";

const fn slept(name: &'static str, help: &'static str) -> Column {
    Column::counter(name, Unit::Nanoseconds, help, SLEEPS).quality(Quality::Sampled)
}

const fn answered(name: &'static str, help: &'static str) -> Column {
    Column::counter(name, Unit::Count, help, REPLIES).quality(Quality::Sampled)
}

/// All columns: the sleeps as `enum serving_sleep` numbers them, inside and then outside.
pub const WIDTH: usize = 8;

static COLUMNS: [Column; WIDTH] = [
    slept("inside_futex_ns", "Asleep in futex inside a request."),
    slept(
        "inside_input_ns",
        "Waiting for input inside a request: from another than its client.",
    ),
    slept("inside_sleep_ns", "In a timed sleep inside a request."),
    slept(
        "outside_futex_ns",
        "Asleep in futex outside of any request.",
    ),
    slept(
        "outside_input_ns",
        "Waiting for input outside of any request: for the next one.",
    ),
    slept(
        "outside_sleep_ns",
        "In a timed sleep outside of any request.",
    ),
    answered(
        "answered",
        "Requests that it answered and had read itself, with none read in between.",
    ),
    answered(
        "answered_for_others",
        "Requests that it answered and another thread had read, or itself before it read a further one.",
    ),
];

/// The threads of the target.
pub static SERVING: Table = Table::new(
    "serving",
    EntityKind::Thread,
    "Whether each thread of the target slept inside a request, and whose requests it answered.",
    &COLUMNS,
)
.covered_by(THREAD_TIME_COVERAGE);

/// Whether a wait was inside a request, as column `serving` of `wakeup` and `enum serving_state` number it; 0 is for
/// not known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Serving {
    /// Inside a request.
    Inside = 1,
    /// Outside of any.
    Outside,
}

impl Serving {
    /// As the table has it; `None` for not known.
    pub fn new(code: i64) -> Option<Self> {
        let all = [Serving::Inside, Serving::Outside];
        all.into_iter().find(|it| *it as i64 == code)
    }
}
