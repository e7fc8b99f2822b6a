//! A kernel without pressure files. (One that has them and refuses to read them, EOPNOTSUPP, cannot be
//! made here: a unit test of the probe has it.)

use crate::needs;
use crate::place::{JSON, Place};
use crate::process::Running;

#[test]
fn without_pressure_files_there_is_a_verdict_that_says_how_to_get_them() {
    if !needs::root() || !needs::program("unshare") || !needs::pressure() {
        return;
    }
    let place = Place::new();
    let hidden = "exec unshare -m --propagation private sh -c \
        'mount -t tmpfs none /proc/pressure || exit 99; exec \"$0\" run --json report.json -- sleep 3' \"$0\"";
    let ended = Running::start(place.shell(hidden)).end();
    if ended.status == 99 {
        needs::skip("nothing can be mounted over /proc/pressure here");
        return;
    }
    ended
        .status(0)
        .says("pressure not recorded")
        .says("no pressure was recorded: ")
        .says("add psi=1 to its boot parameters and reboot")
        .says("Undetermined");
    let report = place.report();
    assert!(
        report.pressure.iter().all(|it| it.entity.path != "/"),
        "{:?}",
        report.pressure
    );
    assert!(
        report.gaps.iter().any(|gap| gap.table == "pressure"),
        "{:?}",
        report.gaps
    );
    assert!(
        report
            .verdict
            .caveats
            .iter()
            .any(|it| it.gate == "gate.pressure_off")
    );
    let with = Place::new();
    with.run(&["run", "-q", "--json", JSON, "--", "sleep", "3"])
        .status(0);
    assert!(
        !with.report().pressure.is_empty(),
        "it is there without the mount"
    );
}
