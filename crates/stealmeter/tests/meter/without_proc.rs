//! A machine, or a container, on which /proc is not mounted.

use std::process::Command;
use std::thread;
use std::time::Duration;

use stealmeter::{Meter, RunQueue};

use crate::needs::skip;

const INSIDE: &str = "STEALMETER_TEST_WITHOUT_PROC";

const OWN_NAME: &str = "without_proc::the_meter_goes_on_and_says_what_it_cannot_tell";

#[test]
fn the_meter_goes_on_and_says_what_it_cannot_tell() {
    if std::env::var_os(INSIDE).is_some() {
        inside();
        return;
    }
    let own = std::env::current_exe().expect("a test knows its program");
    let hide = "mount -t tmpfs none /proc && exec \"$0\" --exact \"$1\"";
    let command = Command::new("unshare")
        .args(["--mount", "sh", "-c", hide])
        .args([own.as_os_str(), OWN_NAME.as_ref()])
        .env(INSIDE, "1")
        .output()
        .expect("unshare, of util-linux");
    let said = String::from_utf8_lossy(&command.stderr);
    if !nix::unistd::geteuid().is_root() || said.contains("unshare failed") {
        return skip("hiding /proc takes root and a mount namespace of its own");
    }
    let inside = String::from_utf8_lossy(&command.stdout);
    let ran = command.status.success() && inside.contains("1 passed");
    assert!(ran, "{inside}{said}");
}

fn inside() {
    let mut meter = Meter::new();
    let reader = meter.reader();
    let lack = meter.lack().expect("there is no /proc");
    assert_eq!(
        lack,
        "/proc/thread-self/schedstat: No such file or directory (os error 2)"
    );
    for _ in 0..20 {
        meter.before_wait();
        thread::sleep(Duration::from_millis(1));
        meter.after_wait();
    }
    let seen = reader.read();
    assert_eq!(seen.run_queue, RunQueue::Part);
    assert!(seen.counters.sleep_ns > 0, "{seen:?}");
}
