//! What the loops run on and against: a control group that others hardly disturb, and the hog.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, bail};
use kernel::Hierarchies;

/// And the process id.
const NAME: &str = "stealmeter-experiment-";
/// Most that the kernel takes (cpu.shares, cgroup v1), where a process outside of any group has 1,024
/// and a group 1,024 unless told otherwise.
const SHARES: &str = "262144";
/// The same for cgroup v2 (cpu.weight; 100 unless told otherwise).
const WEIGHT: &str = "10000";

/// A control group for the loops and the hog together: between them all weigh the same, against the
/// rest of the machine they weigh as much as the kernel allows.
pub(crate) struct Group {
    folder: PathBuf,
}

impl Group {
    /// A new group, or why there can be none here.
    pub(crate) fn make() -> Result<Self> {
        let text = fs::read("/proc/self/mountinfo").context("/proc/self/mountinfo")?;
        let hierarchies = Hierarchies::from_mountinfo(&text, Path::new("/"));
        let name = format!("{NAME}{}", std::process::id());
        let v1 = hierarchies
            .v1
            .get("cpu")
            .map(|mount| (mount, "cpu.shares", SHARES));
        let v2 = hierarchies
            .v2
            .as_ref()
            .map(|mount| (mount, "cpu.weight", WEIGHT));
        let (mount, file, value) = v1.or(v2).context("no control groups are mounted")?;
        remove_left_behind(&mount.point);
        let folder = mount.point.join(name);
        fs::create_dir(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let group = Self { folder };
        let file = group.folder.join(file);
        fs::write(&file, value).with_context(|| format!("cannot write {}", file.display()))?;
        Ok(group)
    }

    fn take(&self, process: u32) -> Result<()> {
        let file = self.folder.join("cgroup.procs");
        fs::write(&file, process.to_string())
            .with_context(|| format!("cannot write {}", file.display()))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Its processes have ended: whoever made it ended them.
        if let Err(error) = fs::remove_dir(&self.folder) {
            eprintln!("stealmeter-experiment: {}: {error}", self.folder.display());
        }
    }
}

/// Groups of an interrupted run. One with a process in it cannot be removed.
fn remove_left_behind(hierarchy: &Path) {
    let groups = fs::read_dir(hierarchy).into_iter().flatten().flatten();
    for group in groups.filter(|it| {
        it.file_name()
            .as_encoded_bytes()
            .starts_with(NAME.as_bytes())
    }) {
        let _ = fs::remove_dir(group.path());
    }
}

/// This program as another process, in the group where there is one: one line says the ids of its
/// threads, and it goes on when a line comes or its input ends.
pub(crate) struct Actor {
    child: Child,
    input: Option<ChildStdin>,
    said: BufReader<ChildStdout>,
    pub(crate) threads: Vec<i32>,
}

impl Actor {
    pub(crate) fn start(command: &mut Command, group: Option<&Group>) -> Result<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start this program again")?;
        let said = child.stdout.take().context("its output is a pipe")?;
        let mut actor = Self {
            input: child.stdin.take(),
            child,
            said: BufReader::new(said),
            threads: Vec::new(),
        };
        let line = actor.line()?;
        let threads = line.split_whitespace().map(str::parse);
        actor.threads = threads.collect::<Result<_, _>>()?;
        if let Some(group) = group {
            group.take(actor.pid())?;
        }
        Ok(actor)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn proceed(&mut self) -> Result<()> {
        let mut input = self.input.take().context("it was told already")?;
        input.write_all(b"go\n")?;
        Ok(())
    }

    /// Its next line.
    pub(crate) fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        self.said.read_line(&mut line)?;
        if line.is_empty() {
            bail!(
                "a part of the experiment ended early. Where this kernel lacks a way to wait, name \
                 those that it has: --backend epoll"
            );
        }
        Ok(line)
    }
}

impl Drop for Actor {
    fn drop(&mut self) {
        self.input = None;
        // The loops end by themselves, if nothing went wrong.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Ticks that a hypervisor gave to others instead of these CPUs (proc(5), /proc/stat).
pub(crate) fn stolen_ticks(stat: &str, cpus: &[usize]) -> u64 {
    let of = |cpu: &usize| {
        let name = format!("cpu{cpu} ");
        let line = stat.lines().find_map(|line| line.strip_prefix(&name));
        line.and_then(|line| line.split_whitespace().nth(7)?.parse().ok())
            .unwrap_or(0)
    };
    cpus.iter().map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::stolen_ticks;

    #[test]
    fn steal_is_the_eighth_of_a_cpus_numbers() {
        let stat = "cpu  9 9 9 9 9 9 9 99 9 9\ncpu0 1 2 3 4 5 6 7 8 9 10\n\
                    cpu1 1 2 3 4 5 6 7 20 9 10\ncpu10 1 2 3 4 5 6 7 400 9 10\nintr 5\n";
        assert_eq!(stolen_ticks(stat, &[0]), 8);
        assert_eq!(stolen_ticks(stat, &[0, 1]), 28);
        assert_eq!(stolen_ticks(stat, &[3]), 0);
    }
}
