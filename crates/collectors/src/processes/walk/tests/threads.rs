//! The same for threads.

use super::*;

/// Values of one thread in /proc.
#[derive(Clone, PartialEq, Eq, Debug)]
struct ThreadShown {
    schedstat: [i64; 3],
    stat: Vec<u8>,
}

fn threads_shown(pids: &[u32]) -> HashMap<u32, ThreadShown> {
    let mut shown = HashMap::new();
    for pid in pids {
        for tid in numbers(&format!("/proc/{pid}/task")) {
            let read = |name| std::fs::read(format!("/proc/{pid}/task/{tid}/{name}")).ok();
            let (Some(times), Some(stat)) = (read("schedstat"), read("stat")) else {
                continue;
            };
            let times = String::from_utf8(times).expect("ASCII");
            let mut times = times
                .split_whitespace()
                .map(|it| it.parse().expect("a number"));
            let schedstat = [(); 3].map(|()| times.next().expect("three of them"));
            shown.insert(tid, ThreadShown { schedstat, stat });
        }
    }
    shown
}

fn compare_thread(
    counts: &ThreadCounts,
    before: &ThreadShown,
    after: &ThreadShown,
    compared: &mut Compared,
) {
    let stats = [before, after].map(|it| sensors::parse_stat(&it.stat).expect("a stat file"));
    let [first, last] = stats;
    let (tid, tick) = (counts.tid, Facts::default().tick_ns);
    if first.start != last.start || (counts.start_ns / tick as u64) as i64 != first.start {
        return;
    }
    let usage = crate::processes::thread::usage(counts, &mut None);
    let times = [usage.run_ns, usage.wait_ns, usage.slices];
    for (index, walked) in times.into_iter().enumerate() {
        let shown = before.schedstat[index]..=after.schedstat[index];
        assert!(
            shown.contains(&walked),
            "{walked} of {tid}, not {shown:?}: {index}"
        );
    }
    for (walked, shown) in [
        (usage.minor_faults, first.faults.0..=last.faults.0),
        (usage.major_faults, first.faults.1..=last.faults.1),
    ] {
        assert!(
            shown.contains(&walked),
            "{walked} faults of {tid}, not {shown:?}"
        );
    }
    let sum = |it: (i64, i64)| it.0 + it.1;
    let all = (sum(first.times), sum(last.times));
    between("all its time", tid, usage.user_ns + usage.system_ns, all, 2);
    let added = all.1 - all.0 + 2;
    let shown = first.times;
    between(
        "user time",
        tid,
        usage.user_ns,
        (shown.0, shown.0 + added),
        1,
    );
    between(
        "system time",
        tid,
        usage.system_ns,
        (shown.1, shown.1 + added),
        1,
    );
    if before != after {
        compared.moved += 1;
        return;
    }
    compared.still += 1;
    assert_eq!(
        (usage.state, usage.cpu),
        (i64::from(last.state), last.cpu),
        "{tid}"
    );
}

#[test]
fn walked_threads_agree_with_proc() {
    let Some(mut walk) = loaded() else {
        return;
    };
    let load = Load::start();
    let mut compared = Compared::default();
    for _ in 0..ROUNDS {
        let mut gaps = Gaps::default();
        walk.release(|_, _| false);
        // Pids of the walk, not of /proc: some machines hide their first process from BPF programs.
        assert!(walk.read("process", &mut gaps));
        let pids: Vec<u32> = walk.processes().map(|(_, counts)| counts.pid).collect();
        for pid in &pids {
            walk.follow(*pid).expect("there is room");
        }
        let before = threads_shown(&pids);
        assert_eq!(walk.read_threads("thread", &mut gaps), Some(true));
        let walked: HashMap<u32, ThreadCounts> = walk
            .threads()
            .map(|(_, counts)| (counts.tid, counts))
            .collect();
        for (tid, last) in threads_shown(&pids) {
            let Some(first) = before.get(&tid) else {
                continue;
            };
            let counts = walked.get(&tid);
            let counts = counts.unwrap_or_else(|| panic!("{tid} was left out: {last:?}"));
            compare_thread(counts, first, &last, &mut compared);
        }
    }
    drop(load);
    println!("{compared:?}");
    assert!(compared.still > ROUNDS * 10, "{compared:?}");
    assert!(compared.moved > ROUNDS * 3, "{compared:?}");
    walk.release(|_, _| false);
    assert_eq!(
        walk.read_threads("thread", &mut Gaps::default()),
        Some(true)
    );
    assert_eq!(walk.threads().count(), 0, "nobody is followed any more");
}
