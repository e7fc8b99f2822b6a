//! What the kernel writes into a perf ring (perf_event_open(2), struct perf_event_header in
//! include/uapi/linux/perf_event.h): samples with their stacks, and what changes processes' mappings.
//!
//! Pure: bytes in, records out, and no bytes make it panic.

use libbpf_rs::libbpf_sys::{
    PERF_CONTEXT_MAX, PERF_RECORD_COMM, PERF_RECORD_EXIT, PERF_RECORD_LOST,
    PERF_RECORD_MISC_COMM_EXEC, PERF_RECORD_MMAP2, PERF_RECORD_SAMPLE, PERF_SAMPLE_CALLCHAIN,
    PERF_SAMPLE_CPU, PERF_SAMPLE_REGS_USER, PERF_SAMPLE_STACK_USER, PERF_SAMPLE_TID,
    PERF_SAMPLE_TIME,
};
use model::Timestamp;

/// What each sample holds, in the order in which the kernel writes it.
pub(super) const SAMPLE_TYPE: u32 = PERF_SAMPLE_TID
    | PERF_SAMPLE_TIME
    | PERF_SAMPLE_CPU
    | PERF_SAMPLE_CALLCHAIN
    | PERF_SAMPLE_REGS_USER
    | PERF_SAMPLE_STACK_USER;

/// Bytes of a record's head: type, flags, length.
pub(super) const HEAD_BYTES: usize = 8;

/// The registers that unwinding begins with, as bits of `sample_regs_user` (arch/*/include/uapi/asm/perf_regs.h).
#[cfg(target_arch = "x86_64")]
pub(super) const REGISTERS: u64 = 1 << 6 | 1 << 7 | 1 << 8;
#[cfg(target_arch = "aarch64")]
pub(super) const REGISTERS: u64 = 1 << 29 | 1 << 30 | 1 << 31 | 1 << 32;

/// The registers of a thread in user space.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Registers {
    /// Instruction pointer.
    pub ip: u64,
    /// Stack pointer.
    pub sp: u64,
    /// Frame pointer: rbp, or x29.
    pub fp: u64,
    /// The link register; 0 where there is none.
    pub lr: u64,
}

/// What was running on a CPU.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sample<'a> {
    /// When, on CLOCK_BOOTTIME.
    pub time: Timestamp,
    /// The process.
    pub pid: u32,
    /// The thread.
    pub tid: u32,
    /// The CPU.
    pub cpu: u32,
    /// Addresses in the kernel, the innermost first, with the kernel's markers between them; empty in user space.
    kernel: &'a [[u8; 8]],
    /// The thread in user space, if it has one.
    pub user: Option<UserStack<'a>>,
}

impl Sample<'_> {
    /// Addresses in the kernel, the innermost first; all but the first are return addresses.
    pub fn kernel(&self) -> impl Iterator<Item = u64> {
        let words = self.kernel.iter().map(|word| u64::from_ne_bytes(*word));
        words.filter(|word| *word < PERF_CONTEXT_MAX)
    }
}

/// A thread in user space: its registers and the top of its stack.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UserStack<'a> {
    /// Its registers.
    pub registers: Registers,
    /// Its memory from the stack pointer on.
    pub bytes: &'a [u8],
    /// Whether memory behind these bytes was left out for lack of room.
    pub is_cut: bool,
}

/// A record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Record<'a> {
    /// Something ran.
    Sample(Sample<'a>),
    /// A process began another program.
    Exec(u32),
    /// A process mapped a file to be executed.
    Mapped(u32),
    /// A process ended.
    Exited(u32),
    /// The kernel found no room for so many records.
    Lost(u64),
}

/// Takes numbers off the front of bytes.
struct Words<'a>(&'a [u8]);

impl<'a> Words<'a> {
    fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn u32(&mut self) -> Option<u32> {
        let taken = self.bytes(4)?;
        Some(u32::from_ne_bytes(taken.try_into().ok()?))
    }

    fn u64(&mut self) -> Option<u64> {
        let taken = self.bytes(8)?;
        Some(u64::from_ne_bytes(taken.try_into().ok()?))
    }

    fn length(&mut self) -> Option<usize> {
        usize::try_from(self.u64()?).ok()
    }
}

/// Reads one record; `None` for one that says nothing here, or that is not whole.
pub fn record(bytes: &[u8]) -> Option<Record<'_>> {
    let mut words = Words(bytes);
    let kind = words.u32()?;
    let flags_and_length = words.u32()?.to_ne_bytes();
    let flags = u32::from(u16::from_ne_bytes([
        flags_and_length[0],
        flags_and_length[1],
    ]));
    match kind {
        PERF_RECORD_SAMPLE => sample(&mut words).map(Record::Sample),
        PERF_RECORD_COMM if flags & PERF_RECORD_MISC_COMM_EXEC != 0 => {
            Some(Record::Exec(words.u32()?))
        }
        PERF_RECORD_MMAP2 => Some(Record::Mapped(words.u32()?)),
        PERF_RECORD_EXIT => {
            let (pid, _parent) = (words.u32()?, words.u32()?);
            // Of threads it says the same.
            (words.u32()? == pid).then_some(Record::Exited(pid))
        }
        PERF_RECORD_LOST => {
            words.u64()?;
            Some(Record::Lost(words.u64()?))
        }
        _ => None,
    }
}

fn sample<'a>(words: &mut Words<'a>) -> Option<Sample<'a>> {
    let (pid, tid) = (words.u32()?, words.u32()?);
    let time = i64::try_from(words.u64()?).ok()?;
    let (cpu, _) = (words.u32()?, words.u32()?);
    let length = words.length()?;
    let (kernel, _) = words.bytes(length.checked_mul(8)?)?.as_chunks();
    Some(Sample {
        time: Timestamp::from_ns(time),
        pid,
        tid,
        cpu,
        kernel,
        user: user(words)?,
    })
}

/// The outer `None` is a record that is not whole.
#[allow(clippy::option_option)]
fn user<'a>(words: &mut Words<'a>) -> Option<Option<UserStack<'a>>> {
    // PERF_SAMPLE_REGS_ABI_NONE: a thread of the kernel. A program of 32 bits is not unwound.
    let abi = words.u64()?;
    let mut registers = Registers::default();
    if abi != 0 {
        registers = of_mask(words)?;
    }
    let length = words.length()?;
    if length == 0 {
        return Some(None);
    }
    let bytes = words.bytes(length)?;
    let copied = words.length()?.min(length);
    const ABI_64: u64 = 2;
    Some((abi == ABI_64).then_some(UserStack {
        registers,
        bytes: &bytes[..copied],
        is_cut: copied == length,
    }))
}

/// The registers of `REGISTERS`, in the order of their bits.
fn of_mask(words: &mut Words<'_>) -> Option<Registers> {
    let fp = words.u64()?;
    #[cfg(target_arch = "aarch64")]
    let lr = words.u64()?;
    #[cfg(not(target_arch = "aarch64"))]
    let lr = 0;
    Some(Registers {
        fp,
        lr,
        sp: words.u64()?,
        ip: words.u64()?,
    })
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use libbpf_rs::libbpf_sys::{PERF_CONTEXT_KERNEL, PERF_CONTEXT_USER};
    use proptest::prelude::*;

    fn bytes(kind: u32, flags: u16, words: &[u64]) -> Vec<u8> {
        let length = (HEAD_BYTES + 8 * words.len()) as u16;
        let head = [
            &kind.to_ne_bytes()[..],
            &flags.to_ne_bytes(),
            &length.to_ne_bytes(),
        ]
        .concat();
        let words = words.iter().flat_map(|word| word.to_ne_bytes());
        head.into_iter().chain(words).collect()
    }

    fn pair(low: u32, high: u32) -> u64 {
        u64::from(low) | u64::from(high) << 32
    }

    #[test]
    fn a_sample_has_its_stacks() {
        let words = [
            &[pair(7, 8), 99, pair(1, 0)][..],
            &[
                4,
                PERF_CONTEXT_KERNEL,
                0xffff_8001,
                0xffff_8002,
                PERF_CONTEXT_USER,
            ],
            &[2, 0xb9, 0x5000, 0x1900],
            &[16, 11, 12, 8],
        ]
        .concat();
        let whole = bytes(PERF_RECORD_SAMPLE, 0, &words);
        let Some(Record::Sample(sample)) = record(&whole) else {
            panic!("it is one");
        };
        assert_eq!((sample.pid, sample.tid, sample.cpu), (7, 8, 1));
        assert_eq!(sample.time, Timestamp::from_ns(99));
        assert_eq!(
            sample.kernel().collect::<Vec<_>>(),
            [0xffff_8001, 0xffff_8002]
        );
        let user = sample.user.expect("it has one");
        let registers = Registers {
            ip: 0x1900,
            sp: 0x5000,
            fp: 0xb9,
            lr: 0,
        };
        assert_eq!(user.registers, registers);
        assert_eq!(user.bytes, 11_u64.to_ne_bytes());
        assert!(!user.is_cut, "the stack ended there");
        for cut in 0..whole.len() {
            assert_eq!(record(&whole[..cut]), None, "{cut}");
        }
    }

    #[test]
    fn a_thread_of_the_kernel_has_no_user_stack() {
        let words = [pair(2, 2), 99, 0, 1, 0xffff_8001, 0, 0];
        let whole = bytes(PERF_RECORD_SAMPLE, 0, &words);
        let Some(Record::Sample(sample)) = record(&whole) else {
            panic!("it is one");
        };
        assert_eq!(sample.user, None);
        assert_eq!(sample.kernel().count(), 1);
    }

    #[test]
    fn changes_of_mappings_are_told_and_those_of_threads_are_not() {
        let of = |kind, flags, words: &[u64]| {
            let whole = bytes(kind, flags, words);
            record(&whole).map(|it| format!("{it:?}"))
        };
        let said = |text: &str| Some(text.to_owned());
        let exec = PERF_RECORD_MISC_COMM_EXEC as u16;
        assert_eq!(of(PERF_RECORD_COMM, exec, &[pair(7, 7)]), said("Exec(7)"));
        assert_eq!(of(PERF_RECORD_COMM, 0, &[pair(7, 7)]), None, "a new name");
        assert_eq!(of(PERF_RECORD_MMAP2, 0, &[pair(7, 9)]), said("Mapped(7)"));
        let ended = [pair(8, 7), pair(8, 7), 99];
        assert_eq!(of(PERF_RECORD_EXIT, 0, &ended), said("Exited(8)"));
        let thread = [pair(7, 7), pair(9, 7), 99];
        assert_eq!(of(PERF_RECORD_EXIT, 0, &thread), None);
        assert_eq!(of(PERF_RECORD_LOST, 0, &[1, 5]), said("Lost(5)"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..200), kind in 1u32..20) {
            let mut whole = kind.to_ne_bytes().to_vec();
            whole.extend(&bytes);
            record(&whole);
            record(&bytes);
        }
    }
}
