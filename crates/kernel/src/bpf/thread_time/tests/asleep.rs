//! Threads without an event since they got their role.

use std::io::{Read as _, Write as _};

use super::*;

#[test]
fn a_thread_asleep_since_before_is_counted_and_continues_when_it_wakes() {
    let Some((mut thread_time, _alone)) = loaded() else {
        return;
    };
    let tid = AtomicU32::new(0);
    let (read_end, mut write_end) = std::io::pipe().expect("a pipe");
    std::thread::scope(|scope| {
        let (tid, mut read_end) = (&tid, read_end);
        scope.spawn(move || {
            tid.store(
                rustix::thread::gettid().as_raw_nonzero().get() as u32,
                Ordering::SeqCst,
            );
            let _ = read_end.read(&mut [0]);
            waits::burn(Duration::from_millis(50));
            let _ = read_end.read(&mut [0]);
        });
        // So that the thread has been asleep for long when it gets its role.
        std::thread::sleep(Duration::from_millis(200));
        let tid = tid.load(Ordering::SeqCst);
        as_target(&mut thread_time, std::process::id());
        let first = read(&mut thread_time, tid);
        std::thread::sleep(Duration::from_millis(200));
        let asleep = read(&mut thread_time, tid);
        let _ = write_end.write(&[0]);
        std::thread::sleep(Duration::from_millis(300));
        let woken = read(&mut thread_time, tid);
        drop(write_end);
        let slept = Counted::between(&first, &asleep);
        println!(
            "{}; {}",
            slept.shown(),
            Counted::between(&asleep, &woken).shown()
        );
        assert_eq!(first.until_ns, first.account.known_since_ns);
        assert!(slept.of(&["input"]) >= 200_000_000, "{}", slept.shown());
        let known_since = [first, asleep, woken].map(|it| it.account.known_since_ns);
        assert_eq!(known_since, [first.until_ns; 3]);
        let account = &woken.account;
        let all: u64 = account.ns.iter().chain(&account.queued_ns).sum();
        assert_eq!(all, woken.until_ns - first.until_ns, "{account:?}");
        // However often other threads had its CPU meanwhile.
        let ran = account.ns[0] + account.queued_ns.iter().sum::<u64>();
        assert!(ran >= 50_000_000 && account.slices > 0, "{account:?}");
    });
}
