//! What the programs are told before they are loaded: what system calls and wait events mean, where the kernel
//! keeps its preempt count, and which questions are asked.

use libbpf_rs::btf::Btf;
use model::{LedgerClass, ThreadTimeClass};
use sensors::kernel_wait::IoIntent;
use sensors::{statement, syscall, wait_event};

use crate::bpf::per_cpu::PerCpu;
use crate::bpf::refusal::Refusal;
use crate::bpf::skeletons::thread_time::types::rodata;

/// Bound of system call numbers (THREAD_TIME_CALLS).
const CALLS: usize = 512;

/// A question that the programs answer beside where each thread's time goes. One that is not asked costs
/// nothing: the verifier removes its instructions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Question {
    /// Where in the kernel a thread waits, and for what I/O.
    WaitSite,
    /// In which wait event of its application.
    WaitEvent,
    /// For which statement of a database server.
    Statement,
    /// Who ends its waits.
    Wakers,
    /// Whether it sleeps inside a request.
    Serving,
    /// What the pressure of a set of threads is.
    PsiGroup,
    /// In which call stack a thread waits.
    WaitStack,
    /// The same of so many waits that they need more room.
    ManyWaitStacks,
}

impl Question {
    /// All of them, within the usual memory.
    pub const ALL: [Self; 7] = [
        Self::WaitSite,
        Self::WaitEvent,
        Self::Statement,
        Self::Wakers,
        Self::Serving,
        Self::PsiGroup,
        Self::WaitStack,
    ];
}

/// Sets all of it; `architecture` as in `uname -m`.
pub(super) fn set(
    constants: &mut rodata,
    architecture: &str,
    asked: &[Question],
) -> Result<(), Refusal> {
    let is_asked = |question| u32::from(asked.contains(&question));
    constants.asks_wait_site = is_asked(Question::WaitSite);
    constants.asks_wait_event = is_asked(Question::WaitEvent);
    constants.asks_statement = is_asked(Question::Statement);
    constants.asks_wakers = is_asked(Question::Wakers);
    constants.asks_serving = is_asked(Question::Serving);
    constants.asks_psi_group = is_asked(Question::PsiGroup);
    constants.count_behind_run_queue = count_behind_run_queue()?;
    name_events(constants);
    lay_out_statements(constants);
    name_calls(constants, architecture)
}

/// Sets the meaning of system call numbers.
fn name_calls(constants: &mut rodata, architecture: &str) -> Result<(), Refusal> {
    for number in 0..CALLS {
        let call = number as i64;
        let class = syscall::class(architecture, call).ok_or_else(|| {
            Refusal::new(format!(
                "the system calls of {architecture} are not known here"
            ))
        })?;
        let sleep_class = match class {
            LedgerClass::Futex => ThreadTimeClass::Futex,
            // A wait for a disk is uninterruptible, so in an interruptible sleep this is a pipe or a socket.
            LedgerClass::ReadWrite if syscall::gives(architecture, call) => ThreadTimeClass::Output,
            LedgerClass::ReadWrite | LedgerClass::Input => ThreadTimeClass::Input,
            LedgerClass::Output => ThreadTimeClass::Output,
            LedgerClass::Sleep => ThreadTimeClass::Sleep,
            _ => ThreadTimeClass::OtherCall,
        };
        let io_intent = match class {
            LedgerClass::Sync => Some(IoIntent::Sync),
            LedgerClass::ReadWrite => Some(IoIntent::ReadWrite),
            _ => None,
        };
        constants.sleep_class_by_call[number] = sleep_class as u8;
        constants.intent_by_call[number] = intent_number(io_intent);
    }
    Ok(())
}

/// Sets the meaning of PostgreSQL's wait events.
fn name_events(constants: &mut rodata) {
    constants.log_event = wait_event::WAL_WRITE;
    constants.output_event = wait_event::CLIENT_WRITE;
    for (class, to) in (0..).zip(&mut constants.class_by_event) {
        let class = wait_event::thread_time_class(class << 24);
        *to = class.map_or(0, |class| class as u8);
    }
}

/// Sets where servers have their statements, and what a statement's time consists of.
fn lay_out_statements(constants: &mut rodata) {
    for (layout, to) in statement::LAYOUTS
        .iter()
        .zip(&mut constants.statement_layouts)
    {
        to.state = layout.state;
        to.id = layout.id;
        to.text = layout.text;
        to.running = layout.running;
        to.fastpath = layout.fastpath;
    }
    for (class, to) in ThreadTimeClass::ALL
        .iter()
        .zip(&mut constants.part_by_class)
    {
        *to = statement::Part::of(*class).map_or(u8::MAX, |part| part as u8);
    }
}

/// Offset of a CPU's preempt count from its run queue, bytes; 0 if the kernel keeps the count elsewhere or
/// its BTF does not say.
fn count_behind_run_queue() -> Result<i64, Refusal> {
    let kernel = Btf::from_vmlinux()?;
    let Ok(variables) = PerCpu::of(&kernel) else {
        return Ok(0);
    };
    let offsets = ["__preempt_count", "pcpu_hot"].map(|it| variables.distance("runqueues", it));
    Ok(offsets.into_iter().find_map(Result::ok).unwrap_or(0))
}

/// An I/O intent as the program numbers it (enum thread_time_call).
pub(super) fn intent_number(intent: Option<IoIntent>) -> u8 {
    intent.map_or(0, |intent| intent as u8)
}
