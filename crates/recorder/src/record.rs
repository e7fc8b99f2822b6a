//! From a plan to a recording on disk.

use std::sync::Arc;

use recording::FolderHandle;

use super::attach;
use super::error::Result;
use super::observer::{Observer, Progress};
use super::plan::{Plan, PlannedSubject};
use super::run::{WorkloadEnd, run};
use super::session::{Savings, Session};

/// A recording that was made.
pub struct Recorded {
    /// Its folder, held open.
    pub folder: Arc<FolderHandle>,
    /// Its size in bytes, or what the disk did not take at the end; what it did not take before is a gap.
    pub closed: recording::Result<u64>,
    /// What triggers saved; `None` where there were none. The folder is then gone.
    pub savings: Option<Savings>,
    /// What became of the workload; `None` where none was started.
    pub workload: Option<WorkloadEnd>,
}

/// Carries a plan out: until the workload ends, the time is over, or an interrupt comes.
///
/// # Errors
/// What keeps a recording from beginning: the folder cannot be made, the machine refuses what every
/// recording needs, or the workload cannot be started. Nothing is left behind then.
pub fn record(plan: Plan, observer: Arc<dyn Observer>) -> Result<Recorded> {
    let mut session = Session::start(&plan, observer.clone())?;
    observer.progress(Progress::Begun(session.folder()));
    let Plan {
        subject, targets, ..
    } = plan;
    let workload = match subject {
        PlannedSubject::Workload(workload) => Some(run(&mut session, *workload, &targets)?),
        PlannedSubject::Running { length } => {
            attach::watch(&mut session, &targets, length);
            None
        }
    };
    let folder = session.folder().clone();
    let (closed, savings) = session.close();
    Ok(Recorded {
        folder,
        closed,
        savings,
        workload,
    })
}
