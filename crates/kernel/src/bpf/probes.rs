//! Cost of the programs that run at events, by the kernel's own statistics: for `make bench`.

use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};

use libbpf_rs::libbpf_sys::{
    BPF_STATS_RUN_TIME, bpf_enable_stats, bpf_prog_get_info_by_fd, bpf_prog_info,
};
use libbpf_rs::skel::{OpenSkel as _, SkelBuilder as _};
use libbpf_rs::{Link, ProgramMut};
use model::Role;

use super::block::Block;
use super::flow::Flow;
use super::messages::quietly;
use super::processes::Processes;
use super::refusal::Refusal;
use super::requests::{Requests, Side};
use super::skeletons::floor::{FloorSkel, FloorSkelBuilder};
use super::thread_time::psi_groups::Membership;
use super::thread_time::{Assigned, Question, ThreadTime};

/// Cost of one program during a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Probe {
    /// `nothing` and `clock` for the two reference programs at sched_switch; for others, the hook.
    pub name: &'static str,
    /// Number of runs.
    pub runs: u64,
    /// Total time, ns; includes the overhead of the statistics themselves.
    pub ns: u64,
}

/// Runs something under thread-time accounting that asks these questions too, with this process in a role, and
/// returns the cost of each program.
///
/// # Errors
/// Why the programs are not available here.
pub fn probe_costs(
    role: Role,
    asked: &[Question],
    run: impl FnOnce(),
) -> Result<Vec<Probe>, String> {
    thread_time_costs(role, asked, run).map_err(|refusal| refusal.to_string())
}

/// The same for the programs that count and time requests: this process is the server, the generator or, with
/// `None`, background; `timed` is the sampled fraction of requests that are timed.
///
/// # Errors
/// Why the programs are not available here.
pub fn request_costs(
    role: Option<Role>,
    timed: f64,
    run: impl FnOnce(),
) -> Result<Vec<Probe>, String> {
    let measured = || {
        let floor = loaded_floor()?;
        let _attached = [floor.progs.nothing.attach()?, floor.progs.clock.attach()?];
        let mut requests = Requests::load()?;
        requests.time(timed);
        if let Some(role) = role {
            requests.assign(std::process::id(), Some(Side::of(role)), 0)?;
        }
        measured(floors(&floor).into_iter().chain(requests.probes()), run)
    };
    measured().map_err(|refusal| refusal.to_string())
}

/// The same for the programs at block devices.
///
/// # Errors
/// Why the programs are not available here.
pub fn block_costs(run: impl FnOnce()) -> Result<Vec<Probe>, String> {
    let measured = || {
        let block = Block::load()?;
        measured(block.probes().into_iter(), run)
    };
    measured().map_err(|refusal: Refusal| refusal.to_string())
}

/// The same for the programs that count who talks to whom.
///
/// # Errors
/// Why the programs are not available here.
pub fn flow_costs(run: impl FnOnce()) -> Result<Vec<Probe>, String> {
    let measured = || {
        let mut flow = Flow::load()?;
        flow.count_all_calls()?;
        measured(flow.probes().into_iter(), run)
    };
    measured().map_err(|refusal: Refusal| refusal.to_string())
}

/// The same for the programs that report starts and ends of processes.
///
/// # Errors
/// Why the programs are not available here.
pub fn process_costs(run: impl FnOnce()) -> Result<Vec<Probe>, String> {
    let measured = || {
        let processes = Processes::load()?;
        measured(processes.probes().into_iter(), run)
    };
    measured().map_err(|refusal: Refusal| refusal.to_string())
}

fn thread_time_costs(
    role: Role,
    asked: &[Question],
    run: impl FnOnce(),
) -> Result<Vec<Probe>, Refusal> {
    let floor = loaded_floor()?;
    let _attached = [floor.progs.nothing.attach()?, floor.progs.clock.attach()?];
    let mut thread_time = ThreadTime::load_for(std::env::consts::ARCH, asked)?;
    if role != Role::Background {
        let own = std::process::id();
        let assigned = Assigned {
            role,
            place: None,
            statement: None,
            wait_event: 0,
            // As many PSI groups as a thread of a service in a group of a v1 hierarchy has.
            membership: Membership {
                service: Some(0),
                group: Some(1),
                around: None,
            },
        };
        // As a recorder sets it where waits are short.
        thread_time.set_least_wait(10_000_000);
        thread_time.assign(own, assigned)?;
        thread_time.publish();
    }
    measured(floors(&floor).into_iter().chain(thread_time.probes()), run)
}

/// A program of `bpf/floor.bpf.c`, of which several can be attached at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AtSwitch {
    /// Returns at once.
    Nothing,
    /// Finds the records of both threads and of the CPU, and counts in each.
    Records,
}

/// Reference programs at sched_switch, each with an attachment of its own.
pub struct SwitchPrograms {
    floors: Vec<FloorSkel<'static>>,
    attached: Vec<Link>,
}

impl SwitchPrograms {
    /// Loads up to `most` of each and attaches none.
    ///
    /// # Errors
    /// Why the programs are not available here.
    pub fn load(most: usize) -> Result<Self, String> {
        let floors: Result<_, Refusal> = (0..most).map(|_| loaded_floor()).collect();
        let floors = floors.map_err(|refusal| refusal.to_string())?;
        Ok(Self {
            floors,
            attached: Vec::new(),
        })
    }

    /// Attaches `count` of them, at most as many as are loaded, instead of those that are attached.
    ///
    /// # Errors
    /// Why one was not attached; then none is.
    pub fn attach(&mut self, which: AtSwitch, count: usize) -> Result<(), String> {
        self.attached.clear();
        let programs = self.floors.iter().take(count);
        let attached = programs.map(|floor| program(floor, which).attach());
        let attached: Result<_, libbpf_rs::Error> = attached.collect();
        self.attached = attached.map_err(|why| why.to_string())?;
        Ok(())
    }

    /// Runs something while the kernel times each run of a program, and returns the cost of each loaded one.
    ///
    /// # Errors
    /// Why the kernel does not time programs here.
    pub fn costs(&self, which: AtSwitch, run: impl FnOnce()) -> Result<Vec<Probe>, String> {
        let programs = self.floors.iter();
        let programs = programs.map(|floor| ("sched_switch", program(floor, which).as_fd()));
        measured(programs, run).map_err(|refusal| refusal.to_string())
    }
}

fn program<'a>(floor: &'a FloorSkel<'static>, which: AtSwitch) -> &'a ProgramMut<'static> {
    match which {
        AtSwitch::Nothing => &floor.progs.nothing,
        AtSwitch::Records => &floor.progs.records,
    }
}

fn loaded_floor() -> Result<FloorSkel<'static>, Refusal> {
    let place = Box::leak(Box::new(MaybeUninit::uninit()));
    quietly(|| Ok(FloorSkelBuilder::default().open(place)?.load()?))
}

fn floors<'a>(floor: &'a FloorSkel<'_>) -> [(&'static str, BorrowedFd<'a>); 2] {
    [
        ("nothing", floor.progs.nothing.as_fd()),
        ("clock", floor.progs.clock.as_fd()),
    ]
}

fn measured<'a>(
    programs: impl Iterator<Item = (&'static str, BorrowedFd<'a>)>,
    run: impl FnOnce(),
) -> Result<Vec<Probe>, Refusal> {
    let programs: Vec<_> = programs.collect();
    // SAFETY: a plain system call, which returns a descriptor or an error.
    let counting = unsafe { bpf_enable_stats(BPF_STATS_RUN_TIME) };
    if counting < 0 {
        return Err(std::io::Error::from_raw_os_error(-counting).into());
    }
    // SAFETY: the kernel has just returned this descriptor; while it is open, the kernel times runs.
    let counting = unsafe { OwnedFd::from_raw_fd(counting) };
    let look = || -> Result<Vec<Probe>, Refusal> {
        programs
            .iter()
            .map(|(name, program)| read(name, *program))
            .collect()
    };
    let before = look()?;
    run();
    let after = look()?;
    drop(counting);
    let both = before.into_iter().zip(after);
    Ok(both
        .map(|(before, after)| Probe {
            name: after.name,
            runs: after.runs - before.runs,
            ns: after.ns - before.ns,
        })
        .collect())
}

fn read(name: &'static str, program: BorrowedFd<'_>) -> Result<Probe, Refusal> {
    let mut info = bpf_prog_info::default();
    let mut bytes = size_of::<bpf_prog_info>() as u32;
    // SAFETY: the kernel writes at most `bytes` bytes into `info`.
    let answer =
        unsafe { bpf_prog_get_info_by_fd(program.as_raw_fd(), &raw mut info, &raw mut bytes) };
    if answer < 0 {
        return Err(std::io::Error::from_raw_os_error(-answer).into());
    }
    Ok(Probe {
        name,
        runs: info.run_cnt,
        ns: info.run_time_ns,
    })
}
