//! Request times where tracing everything would cost too much.

use super::{TRIES, Way, mean_and_p99, record_with, running};

/// So long at least tracing is off, s, where a duty cycle rules: of less, times of traced requests are part of what is
/// told.
const OFF_S: f64 = 3.0;

/// A saturated load, which the hooks that only times need see in on-windows: requests are counted all the same, and
/// the sample's times are the log's. On a slow machine the load saturates the CPUs with too few requests for that, and
/// all are traced: then only the counts are held against pgbench's.
#[test]
fn under_a_duty_cycle_all_requests_are_counted_and_sampled_times_are_pgbenchs() {
    let Some((postgres, _alone)) = running() else {
        return;
    };
    let mut said = Vec::new();
    let mut longest_off = 0.0_f64;
    let agree = (0..TRIES).any(|_| {
        let load = "pgbench -n -l --log-prefix=each -c 8 -j 2 -T 8 -S bench";
        let Some(recorded) = record_with(&[], postgres, Way::Unix, load, |_| ()) else {
            return true;
        };
        let done = recorded.transactions();
        let (served, calls) = (recorded.served(), recorded.calls());
        let start_up = Way::Unix.start_up();
        assert!(
            (served.requests - done - start_up).abs() <= done / 1e3,
            "{} of {done}",
            served.requests
        );
        assert!(
            (calls.requests - done - start_up).abs() <= 0.01 * done,
            "{} of {done}",
            calls.requests
        );
        // The same requests on both sides: a pause of this machine in an off-window is in the log alone.
        let timed = recorded.timed();
        let log = recorded.logged_where(|request| {
            let after = timed.partition_point(|it| it.start <= request.start);
            after > 0 && request.end <= timed[after - 1].end
        });
        let own = mean_and_p99(&log);
        let times = [calls.mean_ns(), calls.quantile_ns(0.99)];
        let times = times.map(|it| it.expect("some were timed"));
        let off = recorded.off_s();
        longest_off = longest_off.max(off);
        // By its own clock a request takes the work of pgbench's thread on it too, which is behind the sockets.
        let ran = recorded.of_the_generator("run_ns") / calls.requests;
        said.push(format!(
            "{times:?} ns and {ran:.0} of pgbench's own, of {own:?} in {} of {done} requests, {off:.1} s off",
            log.len()
        ));
        let near = |it: usize, part: f64| {
            let (least, most) = (own[it] * (1.0 - part), own[it] * (1.0 + part));
            times[it] + ran > least && times[it] < most
        };
        near(0, 0.05) && near(1, 0.15) && off > OFF_S
    });
    println!("{said:?}");
    if !agree && longest_off <= OFF_S {
        println!(
            "tracing all stays within its share here: too few requests are made for a duty cycle"
        );
        return;
    }
    assert!(agree, "{said:#?}");
}
