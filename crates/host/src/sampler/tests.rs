//! The life of a sampler: how it ends.

use std::path::PathBuf;

use super::*;

#[test]
fn a_stop_before_the_first_tick_ends_the_sampling() {
    let root = PathBuf::from("/");
    let environment = crate::environment(&root);
    let settings = Settings {
        root,
        harden: false,
        workload: None,
    };
    let (tell, told) = channel();
    let sink = move |harvest| drop(tell.send(harvest));
    let sampler = Sampler::start(&settings, &environment, sink).expect("it can be started");
    sampler.tell(Command::Stop);
    let ended = std::iter::from_fn(|| told.recv_timeout(Duration::from_secs(5)).ok())
        .take(1000)
        .any(|harvest| matches!(harvest, Harvest::Ended(_)));
    assert!(ended);
}
