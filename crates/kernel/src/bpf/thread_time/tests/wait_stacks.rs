//! Stacks of waits add up to what the accounts have, and lead to who ended them.

use sensors::wakeup::By;

use super::*;
use crate::bpf::thread_time::wait_stacks::{WaitStack, WaitStacks};
use crate::stacks::{End, Unwinder};

/// What a stack says, without its memory.
struct Seen {
    tid: u32,
    wakes: Option<u32>,
    class: u32,
    waited_ns: i64,
    stands_for: f64,
    waker: (u32, u32),
    lock: Option<u64>,
    kernel: usize,
    /// Frames in user space, and whether they lead to the outermost function.
    user: (usize, bool),
}

fn seen(stack: &WaitStack<'_>, unwinder: &mut Unwinder) -> Seen {
    let mut frames = Vec::new();
    let end = stack
        .user
        .as_ref()
        .map(|user| unwinder.unwind(stack.pid, user, &mut frames));
    Seen {
        tid: stack.tid,
        wakes: stack.wakes,
        class: stack.class,
        waited_ns: stack.until.ns_since(stack.from),
        stands_for: stack.stands_for,
        waker: (stack.waker.by, stack.waker.tid),
        lock: stack.lock,
        kernel: stack.kernel().count(),
        user: (frames.len(), end == Some(End::Whole)),
    }
}

fn opened(thread_time: &ThreadTime) -> WaitStacks {
    let ring = thread_time.wait_stacks().expect("it can be handed over");
    let ring = ring.expect("this kernel has the hook");
    ring.open().expect("it can be read")
}

fn all(stacks: &mut WaitStacks) -> Vec<Seen> {
    let mut unwinder = Unwinder::new(Path::new("/proc"));
    let mut taken = Vec::new();
    stacks.read(|stack| taken.push(seen(&stack, &mut unwinder)));
    taken
}

#[test]
fn stacks_of_all_waits_add_up_to_the_account() {
    let Some((mut thread_time, _alone)) = loaded() else {
        return;
    };
    let mut stacks = opened(&thread_time);
    as_target(&mut thread_time, std::process::id());
    let (tid, counted) = by_itself(&mut thread_time, || {
        for _ in 0..40 {
            std::thread::sleep(Duration::from_millis(3));
        }
        waits::receive();
        waits::futex();
        rustix::thread::gettid().as_raw_nonzero().get() as u32
    });
    let counts = thread_time.stack_counts();
    assert_eq!(counts.lost, 0, "{counts:?}");
    let taken = all(&mut stacks);
    let own: Vec<&Seen> = taken
        .iter()
        .filter(|it| it.tid == tid && it.wakes.is_none())
        .collect();
    for (class, name, least) in [
        (ThreadTimeClass::Sleep, "sleep", 40),
        (ThreadTimeClass::Input, "input", 1),
        (ThreadTimeClass::Futex, "futex", 1),
    ] {
        let of_class = own.iter().filter(|it| it.class == class as u32);
        let waits = of_class.clone().count();
        assert!(waits >= least, "{name}: {waits}");
        // The first sleep was before the first reading.
        let ns: i64 = of_class.map(|it| it.waited_ns).sum();
        let first = if name == "sleep" { 3_000_000 } else { 0 };
        let expected = counted.of(&[name]);
        assert!(
            (ns - expected).abs() <= expected / 100 + first,
            "{name}: {ns} in stacks, {expected} in the account"
        );
    }
    for wait in &own {
        assert!(wait.kernel > 3, "{} frames in the kernel", wait.kernel);
        assert!(wait.user.0 > 5 && wait.user.1, "{:?}", wait.user);
        assert!((wait.stands_for - 1.0).abs() < 1e-9);
    }
    let futex = own
        .iter()
        .find(|it| it.class == ThreadTimeClass::Futex as u32);
    let futex = futex.expect("it was there");
    assert!(futex.lock.is_some(), "it waited for a word");
    assert_eq!(futex.waker.0, By::Interrupt as u32, "its time was over");
}

#[test]
fn the_one_who_ends_a_wait_is_seen_where_he_is() {
    let Some((mut thread_time, _alone)) = loaded() else {
        return;
    };
    let mut stacks = opened(&thread_time);
    as_target(&mut thread_time, std::process::id());
    let tid = || rustix::thread::gettid().as_raw_nonzero().get() as u32;
    let (to, from) = std::sync::mpsc::channel::<()>();
    let waiter = std::thread::spawn(move || {
        while from.recv().is_ok() {}
        tid()
    });
    let waker = std::thread::spawn(move || {
        for _ in 0..20 {
            std::thread::sleep(Duration::from_millis(5));
            to.send(()).expect("it listens");
        }
        tid()
    });
    let waker = waker.join().expect("it did what it should");
    let waiter = waiter.join().expect("it did what it should");
    let taken = all(&mut stacks);
    let ended = taken
        .iter()
        .filter(|it| it.tid == waiter && it.wakes.is_none())
        .filter(|it| it.waker == (By::Background as u32, waker));
    let wakers = taken
        .iter()
        .filter(|it| it.tid == waker && it.wakes == Some(waiter));
    assert!(ended.clone().count() >= 15, "{}", ended.clone().count());
    assert_eq!(wakers.clone().count(), ended.count());
    for at in wakers {
        assert!(at.kernel > 2 && at.user.1, "{} {:?}", at.kernel, at.user);
    }
}

#[test]
fn some_of_the_short_waits_stand_for_all() {
    const WAITS: u32 = 2_000;
    let Some((mut thread_time, _alone)) = loaded() else {
        return;
    };
    let mut stacks = opened(&thread_time);
    as_target(&mut thread_time, std::process::id());
    let least_ns = 5_000_000;
    thread_time.set_least_wait(least_ns);
    let (tid, counted) = by_itself(&mut thread_time, || {
        for _ in 0..WAITS {
            std::thread::sleep(Duration::from_micros(300));
        }
        waits::sleep();
        rustix::thread::gettid().as_raw_nonzero().get() as u32
    });
    let taken = all(&mut stacks);
    let own = taken.iter().filter(|it| it.tid == tid);
    let own: Vec<&Seen> = own
        .filter(|it| it.class == ThreadTimeClass::Sleep as u32)
        .collect();
    let long = own.iter().filter(|it| it.waited_ns > 150_000_000);
    assert_eq!(long.count(), 1, "a long one is always taken");
    assert!(own.len() < WAITS as usize / 4, "{} are some", own.len());
    let weighs = |it: &&Seen| it.waited_ns as f64 * it.stands_for;
    let ns: f64 = own.iter().map(weighs).sum();
    let expected = counted.of(&["sleep"]) as f64;
    // Each stands for at least `least_ns`: the variance of the sum is at most the sum times that.
    let error = 5.0 * (expected * least_ns as f64).sqrt();
    assert!(
        (ns - expected).abs() < error,
        "{ns}, {expected} in the account"
    );
}

#[test]
fn waits_in_progress_are_taken_when_counting_ends() {
    let Some((mut thread_time, _alone)) = loaded() else {
        return;
    };
    let mut stacks = opened(&thread_time);
    let sleeper = Started::new(Command::new("sleep").arg("100"));
    std::thread::sleep(Duration::from_millis(50));
    as_target(&mut thread_time, sleeper.0.id());
    thread_time.read(false).expect("it can be read");
    std::thread::sleep(Duration::from_millis(300));
    thread_time.end_on_window();
    thread_time.look_at_waits().expect("it can look");
    let taken = all(&mut stacks);
    let of_sleeper = taken.iter().filter(|it| it.tid == sleeper.0.id());
    let waits: Vec<&Seen> = of_sleeper.collect();
    assert_eq!(waits.len(), 1);
    let ms = waits[0].waited_ns / 1_000_000;
    assert!((290..5_000).contains(&ms), "{ms} ms");
    assert_eq!(waits[0].class, ThreadTimeClass::Sleep as u32);
    assert!(
        waits[0].kernel > 3 && waits[0].user.1,
        "{:?}",
        waits[0].user
    );
}
