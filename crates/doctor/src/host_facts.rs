//! The machine that is examined: its files, what the kernel allowed, and how problems are fixed on it.

use std::path::Path;

use model::Fix;
use rustix::io::Errno;

use super::distribution::Distribution;
use super::kernel_config::KernelConfig;
use super::probes::Probes;
use super::tree::Tree;
use kernel::hierarchies::Hierarchies;

/// Input of every check.
pub(crate) struct HostFacts<'a> {
    pub(super) tree: &'a dyn Tree,
    /// `None` for files of another machine: they do not tell what its kernel allows.
    pub(super) probes: Option<Probes>,
    /// Whether `--root` names another root than our own: then the files are not those of a container that
    /// this process may be in.
    pub(super) is_elsewhere: bool,
    pub(super) config: KernelConfig,
    pub(super) distribution: Distribution,
    /// Mount points of the cgroup hierarchies; paths below the tree.
    pub(super) hierarchies: Hierarchies,
    /// `6.1.0-18-amd64`; empty if unknown.
    pub(super) release: String,
}

impl<'a> HostFacts<'a> {
    pub(super) fn new(tree: &'a dyn Tree, probes: Option<Probes>, is_elsewhere: bool) -> Self {
        let text = |path: &str| {
            let bytes = tree.read(path).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let release = text("proc/sys/kernel/osrelease").trim().to_owned();
        let mounts = tree.read("proc/self/mountinfo").unwrap_or_default();
        Self {
            config: KernelConfig::read(tree, &release),
            distribution: Distribution::read(tree, &release),
            hierarchies: Hierarchies::from_mountinfo(&mounts, Path::new("")),
            tree,
            probes,
            is_elsewhere,
            release,
        }
    }

    /// A file's text.
    pub(super) fn text(&self, path: &str) -> Result<String, Errno> {
        let bytes = self.tree.read(path)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// A file's first line, trimmed; `None` if it cannot be read.
    pub(super) fn line(&self, path: &str) -> Option<String> {
        let text = self.text(path).ok()?;
        Some(text.lines().next().unwrap_or_default().trim().to_owned())
    }

    /// Whether the kernel was started with this parameter.
    pub(super) fn was_booted_with(&self, word: &str) -> bool {
        let line = self.line("proc/cmdline").unwrap_or_default();
        line.split_ascii_whitespace().any(|it| it == word)
    }

    /// The kernel's (major, minor) version.
    pub(super) fn kernel(&self) -> Option<(u32, u32)> {
        let mut numbers = self.release.split(|c: char| !c.is_ascii_digit());
        Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
    }

    /// Whether this process runs in a container, so that kernel and settings belong to the host.
    pub(super) fn is_in_container(&self) -> bool {
        let probes = self.probes.as_ref();
        probes.is_some_and(|it| !it.initial_pid_ns || !it.initial_user_ns)
    }

    /// Whether the files are a container's, so that the distribution is not the kernel's.
    pub(super) fn has_container_files(&self) -> bool {
        match &self.probes {
            Some(_) => self.is_in_container() && !self.is_elsewhere,
            None => super::engine::engine_of(self.tree).is_some(),
        }
    }

    /// The command with root's rights as this user gets them.
    fn command(&self, template: &str) -> String {
        let is_root = self.probes.as_ref().is_some_and(|it| it.euid == 0);
        let elevation = if is_root {
            ""
        } else {
            self.distribution.elevation()
        };
        template.replace("{sudo}", elevation)
    }

    /// A fix by commands; `{sudo}` marks those that need root's rights.
    pub(super) fn type_in(&self, how: &str, templates: &[&str]) -> Fix {
        Fix {
            how: how.to_owned(),
            commands: templates.iter().map(|it| self.command(it)).collect(),
        }
    }

    /// A fix by a boot parameter.
    pub(super) fn boot_parameter(&self, word: &str) -> Fix {
        if self.has_container_files() {
            return Fix {
                how: format!(
                    "on the host, not in this container: add {word} to the kernel's boot parameters and reboot; `stallscope doctor` names the command there"
                ),
                commands: Vec::new(),
            };
        }
        // Captured files of another machine are incomplete, so absence means nothing there.
        let is_missing = |path: &str| self.probes.is_some() && self.tree.read(path).is_err();
        let mut fix = self.distribution.boot_parameter(word, &is_missing);
        if self.is_in_container() {
            fix.how = ["on the host", &fix.how]
                .join("; ")
                .trim_end_matches("; ")
                .to_owned();
        }
        fix.commands = fix.commands.iter().map(|it| self.command(it)).collect();
        fix
    }

    /// A fix by a sysctl.
    pub(super) fn setting(&self, word: &str) -> Fix {
        let place = if self.is_in_container() {
            "on the host; "
        } else {
            ""
        };
        let how = format!(
            "{place}until the next boot; `{word}` in /etc/sysctl.d/90-stallscope.conf keeps it"
        );
        self.type_in(&how, &[&format!("{{sudo}}sysctl -w {word}")])
    }
}

#[cfg(test)]
mod tests {
    use super::super::probes::testing::{everything, ordinary};
    use super::super::tree::testing::Drawn;
    use super::*;

    #[test]
    fn a_kernel_is_known_by_its_first_two_numbers() {
        let of = |release: &str| {
            let tree = Drawn::new(&format!("proc/sys/kernel/osrelease = {release}\\n"));
            HostFacts::new(&tree, None, true).kernel()
        };
        assert_eq!(of("4.18.0-513.el8.x86_64"), Some((4, 18)));
        assert_eq!(of("6.12-rc1"), Some((6, 12)));
        assert_eq!(of("x"), None);
    }

    #[test]
    fn root_needs_no_sudo_and_fixes_in_a_container_name_the_host() {
        let tree = Drawn::new("etc/os-release = ID=rhel\\n");
        let first = |probes| {
            let fix = HostFacts::new(&tree, Some(probes), false).boot_parameter("psi=1");
            fix.commands.first().cloned().unwrap_or(fix.how)
        };
        let command = "grubby --update-kernel=ALL --args=psi=1";
        assert_eq!(first(everything()), command);
        assert_eq!(first(ordinary()), format!("sudo {command}"));
        let mut contained = everything();
        contained.initial_pid_ns = false;
        assert!(first(contained).starts_with("on the host, not in this container"));
    }
}
