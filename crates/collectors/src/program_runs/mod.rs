//! Programs that are started, and how they end, where programs in the kernel may report it.

mod command;
mod running;

use std::path::Path;
use std::time::Duration;

use kernel::bpf::processes::{Event, Kind, Processes};
use kernel::clock::boottime;
use model::{EntityId, GapReason, MISSING, StringKind, Timestamp, name_of};
use sensors::program_run::{End, PROGRAM_RUN};

use self::command::{Command, shown};
use self::running::{Ended, Running, Runs};
use crate::collector::Collector;
use crate::opening::Opening;
use crate::output::{Output, TableId};
use crate::registry::MACHINE;
use crate::scene::Scene;
use crate::tick::Tick;

/// How long the kernel is waited for at the end, to let go who has ended shortly before, ns.
const LAST_MOMENT_NS: u64 = 200_000_000;
const PAUSE: Duration = Duration::from_millis(10);
const PAUSES: usize = 20;

/// Opens it if its programs are available.
pub(crate) fn open(opening: &mut Opening<'_>) -> Option<Box<dyn Collector>> {
    let runs = opening.program("processes", |out| {
        Ok(ProgramRuns {
            programs: Processes::load()?,
            table: out.open(&PROGRAM_RUN),
            // Those that forked while the programs were attached may have been missed.
            state: State::new(now_ns(boottime())),
            lost_said: 0,
            failed: false,
        })
    });
    Some(Box::new(runs?))
}

fn now_ns(now: Timestamp) -> u64 {
    u64::try_from(now.as_ns()).unwrap_or(0)
}

struct ProgramRuns {
    programs: Processes,
    table: TableId,
    state: State,
    lost_said: u64,
    failed: bool,
}

/// What is known apart from the programs in the kernel.
struct State {
    /// Every fork since then is reported.
    attached_ns: u64,
    /// What ended before belongs to the setup.
    begin_ns: u64,
    runs: Runs,
    command: Command,
}

impl State {
    fn new(attached_ns: u64) -> Self {
        Self {
            attached_ns,
            begin_ns: 0,
            runs: Runs::default(),
            command: Command::default(),
        }
    }

    /// Takes in an event of a process, whose parent has an entity where it was seen.
    fn take(&mut self, event: &Event<'_>, parent: Option<EntityId>, out: &mut Output) {
        match event.kind {
            Kind::Fork => {
                let process = self.newcomer(event, parent, out);
                let copy = Running {
                    command: process.parent_command,
                    ..process
                };
                self.runs.insert(event.pid, copy);
            }
            Kind::Exec => self.exec(event, parent, out),
            Kind::Exit => self.exit(event, parent, out),
            Kind::Free => self.runs.release(event),
        }
    }

    /// A process as of an event of it, before it has run anything that is known.
    fn newcomer(
        &mut self,
        event: &Event<'_>,
        parent: Option<EntityId>,
        out: &mut Output,
    ) -> Running {
        Running {
            parent: event.parent,
            parent_entity: parent,
            parent_command: self.command_of(event.parent, event.parent_start_ns, out),
            ..Running::new(event.start_ns)
        }
    }

    /// The command of a parent. One that was there before is asked for its own once.
    fn command_of(&mut self, pid: u32, start_ns: u64, out: &mut Output) -> i64 {
        if let Some(known) = self.runs.get(pid, start_ns) {
            return known.command;
        }
        // Where it has ended, its exit was reported before, and nobody would take it out again.
        let (arguments, is_cut) = shown(pid);
        let command = self.command.intern(&arguments, is_cut, out);
        if command != MISSING {
            let old = Running {
                command,
                is_exec: true,
                is_old: true,
                ..Running::new(start_ns)
            };
            self.runs.insert(pid, old);
        }
        command
    }

    fn exec(&mut self, event: &Event<'_>, parent: Option<EntityId>, out: &mut Output) {
        let program = |process: Running| Running {
            began_ns: event.at_ns,
            cpu_before_ns: event.cpu_ns,
            ..process
        };
        let process = match self.runs.take(event.pid, event.start_ns) {
            // Its first program is all that the process was made for.
            Some(copy) if !copy.is_exec => copy,
            Some(before) if before.is_old => program(self.newcomer(event, parent, out)),
            Some(before) => {
                let again = program(before.clone());
                self.runs.end(Ended::replaced(event.pid, before, event));
                again
            }
            // Its fork was lost.
            None if event.start_ns >= self.attached_ns => self.newcomer(event, parent, out),
            None => program(self.newcomer(event, parent, out)),
        };
        let path = name_of(event.path);
        let file = out.strings.intern(StringKind::Module, None, &path);
        let running = Running {
            command: self.command_line(event, out),
            file: file.map_or(MISSING, |id| i64::from(id.0)),
            is_exec: true,
            ..process
        };
        self.runs.insert(event.pid, running);
    }

    /// The command line of a program that was started; its file alone where the words cannot be had.
    fn command_line(&mut self, event: &Event<'_>, out: &mut Output) -> i64 {
        let command = match event.arguments {
            [] => {
                let (arguments, is_cut) = shown(event.pid);
                self.command.intern(&arguments, is_cut, out)
            }
            arguments => self.command.intern(arguments, event.is_cut, out),
        };
        match command {
            MISSING => self.command.intern(event.path, false, out),
            command => command,
        }
    }

    fn exit(&mut self, event: &Event<'_>, parent: Option<EntityId>, out: &mut Output) {
        if self.runs.has_ended(event.pid, event.start_ns) {
            return;
        }
        let run = match self.runs.take(event.pid, event.start_ns) {
            Some(run) if !run.is_old => run,
            // It ran before: who started it was not seen.
            before => Running {
                command: match before {
                    Some(before) => before.command,
                    None => self.command.intern(event.comm, false, out),
                },
                is_old: true,
                ..self.newcomer(event, parent, out)
            },
        };
        self.runs.end(Ended::exited(run, event));
    }

    /// Calls `each` with the runs that are ready to be written.
    fn write(&mut self, now: Timestamp, mut each: impl FnMut(&Ended)) {
        let begin_ns = self.begin_ns;
        self.runs.write(now_ns(now), |ended| {
            if ended.at_ns >= begin_ns {
                each(ended);
            }
        });
    }

    /// The same with everything that has ended, and what still runs; where events were lost it may have ended unseen.
    fn finish(&mut self, now: Timestamp, were_lost: bool, mut each: impl FnMut(&Ended)) {
        let (ended, running) = self.runs.finish();
        let ended = ended.into_iter();
        ended
            .filter(|it| it.at_ns >= self.begin_ns)
            .for_each(|it| each(&it));
        for (pid, run) in running.into_iter().filter(|(_, run)| !run.is_old) {
            let is_there = !were_lost || Path::new(&format!("/proc/{pid}")).exists();
            let end = is_there.then_some(End::Running);
            each(&Ended::new(pid, run, now_ns(now), end));
        }
    }
}

/// Writes the row of a run.
fn write(ended: &Ended, table: TableId, scene: &Scene, out: &mut Output) {
    let parent = ended.run.parent_entity;
    let parent = parent.or_else(|| scene.processes.entity(ended.run.parent));
    let time = Timestamp::from_ns(ended.at_ns.cast_signed());
    let rows = &mut out.tables[table].rows;
    rows.push(time, parent.unwrap_or(MACHINE), &ended.row());
}

impl ProgramRuns {
    fn read(&mut self, scene: &Scene, out: &mut Output) {
        let Self {
            programs, state, ..
        } = self;
        let read = programs.read(|event| {
            let parent = scene.processes.entity(event.parent);
            state.take(event, parent, out);
        });
        if read.is_err() && !std::mem::replace(&mut self.failed, true) {
            let what = "starts and ends of processes: the kernel's events cannot be read";
            out.gaps
                .report(&PROGRAM_RUN.name, what, GapReason::Dropped(1));
        }
        self.report_lost(out);
    }

    fn lost(&self) -> u64 {
        self.programs.lost() + self.state.runs.unplaced
    }

    /// Says it anew when it has doubled: each gap is kept.
    fn report_lost(&mut self, out: &mut Output) {
        let lost = self.lost();
        if lost > 2 * self.lost_said {
            self.lost_said = lost;
            let what = "starts and ends of processes for which there was no room";
            out.gaps
                .report(&PROGRAM_RUN.name, what, GapReason::Dropped(lost));
        }
    }
}

impl Collector for ProgramRuns {
    fn begin(&mut self, now: Timestamp) {
        self.state.begin_ns = now_ns(now);
    }

    fn sample(&mut self, tick: &Tick, scene: &mut Scene, out: &mut Output) {
        self.read(scene, out);
        let table = self.table;
        self.state
            .write(tick.stamp(), |ended| write(ended, table, scene, out));
    }

    fn finish(&mut self, scene: &mut Scene, out: &mut Output) {
        self.read(scene, out);
        let now = boottime();
        // The kernel lets a process go a moment after its end: the load's last ones may just have ended.
        for _ in 0..PAUSES {
            if !self.state.runs.waits(now_ns(now), LAST_MOMENT_NS) {
                break;
            }
            std::thread::sleep(PAUSE);
            let (programs, runs) = (&mut self.programs, &mut self.state.runs);
            // What begins or ends from now on belongs to no recording; nor does a ring that cannot be read now.
            let _ = programs.read(|event| {
                if event.kind == Kind::Free {
                    runs.release(event);
                }
            });
        }
        let were_lost = self.lost() > 0;
        let table = self.table;
        self.state
            .finish(now, were_lost, |ended| write(ended, table, scene, out));
    }

    fn each_program(&self, _scene: &Scene, each: &mut dyn FnMut(&'static str, Option<u64>)) {
        each("processes", self.programs.kernel_bytes());
    }
}

#[cfg(test)]
mod tests;
