//! How far each CPU's scheduler clock is ahead of CLOCK_BOOTTIME (`bpf/clock.bpf.c`).
//!
//! Pressure is counted in sched_clock(), which no program can read; perf events are stamped with it. It
//! drifts by some 20 ns a second against the boot clock, so it is looked at again every 10 s.

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::ptr::NonNull;

use libbpf_rs::ProgramInput;
use libbpf_rs::libbpf_sys::{
    LIBBPF_PERF_EVENT_CONT, PERF_COUNT_SW_BPF_OUTPUT, PERF_SAMPLE_RAW, PERF_SAMPLE_TIME,
    PERF_TYPE_SOFTWARE, bpf_perf_event_ret, perf_buffer, perf_buffer__consume, perf_buffer__free,
    perf_buffer__new_raw, perf_event_attr, perf_event_header,
};
use libbpf_rs::skel::{OpenSkel as _, SkelBuilder as _};

use super::Refusal;
use super::skeletons::clock::{ClockSkel, ClockSkelBuilder};

/// Runs on each CPU: of so many one is surely not interrupted between its two clocks.
const TRIES: usize = 20;
/// BPF_F_TEST_RUN_ON_CPU
const ON_CPU: u32 = 1;

/// The least difference that was seen on each CPU, ns.
type Ahead = Vec<Option<i64>>;

/// The scheduler's clocks of all CPUs.
pub(super) struct SchedulerClock {
    program: ClockSkel<'static>,
    events: NonNull<perf_buffer>,
    ahead: Box<Ahead>,
}

// SAFETY: the buffer is used through `&mut self` only, and libbpf ties it to no thread.
unsafe impl Send for SchedulerClock {}

impl SchedulerClock {
    /// # Errors
    /// When the program does not load or perf events may not be opened.
    pub(super) fn load(cpus: usize) -> Result<Self, Refusal> {
        let place = Box::leak(Box::new(MaybeUninit::uninit()));
        let program = ClockSkelBuilder::default().open(place)?.load()?;
        let mut ahead = Box::new(vec![None; cpus]);
        let mut attributes = perf_event_attr {
            type_: PERF_TYPE_SOFTWARE,
            size: size_of::<perf_event_attr>() as u32,
            config: u64::from(PERF_COUNT_SW_BPF_OUTPUT),
            sample_type: u64::from(PERF_SAMPLE_TIME | PERF_SAMPLE_RAW),
            ..perf_event_attr::default()
        };
        attributes.__bindgen_anon_1.sample_period = 1;
        let context: *mut Ahead = &raw mut *ahead;
        // SAFETY: map and attributes live through the call, `ahead` as long as the buffer does.
        let events = unsafe {
            perf_buffer__new_raw(
                program.maps.event_by_cpu.as_fd().as_raw_fd(),
                1,
                &raw mut attributes,
                Some(on_event),
                context.cast(),
                std::ptr::null(),
            )
        };
        let events = NonNull::new(events).ok_or_else(|| {
            let why = std::io::Error::last_os_error();
            Refusal::new(format!(
                "perf events that tell the scheduler's clock: {why}"
            ))
        })?;
        Ok(Self {
            program,
            events,
            ahead,
        })
    }

    /// The difference on each CPU as of now, ns; `None` for one that is not online.
    pub(super) fn read(&mut self) -> Result<&[Option<i64>], Refusal> {
        self.ahead.fill(None);
        for cpu in 0..self.ahead.len() {
            for _ in 0..TRIES {
                let mut arguments = [0_u8; 16];
                let input = ProgramInput {
                    context_in: Some(&mut arguments),
                    cpu: cpu as u32,
                    flags: ON_CPU,
                    ..ProgramInput::default()
                };
                if self.program.progs.tick.test_run(input).is_err() {
                    break;
                }
            }
        }
        // SAFETY: the buffer is ours; `on_event` is called from within, and `ahead` is not borrowed.
        let read = unsafe { perf_buffer__consume(self.events.as_ptr()) };
        if read < 0 {
            let why = std::io::Error::from_raw_os_error(-read);
            return Err(Refusal::new(format!(
                "reading the scheduler's clock: {why}"
            )));
        }
        Ok(&self.ahead)
    }
}

impl Drop for SchedulerClock {
    fn drop(&mut self) {
        // SAFETY: made by `load` and freed once.
        unsafe { perf_buffer__free(self.events.as_ptr()) };
    }
}

/// A sample: header, time (8 bytes), length (4), the reading (8). An interrupt between the two clocks
/// makes the difference larger, so the least counts.
unsafe extern "C" fn on_event(
    ahead: *mut c_void,
    cpu: c_int,
    event: *mut perf_event_header,
) -> bpf_perf_event_ret {
    const TIME: usize = size_of::<perf_event_header>();
    const READING: usize = TIME + 8 + 4;
    // SAFETY: `ahead` is what `load` gave; libbpf hands over whole events, of the length they say.
    let (ahead, bytes) = unsafe {
        let length = usize::from((*event).size);
        (
            &mut *ahead.cast::<Ahead>(),
            std::slice::from_raw_parts(event.cast::<u8>(), length),
        )
    };
    let word = |at: usize| Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
    if let (Some(scheduler), Some(boot)) = (word(TIME), word(READING))
        && let Some(least) = ahead.get_mut(cpu as usize)
    {
        let difference = scheduler.wrapping_sub(boot) as i64;
        *least = Some(least.map_or(difference, |it| it.min(difference)));
    }
    LIBBPF_PERF_EVENT_CONT
}
