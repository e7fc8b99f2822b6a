//! A limit that a running process's group is given for a while.

use super::{Held, Lowered, is_ours};
use crate::change::{Change, Step};
use crate::disks::disks;
use crate::group::{Folder, line_of, read};
use crate::limit::{Limit, Setting, are_among};
use crate::{Controller, Error};

/// What stands for no limits of a disk in `io.max`.
pub(super) const NONE_IN_V2: &str = "rbps=max wbps=max riops=max wiops=max";

impl Held {
    /// What gives its group a limit for a while, and what puts back what was there, as the files are now. Nothing is
    /// written. `none` leaves the group as it is; of memory it is the mark above which it is reclaimed in the unified
    /// hierarchy, so that nothing is killed (`Lowered::Memory`).
    ///
    /// # Errors
    /// There is no group, a file cannot be read or is not ours to write, or the group may use less already: no limit is
    /// ever raised.
    pub fn limited(&self, limit: &Limit) -> Result<Change, Error> {
        match limit {
            Limit::Quota(None)
            | Limit::Memory(None)
            | Limit::Iops(None)
            | Limit::Bandwidth(None) => Ok(Change { steps: Vec::new() }),
            Limit::Quota(Some(cpus)) => {
                let has = self.quota()?.filter(|it| it < cpus);
                self.does_not_raise(Controller::Cpu, has.map(|it| format!("{it} CPUs")))?;
                self.change(&Lowered::Cpu(*cpus))
            }
            Limit::Memory(Some(bytes)) => {
                let has = self.memory()?.1.filter(|it| it < bytes);
                self.does_not_raise(Controller::Memory, has.map(|it| format!("{it} bytes")))?;
                self.change(&Lowered::Memory(*bytes))
            }
            Limit::Cpus(wanted) => {
                let folder = self.folder(Controller::Cpuset)?;
                let has = may_use(folder)?;
                let has = (!are_among(wanted, &has)).then(|| format!("the CPUs {has}"));
                self.does_not_raise(Controller::Cpuset, has)?;
                self.steps(folder, limit)
            }
            Limit::Iops(Some(most)) | Limit::Bandwidth(Some(most)) => {
                let folder = self.folder(Controller::Io)?;
                for disk in disks() {
                    let limits = self.disk_limits(&disk)?;
                    let (own, unit) = match limit {
                        Limit::Iops(_) => ([limits.reads, limits.writes], "requests"),
                        _ => ([limits.read_bytes, limits.written_bytes], "bytes"),
                    };
                    let lowest = own.into_iter().flatten().min().filter(|it| it < most);
                    let has = lowest.map(|it| format!("{it} {unit} per second of disk {disk}"));
                    self.does_not_raise(Controller::Io, has)?;
                }
                self.steps(folder, limit)
            }
        }
    }

    /// An error where the group may use no more than this already.
    fn does_not_raise(&self, controller: Controller, has: Option<String>) -> Result<(), Error> {
        match has {
            None => Ok(()),
            Some(has) => Err(Error::Raises {
                group: self.group(controller)?.to_owned(),
                has,
            }),
        }
    }

    fn steps(&self, folder: &Folder, limit: &Limit) -> Result<Change, Error> {
        let disks = disks();
        let settings = match folder.is_v2 {
            true => limit.in_v2(&disks),
            false => limit.in_v1(&disks),
        };
        let steps = settings.iter().map(|it| step(folder, it));
        let steps = steps.collect::<Result<Vec<Step>, Error>>()?;
        if steps.is_empty() {
            return Err(Error::NoDisk);
        }
        steps.iter().try_for_each(|it| is_ours(&it.path))?;
        Ok(Change { steps })
    }
}

/// Which CPUs a group may use, as a list.
fn may_use(folder: &Folder) -> Result<String, Error> {
    let file = match folder.is_v2 {
        true => "cpuset.cpus.effective",
        false => "cpuset.effective_cpus",
    };
    Ok(read(&folder.path.join(file))?.trim().to_owned())
}

/// A file of a group with what is written to it, and what puts back what stands there now.
fn step(folder: &Folder, setting: &Setting) -> Result<Step, Error> {
    let path = folder.path.join(setting.file);
    let now = read(&path)?;
    let before = match (setting.text.split_once(' '), setting.is_read_back) {
        // A line for each disk.
        (Some((disk, _)), false) => {
            let none = if folder.is_v2 { NONE_IN_V2 } else { "0" };
            format!("{disk} {}", line_of(&now, disk).unwrap_or(none))
        }
        // The kernel gives no group with processes its empty list back (kernel/cgroup/cpuset.c, validate_change): it gets
        // the CPUs that the list stood for.
        _ if now.trim().is_empty() => may_use(folder)?,
        _ => now.trim().to_owned(),
    };
    Ok(Step {
        before,
        lowered: setting.text.clone(),
        path,
    })
}

#[cfg(test)]
mod tests {
    use std::process::Child;

    use super::super::tests::{held, texts};
    use super::*;
    use crate::{Group, Kind};

    fn end(_group: Group, mut child: Child) {
        child.kill().expect("it sleeps");
        child.wait().expect("it ended");
    }

    #[test]
    fn every_limit_is_taken_and_what_was_there_is_put_back() {
        let Some((group, child, held)) = held("limited") else {
            return;
        };
        for (kind, value) in [
            (Kind::Quota, "0.5"),
            (Kind::Memory, "64M"),
            (Kind::Iops, "500"),
            (Kind::Bandwidth, "20M"),
            (Kind::Cpus, "0"),
        ] {
            let limit = Limit::parse(kind, value).expect(value);
            let change = held.limited(&limit).expect("it is ours");
            let before = texts(&change);
            change.apply().expect("the kernel takes it");
            assert_ne!(texts(&change), before, "{limit:?}");
            change.restore().expect("the kernel takes it");
            match (kind, &*before) {
                // An empty list, which stood for all CPUs of the machine.
                (Kind::Cpus, [none]) if none.is_empty() => {
                    let all = held.folder(Controller::Cpuset).expect("a group");
                    assert_eq!(texts(&change), [may_use(all).expect("a list")]);
                    assert_ne!(texts(&change), ["0"]);
                }
                _ => assert_eq!(texts(&change), before, "{limit:?}"),
            }
        }
        let none = Limit::parse(Kind::Quota, "none").expect("a quota");
        assert!(held.limited(&none).expect("nothing").steps.is_empty());
        end(group, child);
    }

    #[test]
    fn no_limit_is_raised() {
        let Some((group, child, held)) = held("raised") else {
            return;
        };
        for (kind, has, wanted) in [
            (Kind::Quota, "0.3", "0.5"),
            (Kind::Memory, "64M", "1G"),
            (Kind::Iops, "300", "2000"),
            (Kind::Bandwidth, "10M", "20M"),
            (Kind::Cpus, "0", "0-1"),
        ] {
            let [has, wanted] = [has, wanted].map(|it| Limit::parse(kind, it).expect(it));
            group.set(&has).expect("it is ours");
            let error = held.limited(&wanted).expect_err("it is higher");
            assert!(matches!(error, Error::Raises { .. }), "{error}");
            held.limited(&has).expect("it is the same");
        }
        end(group, child);
    }
}
