//! Call stacks of waits, as the programs take them (`bpf/lib/wait_stack.bpf.h`).

use std::cell::RefCell;
use std::rc::Rc;

use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::Typedef;
use libbpf_rs::{MapHandle, ProgramInput, RingBuffer, RingBufferBuilder};
use model::Timestamp;

use super::{OpenThreadTimeSkel, Question, ThreadTime, no_variables};
use crate::bpf::refusal::Refusal;
use crate::stacks::{Registers, UserStack};

/// Room for stacks between two readings: 240 with all that can be copied of one, a thousand with what mostly is.
const RING_BYTES: u32 = 4 << 20;
/// The same where any number may be asked for. Who reads them may be busy for a second with the tables of a program
/// that is new to it.
const LARGE_RING_BYTES: u32 = 32 << 20;
/// The least that the kernel takes.
const NO_RING: u32 = 4 << 10;
/// Stacks that are handed over at once.
const AT_ONCE: usize = 32;
/// Bytes before the copy of the stack (WAIT_STACK_HEAD).
const HEAD: usize = 496;
/// Waits in progress that one look takes (WAIT_STACK_MOST_WAITING).
const MOST_IN_PROGRESS: u32 = 4_096;
/// A threshold must be less than 2^32 ns.
const MOST_LEAST_NS: u64 = u32::MAX as u64;

/// How many stacks there were since the programs were loaded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StackCounts {
    /// Those taken, lost ones included.
    pub taken: u64,
    /// Those for which there was no room.
    pub lost: u64,
}

/// A thread that waited, or a waker, where it was.
#[derive(Clone, PartialEq, Debug)]
pub struct WaitStack<'a> {
    /// Its process.
    pub pid: u32,
    /// The thread.
    pub tid: u32,
    /// The thread that it wakes, if it is a waker. What became of the wait comes later.
    pub wakes: Option<u32>,
    /// What it waited for, by the number of the class (`ThreadTimeClass`).
    pub class: u32,
    /// When the wait began and ended, or was looked at.
    pub from: Timestamp,
    /// See `from`.
    pub until: Timestamp,
    /// How many such waits this one stands for: one over the probability that it was taken.
    pub stands_for: f64,
    /// Who ended it: kind as in `sensors::wakeup::By`, 0 where nobody did or that is not known.
    pub waker: Waker,
    /// The address of the futex.
    pub lock: Option<u64>,
    /// The thread in user space, if it has one.
    pub user: Option<UserStack<'a>>,
    kernel: &'a [[u8; 8]],
}

/// Who ended a wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Waker {
    /// `sensors::wakeup::By`; 0 where nobody did or that is not known.
    pub by: u32,
    /// Process and thread, if it was one; else 0.
    pub pid: u32,
    /// See `pid`.
    pub tid: u32,
}

impl WaitStack<'_> {
    /// Addresses in the kernel, the innermost first.
    pub fn kernel(&self) -> impl Iterator<Item = u64> {
        self.kernel.iter().map(|word| u64::from_ne_bytes(*word))
    }
}

/// Where the programs put stacks: to be opened by the thread that reads them.
pub struct WaitStackRing(MapHandle);

/// Reads stacks.
pub struct WaitStacks {
    ring: RingBuffer<'static>,
    records: Rc<RefCell<Vec<Vec<u8>>>>,
    spare: Vec<Vec<u8>>,
}

impl WaitStackRing {
    /// Opens it.
    ///
    /// # Errors
    /// Where the kernel refuses.
    pub fn open(self) -> Result<WaitStacks, Refusal> {
        let records: Rc<RefCell<Vec<Vec<u8>>>> = Rc::default();
        let filled = Rc::clone(&records);
        let mut builder = RingBufferBuilder::new();
        builder.add(&self.0, move |bytes| {
            filled.borrow_mut().push(bytes.to_vec());
            0
        })?;
        Ok(WaitStacks {
            ring: builder.build()?,
            records,
            spare: Vec::new(),
        })
    }
}

impl WaitStacks {
    /// Calls `each` for every stack since the last call, in the order in which they were taken.
    pub fn read(&mut self, mut each: impl FnMut(WaitStack<'_>)) {
        loop {
            let count = self.ring.consume_raw_n(AT_ONCE);
            std::mem::swap(&mut *self.records.borrow_mut(), &mut self.spare);
            for bytes in self.spare.drain(..) {
                if let Some(stack) = wait_stack(&bytes) {
                    each(stack);
                }
            }
            if count <= 0 {
                return;
            }
        }
    }
}

/// Reads one record (struct wait_stack); `None` for one that is not whole.
pub fn wait_stack(bytes: &[u8]) -> Option<WaitStack<'_>> {
    let (head, user) = bytes.split_at_checked(HEAD)?;
    let (words, _) = head.as_chunks::<8>();
    let (halves, _) = head.as_chunks::<4>();
    let word = |place: usize| u64::from_ne_bytes(words[place]);
    let half = |place: usize| u32::from_ne_bytes(halves[place]);
    let time = |place| Timestamp::from_ns(word(place).cast_signed());
    let (drawn_ns, least_ns) = (word(4), word(5));
    let length = half(26) as usize;
    let registers = Registers {
        ip: word(9),
        sp: word(10),
        fp: word(11),
        lr: word(12),
    };
    let kernel = &words[14..];
    Some(WaitStack {
        pid: half(0),
        tid: half(1),
        wakes: (half(2) != 0).then(|| half(2)),
        class: half(3),
        from: time(2),
        until: time(3),
        stands_for: match drawn_ns < least_ns {
            true => least_ns as f64 / drawn_ns.max(1) as f64,
            false => 1.0,
        },
        waker: Waker {
            by: half(12),
            pid: half(13),
            tid: half(14),
        },
        lock: (word(8) != 0).then(|| word(8)),
        user: match (registers.sp, user.get(..length)?) {
            (0, _) | (_, []) => None,
            (_, bytes) => Some(UserStack {
                registers,
                bytes,
                is_cut: half(27) != 0,
            }),
        },
        kernel: &kernel[..kernel.len().min(half(15) as usize)],
    })
}

/// Whether this kernel lets a thread be seen where it waited, when it goes on.
fn can_take_stacks() -> bool {
    let kernel = Btf::from_vmlinux().ok();
    let hook = kernel
        .as_ref()
        .and_then(|it| it.type_by_name::<Typedef<'_>>("btf_trace_sched_exit_tp"));
    hook.is_some()
}

/// Why there are none.
///
/// # Errors
/// Where this kernel has no such hook.
pub fn may_take_stacks() -> Result<(), Refusal> {
    match can_take_stacks() {
        true => Ok(()),
        false => Err(Refusal::new(
            "call stacks of waits need the tracepoint sched_exit_tp, which Linux has since 6.15",
        )),
    }
}

/// Makes room for them, or leaves out what takes them. Returns whether they are asked for.
pub(super) fn prepare(
    open: &mut OpenThreadTimeSkel<'_>,
    asked: &[Question],
) -> Result<bool, Refusal> {
    let is_asked = asked.contains(&Question::WaitStack) && can_take_stacks();
    open.progs.on_return.set_autoload(is_asked);
    let bytes = match is_asked {
        true if asked.contains(&Question::ManyWaitStacks) => LARGE_RING_BYTES,
        true => RING_BYTES,
        false => NO_RING,
    };
    open.maps.wait_stack_ring.set_max_entries(bytes)?;
    Ok(is_asked)
}

impl ThreadTime {
    /// Where stacks of waits go; `None` if none are taken.
    ///
    /// # Errors
    /// Where the kernel refuses another descriptor.
    pub fn wait_stacks(&self) -> Result<Option<WaitStackRing>, Refusal> {
        if !self.takes_stacks {
            return Ok(None);
        }
        let ring = MapHandle::try_from(&self.programs.maps.wait_stack_ring)?;
        Ok(Some(WaitStackRing(ring)))
    }

    /// Sets from which length on each wait is taken, ns; of shorter ones some are.
    pub fn set_least_wait(&mut self, ns: u64) {
        if let Some(variables) = self.programs.maps.bss_data.as_deref_mut() {
            variables.least_wait_ns = ns.min(MOST_LEAST_NS);
        }
    }

    /// How many stacks there were.
    pub fn stack_counts(&self) -> StackCounts {
        let variables = self.programs.maps.bss_data.as_deref();
        variables.map_or_else(StackCounts::default, |it| StackCounts {
            taken: it.stacks_taken,
            lost: it.stacks_lost,
        })
    }

    /// Takes the stacks of waits in progress, as far as their lots are drawn: those that reach beyond an on-window,
    /// or the recording, would otherwise not be seen.
    ///
    /// # Errors
    /// Where the program cannot be run.
    pub fn look_at_waits(&mut self) -> Result<(), Refusal> {
        if !self.takes_stacks {
            return Ok(());
        }
        let look = &self.programs.progs.look_at_waits;
        look.test_run(ProgramInput::default())?;
        let variables = self.programs.maps.bss_data.as_deref();
        let chosen = variables.ok_or_else(no_variables)?.waits_chosen;
        for number in 0..chosen.min(MOST_IN_PROGRESS) {
            let variables = self.programs.maps.bss_data.as_deref_mut();
            variables.ok_or_else(no_variables)?.wait_requested = number;
            let take = &self.programs.progs.take_wait_stack;
            take.test_run(ProgramInput::default())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes(stack: &[u8]) -> Vec<u8> {
        let halves = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let head = [
            halves(7, 8),
            halves(0, 14),
            100,
            350,
            250,
            1_000,
            halves(1, 20),
            halves(21, 2),
            0xf00,
            0x1900,
            0x5000,
            0xb9,
            0,
            halves(stack.len() as u32, 1),
            0xffff_8001,
            0xffff_8002,
        ];
        let words = head.into_iter().chain([0; HEAD / 8 - 16]);
        words
            .flat_map(u64::to_ne_bytes)
            .chain(stack.iter().copied())
            .collect()
    }

    #[test]
    fn a_wait_has_its_stack_and_stands_for_others() {
        let whole = bytes(b"stack");
        let stack = wait_stack(&whole).expect("it is one");
        assert_eq!(
            (stack.pid, stack.tid, stack.wakes, stack.class),
            (7, 8, None, 14)
        );
        assert_eq!(stack.until.ns_since(stack.from), 250);
        assert!((stack.stands_for - 4.0).abs() < 1e-9);
        let waker = Waker {
            by: 1,
            pid: 20,
            tid: 21,
        };
        assert_eq!((stack.waker, stack.lock), (waker, Some(0xf00)));
        assert_eq!(
            stack.kernel().collect::<Vec<_>>(),
            [0xffff_8001, 0xffff_8002]
        );
        let user = stack.user.expect("it has one");
        assert_eq!((user.registers.ip, user.registers.fp), (0x1900, 0xb9));
        assert_eq!((user.bytes, user.is_cut), (&b"stack"[..], true));
        for cut in 0..whole.len() {
            assert_eq!(wait_stack(&whole[..cut]), None, "{cut}");
        }
        assert_eq!(wait_stack(&bytes(b"")).and_then(|it| it.user), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..HEAD + 20)) {
            if let Some(stack) = wait_stack(&bytes) {
                stack.kernel().count();
            }
        }
    }
}
