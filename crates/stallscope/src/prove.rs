//! `prove`: a capacity of a running target lowered on purpose, in turns with leaving it as it is, to see whether throughput
//! follows; or processes stopped.
//!
//! The recorder is a process of its own, as in every experiment; here is who changes things, and a third process watches
//! over that (`guardian`). What is on disk of the recording says how the target does.

mod blocks;
mod capacities;
mod guardian;
mod load;
mod processes;
mod subject;
mod without;

use std::io::Write as _;
use std::time::{Duration, Instant};

use analysis::proof::{self, apply};
use anyhow::{Context, Result, bail};
use capacity::{Controller, Held};
use model::{Capacity, CapacityTrial, Proof, Report, Role, Timeline};

use self::blocks::Blocks;
use self::load::Load;
use crate::arguments::Prove;
use crate::outputs::{self, OutputFile};
use crate::turns::Interruption;

pub(crate) use self::guardian::{Guarded, guard, repair};
pub(crate) use self::processes::with_ancestors;

/// The file in the recording that says what was proved.
pub(crate) const FILE: &str = "proof.json";
/// So long the target is looked at before anything is changed.
const AS_IT_IS: Duration = Duration::from_secs(8);
/// The status where a run was cut short.
const INTERRUPTED: u8 = 128;

pub(crate) fn prove(arguments: &Prove) -> Result<u8> {
    let capacities = asked(arguments)?;
    if !arguments.yes {
        outputs::say(&plan(arguments, &capacities));
        return Ok(crate::COULD_NOT_EXPLAIN);
    }
    let json = arguments.json.as_deref();
    let json = json.map(|it| OutputFile::open(it, "--json")).transpose()?;
    let interruption = Interruption::watch()?;
    let until = Instant::now() + arguments.budget;
    let load = Load::record(
        &arguments.target,
        arguments.output.as_deref(),
        &interruption,
    )?;
    let ended = experiment(arguments, &capacities, load, &interruption, until)?;
    let Some((proof, report)) = ended else {
        outputs::say("stallscope: interrupted. Everything is as it was.");
        let signal = interruption.signal().unwrap_or_default();
        return Ok(INTERRUPTED.saturating_add(u8::try_from(signal).unwrap_or(0)));
    };
    let text = outputs::proof(&proof, &report);
    let for_people = !json.as_ref().is_some_and(OutputFile::is_stdout);
    if let Some(file) = json {
        file.write(&proof)?;
    }
    match for_people {
        true => outputs::show(&text).context("cannot write to standard output")?,
        false => outputs::say(text.trim_end()),
    }
    Ok(0)
}

/// The capacities that are to be lowered.
fn asked(arguments: &Prove) -> Result<Vec<Capacity>> {
    let mut wanted = arguments.capacity.clone();
    if wanted.is_empty() && arguments.without.is_none() {
        wanted = vec![Capacity::Cpu, Capacity::Disk];
        if arguments.clients.is_some() {
            wanted.push(Capacity::Clients);
        }
    }
    wanted.dedup();
    if wanted.contains(&Capacity::Clients) && arguments.clients.is_none() {
        bail!("--capacity clients needs the processes of the load: --clients '^pgbench'");
    }
    Ok(wanted)
}

/// What would be done.
fn plan(arguments: &Prove, capacities: &[Capacity]) -> String {
    let target = arguments.target.join(", ");
    let mut would: Vec<String> = capacities
        .iter()
        .map(|it| match it {
            Capacity::Cpu => "the CPU time of its cgroup".to_owned(),
            Capacity::Disk => "the disk requests of its cgroup".to_owned(),
            Capacity::Memory => "the memory of its cgroup, once".to_owned(),
            Capacity::Clients => "the number of processes of its load".to_owned(),
        })
        .collect();
    if let Some(last) = would.pop() {
        would = match would.is_empty() {
            true => vec![last],
            false => vec![format!("{} and {last}", would.join(", "))],
        };
    }
    let mut parts = Vec::new();
    if let Some(would) = would.first() {
        parts.push(format!(
            "lower {would}, one at a time, for blocks of {} s",
            blocks::LENGTH.as_secs()
        ));
    }
    if let Some(pattern) = &arguments.without {
        parts.push(format!(
            "stop every process that matches {} for {} cycles of {:.0} s",
            outputs::harmless(pattern.as_str()),
            arguments.cycles,
            arguments.cycle.as_secs_f64()
        ));
    }
    format!(
        "This would record {} for {:.0} s at most, and {}. It puts everything back when latency is {:.1} times what it was, and at its end. Nothing was changed: add --yes to begin.",
        outputs::harmless(&target),
        arguments.budget.as_secs_f64(),
        parts.join(", and "),
        arguments.at_most
    )
}

/// Everything between the beginning of the recording and its end; `None` where it was interrupted.
fn experiment(
    arguments: &Prove,
    capacities: &[Capacity],
    mut load: Load<'_>,
    interruption: &Interruption,
    until: Instant,
) -> Result<Option<(Proof, Report)>> {
    let Some(as_it_is) = load.wait_for_signal(AS_IT_IS)? else {
        return Ok(None);
    };
    let recording = load.read()?;
    let target = Target::of(&recording.timeline, &recording.meta)?;
    let caveats = target.is_alone(capacities)?;
    drop(recording);
    outputs::say(&format!(
        "Target: {}. It is left as it is for {} s, and then lowered in turns.",
        target.name,
        AS_IT_IS.as_secs()
    ));
    let mut blocks = Blocks::new(load, interruption, arguments.at_most, until)?;
    let mut tried: Vec<CapacityTrial> = Vec::new();
    for (place, capacity) in capacities.iter().enumerate() {
        let left = u32::try_from(capacities.len() - place).unwrap_or(1);
        let share = until.saturating_duration_since(Instant::now()) / left;
        let share = match arguments.without {
            Some(_) => share / 2,
            None => share,
        };
        let Some(found) = capacities::attempt(
            &mut blocks,
            &target,
            *capacity,
            arguments.clients.as_ref(),
            share,
        )?
        else {
            break;
        };
        outputs::say(&format!("  {}", found.sentence));
        tried.push(found);
    }
    let without = match (&arguments.without, interruption.signal()) {
        (Some(pattern), None) => without::attempt(
            &mut blocks,
            &target,
            pattern,
            arguments.cycle,
            arguments.cycles,
        )?,
        _ => None,
    };
    let load = blocks.end()?;
    if interruption.signal().is_some() {
        load.end()?;
        return Ok(None);
    }
    let recording = load.end()?;
    let mut report = analysis::diagnose(&recording.timeline, &recording.meta, Some(as_it_is));
    let mut proof = proof::proof(&report, arguments.at_most, tried, without, caveats);
    proof.recording = recording.name.clone();
    apply(&mut report, &proof);
    keep(&proof, &recording)?;
    Ok(Some((proof, report)))
}

/// Writes down in the recording what was proved.
fn keep(proof: &Proof, recording: &load::Ended) -> Result<()> {
    let mut file = recording
        .folder
        .create_file(FILE)
        .with_context(|| format!("cannot make {FILE} in {}", recording.name))?;
    file.write_all(outputs::json_text(proof)?.as_bytes())
        .with_context(|| format!("cannot write {FILE} in {}", recording.name))
}

/// Whose capacity is lowered.
struct Target {
    name: String,
    held: Held,
    /// Its processes, and those of its load on this machine.
    processes: Vec<u32>,
    generator: Vec<u32>,
    /// The CPUs that it may use; empty where that is not known.
    cpus: Vec<u32>,
}

impl Target {
    fn of(timeline: &Timeline, meta: &model::Meta) -> Result<Self> {
        let pids = |role: Role| {
            let of_role = timeline.entities.of_kind(model::EntityKind::Process);
            let of_role = of_role.filter(move |it| it.role == role && it.vanished.is_none());
            let pids: Vec<u32> = of_role.filter_map(|it| it.entity.pid()).collect();
            pids
        };
        let processes = pids(Role::Target);
        let Some(found) = meta.targets.iter().find(|it| it.role == Role::Target) else {
            bail!("the recording has no target");
        };
        let root = found.root.and_then(|id| timeline.entities.get(id));
        let root = root.and_then(|it| it.entity.pid());
        let Some(any) = root.or(processes.first().copied()) else {
            bail!("no process of {} is there any more", found.name);
        };
        Ok(Self {
            name: found.name.clone(),
            held: Held::of(any)?,
            processes,
            generator: pids(Role::Generator),
            cpus: found.allowed.clone(),
        })
    }

    /// Refuses groups in which this program or the load would be slowed down too; says who else is.
    fn is_alone(&self, capacities: &[Capacity]) -> Result<Vec<String>> {
        let mut others: Vec<u32> = Vec::new();
        for controller in capacities.iter().filter_map(|it| controller(*it)) {
            // Where there is no group that is said of the capacity.
            let Ok(members) = self.held.members(controller) else {
                continue;
            };
            let own = processes::with_ancestors(std::process::id());
            let group = self.held.group(controller)?.display();
            if members.iter().any(|it| own.contains(it)) {
                bail!(
                    "this program is itself in the cgroup of {}, {group}: its capacity is not lowered. Start the server as a service, or move it to a cgroup of its own",
                    self.name
                );
            }
            if members.iter().any(|it| self.generator.contains(it)) {
                bail!(
                    "the load of {} is in the same cgroup, {group}: lowering its capacity would slow down both. Move the server to a cgroup of its own",
                    self.name
                );
            }
            others.extend(members.iter().filter(|it| !self.processes.contains(it)));
        }
        others.sort_unstable();
        others.dedup();
        let names = processes::names(&others);
        Ok(match names.is_empty() {
            true => Vec::new(),
            false => vec![format!(
                "other processes are in the target's cgroup, and had less too: {}",
                names.join(", ")
            )],
        })
    }
}

/// Who sets a capacity of a group.
fn controller(capacity: Capacity) -> Option<Controller> {
    match capacity {
        Capacity::Cpu => Some(Controller::Cpu),
        Capacity::Disk => Some(Controller::Io),
        Capacity::Memory => Some(Controller::Memory),
        Capacity::Clients => None,
    }
}
