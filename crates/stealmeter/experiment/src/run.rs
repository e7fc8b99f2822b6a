//! One run of the experiment: the loops, a hog or none, the trace, and whether it counts.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result};

use crate::backend::Kind;
use crate::event_loop::Task;
use crate::meters::{Reading, class};
use crate::script::Event;
use crate::stage::{Actor, Group, stolen_ticks};
use crate::trace::Trace;
use crate::truth::{Holder, Monitored, Times, Window};

/// A loop that was away for less than this share of the time is busy: with an equal beside it, each
/// has the CPU for half of the time.
const MOST_AWAY: f64 = 0.02;
/// Share of the loops' CPUs that a hypervisor may have taken.
const MOST_STOLEN: f64 = 0.005;
/// Share of the time for which a loop may have waited for others than its hog. Of a busy loop alone it
/// is asked that it hardly waited, so that hardly anybody may have been there; the kernel's worker that
/// completes its own writes was, for a quarter of a per cent (Linux 6.18, ext4).
const MOST_STRANGERS_ALONE: f64 = 0.0035;
const MOST_STRANGERS: f64 = 0.03;
/// Ticks of /proc/stat per second (USER_HZ, the same on every machine that this runs on).
const TICKS_PER_S: f64 = 100.0;

/// What is run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Situation {
    pub(crate) backend: Kind,
    /// Beside which loop a hog runs.
    pub(crate) hog: Option<Task>,
}

/// What runs are made with.
pub(crate) struct Setting<'a> {
    /// The thinker's and the writer's.
    pub(crate) cpus: [usize; 2],
    pub(crate) seconds: f64,
    pub(crate) folder: &'a Path,
    pub(crate) group: Option<&'a Group>,
}

/// A loop of a run.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) situation: Situation,
    pub(crate) task: Task,
    pub(crate) readings: Vec<Reading>,
    pub(crate) truth: Times,
    /// Whom else it waited for, the hog aside, the longest first.
    pub(crate) strangers: Vec<Holder>,
}

/// A run.
pub(crate) struct Run {
    pub(crate) loops: Vec<Seen>,
    /// Why it does not count.
    pub(crate) void: Option<String>,
}

impl Situation {
    /// Every backend, alone, beside a hog on the thinker's CPU and beside one on the writer's.
    pub(crate) fn all(backends: &[Kind]) -> Vec<Self> {
        let hogs = [None, Some(Task::Thinker), Some(Task::Writer)];
        let of = |&backend: &Kind| hogs.map(|hog| Self { backend, hog });
        backends.iter().flat_map(of).collect()
    }

    /// In words.
    pub(crate) fn words(self) -> String {
        let backend = self.backend.word();
        match self.hog {
            None => format!("{backend}, alone"),
            Some(task) => format!("{backend}, hog beside the {}", task.word()),
        }
    }

    /// Everybody in their places, nobody at work yet but the hog.
    pub(crate) fn prepare(self, setting: &Setting<'_>) -> Result<Scene> {
        let [thinker, writer] = setting.cpus.map(|cpu| cpu.to_string());
        let loops = Actor::start(
            Command::new(own()?)
                .args(["loops", "--backend", self.backend.word()])
                .args(["--seconds", &setting.seconds.to_string()])
                .args(["--cpus", &thinker, &writer, "--folder"])
                .arg(setting.folder),
            setting.group,
        )?;
        let hog = self.hog.map(|beside| {
            let cpu = match beside {
                Task::Thinker => &thinker,
                Task::Writer => &writer,
            };
            let mut hog = Command::new(own()?);
            Actor::start(hog.args(["hog", "--cpu", cpu]), setting.group)
        });
        Ok(Scene {
            loops,
            hog: hog.transpose()?,
        })
    }

    /// Runs it.
    pub(crate) fn run(self, setting: &Setting<'_>) -> Result<Run> {
        let mut scene = self.prepare(setting)?;
        let threads = scene.loops.threads.clone();
        let own = scene.threads();
        let trace = Trace::start(&threads, &setting.cpus, setting.folder)?;
        let (before, began) = (stolen_ticks(&stat()?, &setting.cpus), Instant::now());
        let readings = scene.play()?;
        let ticks = stolen_ticks(&stat()?, &setting.cpus).saturating_sub(before);
        let elapsed_s = began.elapsed().as_secs_f64() * setting.cpus.len() as f64;
        let stolen = ticks as f64 / TICKS_PER_S / elapsed_s;
        // The hog would only be in the way of what comes now.
        drop(scene);
        let mut watched = Vec::new();
        for ((thread, cpu), readings) in threads.iter().zip(setting.cpus).zip(&readings) {
            watched.push(Monitored::new(*thread, cpu, window(readings)?));
        }
        let mut lost = 0;
        trace.end(|event| {
            if let Event::Lost(count) = event {
                lost += count;
            }
            for watched in &mut watched {
                watched.see(event);
            }
        })?;
        let mut loops = Vec::new();
        for ((task, watched), readings) in Task::BOTH.into_iter().zip(watched).zip(readings) {
            let (truth, holders) = watched.end()?;
            loops.push(Seen {
                situation: self,
                task,
                truth,
                strangers: strangers(&holders, &own),
                readings,
            });
        }
        let void = void(&loops, stolen, lost);
        Ok(Run { loops, void })
    }
}

/// A run that can begin.
pub(crate) struct Scene {
    pub(crate) loops: Actor,
    hog: Option<Actor>,
}

impl Scene {
    /// Of the loops and the hog.
    fn threads(&self) -> Vec<i32> {
        let hog = self.hog.iter().flat_map(|hog| &hog.threads);
        self.loops.threads.iter().chain(hog).copied().collect()
    }

    /// Lets the loops run to their end; what the thinker read, and the writer.
    pub(crate) fn play(&mut self) -> Result<[Vec<Reading>; 2]> {
        self.loops.proceed()?;
        let mut readings = || -> Result<Vec<Reading>> {
            let line = self.loops.line()?;
            serde_json::from_str(&line).context("a loop says its readings as JSON")
        };
        Ok([readings()?, readings()?])
    }
}

impl Seen {
    /// Whether it hardly ever was away.
    pub(crate) fn is_busy(&self) -> bool {
        (self.truth.away_ns() as f64) < MOST_AWAY * self.window().length_ns().max(1) as f64
    }

    /// The first and the last reading.
    pub(crate) fn ends(&self) -> (&Reading, &Reading) {
        let first = self.readings.first();
        let last = self.readings.last();
        first.zip(last).expect("a window was made of them")
    }

    /// From the first reading to the last.
    pub(crate) fn window(&self) -> Window {
        let (first, last) = self.ends();
        Window {
            from_ns: first.at_ns,
            to_ns: last.at_ns,
        }
    }

    /// What came of a class of ours in the window, ns.
    pub(crate) fn class_ns(&self, class: usize) -> u64 {
        let (first, last) = self.ends();
        last.classes[class].saturating_sub(first.classes[class])
    }

    /// All but sleep by our meter, ns.
    pub(crate) fn awake_ns(&self) -> u64 {
        self.window()
            .length_ns()
            .saturating_sub(self.class_ns(class::SLEEP))
    }
}

fn own() -> Result<PathBuf> {
    std::env::current_exe().context("cannot tell where this program is")
}

fn stat() -> Result<String> {
    std::fs::read_to_string("/proc/stat").context("/proc/stat")
}

fn window(readings: &[Reading]) -> Result<Window> {
    let ends = readings.first().zip(readings.last());
    let (first, last) = ends
        .filter(|(first, last)| first.at_ns < last.at_ns)
        .context("a loop came to no time: let it run for longer, --seconds 1")?;
    Ok(Window {
        from_ns: first.at_ns,
        to_ns: last.at_ns,
    })
}

/// Of those waited for, who belongs neither to the loops nor to the hog; 0 is nobody.
fn strangers(holders: &[Holder], own: &[i32]) -> Vec<Holder> {
    let is_strange = |holder: &&Holder| holder.thread != 0 && !own.contains(&holder.thread);
    holders.iter().filter(is_strange).cloned().collect()
}

/// Why a run does not count.
fn void(loops: &[Seen], stolen: f64, lost: u64) -> Option<String> {
    if lost > 0 {
        return Some(format!("perf lost {lost} events"));
    }
    if stolen > MOST_STOLEN {
        let stolen = stolen * 100.0;
        return Some(format!("the hypervisor took {stolen:.1} % of the CPUs"));
    }
    loops.iter().find_map(|seen| {
        let all_ns: u64 = seen.strangers.iter().map(|it| it.ns).sum();
        let share = all_ns as f64 / seen.window().length_ns() as f64;
        let most = match seen.situation.hog {
            None if seen.is_busy() => MOST_STRANGERS_ALONE,
            _ => MOST_STRANGERS,
        };
        (share > most).then(|| {
            let (task, share) = (seen.task.word(), share * 100.0);
            let names = names(seen);
            format!("the {task} waited for others for {share:.2} % of the time: {names}")
        })
    })
}

/// Those waited for the longest.
fn names(seen: &Seen) -> String {
    let wall_ns = seen.window().length_ns() as f64;
    let named = seen.strangers.iter().take(3).map(|holder| {
        let share = holder.ns as f64 / wall_ns * 100.0;
        format!("{} {share:.2} %", holder.name)
    });
    named.collect::<Vec<_>>().join(", ")
}
