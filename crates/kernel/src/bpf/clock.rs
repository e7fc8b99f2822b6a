//! How far each CPU's scheduler clock is ahead of CLOCK_BOOTTIME (`bpf/clock.bpf.c`).
//!
//! The kernel counts pressure in sched_clock(), which no program can read, but it stamps perf events with it.
//! The clock drifts by some 20 ns a second against the boot clock, so it is measured again every 10 s.

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::ptr::NonNull;

use libbpf_rs::ProgramInput;
use libbpf_rs::libbpf_sys::{
    LIBBPF_PERF_EVENT_CONT, PERF_COUNT_SW_BPF_OUTPUT, PERF_RECORD_SAMPLE, PERF_SAMPLE_RAW,
    PERF_SAMPLE_TIME, PERF_TYPE_SOFTWARE, bpf_perf_event_ret, perf_buffer, perf_buffer__consume,
    perf_buffer__free, perf_buffer__new_raw, perf_event_attr, perf_event_header,
};
use libbpf_rs::skel::{OpenSkel as _, Skel as _, SkelBuilder as _};

use super::footprint;
use super::refusal::Refusal;
use super::skeletons::clock::{ClockSkel, ClockSkelBuilder};

/// Runs on each CPU: of this many, at least one is not interrupted between its two clock readings.
const TRIES: usize = 20;
/// BPF_F_TEST_RUN_ON_CPU
const ON_CPU: u32 = 1;

/// The clock of one CPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct CpuClock {
    pub(super) is_online: bool,
    /// The smallest difference seen, ns; `None` for a CPU that came online after the perf events were opened.
    pub(super) ahead_ns: Option<i64>,
}

/// The scheduler's clocks of all CPUs.
pub(super) struct SchedulerClock {
    program: ClockSkel<'static>,
    events: NonNull<perf_buffer>,
    /// `on_event` writes here too, so only the address is used.
    clocks: NonNull<Vec<CpuClock>>,
}

// SAFETY: buffer and clocks are used only through `&mut self`, and libbpf binds the buffer to no thread.
unsafe impl Send for SchedulerClock {}

impl SchedulerClock {
    /// # Errors
    /// When the program does not load or perf events may not be opened.
    pub(super) fn load(cpus: usize) -> Result<Self, Refusal> {
        let place = Box::leak(Box::new(MaybeUninit::uninit()));
        let program = ClockSkelBuilder::default().open(place)?.load()?;
        let clocks = NonNull::from(Box::leak(Box::new(vec![CpuClock::default(); cpus])));
        let mut attributes = perf_event_attr {
            type_: PERF_TYPE_SOFTWARE,
            size: size_of::<perf_event_attr>() as u32,
            config: u64::from(PERF_COUNT_SW_BPF_OUTPUT),
            sample_type: u64::from(PERF_SAMPLE_TIME | PERF_SAMPLE_RAW),
            ..perf_event_attr::default()
        };
        attributes.__bindgen_anon_1.sample_period = 1;
        // SAFETY: map and attributes live through the call, the clocks as long as the buffer does.
        let events = unsafe {
            perf_buffer__new_raw(
                program.maps.event_by_cpu.as_fd().as_raw_fd(),
                1,
                &raw mut attributes,
                Some(on_event),
                clocks.as_ptr().cast(),
                std::ptr::null(),
            )
        };
        let events = NonNull::new(events).ok_or_else(|| {
            let why = std::io::Error::last_os_error();
            // SAFETY: leaked above, and no buffer refers to it.
            drop(unsafe { Box::from_raw(clocks.as_ptr()) });
            Refusal::at("perf events that tell the scheduler's clock", why)
        })?;
        Ok(Self {
            program,
            events,
            clocks,
        })
    }

    /// Kernel memory in use, bytes.
    pub(super) fn kernel_bytes(&self) -> Option<u64> {
        footprint::of(self.program.object())
    }

    /// Measures the clock of each CPU.
    pub(super) fn read(&mut self) -> Result<&[CpuClock], Refusal> {
        // SAFETY: ours until `drop`, and `on_event` is not called before the buffer is consumed.
        let clocks = unsafe { self.clocks.as_mut() };
        clocks.fill(CpuClock::default());
        for (cpu, clock) in clocks.iter_mut().enumerate() {
            for _ in 0..TRIES {
                let mut arguments = [0_u8; 16];
                let input = ProgramInput {
                    context_in: Some(&mut arguments),
                    cpu: cpu as u32,
                    flags: ON_CPU,
                    ..ProgramInput::default()
                };
                // The kernel refuses this (ENXIO) if the CPU does not exist or is offline.
                if self.program.progs.tick.test_run(input).is_err() {
                    break;
                }
                clock.is_online = true;
            }
        }
        // SAFETY: the buffer is ours; `on_event` is called from within, and the clocks are not borrowed.
        let read = unsafe { perf_buffer__consume(self.events.as_ptr()) };
        if read < 0 {
            let why = std::io::Error::from_raw_os_error(-read);
            return Err(Refusal::at("reading the scheduler's clock", why));
        }
        // SAFETY: as above.
        Ok(unsafe { self.clocks.as_ref() })
    }
}

impl Drop for SchedulerClock {
    fn drop(&mut self) {
        // SAFETY: both made by `load` and freed once, the buffer that writes to the clocks first.
        unsafe {
            perf_buffer__free(self.events.as_ptr());
            drop(Box::from_raw(self.clocks.as_ptr()));
        }
    }
}

/// A sample: header, time (8 bytes), length (4), the reading (8). An interrupt between the two clocks makes
/// the difference larger, so the smallest one counts.
unsafe extern "C" fn on_event(
    clocks: *mut c_void,
    cpu: c_int,
    event: *mut perf_event_header,
) -> bpf_perf_event_ret {
    const TIME: usize = size_of::<perf_event_header>();
    const READING: usize = TIME + 8 + 4;
    // SAFETY: `clocks` is the pointer from `load`; libbpf passes whole events of the length that they state.
    let (clocks, kind, bytes) = unsafe {
        let length = usize::from((*event).size);
        (
            &mut *clocks.cast::<Vec<CpuClock>>(),
            (*event).type_,
            std::slice::from_raw_parts(event.cast::<u8>(), length),
        )
    };
    let word = |at: usize| Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
    // Lost samples raise an event of another type.
    if kind == PERF_RECORD_SAMPLE
        && let (Some(scheduler), Some(boot)) = (word(TIME), word(READING))
        && let Some(clock) = clocks.get_mut(cpu as usize)
    {
        let difference = scheduler.wrapping_sub(boot) as i64;
        let least = clock.ahead_ns.map_or(difference, |it| it.min(difference));
        clock.ahead_ns = Some(least);
    }
    LIBBPF_PERF_EVENT_CONT
}
