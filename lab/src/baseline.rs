//! What a person does who has only /proc/pressure: the resource with the highest pressure is the
//! bottleneck. Scored on the same recordings, it shows what the diagnosis is worth beyond that.

use model::{EntityKind, Report, Resource, StallKind};

use crate::scenario::{Expect, Who};

/// What the baseline claims: the resource, of the target. `None` when nothing pressed at all.
pub fn claim(report: &Report) -> Option<Resource> {
    report
        .pressure
        .iter()
        .filter(|row| row.entity.kind == EntityKind::Machine && row.kind == StallKind::Some)
        .filter(|row| row.share > 0.0)
        .max_by(|a, b| a.share.total_cmp(&b.share))
        .map(|row| row.resource)
}

/// Whether the claim is the expected answer. It can name no group, no generator and no health, and
/// of io and memory any cause of that family counts.
pub fn is_right(claim: Option<Resource>, expect: Expect) -> bool {
    let right_cause = match claim {
        Some(Resource::Cpu) => expect.cause == "cpu.saturated",
        Some(Resource::Io) => expect.cause.starts_with("io."),
        Some(Resource::Memory) => expect.cause.starts_with("memory."),
        Some(Resource::Irq) | None => false,
    };
    right_cause && expect.entity == Who::Target
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::tests::report;
    use model::{Entity, Pressure};

    fn pressure(kind: EntityKind, resource: Resource, share: f64) -> Pressure {
        Pressure {
            entity: Entity::new(kind, "", ""),
            resource,
            kind: StallKind::Some,
            share,
            fold_ns: 2_000_000_000,
        }
    }

    #[test]
    fn the_highest_pressure_of_the_machine_wins() {
        let mut report = report(&[]);
        assert_eq!(claim(&report), None);
        report.pressure = vec![
            pressure(EntityKind::Machine, Resource::Memory, 0.0),
            pressure(EntityKind::Machine, Resource::Cpu, 0.2),
            pressure(EntityKind::Machine, Resource::Io, 0.7),
            pressure(EntityKind::Cgroup, Resource::Memory, 0.9),
        ];
        assert_eq!(claim(&report), Some(Resource::Io));
        report.pressure[2].kind = StallKind::Full;
        assert_eq!(claim(&report), Some(Resource::Cpu));
        report.pressure.truncate(1);
        assert_eq!(claim(&report), None, "no pressure is no claim");
    }

    #[test]
    fn it_is_right_about_resources_of_the_target_only() {
        let expect = |cause, entity| Expect {
            cause,
            entity,
            also: None,
        };
        let cpu = Some(Resource::Cpu);
        assert!(is_right(cpu, expect("cpu.saturated", Who::Target)));
        assert!(!is_right(cpu, expect("cpu.quota", Who::LimitedGroup)));
        assert!(!is_right(cpu, expect("healthy", Who::Target)));
        assert!(is_right(Some(Resource::Io), expect("io.sync", Who::Target)));
        assert!(!is_right(
            Some(Resource::Io),
            expect("io.sync", Who::LimitedGroup)
        ));
        assert!(!is_right(None, expect("healthy", Who::Target)));
    }
}
