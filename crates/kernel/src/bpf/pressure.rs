//! Pressure at its source: how long each CPU of a group was stalled, without triggering the kernel's own fold
//! (`bpf/pressure.bpf.c`).

use std::mem::MaybeUninit;

use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::Enum;
use libbpf_rs::skel::{OpenSkel as _, Skel as _, SkelBuilder as _};
use libbpf_rs::{MapCore as _, MapFlags, ProgramInput, ProgramMut, num_possible_cpus};
use model::{MISSING, Timestamp, sentence};

use super::clock::{CpuClock, SchedulerClock};
use super::fold::{STATES, growth_modulo};
use super::footprint;
use super::mapped::{Filled, Mapped};
use super::messages::quietly;
use super::per_cpu::PerCpu;
use super::psi_group::{Reading, StallSource};
use super::refusal::Refusal;
use super::skeletons::pressure::types::{pressure_cpu, pressure_monitored, pressure_total};
use super::skeletons::pressure::{PressureSkel, PressureSkelBuilder};

/// Groups that are read CPU by CPU, the machine included (PRESSURE_MOST_MONITORED).
pub const MOST_MONITORED: usize = 64;
/// Machines with more CPUs are read by file: the cost of a reading grows with them, and none was tested.
const MOST_CPUS: usize = 512;
/// Slot of the machine.
pub const MACHINE: usize = 0;
/// Id of the root group, whose pressure is the machine's.
pub const ROOT_ID: u64 = 1;

/// Number of a state that this kernel does not have.
const NONE: u32 = u32::MAX;

/// The kernel's folded totals of one group.
pub type Total = pressure_total;

pub struct Pressure {
    programs: PressureSkel<'static>,
    clock: SchedulerClock,
    cpus: usize,
    monitored: Mapped<pressure_monitored>,
    stalls: Mapped<Reading>,
    totals: Filled<Total>,
    /// Per-CPU offset and clock of each CPU, and whether it is online.
    places: Vec<(pressure_cpu, bool)>,
    /// The kernel's number of each state.
    numbers: [u32; STATES],
}

impl Pressure {
    /// Loads the programs and finds the kernel's per-CPU times.
    ///
    /// # Errors
    /// Why the programs are not available here.
    pub fn load() -> Result<Self, Refusal> {
        quietly(Self::loaded)
    }

    fn loaded() -> Result<Self, Refusal> {
        // With PSI switched off the kernel's times do not advance; reading its file then fails.
        std::fs::read("/proc/pressure/cpu")
            .map_err(|cause| Refusal::at("the kernel counts no pressure", cause))?;
        let cpus = num_possible_cpus()?;
        if cpus > MOST_CPUS {
            return Err(Refusal::of_cpus(cpus, MOST_CPUS));
        }
        let kernel = Btf::from_vmlinux()?;
        let per_cpu = PerCpu::of(&kernel)?;
        let place = Box::leak(Box::new(MaybeUninit::uninit()));
        let mut open = PressureSkelBuilder::default().open(place)?;
        let slots = MOST_MONITORED * cpus;
        let constants = open.maps.rodata_data.as_deref_mut();
        let constants = constants.ok_or_else(|| Refusal::new("the program has no constants"))?;
        constants.cpus = cpus as u32;
        constants.to_system_group_pcpu = per_cpu.distance("runqueues", "system_group_pcpu")?;
        constants.to_this_cpu_off = per_cpu.distance("runqueues", "this_cpu_off")?;
        // Before 6.17 each group has its own sequence count.
        constants.to_psi_seq = per_cpu.distance("runqueues", "psi_seq").unwrap_or(0);
        let numbers = numbers(&kernel)?;
        constants.number_by_state = numbers;
        open.maps.place_by_cpu.set_max_entries(cpus as u32)?;
        open.maps
            .stall_by_slot_and_cpu
            .set_max_entries(slots as u32)?;
        let programs = open.load()?;
        let maps = &programs.maps;
        let mut pressure = Self {
            monitored: Mapped::new(&maps.monitored_by_slot)?,
            stalls: Mapped::new(&maps.stall_by_slot_and_cpu)?,
            totals: Filled::new(&maps.total_by_index)?,
            clock: SchedulerClock::load(cpus)?,
            places: vec![(pressure_cpu::default(), true); cpus],
            cpus,
            numbers,
            programs,
        };
        match run(&pressure.programs.progs.locate)? {
            0 => {}
            code => {
                return Err(Refusal::new(sentence!(
                    "the kernel's per-CPU times are not where they were looked for ({})",
                    code
                )));
            }
        }
        // Before 6.17 a process in a container's own cgroup namespace cannot walk over all groups.
        if run(&pressure.programs.progs.totals)? != 0 {
            return Err(Refusal::new(
                "the root of all control groups is outside of this cgroup namespace",
            ));
        }
        pressure.find_places()?;
        pressure.calibrate()?;
        Ok(pressure)
    }

    /// Kernel memory in use, bytes.
    pub fn kernel_bytes(&self) -> Option<u64> {
        Some(footprint::of(self.programs.object())? + self.clock.kernel_bytes()?)
    }

    /// Copies what `locate` has found.
    fn find_places(&mut self) -> Result<(), Refusal> {
        let map = &self.programs.maps.place_by_cpu;
        for (cpu, (place, _)) in self.places.iter_mut().enumerate() {
            let found = map.lookup(&(cpu as u32).to_ne_bytes(), MapFlags::ANY)?;
            let offset = found.as_deref().and_then(|it| it.first_chunk());
            let offset = offset.ok_or_else(|| Refusal::new("a CPU has no times"))?;
            place.offset = u64::from_ne_bytes(*offset);
        }
        Ok(())
    }

    /// Measures the scheduler's clocks again, since they drift.
    pub fn calibrate(&mut self) -> Result<(), Refusal> {
        take_clocks(&mut self.places, self.clock.read()?);
        let map = &self.programs.maps.place_by_cpu;
        for (cpu, (place, _)) in self.places.iter().enumerate() {
            let mut value = [0; size_of::<pressure_cpu>()];
            value[..8].copy_from_slice(&place.offset.to_ne_bytes());
            value[8..].copy_from_slice(&place.clock_ahead_ns.to_ne_bytes());
            map.update(&(cpu as u32).to_ne_bytes(), &value, MapFlags::ANY)?;
        }
        if self.online() == 0 {
            return Err(Refusal::new("no CPU told its scheduler's clock"));
        }
        Ok(())
    }

    /// Monitors the group with this id from now on, in a slot other than the machine's.
    pub fn watch(&self, slot: usize, id: u64) -> Result<(), Refusal> {
        let mut value = [0; size_of::<pressure_monitored>()];
        value[..8].copy_from_slice(&id.to_ne_bytes());
        let slots = &self.programs.maps.monitored_by_slot;
        slots.update(&(slot as u32).to_ne_bytes(), &value, MapFlags::ANY)?;
        Ok(())
    }

    /// Reads the machine and the monitored groups, CPU by CPU.
    pub fn read_monitored(&self) -> Result<(), Refusal> {
        run(&self.programs.progs.monitored).map(|_| ())
    }

    /// When the kernel last ended one of its 2 s averaging periods for the group in a slot, on CLOCK_BOOTTIME
    /// (about 0 if that is unknown). `None` if the group was gone or its pressure not counted at the last
    /// reading.
    pub fn state(&self, slot: usize) -> Option<Timestamp> {
        let monitored = self.monitored.get(slot).filter(|it| it.alive != 0)?;
        let ahead = self
            .places
            .first()
            .map_or(0, |(place, _)| place.clock_ahead_ns);
        Some(Timestamp::from_ns(
            monitored.folded_at.cast_signed() - ahead,
        ))
    }

    /// Reads the kernel's own folded totals of all groups.
    pub fn read_totals(&mut self) -> Result<(), Refusal> {
        run(&self.programs.progs.totals)?;
        self.totals.reach(self.groups())
    }

    /// The totals as of the last reading.
    pub fn totals(&self) -> impl Iterator<Item = Total> {
        (0..self.groups()).filter_map(|place| self.totals.get(place))
    }

    fn groups(&self) -> usize {
        let variables = self.programs.maps.bss_data.as_deref();
        variables.map_or(0, |it| it.groups) as usize
    }
}

/// The places of groups are their slots.
impl StallSource for Pressure {
    fn cpus(&self) -> usize {
        self.cpus
    }

    fn online(&self) -> usize {
        self.places.iter().filter(|(_, online)| *online).count()
    }

    fn reading(&self, place: usize, cpu: usize) -> Option<Reading> {
        (cpu < self.cpus).then(|| self.stalls.get(place * self.cpus + cpu))?
    }

    fn growth(from: u64, to: u64) -> i64 {
        growth_modulo(from, to)
    }

    /// Some kernels do not count all states.
    fn mark_missing(&self, row: &mut [i64]) {
        for (value, number) in row.iter_mut().zip(self.numbers) {
            if number == NONE {
                *value = MISSING;
            }
        }
    }
}

/// The kernel's numbers of the states (enum psi_states in include/linux/psi_types.h), in our order.
fn numbers(kernel: &Btf<'_>) -> Result<[u32; STATES], Refusal> {
    const NAMES: [&str; STATES] = [
        "PSI_CPU_SOME",
        "PSI_CPU_FULL",
        "PSI_MEM_SOME",
        "PSI_MEM_FULL",
        "PSI_IO_SOME",
        "PSI_IO_FULL",
        "PSI_IRQ_FULL",
        "PSI_NONIDLE",
    ];
    let states: Option<Enum<'_>> = kernel.type_by_name("psi_states");
    let states = states.ok_or_else(|| Refusal::new("this kernel was built without PSI"))?;
    Ok(NAMES.map(|name| {
        let mut members = states.iter();
        let found = members.find(|it| it.name.is_some_and(|it| it == name));
        found.map_or(NONE, |it| it.value as u32)
    }))
}

/// Stores the CPUs' clocks. A CPU whose clock is unknown, because it is offline or came online after the perf
/// events were opened, gets the clock of another: CPUs differ less from each other than from CLOCK_BOOTTIME.
fn take_clocks(places: &mut [(pressure_cpu, bool)], clocks: &[CpuClock]) {
    let any = clocks.iter().find_map(|it| it.ahead_ns);
    for ((place, is_online), clock) in places.iter_mut().zip(clocks) {
        *is_online = clock.is_online;
        let ahead_ns = clock.ahead_ns.or(any);
        place.clock_ahead_ns = ahead_ns.unwrap_or(place.clock_ahead_ns);
    }
}

fn run(program: &ProgramMut<'_>) -> Result<u32, Refusal> {
    Ok(program.test_run(ProgramInput::default())?.return_value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cpu_that_comes_online_counts_and_has_a_clock_before_its_own_is_known() {
        let clock = |is_online, ahead_ns| CpuClock {
            is_online,
            ahead_ns,
        };
        let mut places = vec![(pressure_cpu::default(), true); 3];
        let mut taken = |clocks: [CpuClock; 3]| {
            take_clocks(&mut places, &clocks);
            let seen = places.iter().map(|(place, on)| (place.clock_ahead_ns, *on));
            seen.collect::<Vec<_>>()
        };
        let own = clock(true, Some(-70));
        let offline = taken([own, clock(true, Some(-60)), clock(false, None)]);
        assert_eq!(offline, [(-70, true), (-60, true), (-70, false)]);
        let online = taken([own, clock(true, None), clock(true, None)]);
        assert_eq!(online, [(-70, true); 3]);
        let unread = taken([clock(true, None); 3]);
        assert_eq!(unread, [(-70, true); 3], "the old ones serve");
    }
}
