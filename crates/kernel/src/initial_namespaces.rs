//! Whether this process is in the namespaces that the machine started with: only there its pids, groups and
//! capabilities mean what they mean to the kernel.

use std::path::Path;

/// A kind of namespace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Namespace {
    /// Process ids.
    Pid,
    /// Paths of control groups.
    Cgroup,
    /// Users and capabilities.
    User,
}

/// Whether this process is in the initial namespace of a kind. Those have fixed inode numbers
/// (include/linux/proc_ns.h, since 3.8); a kernel without namespaces of a kind has only the initial one.
pub fn is_initial(namespace: Namespace) -> bool {
    let (kind, number) = match namespace {
        Namespace::Pid => ("pid", 0xEFFF_FFFC_u32),
        Namespace::Cgroup => ("cgroup", 0xEFFF_FFFB),
        Namespace::User => ("user", 0xEFFF_FFFD),
    };
    let link = std::fs::read_link(format!("/proc/self/ns/{kind}"));
    link.map_or(true, |link| {
        link == Path::new(&format!("{kind}:[{number}]"))
    })
}
