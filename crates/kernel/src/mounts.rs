//! The mounts that a process sees, from the text of its mountinfo (proc(5)); this module touches no mount.

use std::cell::OnceCell;
use std::path::Path;

/// Local filesystem types. FUSE is not one: a program answers for it, or does not.
const LOCAL: [&str; 23] = [
    "ext2",
    "ext3",
    "ext4",
    "xfs",
    "btrfs",
    "zfs",
    "bcachefs",
    "f2fs",
    "jfs",
    "reiserfs",
    "nilfs2",
    "overlay",
    "tmpfs",
    "ramfs",
    "hugetlbfs",
    "vfat",
    "exfat",
    "ntfs3",
    "erofs",
    "squashfs",
    "iso9660",
    "udf",
    "rootfs",
];

/// The kernel's own filesystems: they answer from memory, and how full they are means nothing.
const OF_KERNEL: [&str; 13] = [
    "devtmpfs",
    "devpts",
    "proc",
    "sysfs",
    "cgroup",
    "cgroup2",
    "mqueue",
    "debugfs",
    "tracefs",
    "securityfs",
    "configfs",
    "bpf",
    "pstore",
];

/// The text of a process's mountinfo, read once when it is first needed: with many containers it is long.
#[derive(Default)]
pub struct Mountinfo(OnceCell<String>);

impl Mountinfo {
    /// The text for the process whose /proc folder this is; empty if it may not be read.
    pub fn of(&self, process: &Path) -> &str {
        let read = || std::fs::read_to_string(process.join("mountinfo")).unwrap_or_default();
        self.0.get_or_init(read)
    }
}

/// One mount, from one line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mount {
    /// The kernel's mount id.
    pub number: u64,
    /// Device as `major:minor`.
    pub device: Box<str>,
    /// The mount point.
    pub point: String,
    /// The filesystem's type.
    kind: String,
}

impl Mount {
    fn parse(line: &str) -> Option<Self> {
        let (left, right) = line.split_once(" - ")?;
        let mut left = left.split(' ');
        Some(Self {
            number: left.next()?.parse().ok()?,
            device: left.nth(1)?.into(),
            point: crate::hierarchies::unescape(left.nth(1)?),
            kind: right.split(' ').next()?.to_owned(),
        })
    }

    fn is_local(&self) -> bool {
        LOCAL.contains(&self.kind.as_str())
    }

    /// Whether this is one of the kernel's own filesystems, without data.
    pub fn is_of_kernel(&self) -> bool {
        OF_KERNEL.contains(&self.kind.as_str())
    }

    /// Whether a path is at or below the mount point.
    fn holds(&self, path: &str) -> bool {
        let inside = path.strip_prefix(self.point.trim_end_matches('/'));
        inside.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

/// The mount with that id.
pub fn by_number(text: &str, number: u64) -> Option<Mount> {
    let mut mounts = text.lines().filter_map(Mount::parse);
    mounts.find(|mount| mount.number == number)
}

/// The first mount of a device, given as `major:minor`.
pub fn by_device(text: &str, device: &str) -> Option<Mount> {
    let mut mounts = text.lines().filter_map(Mount::parse);
    mounts.find(|mount| &*mount.device == device)
}

/// Every mount that is reached locally, in the text's order; of the kernel's own none.
pub fn local(text: &str) -> impl Iterator<Item = Mount> {
    let mounts = text.lines().filter_map(Mount::parse);
    mounts.filter(|mount| is_reached_locally(text, mount))
}

/// The mount that a path is on. Of several at one place the last one covers the others.
pub fn of_path(text: &str, path: &str) -> Option<Mount> {
    let mounts = text.lines().filter_map(Mount::parse);
    mounts
        .filter(|mount| mount.holds(path))
        .max_by_key(|mount| mount.point.len())
}

/// Whether this mount, and every mount on the way to it, is local. The root is not checked: if that does not
/// answer, nothing does.
pub fn is_reached_locally(text: &str, mount: &Mount) -> bool {
    let mut way = text.lines().filter_map(Mount::parse);
    let answers = |other: &Mount| other.is_local() || other.is_of_kernel();
    mount.is_local()
        && way.all(|other| other.point == "/" || !other.holds(&mount.point) || answers(&other))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "21 1 8:1 / / rw - ext4 /dev/sda1 rw\n\
                        30 21 0:44 / /srv\\040x rw shared:3 - btrfs /dev/sdb rw\n\
                        31 21 0:50 / /net rw - fuse.sshfs host: rw\n\
                        32 31 8:17 / /net/disk rw - xfs /dev/sdc rw\n\
                        33 21 0:60 / /nfs rw - nfs4 host:/ rw\n\
                        nonsense\n";

    #[test]
    fn a_mount_is_found_by_number_or_by_the_longest_way_to_a_path() {
        let point = |mount: Option<Mount>| mount.map(|mount| mount.point);
        let by = |number| point(by_number(TEXT, number));
        assert_eq!((by(30).as_deref(), by(99)), (Some("/srv x"), None));
        let of_device = |device| point(by_device(TEXT, device));
        assert_eq!(
            (of_device("8:1").as_deref(), of_device("8:9")),
            (Some("/"), None)
        );
        let local: Vec<_> = local(TEXT).map(|mount| mount.point).collect();
        assert_eq!(local, ["/", "/srv x"]);
        for (path, on) in [
            ("/", "/"),
            ("/network", "/"),
            ("/srv x", "/srv x"),
            ("/srv x/data", "/srv x"),
            ("/net/a", "/net"),
            ("/net/disk/a", "/net/disk"),
        ] {
            assert_eq!(point(of_path(TEXT, path)).as_deref(), Some(on), "{path}");
        }
        assert_eq!(of_path("", "/"), None);
        let last = format!("{TEXT}40 21 0:70 / /nfs rw - tmpfs none rw\n");
        let top = of_path(&last, "/nfs/a").map(|mount| mount.number);
        assert_eq!(top, Some(40));
    }

    #[test]
    fn unresponsive_mounts_are_neither_touched_nor_crossed() {
        let is_asked = |number| {
            let mount = by_number(TEXT, number).expect("it is there");
            is_reached_locally(TEXT, &mount)
        };
        let asked = [21, 30, 31, 32, 33].map(is_asked);
        assert_eq!(asked, [true, true, false, false, false]);
        let text = "21 1 8:1 / / rw - ext4 /dev/sda1 rw\n\
                    22 21 0:6 / /dev rw - devtmpfs devtmpfs rw\n\
                    23 22 0:7 / /dev/shm rw - tmpfs tmpfs rw\n";
        let mount = |path| of_path(text, path).expect("it is there");
        assert!(mount("/dev/null").is_of_kernel() && !mount("/dev/shm/a").is_of_kernel());
        assert!(is_reached_locally(text, &mount("/dev/shm/a")));
    }
}
