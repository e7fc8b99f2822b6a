//! A thread in several PSI groups at once: of its service and its control groups.

use super::*;

/// Places of the groups.
const ONE: usize = 1;
const OTHER: usize = 2;
const BOTH: usize = 5;

fn in_both(service: usize) -> Membership {
    Membership {
        service: Some(service),
        group: Some(BOTH),
        around: None,
    }
}

/// Two services that want the same CPUs.
fn two_services(group: &mut Around, programs: &mut ThreadTime, name: &str) {
    let scripts = [
        (ONE, burn_on(0)),
        (OTHER, burn_on(0)),
        (ONE, bursts(1, 5, 20, name)),
        (OTHER, bursts(1, 3, 10, name)),
    ];
    for (service, script) in scripts {
        let pid = group.run(&script);
        put(programs, &[pid], in_both(service));
    }
}

#[test]
fn a_group_of_two_services_has_the_kernels_number_of_both() {
    if let Ok(times) = std::env::var(BURSTS) {
        return burst(&times);
    }
    let Some((mut programs, _alone)) = loaded() else {
        return;
    };
    let name = "several::a_group_of_two_services_has_the_kernels_number_of_both";
    let expected = Expected {
        name: "two services",
        most_apart: 0.003,
        stall: 0,
    };
    agree_at(&mut programs, expected, BOTH, |programs| {
        let mut group = Around::new();
        two_services(&mut group, programs, name);
        (group, ())
    });
}

#[test]
fn some_of_a_group_is_at_least_and_full_at_most_that_of_its_members() {
    if let Ok(times) = std::env::var(BURSTS) {
        return burst(&times);
    }
    let Some((mut programs, _alone)) = loaded() else {
        return;
    };
    let mut group = Around::new();
    let name = "several::some_of_a_group_is_at_least_and_full_at_most_that_of_its_members";
    two_services(&mut group, &mut programs, name);
    let mover = group.run(&burn_on(0));
    put(&mut programs, &[mover], in_both(ONE));
    sleep(Duration::from_millis(300));
    let mut psi_groups = [ONE, OTHER, BOTH].map(|place| first_seen(&programs, place));
    let mut last = [[0; STATES]; 3];
    for round in 0..20 {
        // From one group to the other and back; its membership in `BOTH` does not change.
        put(&mut programs, &[mover], in_both([ONE, OTHER][round % 2]));
        sleep(Duration::from_millis(100));
        programs.read(false).expect("it can be read");
        for (psi_group, last) in psi_groups.iter_mut().zip(&mut last) {
            psi_group.take(&programs);
            *last = psi_group.density();
        }
    }
    let [one, other, both] = last;
    println!("one {one:?}, the other {other:?}, both {both:?}");
    assert!(one[0] > 100_000_000 && other[0] > 100_000_000, "they wait");
    for state in (0..COMPARED).step_by(2) {
        assert!(both[state] + 1_000 >= one[state].max(other[state]));
        assert!(both[state + 1] <= one[state + 1] + other[state + 1] + 1_000);
    }
}
