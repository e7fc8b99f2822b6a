//! Time by statement, as the programs count it (`bpf/lib/statement.bpf.h`).

use std::os::fd::{AsFd as _, AsRawFd as _, IntoRawFd as _, OwnedFd};

use libbpf_rs::libbpf_sys::{PERF_COUNT_SW_CPU_CLOCK, PERF_TYPE_SOFTWARE, perf_event_attr};
use libbpf_rs::{Link, MapCore as _, MapFlags, ProgramMut};
use rustix::io::Errno;
use sensors::statement::Part;

use super::batch::read_batch;
use super::{ThreadTime, no_variables};
use crate::bpf::refusal::Refusal;
use crate::bpf::skeletons::thread_time::types::{statement_key, statement_sum};
use crate::stacks::cpu_samples::for_all_processes;

/// Entries per system call.
const BATCH: usize = 256;
/// Samples a second of each CPU that divide its time between statements; not a divisor of the timer's rate.
const SAMPLES: u64 = 97;

/// perf_event_open(2), include/uapi/linux/perf_event.h.
const PERF_EVENT_IOC_ENABLE: libc::c_ulong = 0x2400;
const PERF_EVENT_IOC_DISABLE: libc::c_ulong = 0x2401;

/// The samples of all CPUs. Whoever loads the programs may open them; whoever reads them later may not, so they are
/// there from the beginning and switched off until a server with statements is found.
pub(super) enum StatementSamples {
    Off(Vec<Sampled>),
    On(#[expect(dead_code, reason = "they are taken for as long as they exist")] Vec<Sampled>),
    Refused(Refusal),
}

/// One CPU's.
pub(super) struct Sampled {
    event: OwnedFd,
    _link: Link,
}

/// Reusable buffers for a reading.
pub struct StatementBuffer((Vec<statement_key>, Vec<statement_sum>));

/// Time of one statement of a pool's processes since the programs were loaded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StatementSum {
    /// The pool's number in the programs.
    pub pool: u64,
    /// The statement's id; 0 for time without one.
    pub id: u64,
    /// By part, ns.
    pub ns: [u64; Part::ALL.len()],
    /// How often it was seen to begin.
    pub calls: u64,
    /// When it began last, by the server: microseconds since 2000-01-01 UTC.
    pub started_us: i64,
}

/// What was not counted so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Losses {
    /// Additions that found no room.
    pub drops: u64,
    /// Statements without an id.
    pub unnumbered: u64,
}

impl Default for StatementBuffer {
    fn default() -> Self {
        let sums = vec![statement_sum::default(); BATCH];
        Self((vec![statement_key::default(); BATCH], sums))
    }
}

impl ThreadTime {
    /// Appends the sums of all statements to `found`; returns what was lost so far.
    pub fn statements(
        &self,
        buffer: &mut StatementBuffer,
        found: &mut Vec<StatementSum>,
    ) -> Result<Losses, Refusal> {
        let variables = self.programs.maps.bss_data.as_deref();
        let variables = variables.ok_or_else(no_variables)?;
        let losses = Losses {
            drops: variables.statement_drops,
            unnumbered: variables.statements_unnumbered,
        };
        let map = self.programs.maps.sum_by_statement.as_fd();
        let (keys, sums) = &mut buffer.0;
        let mut place = None;
        loop {
            let (count, next) = read_batch(map, place, keys, sums)?;
            let batch = keys.iter().zip(sums.iter()).take(count);
            found.extend(batch.map(|(key, sum)| StatementSum {
                pool: key.pool,
                id: key.id,
                ns: sum.ns,
                calls: sum.calls,
                started_us: sum.started_us.cast_signed(),
            }));
            if next.is_none() {
                return Ok(losses);
            }
            place = next;
        }
    }

    /// Removes the entry of a statement that has not run for long, or whose server no longer exists.
    pub fn forget_statement(&self, sum: &StatementSum) -> Result<(), Refusal> {
        let mut key = [0; size_of::<statement_key>()];
        key[..8].copy_from_slice(&sum.pool.to_ne_bytes());
        key[8..].copy_from_slice(&sum.id.to_ne_bytes());
        self.programs.maps.sum_by_statement.delete(&key)?;
        Ok(())
    }

    /// The text of a statement as the server has it, with its values, up to its final 0; taken once. `None` where it
    /// was not noted, or no longer is there.
    pub fn take_statement_text(&self, id: u64) -> Option<Vec<u8>> {
        let map = &self.programs.maps.text_by_statement;
        let mut text = map.lookup(&id.to_ne_bytes(), MapFlags::ANY).ok()??;
        // If this fails, the map drops the oldest by itself.
        let _ = map.delete(&id.to_ne_bytes());
        let end = text.iter().position(|byte| *byte == 0);
        text.truncate(end.unwrap_or(text.len()));
        Some(text)
    }

    /// Why what runs on a CPU is not sampled; `None` where it is, or need not be.
    pub fn unsampled_statements(&self) -> Option<&Refusal> {
        match &self.statements {
            StatementSamples::Refused(why) => Some(why),
            _ => None,
        }
    }
}

impl StatementSamples {
    /// Opens them all, switched off.
    pub(super) fn open(program: &ProgramMut<'_>, cpus: usize) -> Self {
        let opened = (0..cpus as u32).filter_map(|cpu| match open_on(cpu) {
            // Possible, and not there now.
            Err(Errno::NODEV) => None,
            opened => Some(opened.map_err(Refusal::from)),
        });
        let sampled = opened.map(|event| Sampled::new(program, event?));
        sampled
            .collect::<Result<_, _>>()
            .map_or_else(Self::Refused, Self::Off)
    }

    /// Samples what runs on each CPU from now on. Without samples statements are told apart at switches only.
    pub(super) fn switch_on(&mut self) {
        if let Self::Off(all) = self {
            let all = std::mem::take(all);
            all.iter().for_each(|it| it.tell(PERF_EVENT_IOC_ENABLE));
            *self = Self::On(all);
        }
    }
}

impl Sampled {
    fn new(program: &ProgramMut<'_>, event: OwnedFd) -> Result<Self, Refusal> {
        let own = event.try_clone()?;
        let link = program.attach_perf_event(own.as_raw_fd())?;
        // The link closes it.
        let _ = own.into_raw_fd();
        let sampled = Self { event, _link: link };
        sampled.tell(PERF_EVENT_IOC_DISABLE);
        Ok(sampled)
    }

    fn tell(&self, request: libc::c_ulong) {
        // SAFETY: the descriptor is that of a perf event, and these requests take no memory. They do not fail on one.
        unsafe { libc::ioctl(self.event.as_raw_fd(), request, 0) };
    }
}

/// Opens the clock's event of a CPU, for all processes.
fn open_on(cpu: u32) -> Result<OwnedFd, Errno> {
    let mut attributes = perf_event_attr {
        type_: PERF_TYPE_SOFTWARE,
        size: size_of::<perf_event_attr>() as u32,
        config: u64::from(PERF_COUNT_SW_CPU_CLOCK),
        ..perf_event_attr::default()
    };
    attributes.__bindgen_anon_1.sample_period = 1_000_000_000 / SAMPLES;
    attributes.set_exclude_idle(1);
    for_all_processes(&attributes, cpu)
}
