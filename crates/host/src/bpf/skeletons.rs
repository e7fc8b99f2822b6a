//! Skeletons, generated from the programs when this crate is built.
#![allow(
    clippy::all,
    clippy::unwrap_used,
    dead_code,
    missing_docs,
    non_camel_case_types,
    unused_imports
)]

pub(crate) mod clock {
    include!(concat!(env!("OUT_DIR"), "/clock.skel.rs"));
}
pub(crate) mod floor {
    include!(concat!(env!("OUT_DIR"), "/floor.skel.rs"));
}
pub(crate) mod thread_time {
    include!(concat!(env!("OUT_DIR"), "/thread_time.skel.rs"));
}
pub(crate) mod pressure {
    include!(concat!(env!("OUT_DIR"), "/pressure.skel.rs"));
}
pub(crate) mod requests {
    include!(concat!(env!("OUT_DIR"), "/requests.skel.rs"));
}
pub(crate) mod tasks {
    include!(concat!(env!("OUT_DIR"), "/tasks.skel.rs"));
}
