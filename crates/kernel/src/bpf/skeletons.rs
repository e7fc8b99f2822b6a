//! Skeletons, generated from the programs when this crate is built.
#![allow(
    clippy::all,
    clippy::too_many_lines,
    clippy::unwrap_used,
    dead_code,
    missing_docs,
    non_camel_case_types,
    unused_imports
)]

pub mod block {
    include!(concat!(env!("OUT_DIR"), "/block.skel.rs"));
}
pub mod clock {
    include!(concat!(env!("OUT_DIR"), "/clock.skel.rs"));
}
pub mod flow {
    include!(concat!(env!("OUT_DIR"), "/flow.skel.rs"));
}
pub mod floor {
    include!(concat!(env!("OUT_DIR"), "/floor.skel.rs"));
}
pub mod thread_time {
    include!(concat!(env!("OUT_DIR"), "/thread_time.skel.rs"));
}
pub mod pressure {
    include!(concat!(env!("OUT_DIR"), "/pressure.skel.rs"));
}
pub mod processes {
    include!(concat!(env!("OUT_DIR"), "/processes.skel.rs"));
}
pub mod requests {
    include!(concat!(env!("OUT_DIR"), "/requests.skel.rs"));
}
pub mod tasks {
    include!(concat!(env!("OUT_DIR"), "/tasks.skel.rs"));
}
