//! A thread in several PSI groups at once: of its pool, its service and its control groups.

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
    agree_at(&mut programs, ("two services", BOTH), 0.003, |programs| {
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
    let mut psi_groups = [ONE, OTHER, BOTH].map(|place| (place, PsiGroup::new(&programs, place)));
    let mut last = [[0; STATES]; 3];
    for round in 0..20 {
        // From one group to the other and back; its membership in `BOTH` does not change.
        put(&mut programs, &[mover], in_both([ONE, OTHER][round % 2]));
        sleep(Duration::from_millis(100));
        programs.read(false).expect("it can be read");
        for ((place, psi_group), last) in psi_groups.iter_mut().zip(&mut last) {
            psi_group.take(&programs, *place, boottime());
            *last = psi_group.stalled.density();
        }
    }
    let [one, other, both] = last;
    println!("one {one:?}, the other {other:?}, both {both:?}");
    assert!(one[0] > 100_000_000 && other[0] > 100_000_000, "they wait");
    for state in (0..COUNTED_STATES).step_by(2) {
        assert!(both[state] + 1_000 >= one[state].max(other[state]));
        assert!(both[state + 1] <= one[state + 1] + other[state + 1] + 1_000);
    }
}

/// Makes this process have a pool of threads; its value is the folder of their control group.
const POOL: &str = "STALLSCOPE_TEST_POOL";
const TOGETHER: usize = 3;
const NAME: &str = "several::a_pool_has_its_own_pressure_within_its_process";

/// Threads of the same name, in a control group of their own, and one other thread, all on one CPU.
fn pool(group: &Path) {
    for number in 9..=11 {
        let group = group.to_owned();
        let thread = std::thread::Builder::new().name(format!("worker{number}"));
        let thread = thread.spawn(move || {
            let tid = rustix::thread::gettid().as_raw_nonzero();
            std::fs::write(group.join("cgroup.threads"), tid.to_string()).expect("root may");
            burst("7 30")
        });
        drop(thread.expect("it starts"));
    }
    burst("9 20")
}

#[test]
fn a_pool_has_its_own_pressure_within_its_process() {
    if let Some(group) = std::env::var_os(POOL) {
        return pool(Path::new(&group));
    }
    let Some((mut programs, _alone)) = loaded() else {
        return;
    };
    let pressure = agree_at(&mut programs, ("pool", TOGETHER), 0.003, |programs| {
        let mut process = Around::new();
        let threads = process.of_threads();
        let program = std::env::current_exe().expect("this is a program");
        let pid = process.run(&format!(
            "{POOL}={} exec taskset -c 1 {} --exact bpf::psi_group::tests::{NAME}",
            threads.display(),
            program.display()
        ));
        put(programs, &[pid], in_both(ONE));
        sleep(Duration::from_millis(500));
        programs.find_pools().expect("they can be found");
        programs.read(false).expect("it can be read");
        let mut pools: Vec<_> = programs.records().map(|it| it.pool).collect();
        pools.sort_unstable();
        pools.dedup();
        pools.retain(|number| {
            programs
                .pool(*number)
                .is_some_and(|(_, name)| name == "worker#")
        });
        // `worker9`, and those with two digits.
        assert_eq!(pools.len(), 2);
        for number in pools {
            programs
                .put_pool(number, Some(TOGETHER))
                .expect("there is room");
        }
        programs.find_pools().expect("they can be found");
        (process, ())
    });
    assert!(pressure[0] < 0.99, "{pressure:?}");
}
