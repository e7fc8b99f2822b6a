//! The same for C; `include/stealmeter.h` is where it is described.
//!
//! Pointers from C come in as references and boxes that may be null, of which the compiler makes what
//! a C compiler makes of a pointer: nothing here dereferences by hand. What remains unsafe is the
//! promise that no other symbol has these names, which Rust asks for at each of them.
#![allow(unsafe_code)]

use std::mem::MaybeUninit;

use crate::meter::{Meter, Reader, RunQueue};

/// `stealmeter_snapshot`.
#[repr(C)]
pub struct CSnapshot {
    cpu_ns: u64,
    run_queue_ns: u64,
    sleep_ns: u64,
    blocked_ns: u64,
    hidden_ns: u64,
    wall_ns: u64,
    at_ns: u64,
    boundaries: u64,
    torn: u64,
    flags: u64,
}

const WAITING: u64 = 1;
const RUN_QUEUE_IN_PART: u64 = 2;
const MIXED: u64 = 4;
const ENDED: u64 = 8;

/// Begins a meter of the calling thread.
// SAFETY: no other symbol of this library or of the C library begins with `stealmeter_`; the same
// holds for each below.
#[unsafe(no_mangle)]
pub extern "C" fn stealmeter_new() -> Box<Meter> {
    Box::new(Meter::new())
}

/// Begins a meter that does not look at schedstat.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn stealmeter_new_clocks_only() -> Box<Meter> {
    Box::new(Meter::clocks_only())
}

/// Ends a meter; its readers stay.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn stealmeter_free(meter: Option<Box<Meter>>) {
    drop(meter);
}

/// The loop is about to wait.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn stealmeter_before_wait(meter: Option<&mut Meter>) {
    if let Some(meter) = meter {
        meter.before_wait();
    }
}

/// The loop goes on.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn stealmeter_after_wait(meter: Option<&mut Meter>) {
    if let Some(meter) = meter {
        meter.after_wait();
    }
}

/// The loop went round without waiting.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn stealmeter_tick(meter: Option<&mut Meter>) {
    if let Some(meter) = meter {
        meter.tick();
    }
}

/// Brings the counters up to date.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn stealmeter_update(meter: Option<&mut Meter>) {
    if let Some(meter) = meter {
        meter.update();
    }
}

/// A reader, for any one thread at a time; null where there is no meter.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn stealmeter_reader_new(meter: Option<&Meter>) -> Option<Box<Reader>> {
    meter.map(|meter| Box::new(meter.reader()))
}

/// Gives a reader back.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn stealmeter_reader_free(reader: Option<Box<Reader>>) {
    drop(reader);
}

/// The counters as of the last boundary. 0, or -1 where a pointer is null.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn stealmeter_read(
    reader: Option<&Reader>,
    into: Option<&mut MaybeUninit<CSnapshot>>,
) -> i32 {
    let Some((reader, into)) = reader.zip(into) else {
        return -1;
    };
    let seen = reader.read();
    let flag = |set: bool, flag: u64| if set { flag } else { 0 };
    into.write(CSnapshot {
        cpu_ns: seen.counters.cpu_ns,
        run_queue_ns: seen.counters.run_queue_ns,
        sleep_ns: seen.counters.sleep_ns,
        blocked_ns: seen.counters.blocked_ns,
        hidden_ns: seen.counters.hidden_ns,
        wall_ns: seen.counters.wall_ns(),
        at_ns: seen.at_ns,
        boundaries: seen.boundaries,
        torn: seen.torn,
        flags: flag(seen.waiting, WAITING)
            | flag(seen.run_queue == RunQueue::Part, RUN_QUEUE_IN_PART)
            | flag(!seen.settled, MIXED)
            | flag(seen.ended, ENDED),
    });
    0
}
