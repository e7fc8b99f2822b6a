//! Why a sensor's source cannot be read, as a gap with its remedy.

use model::{GapReason, Part, sentence};
use rustix::io::Errno;
use sensors::{Missing, Scope, Sensor};

use crate::gaps::Gaps;
use kernel::file_limits::{MORE_FILES, MORE_FILES_OF_ALL};
use kernel::limits::Share;

/// Whose share of the descriptors a sensor's files take.
pub(super) fn share_of(sensor: &Sensor) -> Share {
    match sensor.scope {
        Scope::Cgroup => Share::Group,
        Scope::Process => Share::Process,
        Scope::Machine | Scope::Thread => Share::Tracked,
    }
}

/// Turns a source that cannot be read into a gap, with the remedy.
pub(super) fn report_missing(sensor: &'static Sensor, index: usize, errno: Errno, gaps: &mut Gaps) {
    let source = &sensor.sources[index];
    let reason = match (source.lack, errno) {
        // The process exited between two looks: the end of its entity says so.
        (_, Errno::SRCH) => return,
        (_, Errno::MFILE) => GapReason::Denied(sentence!("too many open files: {}", MORE_FILES)),
        (_, Errno::NFILE) => GapReason::Denied(sentence!(
            "too many open files on the whole machine: {}",
            MORE_FILES_OF_ALL
        )),
        (Missing::Usual, Errno::IO | Errno::NOMEM | Errno::FBIG) => {
            GapReason::Unsupported(sentence!(
                "{} cannot be read: {}",
                source.path,
                Part::error(errno.raw_os_error())
            ))
        }
        (Missing::Usual, _) => return,
        (Missing::Say(sentence), Errno::ACCESS | Errno::PERM) => GapReason::Denied(sentence.into()),
        (Missing::Say(sentence), _) => GapReason::Unsupported(sentence.into()),
        (Missing::Pressure, errno) => no_pressure(errno),
    };
    gaps.report(&sensor.table.name, source.path, reason);
}

/// Why a pressure file cannot be read, as the reason of a gap.
fn no_pressure(errno: Errno) -> GapReason {
    match errno {
        Errno::OPNOTSUPP => GapReason::Unsupported(
            "pressure is switched off: add psi=1 to the kernel's boot parameters and reboot".into(),
        ),
        // Disabled at boot: newer kernels then do not even create the files (psi_proc_init).
        Errno::NOENT => GapReason::Unsupported(
            "this kernel shows no pressure: add psi=1 to its boot parameters and reboot (it needs Linux 4.20 or \
             later with CONFIG_PSI, and no sandbox that hides /proc/pressure)"
                .into(),
        ),
        errno => GapReason::Denied(sentence!("pressure: {}", Part::error(errno.raw_os_error()))),
    }
}
