//! The machine's disks, as limits of disk requests name them.

use std::fs;
use std::path::Path;

/// `MAJOR:MINOR` of every whole disk: devices in memory and files as disks carry the requests of others.
pub(crate) fn disks() -> Vec<String> {
    in_folder(Path::new("/sys/block"))
}

fn in_folder(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut disks: Vec<String> = entries
        .filter(|it| {
            let name = it.file_name();
            let name = name.to_string_lossy();
            !["loop", "ram", "zram", "fd"]
                .iter()
                .any(|kind| is_of(&name, kind))
        })
        .filter_map(|it| {
            let size = fs::read_to_string(it.path().join("size")).ok()?;
            let number = fs::read_to_string(it.path().join("dev")).ok()?;
            (size.trim() != "0").then(|| number.trim().to_owned())
        })
        .collect();
    disks.sort();
    disks
}

/// `loop0` is of `loop`.
fn is_of(name: &str, kind: &str) -> bool {
    let number = name.strip_prefix(kind);
    number.is_some_and(|it| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_disks_of_some_size_count() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (name, size, number) in [
            ("vda", "100\n", "254:0\n"),
            ("loop0", "100\n", "7:0\n"),
            ("ram3", "100\n", "1:3\n"),
            ("sr0", "0\n", "11:0\n"),
            ("nvme0n1", "100\n", "259:0\n"),
        ] {
            let place = folder.path().join(name);
            fs::create_dir(&place).expect("a folder");
            fs::write(place.join("size"), size).expect("a file");
            fs::write(place.join("dev"), number).expect("a file");
        }
        assert_eq!(in_folder(folder.path()), ["254:0", "259:0"]);
        assert!(in_folder(&folder.path().join("none")).is_empty());
    }
}
