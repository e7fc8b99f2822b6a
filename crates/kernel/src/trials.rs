//! What the running kernel lets this process do, found out by trying. Each trial is undone at once and changes
//! nothing for other processes.

use std::env::consts::ARCH;
use std::ffi::c_long;
use std::os::fd::{FromRawFd, OwnedFd};

use rustix::io::Errno;

use crate::bpf::Refusal;
use crate::bpf::block::Block;
use crate::bpf::flow::Flow;
use crate::bpf::pressure::Pressure;
use crate::bpf::processes::Processes;
use crate::bpf::requests::Requests;
use crate::bpf::tasks::Tasks;
use crate::bpf::thread_time::ThreadTime;
use crate::netlink;

/// Kernel memory that programs took while they were loaded, bytes, if known.
pub type Taken = Option<u64>;

/// Loads the program that reads pressure.
///
/// # Errors
/// Why it does not load.
pub fn pressure_program() -> Result<Taken, Refusal> {
    Pressure::load().map(|it| it.kernel_bytes())
}

/// Loads the thread-time programs.
///
/// # Errors
/// Why they do not load.
pub fn thread_time_programs() -> Result<Taken, Refusal> {
    ThreadTime::load(ARCH).map(|it| it.kernel_bytes())
}

/// Loads the programs that count and time requests.
///
/// # Errors
/// Why they do not load.
pub fn request_programs() -> Result<Taken, Refusal> {
    Requests::load().map(|it| it.kernel_bytes())
}

/// Loads the programs that watch block devices.
///
/// # Errors
/// Why they do not load.
pub fn block_programs() -> Result<Taken, Refusal> {
    Block::load().map(|it| it.kernel_bytes())
}

/// Loads the programs that count who talks to whom.
///
/// # Errors
/// Why they do not load.
pub fn flow_programs() -> Result<Taken, Refusal> {
    Flow::load().map(|it| it.kernel_bytes())
}

/// Loads the programs that report starts and ends of processes.
///
/// # Errors
/// Why they do not load.
pub fn process_programs() -> Result<Taken, Refusal> {
    Processes::load().map(|it| it.kernel_bytes())
}

/// Loads the program that walks over all threads.
///
/// # Errors
/// Why it does not load.
pub fn tasks_program() -> Result<Taken, Refusal> {
    Tasks::load().map(|it| it.kernel_bytes())
}

/// Argument of bpf(2): the first fields of the kernel's union, the others 0 (include/uapi/linux/bpf.h).
#[repr(C, align(8))]
struct Question([u32; 32]);

const BPF_MAP_CREATE: c_long = 0;
const BPF_PROG_LOAD: c_long = 5;

/// Creates a map.
///
/// # Errors
/// Why the kernel refuses it.
pub fn bpf_map() -> Result<(), Errno> {
    const ARRAY: u32 = 2;
    let mut question = Question([0; 32]);
    // Type, key size, value size, entries.
    question.0[..4].copy_from_slice(&[ARRAY, 4, 8, 1]);
    ask_bpf(BPF_MAP_CREATE, &question)
}

/// Loads a tracepoint program that does nothing, not attached.
///
/// # Errors
/// Why the kernel refuses it.
pub fn bpf_program() -> Result<(), Errno> {
    const TRACEPOINT: u32 = 5;
    /// `r0 = 0; exit`.
    static DO_NOTHING: [u64; 2] = [0xb7, 0x95];
    static LICENCE: &[u8; 4] = b"GPL\0";
    let mut question = Question([0; 32]);
    question.0[..2].copy_from_slice(&[TRACEPOINT, DO_NOTHING.len() as u32]);
    for (at, address) in [
        (2, DO_NOTHING.as_ptr() as u64),
        (4, LICENCE.as_ptr() as u64),
    ] {
        let halves = [address.to_ne_bytes()];
        let [a, b, c, d, e, f, g, h] = halves[0];
        question.0[at] = u32::from_ne_bytes([a, b, c, d]);
        question.0[at + 1] = u32::from_ne_bytes([e, f, g, h]);
    }
    ask_bpf(BPF_PROG_LOAD, &question)
}

fn ask_bpf(command: c_long, question: &Question) -> Result<(), Errno> {
    // SAFETY: the kernel reads the whole of `question` and the statics that it points to; it writes nothing
    // there, and returns a new descriptor or an error.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_bpf,
            command,
            std::ptr::from_ref(question),
            size_of::<Question>(),
        )
    };
    closed(answer)
}

/// The CPU's counter of cycles, on this thread in user space.
///
/// # Errors
/// Why the kernel refuses it.
pub fn cycles() -> Result<(), Errno> {
    perf_event(PERF_TYPE_HARDWARE)
}

/// The kernel's list of unix sockets with their other ends, which the module unix_diag makes.
///
/// # Errors
/// Why there is none: ENOENT without the module.
pub fn unix_sockets() -> Result<(), Errno> {
    list(&netlink::unix_request())
}

/// The kernel's list of listening TCP sockets, which the module tcp_diag makes.
///
/// # Errors
/// As of `unix_sockets`.
pub fn tcp_sockets() -> Result<(), Errno> {
    /// `TCPF_LISTEN` (include/net/tcp_states.h).
    const LISTENING: u32 = 1 << 10;
    list(&netlink::tcp_request(0, LISTENING))
}

fn list(request: &[u8]) -> Result<(), Errno> {
    let mut buffer = vec![0; netlink::DATAGRAM];
    netlink::dump(&netlink::diag_socket()?, request, &mut buffer, |_| {})
}

/// The kernel's clock of CPU time as a perf event, on this thread in user space.
///
/// # Errors
/// Why the kernel refuses it.
pub fn cpu_clock() -> Result<(), Errno> {
    perf_event(PERF_TYPE_SOFTWARE)
}

const PERF_TYPE_HARDWARE: u32 = 0;
const PERF_TYPE_SOFTWARE: u32 = 1;

/// Opens event 0 of a type (cycles, cpu-clock) on this thread in user space; it is never enabled.
fn perf_event(kind: u32) -> Result<(), Errno> {
    /// The oldest layout of perf_event_attr, which every kernel accepts (PERF_ATTR_SIZE_VER0).
    #[repr(C)]
    struct Attributes {
        kind: u32,
        size: u32,
        config: u64,
        unused: [u64; 3],
        flags: u64,
        rest: [u64; 2],
    }
    const DISABLED: u64 = 1;
    const EXCLUDE_KERNEL: u64 = 1 << 5;
    const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
    const CLOSE_ON_EXEC: c_long = 8;
    let attributes = Attributes {
        kind,
        size: size_of::<Attributes>() as u32,
        config: 0,
        unused: [0; 3],
        flags: DISABLED | EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR,
        rest: [0; 2],
    };
    let (this_thread, any_cpu, no_group): (c_long, c_long, c_long) = (0, -1, -1);
    // SAFETY: the kernel reads `attributes` up to the size stated in it, and returns a new descriptor or an
    // error.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            &raw const attributes,
            this_thread,
            any_cpu,
            no_group,
            CLOSE_ON_EXEC,
        )
    };
    closed(answer)
}

/// Closes the descriptor that a system call returned.
fn closed(answer: c_long) -> Result<(), Errno> {
    match i32::try_from(answer) {
        Ok(number) if number >= 0 => {
            // SAFETY: the kernel has just returned this descriptor, and no other code has it.
            drop(unsafe { OwnedFd::from_raw_fd(number) });
            Ok(())
        }
        _ => {
            let error = std::io::Error::last_os_error();
            Err(Errno::from_io_error(&error).unwrap_or(Errno::IO))
        }
    }
}
