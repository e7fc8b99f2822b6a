//! A part of a sample, for `make bench`.

use sensors::{Scope, Sensor};

use super::Sampler;
use crate::clock::boottime;
use crate::probe::Presence;
use crate::schedule::Look;
use crate::stalls;

impl Sampler {
    /// Reads what all processes have used and the pressure of all groups, and nothing else: by programs in
    /// the kernel, or by files where the settings' root is another.
    pub fn sample_tasks_and_pressure(&mut self) {
        let Self {
            scratch,
            buffers,
            machine,
            processes,
            cgroups,
            stalls,
            density,
            registry,
            ..
        } = self;
        // As at the last look nobody rests.
        scratch.look = Look::Last;
        let wanted = |sensor: &Sensor| sensor.scope == Scope::Process || stalls::stands_for(sensor);
        if let Some(stalls) = stalls {
            stalls.sample(boottime(), cgroups, &mut scratch.gaps, (density, buffers));
            stalls.take_folds(boottime(), cgroups, &mut scratch.gaps, buffers);
        }
        machine.retain_mut(|(index, probe)| {
            !wanted(sensors::all()[*index])
                || probe.sample(boottime(), scratch, &mut buffers[*index], registry)
                    == Presence::Alive
        });
        let due = |sensor: &Sensor, _| wanted(sensor);
        cgroups.sample(&mut boottime, &due, scratch, buffers, registry);
        processes.sample(&mut boottime, &due, scratch, buffers, registry);
    }
}
