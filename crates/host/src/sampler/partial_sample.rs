//! A partial sample, for `make bench`.

use sensors::{Scope, Sensor};

use super::Sampler;
use crate::clock::boottime;
use crate::probe::Presence;
use crate::schedule::Look;
use crate::stalls;

impl Sampler {
    /// Reads resource usage of all processes and pressure of all groups, and nothing else: by BPF programs,
    /// or from files if the settings have another root.
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
        // No probe skips the last reading.
        scratch.look = Look::Last;
        let wanted = |sensor: &Sensor| sensor.scope == Scope::Process || stalls::replaces(sensor);
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
