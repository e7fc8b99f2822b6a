//! Wakers, compared with threads that know which thread woke them.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use model::ThreadTimeClass;
use sensors::wakeup::By;

use super::tests::{as_target, loaded};
use super::*;

const ON_CPU: u8 = ThreadTimeClass::OnCpu as u8;
const FUTEX: u8 = ThreadTimeClass::Futex as u8;
const INPUT: u8 = ThreadTimeClass::Input as u8;
const SLEEP: u8 = ThreadTimeClass::Sleep as u8;
const POOL: u8 = By::Pool as u8;
const BACKGROUND: u8 = By::Background as u8;
const INTERRUPT: u8 = By::Interrupt as u8;

const LONG: Duration = Duration::from_millis(60);
const LONG_NS: u64 = 60_000_000;

/// Waits of a pool by class, kind of waker, waker, and the class of the waker's previous wait.
struct Woken(BTreeMap<(u8, u8, String, u8), Sum>);

impl Woken {
    fn of(thread_time: &mut ThreadTime, pool: &str) -> Self {
        let mut buffer = WakeupBuffer::default();
        let drops = thread_time
            .take_wakeups(&mut buffer)
            .expect("it can be read");
        assert_eq!(drops, 0);
        let name = |number| thread_time.pool(number).map(|it| it.1).unwrap_or_default();
        let found = (0..).map_while(|place| buffer.get(place));
        let found = found.filter(|(pair, _)| name(pair.woken) == pool);
        Self(
            found
                .map(|(pair, sum)| {
                    let waker = match pair.by {
                        POOL => name(pair.waker),
                        _ => pair.waker.to_string(),
                    };
                    ((pair.class, pair.by, waker, pair.before), sum)
                })
                .collect(),
        )
    }

    fn shown(&self) -> String {
        let each = self.0.iter().map(|(key, sum)| {
            format!(
                "{key:?}: {} waits, {} ns: {} blocked, {} on a CPU, {} ready",
                sum.waits, sum.ns, sum.blocked_ns, sum.on_cpu_ns, sum.ready_ns
            )
        });
        each.collect::<Vec<_>>().join("; ")
    }

    /// Sum over all keys.
    fn all(&self) -> Sum {
        let mut all = Sum::default();
        for sum in self.0.values() {
            all.waits += sum.waits;
            all.ns += sum.ns;
            all.blocked_ns += sum.blocked_ns;
            all.on_cpu_ns += sum.on_cpu_ns;
            all.ready_ns += sum.ready_ns;
        }
        all
    }

    fn one(&self, class: u8, by: u8, waker: &str, before: u8) -> Sum {
        let found = self.0.get(&(class, by, waker.to_owned(), before));
        *found.unwrap_or_else(|| panic!("not among {}", self.shown()))
    }
}

/// One thread waits for a lock that another releases after `act`.
fn behind(thread_time: &mut ThreadTime, act: impl FnOnce() + Send) -> Woken {
    Woken::of(thread_time, "");
    let (lock, is_held) = (Mutex::new(()), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let holder = std::thread::Builder::new().name("holds 12 34".to_owned());
        let holds = || {
            let guard = lock.lock().expect("nobody panicked");
            is_held.store(true, Ordering::SeqCst);
            // So that the holder's next step begins after a wait of its own.
            std::thread::sleep(LONG / 10);
            act();
            drop(guard);
        };
        holder.spawn_scoped(scope, holds).expect("one more thread");
        let waiter = std::thread::Builder::new().name("waits 7".to_owned());
        let waits = || {
            while !is_held.load(Ordering::SeqCst) {
                std::thread::sleep(Duration::from_millis(1));
            }
            drop(lock.lock());
        };
        waiter.spawn_scoped(scope, waits).expect("one more thread");
    });
    Woken::of(thread_time, "waits #")
}

#[test]
fn a_wait_for_a_lock_names_the_holder_and_its_last_wait() {
    let Some((mut thread_time, _alone)) = loaded() else {
        return;
    };
    as_target(&mut thread_time, std::process::id());
    let slept = behind(&mut thread_time, || std::thread::sleep(LONG));
    println!("behind a sleep: {}", slept.shown());
    let sum = slept.one(FUTEX, POOL, "holds # #", SLEEP);
    assert!(sum.blocked_ns > LONG_NS / 2, "{}", slept.shown());
    assert_eq!(sum.waits, 1);
    let burnt = behind(&mut thread_time, || super::waits::burn(LONG));
    println!("behind work: {}", burnt.shown());
    let sum = burnt.one(FUTEX, POOL, "holds # #", SLEEP);
    // On a busy machine the holder also waits for a CPU.
    let worked = sum.on_cpu_ns + sum.ready_ns;
    assert!(
        sum.on_cpu_ns > 0 && worked * 10 >= LONG_NS * 9,
        "{}",
        burnt.shown()
    );
    for (one, woken) in [(slept.all(), &slept), (burnt.all(), &burnt)] {
        let parts = one.on_cpu_ns + one.ready_ns + one.blocked_ns;
        assert!(parts <= one.ns + 20_000, "{}", woken.shown());
    }
}

/// Counted waits of a thread that receives, while another sends.
fn received(
    thread_time: &mut ThreadTime,
    mut end: impl std::io::Read + Send,
    act: impl FnOnce(),
) -> Woken {
    Woken::of(thread_time, "");
    std::thread::scope(|scope| {
        let reader = std::thread::Builder::new().name("receives".to_owned());
        let reads = move || end.read_exact(&mut [0]).expect("something comes");
        let reader = reader.spawn_scoped(scope, reads).expect("one more thread");
        std::thread::sleep(LONG);
        act();
        reader.join().expect("it came");
    });
    Woken::of(thread_time, "receives")
}

#[test]
fn a_sender_on_a_socket_is_the_receivers_waker() {
    let Some((mut thread_time, _alone)) = loaded() else {
        return;
    };
    let _answering = crate::bpf::answering();
    as_target(&mut thread_time, std::process::id());
    let own = std::thread::current();
    let own = own.name().expect("tests have names");
    let (pipe, mut other_end) = std::io::pipe().expect("a pipe");
    let through_pipe = received(&mut thread_time, pipe, || {
        other_end.write_all(b"x").expect("room");
    });
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let local = listener.local_addr().expect("an address");
    let mut client = TcpStream::connect(local).expect("a connection");
    let (server, _) = listener.accept().expect("its other end");
    let through_tcp = received(&mut thread_time, server, || {
        client.write_all(b"x").expect("room");
    });
    for woken in [through_pipe, through_tcp] {
        println!("{}", woken.shown());
        let sum = woken.one(INPUT, POOL, &own[..15], SLEEP);
        assert!(sum.blocked_ns * 2 > LONG_NS, "{}", woken.shown());
    }
}

#[test]
fn background_and_interrupt_wakers_are_distinct_from_tracked_ones() {
    let Some((mut thread_time, _alone)) = loaded() else {
        return;
    };
    // The process has to start first: children that start later inherit the target's role.
    let script = "sleep 0.3; echo; exec sleep 0.2";
    let mut other = Command::new("sh")
        .args(["-c", script])
        .stdout(Stdio::piped())
        .spawn()
        .expect("there is a shell");
    as_target(&mut thread_time, std::process::id());
    let mut output = other.stdout.take().expect("it is piped");
    let woken = received(&mut thread_time, &mut output, || ());
    println!("by another: {}", woken.shown());
    let number = other.id().to_string();
    let sum = woken.one(INPUT, BACKGROUND, &number, ON_CPU);
    assert!(
        sum.ns > LONG_NS && sum.blocked_ns + sum.on_cpu_ns == 0,
        "{}",
        woken.shown()
    );
    other.wait().expect("it is a child");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let local = listener.local_addr().expect("an address");
    let mut never = TcpStream::connect(local).expect("a connection");
    never.set_read_timeout(Some(LONG)).expect("it can be set");
    Woken::of(&mut thread_time, "");
    let timed = std::thread::Builder::new().name("times out".to_owned());
    let times_out = move || {
        assert!(never.read(&mut [0]).is_err(), "nobody sends");
    };
    timed
        .spawn(times_out)
        .expect("one more thread")
        .join()
        .expect("it timed out");
    let woken = Woken::of(&mut thread_time, "times out");
    println!("by a timer: {}", woken.shown());
    let sum = woken.one(INPUT, INTERRUPT, "0", ON_CPU);
    assert!(sum.ns >= LONG_NS, "{}", woken.shown());
}

/// Voluntary switches of the calling thread so far, by the kernel's count.
fn blocked() -> u64 {
    let status = std::fs::read_to_string("/proc/thread-self/status").expect("it is there");
    let line = status
        .lines()
        .find_map(|it| it.strip_prefix("voluntary_ctxt_switches:"));
    line.and_then(|it| it.trim().parse().ok())
        .expect("a number")
}

/// A thread receives `bytes` bytes, each `after` the one before. Returns how often it blocked for them, and
/// its counted waits.
fn awaited(thread_time: &mut ThreadTime, bytes: u64, after: Duration) -> (u64, Sum) {
    Woken::of(thread_time, "");
    let (mut here, mut there) = UnixStream::pair().expect("a pair of sockets");
    let often = std::thread::scope(|scope| {
        let receiver = std::thread::Builder::new().name("awaits 1".to_owned());
        let receives = move || {
            let (before, mut byte) = (blocked(), [0]);
            while there.read_exact(&mut byte).is_ok() && there.write_all(&byte).is_ok() {}
            blocked() - before
        };
        let receiver = receiver
            .spawn_scoped(scope, receives)
            .expect("one more thread");
        let mut byte = [0];
        for _ in 0..bytes {
            std::thread::sleep(after);
            here.write_all(&byte).expect("it is read");
            here.read_exact(&mut byte).expect("it comes back");
        }
        drop(here);
        receiver.join().expect("it has counted")
    });
    (often, Woken::of(thread_time, "awaits #").all())
}

#[test]
fn short_and_long_waits_are_all_counted() {
    let Some((mut thread_time, _alone)) = loaded() else {
        return;
    };
    as_target(&mut thread_time, std::process::id());
    let (often, sum) = awaited(&mut thread_time, 20_000, Duration::ZERO);
    println!("{often} short: {} reported", sum.waits);
    assert!(sum.waits.abs_diff(often) <= often / 100);
    let (often, sum) = awaited(&mut thread_time, 50, Duration::from_millis(20));
    println!("{often} long: {} reported", sum.waits);
    assert!(sum.waits >= 49, "a long one was not reported");
    let nearly = 50 * 20_000_000 * 9 / 10;
    assert!(sum.ns >= nearly, "{} ns, and {nearly} at least", sum.ns);
}
