//! What is known of pressure (DESIGN, sensors, rules about PSI) as far as it concerns the verdict.

use expect_test::expect;
use model::{EntityKind, LedgerClass, Report, Resource};

use crate::drawing::{drawn, headline, part};
use crate::healthy::HEALTHY;
use crate::quota::LIMITED;
use crate::saturated::SATURATED;

fn share(report: &Report, kind: EntityKind, resource: Resource) -> f64 {
    let mut all = report.pressure.iter();
    let found = all.find(|pressure| pressure.entity.kind == kind && pressure.resource == resource);
    found.map_or(f64::NAN, |pressure| pressure.share)
}

#[test]
fn a_target_without_a_group_of_its_own_has_the_pressure_of_its_processes() {
    let own = "process_pressure.cpu_some_ns server *1e9 44444444444444444444\n";
    let group = "cpu 66666666666666666666 /server\n";
    let report = drawn(&format!("{HEALTHY}{own}")).diagnose();
    let about = report.pressure.last().expect("it is told");
    assert_eq!(about.entity.name, "server");
    assert!((share(&report, EntityKind::Process, Resource::Cpu) - 0.4).abs() < 0.01);
    let report = drawn(&format!("{HEALTHY}{own}{group}")).diagnose();
    assert!((share(&report, EntityKind::Cgroup, Resource::Cpu) - 0.6).abs() < 0.01);
    assert!(share(&report, EntityKind::Process, Resource::Cpu).is_nan());
}

#[test]
fn high_pressure_that_costs_the_target_nothing_is_named_innocent_with_its_number() {
    let text = HEALTHY.replace(
        "io        00000000000000000000",
        "io        77777777777777777777",
    );
    let report = drawn(&text).diagnose();
    assert_eq!(headline(&report).cause, "healthy");
    let disk = report
        .verdict
        .ruled_out
        .iter()
        .find(|ruled_out| ruled_out.what == "disk");
    let disk = disk.expect("the disk is innocent");
    expect!["disk 0 (though the machine's io pressure was 70 %)"].assert_eq(&disk.sentence);
    assert!(disk.value < 0.01);
}

#[test]
fn memory_pressure_is_acquitted_by_the_targets_own_group_and_not_without_it() {
    let pressed = HEALTHY.replace(
        "memory    00000000000000000000",
        "memory    66666666666666666666",
    );
    for (own, expected) in [
        ("", expect!["nothing is said"]),
        (
            "memory    00000000000000000000 /server",
            expect!["memory 0 (though the machine's memory pressure was 60 %)"],
        ),
        (
            "memory    11111111111111111111 /server",
            expect!["nothing is said"],
        ),
    ] {
        let report = drawn(&format!("{pressed}{own}\n")).diagnose();
        assert_eq!(headline(&report).cause, "healthy");
        let mut all_ruled_out = report.verdict.ruled_out.iter();
        let memory = all_ruled_out.find(|ruled_out| ruled_out.what == "memory");
        expected.assert_eq(memory.map_or("nothing is said", |ruled_out| &ruled_out.sentence));
    }
}

#[test]
fn pressure_on_a_disk_that_the_target_does_wait_for_is_not_innocent() {
    let text = HEALTHY.replace(
        "io        00000000000000000000",
        "io        77777777777777777777",
    ) + "blocked D75\n";
    let report = drawn(&text).diagnose();
    assert!(part(&report, LedgerClass::Sync) > 0.15);
    assert!(
        report
            .verdict
            .ruled_out
            .iter()
            .all(|ruled_out| ruled_out.what != "disk")
    );
}

#[test]
fn an_excess_over_the_interval_is_carried_and_not_clipped() {
    let text = SATURATED.to_owned() + "cpu       ++++++++++++++++++++\n";
    let report = drawn(&text).diagnose();
    let cpu = share(&report, EntityKind::Machine, Resource::Cpu);
    assert!((cpu - 1.1).abs() < 1e-6, "{cpu}");
}

#[test]
fn an_excess_in_one_interval_is_made_up_for_in_the_next() {
    let text = SATURATED.to_owned() + "cpu       ++99++99++99++99++99\n";
    let cpu = share(&drawn(&text).diagnose(), EntityKind::Machine, Resource::Cpu);
    assert!((cpu - 1.0).abs() < 0.02, "{cpu}");
}

#[test]
fn pressures_of_different_resources_are_never_added_up() {
    let text = SATURATED
        .replace(
            "io        00000000000000000000",
            "io        88888888888888888888",
        )
        .replace(
            "memory    00000000000000000000",
            "memory    77777777777777777777",
        )
        + "cpu       99999999999999999999\n";
    let report = drawn(&text).diagnose();
    for (resource, expected) in [
        (Resource::Cpu, 0.9),
        (Resource::Io, 0.8),
        (Resource::Memory, 0.7),
    ] {
        let share = share(&report, EntityKind::Machine, resource);
        assert!((share - expected).abs() < 0.01, "{resource:?} {share}");
    }
    let machine = report
        .pressure
        .iter()
        .filter(|p| p.entity.kind == EntityKind::Machine);
    assert_eq!(machine.count(), 3, "one number each, and none of them all");
}

#[test]
fn the_targets_own_group_is_reported_beside_the_machine() {
    let report = drawn(LIMITED).diagnose();
    let group = share(&report, EntityKind::Cgroup, Resource::Cpu);
    assert!((group - 0.9).abs() < 0.01, "{group}");
}

#[test]
fn pressure_that_was_not_recorded_is_not_zero() {
    let text = SATURATED
        .replace("io        00000000000000000000", "")
        .replace(
            "memory    00000000000000000000",
            "memory    --------------------",
        );
    let report = drawn(&text).diagnose();
    assert!(report.pressure.is_empty(), "{:?}", report.pressure);
    let all_ruled_out = report.verdict.ruled_out.iter();
    assert!(
        all_ruled_out
            .clone()
            .all(|ruled_out| ruled_out.what != "memory")
    );
    let useless = &headline(&report).would_not_help;
    assert!(!useless.contains(&"more memory".to_owned()), "{useless:?}");
}

#[test]
fn a_hole_in_pressure_changes_no_mean() {
    for cells in ["8888----------888888", "----------8888888888"] {
        let text = format!("{SATURATED}cpu {cells}\n");
        let cpu = share(&drawn(&text).diagnose(), EntityKind::Machine, Resource::Cpu);
        assert!((cpu - 0.8).abs() < 0.01, "{cells} {cpu}");
    }
}
