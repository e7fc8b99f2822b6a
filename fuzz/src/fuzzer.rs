//! One target under libFuzzer; which one, STALLSCOPE_FUZZ says. `scripts/fuzz.sh` builds and runs it.
#![no_main]
#![allow(clippy::print_stderr)]

use std::panic;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use stallscope_fuzz::{Target, all};

static TARGET: OnceLock<&'static Target> = OnceLock::new();

fn chosen() -> &'static Target {
    let name = std::env::var("STALLSCOPE_FUZZ").unwrap_or_default();
    let found = all().iter().find(|target| target.name == name);
    found.unwrap_or_else(|| {
        eprintln!("STALLSCOPE_FUZZ names no target; scripts/fuzz.sh sets it");
        std::process::exit(2)
    })
}

/// libFuzzer's own hook ends the process at any panic. Those of Arrow are held by the reader of
/// recordings, which says that the file is damaged.
fn let_arrow_give_up() {
    let end = panic::take_hook();
    panic::set_hook(Box::new(move |about| {
        let place = about.location().map(|place| place.file());
        if !place.is_some_and(|file| file.contains("/arrow-")) {
            end(about);
        }
    }));
}

fuzz_target!(init: let_arrow_give_up(), |bytes: &[u8]| {
    (TARGET.get_or_init(chosen).feed)(bytes)
});
