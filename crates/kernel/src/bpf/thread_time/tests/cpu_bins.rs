//! Bins of 20 ms against the accounts of the threads, which come from other counters of the same events.

use super::*;
use crate::clock::boottime;

const BIN_NS: i64 = sensors::bins::BIN_NS.cast_signed();

/// Bins of a while, looked at as the sampler does.
fn bins_for(thread_time: &mut ThreadTime, looks: usize) -> Vec<CpuBin> {
    let mut bins = Vec::new();
    for _ in 0..looks {
        std::thread::sleep(Duration::from_millis(70));
        assert_eq!(
            thread_time.cpu_bins(|bin| bins.push(bin)),
            0,
            "none is lost"
        );
    }
    bins
}

#[test]
fn bins_of_20_ms_have_the_time_of_the_accounts_in_them() {
    let Some((mut thread_time, _alone)) = loaded() else {
        return;
    };
    let hogs = [hog(1), hog(1)];
    hogs.iter()
        .for_each(|it| as_target(&mut thread_time, it.0.id()));
    bins_for(&mut thread_time, 3);
    let accounts = |thread_time: &mut ThreadTime| {
        let records = [0, 1].map(|it| read(thread_time, hogs[it].0.id()));
        let queued = |it: &Record| it.account.queued_ns.iter().sum::<u64>();
        let on_cpu: u64 = records.iter().map(|it| it.account.ns[0]).sum();
        [on_cpu, records.iter().map(queued).sum()].map(u64::cast_signed)
    };
    let (from, before) = (boottime(), accounts(&mut thread_time));
    let mut bins = bins_for(&mut thread_time, 25);
    let (until, after) = (boottime(), accounts(&mut thread_time));
    bins.retain(|bin| bin.from >= from && bin.from + BIN_NS <= until);
    assert!(bins.len() > 80, "{}", bins.len());
    for pair in bins.windows(2) {
        assert_eq!(pair[1].from.ns_since(pair[0].from), BIN_NS);
    }
    let all_cpus = thread_time.cpus as i64 * BIN_NS;
    for bin in &bins {
        let all: i64 = bin.held_ns.iter().map(|ns| ns.cast_signed()).sum();
        assert!(
            (all - all_cpus).abs() < 100,
            "each CPU has a holder: {bin:?}"
        );
    }
    let target = |bin: &CpuBin| bin.held_ns[Holder::Target as usize].cast_signed();
    let on_cpu: i64 = bins.iter().map(target).sum();
    let waited: i64 = bins.iter().map(|bin| bin.waited_ns.cast_signed()).sum();
    println!("{on_cpu} and {waited}; accounts {before:?} to {after:?}");
    for (found, place) in [(on_cpu, 0), (waited, 1)] {
        let counted = after[place] - before[place];
        // Up to two bins at either end are left out, in which two threads do the same.
        let short = counted - found;
        assert!(
            (-5_000_000..8 * BIN_NS).contains(&short),
            "{found} of {counted}"
        );
        assert!(counted > 500_000_000, "{counted}");
    }
}

#[test]
fn a_bin_that_is_not_in_an_on_window_whole_is_not_told() {
    let Some((mut thread_time, _alone)) = loaded() else {
        return;
    };
    let hog = hog(1);
    as_target(&mut thread_time, hog.0.id());
    bins_for(&mut thread_time, 2);
    let ended = thread_time.end_on_window();
    let mut bins = bins_for(&mut thread_time, 3);
    let began = boottime();
    thread_time.resume().expect("it begins again");
    bins.extend(bins_for(&mut thread_time, 6));
    let inside = |bin: &CpuBin| bin.from + BIN_NS <= ended || bin.from >= began;
    assert!(bins.iter().all(inside), "{ended:?} to {began:?}: {bins:?}");
    let later: Vec<_> = bins.iter().filter(|bin| bin.from >= began).collect();
    assert!(later.len() > 15, "{}", later.len());
    let target: u64 = later
        .iter()
        .map(|bin| bin.held_ns[Holder::Target as usize])
        .sum();
    assert!(target > 100_000_000, "it runs on: {target}");
}
