//! The sensors of threads, processes and groups, which the scene keeps open: an exit shows when one is read.

use crate::collector::Collector;
use crate::opening::Opening;
use crate::output::Output;
use crate::scene::Scene;
use crate::tick::Tick;
use kernel::clock::boottime;
use kernel::open_file::OpenFile;

struct Threads;
struct Processes;
struct Groups;

/// Threads of target and generator.
pub(crate) fn threads(_: &mut Opening<'_>) -> Option<Box<dyn Collector>> {
    Some(Box::new(Threads))
}

/// All processes.
pub(crate) fn processes(_: &mut Opening<'_>) -> Option<Box<dyn Collector>> {
    Some(Box::new(Processes))
}

/// All control groups.
pub(crate) fn groups(_: &mut Opening<'_>) -> Option<Box<dyn Collector>> {
    Some(Box::new(Groups))
}

impl Collector for Threads {
    fn sample(&mut self, tick: &Tick, scene: &mut Scene, out: &mut Output) {
        let Scene {
            processes, scratch, ..
        } = scene;
        processes.sample_threads(tick, scratch, out);
    }

    /// Series of threads end with their process's.
    fn finish(&mut self, _scene: &mut Scene, _out: &mut Output) {}
}

impl Collector for Processes {
    fn sample(&mut self, tick: &Tick, scene: &mut Scene, out: &mut Output) {
        let Scene {
            processes, scratch, ..
        } = scene;
        processes.sample(tick, scratch, out);
    }

    fn finish(&mut self, scene: &mut Scene, out: &mut Output) {
        scene.processes.finish(&scene.scratch, out);
    }

    fn each_program(&self, scene: &Scene, each: &mut dyn FnMut(&'static str, Option<u64>)) {
        if let Some(walk) = scene.processes.walk() {
            each("tasks", walk.kernel_bytes());
        }
    }

    fn each_file(&self, scene: &Scene, each: &mut dyn FnMut(&OpenFile)) {
        scene.processes.files().for_each(each);
    }
}

impl Collector for Groups {
    fn sample(&mut self, tick: &Tick, scene: &mut Scene, out: &mut Output) {
        let Scene {
            cgroups, scratch, ..
        } = scene;
        cgroups.sample(tick, scratch, out);
    }

    fn finish(&mut self, scene: &mut Scene, out: &mut Output) {
        scene.cgroups.finish(boottime(), out);
    }

    fn each_file(&self, scene: &Scene, each: &mut dyn FnMut(&OpenFile)) {
        scene.cgroups.files().for_each(each);
    }
}
