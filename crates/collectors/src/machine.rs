//! The machine's own sensors: CPUs, load, memory, disks, network.

use sensors::Scope;

use crate::collector::Collector;
use crate::opening::Opening;
use crate::output::Output;
use crate::probe::{Presence, Probe};
use crate::registry;
use crate::scene::Scene;
use crate::tick::Tick;
use kernel::open_file::OpenFile;
use kernel::root;

struct Machine {
    probes: Vec<Probe>,
}

/// Opens the sensors whose tables no program fills.
pub(crate) fn open(opening: &mut Opening<'_>) -> Option<Box<dyn Collector>> {
    let sensors = opening.sensors(Scope::Machine);
    let (root, gaps) = (&opening.settings.root, &mut opening.out.gaps);
    let opened = sensors.into_iter().filter_map(|recorded| {
        let sources = recorded.sensor.sources;
        let place = |source: usize| Some(root::place(root, sources[source].path));
        Probe::open(recorded, registry::MACHINE, place, gaps)
    });
    let probes = opened.collect();
    Some(Box::new(Machine { probes }))
}

impl Collector for Machine {
    fn sample(&mut self, tick: &Tick, scene: &mut Scene, out: &mut Output) {
        self.probes.retain_mut(|probe| {
            !tick.reads(probe.recorded().sensor, true)
                || probe.sample(tick.stamp(), &mut scene.scratch, out) == Presence::Alive
        });
    }

    fn finish(&mut self, _scene: &mut Scene, out: &mut Output) {
        for probe in &mut self.probes {
            probe.finish(out);
            probe.end_parts(&mut out.registry);
        }
    }

    fn each_file(&self, _scene: &Scene, each: &mut dyn FnMut(&OpenFile)) {
        self.probes.iter().flat_map(Probe::files).for_each(each);
    }
}
