//! Processes that have hardly a file more to open, and so can accept no more connections.

use model::{Entity, EntityId, Formula, Reading};
use sensors::open_files::OPEN_FILES;

use crate::formula;
use crate::measure::Of;
use crate::runtimes::serving;
use crate::scene::Scene;

/// A process of the target, and how many of the files that it may have open it has.
#[derive(Clone, PartialEq, Debug)]
pub struct OpenFiles {
    /// Its number in the recording.
    pub id: EntityId,
    /// The process.
    pub process: Entity,
    /// Open files on average.
    pub open: f64,
    /// How many it may have open; more than 0.
    pub allowed: f64,
}

impl OpenFiles {
    /// The process of the target that has the fewest left, of those that serve; `None` where nobody counted, or there is
    /// no limit.
    pub(crate) fn of(scene: &Scene<'_>) -> Option<Self> {
        let (serve, _) = serving(scene);
        let all = serve.filter_map(|process| {
            let of = Of::new(scene.timeline, &OPEN_FILES.name, process.id, scene.window);
            Some(Self {
                id: process.id,
                process: process.entity.clone(),
                open: of.mean("open")?,
                allowed: of.last("allowed").filter(|it| *it > 0.0)?,
            })
        });
        all.max_by(|a, b| a.part().total_cmp(&b.part()))
    }

    /// The part of those that it may have open.
    pub(crate) fn part(&self) -> f64 {
        self.open / self.allowed
    }

    /// That, from what was recorded.
    pub(crate) fn formula(&self) -> Formula {
        let whose = formula::one(self.id);
        let recorded =
            |reading, column| formula::recorded(reading, &OPEN_FILES.name, &[column], whose);
        formula::part(
            recorded(Reading::Mean, "open"),
            recorded(Reading::Last, "allowed"),
        )
    }

    /// The command that lets it open twice as many.
    pub(crate) fn command_for_more(&self) -> String {
        let pid = self.process.pid();
        let pid = pid.map_or_else(|| "PID".to_owned(), |pid| pid.to_string());
        format!(
            "sudo prlimit --pid {pid} --nofile={:.0}",
            2.0 * self.allowed
        )
    }
}
