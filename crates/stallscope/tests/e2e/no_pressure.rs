//! Kernels without pressure: one that has no pressure files (ENOENT), one that has them switched off
//! (EOPNOTSUPP).

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
        'mount -t tmpfs none /proc/pressure || exit 99; exec \"$0\" run --json report.json -- sleep 2' \"$0\"";
    let ended = Running::start(place.shell(hidden)).end();
    if ended.status == 99 {
        needs::skip("nothing can be mounted over /proc/pressure here");
        return;
    }
    ended
        .status(0)
        .says("PSI         not recorded")
        .says("no pressure was recorded: ")
        .says("add psi=1 to its boot parameters and reboot")
        .says("`stallscope doctor` has the commands that give it")
        .says("No bottleneck");
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

/// A process list that the kernel refuses to read with EOPNOTSUPP stands for a pressure file that is
/// switched off: that of a threaded group.
const SWITCHED_OFF: &str = "
    group=$(awk '$(NF-2) == \"cgroup2\" { print $5; exit }' /proc/self/mountinfo)/stallscope-test-$$
    mkdir \"$group\" && echo threaded > \"$group/cgroup.type\" || { rmdir \"$group\"; exit 99; }
    trap 'rmdir \"$group\"' EXIT
    export group
    unshare -m --propagation private sh -c '
        for file in cpu memory io; do
            mount --bind \"$group/cgroup.procs\" /proc/pressure/$file || exit 99
        done
        exec \"$0\" run --json report.json -- sleep 2' \"$0\"";

#[test]
fn pressure_that_is_switched_off_is_told_from_pressure_that_is_not_there() {
    if !needs::root() || !needs::program("unshare") || !needs::pressure() {
        return;
    }
    let place = Place::new();
    let ended = Running::start(place.shell(SWITCHED_OFF)).end();
    if ended.status == 99 {
        needs::skip("no threaded cgroup can be made here to stand for a switched-off file");
        return;
    }
    ended
        .status(0)
        .says("pressure is switched off: add psi=1")
        .says("No bottleneck");
    assert!(
        place
            .report()
            .pressure
            .iter()
            .all(|it| it.entity.path != "/")
    );
}
