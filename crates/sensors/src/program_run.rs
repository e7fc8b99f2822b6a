//! Programs that were started, and how they ended: reported by programs in the kernel at forks, execs and exits
//! (`bpf/processes.bpf.c`). A collector fills the table where they load; here is only what it holds.

use model::{Column, EntityKind, RowKind, Table, Unit};

static COLUMNS: &[Column] = &[
    Column::gauge("pid", Unit::Code, "The process.", "task_struct.tgid"),
    Column::gauge(
        "parent_pid",
        Unit::Code,
        "Its parent: of a process that began while this was recorded the one that started it, of others the one at its \
         end.",
        "task_struct.real_parent",
    ),
    Column::gauge(
        "exec",
        Unit::Code,
        "1 where the process started the program by exec, 0 where it is a copy of its parent (a fork) and started none; \
         missing where it ran already when the recording began.",
        "sched_process_exec",
    ),
    Column::gauge(
        "command",
        Unit::String,
        "The program and its arguments without secrets, up to 512 bytes; of a fork that of its parent. Of a process that \
         ran already when the recording began, and started nothing meanwhile, its name alone.",
        "mm_struct.arg_start at sched_process_exec; /proc/PID/cmdline",
    ),
    Column::gauge(
        "parent_command",
        Unit::String,
        "The same of the parent, as it was then.",
        "as of command",
    ),
    Column::gauge(
        "file",
        Unit::String,
        "The file that was executed, as the process called it; missing of a fork.",
        "linux_binprm.filename at sched_process_exec",
    ),
    Column::gauge(
        "duration_ns",
        Unit::Nanoseconds,
        "How long it ran, up to the time of the row: from the start of the process, of its second program and later ones \
         from the exec.",
        "task_struct.start_boottime, sched_process_exec, sched_process_exit",
    ),
    Column::gauge(
        "cpu_ns",
        Unit::Nanoseconds,
        "CPU time of all its threads, those of its children not included: sum_exec_runtime of each, as wait4(2) reports \
         it. Where one process runs several programs the sum is exact, and time since the last switch or tick before an \
         exec (up to 10 ms) counts for the later program. Where the parent has not asked for the end within a second, \
         and for up to three in a thousand whose end the kernel's event does not tell, without the exit's last part. Missing where it still ran.",
        "signal_struct.sum_sched_runtime at sched_process_free",
    ),
    Column::gauge(
        "end",
        Unit::Code,
        "How it ended: 0 it exited, 1 a signal ended it, 2 the process went on as another program, 3 it still ran when \
         the recording ended; missing where its end was lost.",
        "task_struct.exit_code at sched_process_exit",
    ),
    Column::gauge(
        "status",
        Unit::Code,
        "The exit status, or the signal's number; missing where it did not end.",
        "task_struct.exit_code at sched_process_exit",
    ),
];

/// Columns.
pub const WIDTH: usize = 10;

/// How a run ended (column `end`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum End {
    /// It exited with a status.
    Exited,
    /// A signal ended it.
    Signalled,
    /// The process went on as another program.
    Replaced,
    /// It still ran when the recording ended.
    Running,
}

impl End {
    /// That of a code; `None` where the end was lost.
    pub fn of(code: i64) -> Option<Self> {
        let all = [Self::Exited, Self::Signalled, Self::Replaced, Self::Running];
        all.into_iter().find(|it| *it as i64 == code)
    }
}

/// Runs of programs.
pub static PROGRAM_RUN: Table = Table::new(
    "program_run",
    EntityKind::Process,
    "Runs of programs by processes, a row at the end of each: what was started, by whom, how long it ran, and how it \
     ended. About the parent, where it was seen, else about the machine.",
    COLUMNS,
)
.rows(RowKind::Events);
