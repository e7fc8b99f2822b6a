//! Folders of other users on the way, as root; nothing to see for who is not root.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};

use super::*;
use crate::for_new_file;

const OTHER: u32 = 65_534;

struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Option<Self> {
        let home = Self(tempfile::tempdir().unwrap());
        is_root().then_some(home)
    }

    fn folder(&self, name: &str, (owner, group): (u32, u32), mode: u32) -> PathBuf {
        let path = self.0.path().join(name);
        fs::create_dir(&path).unwrap();
        chown(&path, Some(owner), Some(group)).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    }
}

/// Who may write where, without the temporary folder's name.
fn refused<T>(home: &Home, result: std::result::Result<T, Blocked>) -> String {
    match result {
        Ok(_) => "-".to_owned(),
        Err(Blocked::Io(error)) => error.to_string(),
        Err(Blocked::Exposed(exposed)) => {
            let home = home.0.path().to_str().unwrap();
            exposed.to_string().replace(home, "HOME")
        }
    }
}

#[test]
fn folders_where_others_may_write_are_refused_and_sticky_ones_are_not() {
    let Some(home) = Home::new() else { return };
    let place = |name: &str, owner, mode| {
        let folder = home.folder(name, owner, mode);
        fs::create_dir(folder.join("inner")).unwrap();
        let near = refused(&home, for_new_file(&folder.join("x")));
        let deep = refused(&home, for_new_file(&folder.join("inner/x")));
        assert_eq!(near, deep, "one on the way counts as much");
        near
    };
    assert_eq!(place("own", (0, 0), 0o755), "-");
    assert_eq!(place("own_group", (0, 0), 0o775), "-");
    assert_eq!(place("sticky", (0, 0), 0o1777), "-");
    let and = "and could lead there what root writes to another file";
    let of = |who: &str, name: &str| format!("{who} may write in HOME/{name}, {and}");
    assert_eq!(place("a", (0, 0), 0o777), of("every user", "a"));
    assert_eq!(place("b", (0, 7), 0o775), of("group 7", "b"));
    assert_eq!(place("c", (OTHER, 0), 0o755), of("user 65534", "c"));
    assert_eq!(place("d", (OTHER, 0), 0o1777), of("user 65534", "d"));
}

#[test]
fn a_link_is_followed_where_only_root_can_have_made_it() {
    let Some(home) = Home::new() else { return };
    let own = home.folder("own", (0, 0), 0o755);
    let sticky = home.folder("sticky", (0, 0), 0o1777);
    let theirs = home.folder("theirs", (OTHER, OTHER), 0o755);
    symlink("own", home.0.path().join("link")).unwrap();
    symlink(&own, sticky.join("root")).unwrap();
    symlink(&own, sticky.join("theirs")).unwrap();
    std::os::unix::fs::lchown(sticky.join("theirs"), Some(OTHER), None).unwrap();
    symlink(&theirs, own.join("out")).unwrap();
    let place = |path: &str| refused(&home, for_new_file(&home.0.path().join(path)));
    assert_eq!(place("link/x"), "-");
    assert_eq!(place("link/../own/./x"), "-");
    assert_eq!(place("sticky/root/x"), "-");
    let and = "and could lead there what root writes to another file";
    let of = |name: &str| format!("user 65534 may write in HOME/{name}, {and}");
    assert_eq!(place("sticky/theirs/x"), of("sticky"));
    assert_eq!(place("own/out/x"), of("theirs"));
    symlink("loop", own.join("loop")).unwrap();
    assert!(place("own/loop/x").contains("Too many levels"));
    let made = |path: &str| fs::metadata(home.0.path().join(path)).unwrap();
    let (folder, name) = for_new_file(&home.0.path().join("link/x")).unwrap();
    folder.create_file(&name).unwrap();
    assert_eq!(made("own/x").permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_named_file_may_be_a_link_of_roots_or_an_open_file() {
    let Some(home) = Home::new() else { return };
    let own = home.folder("own", (0, 0), 0o755);
    let sticky = home.folder("sticky", (0, 0), 0o1777);
    let theirs = home.folder("theirs", (OTHER, OTHER), 0o755);
    let file = own.join("file");
    fs::write(&file, "old").unwrap();
    for (folder, name) in [(&own, "link"), (&sticky, "planted"), (&theirs, "link")] {
        symlink(&file, folder.join(name)).unwrap();
    }
    std::os::unix::fs::lchown(sticky.join("planted"), Some(OTHER), None).unwrap();
    let open = |path: PathBuf| refused(&home, open_named(&path));
    assert_eq!(open(own.join("link")), "-");
    assert_eq!(open(own.join("new")), "-");
    assert_eq!(open(sticky.join("new")), "-");
    let and = "and could lead there what root writes to another file";
    let of = |name: &str| format!("user 65534 may write in HOME/{name}, {and}");
    assert_eq!(open(sticky.join("planted")), of("sticky"));
    assert_eq!(open(theirs.join("link")), of("theirs"));
    let written = fs::File::create(own.join("written")).unwrap();
    let descriptor = format!("/proc/self/fd/{}", written.as_raw_fd());
    assert_eq!(open(PathBuf::from(descriptor)), "-");
    assert_eq!(open(PathBuf::from("/dev/null")), "-");
    assert_eq!(open(own.clone()), "Is a directory (os error 21)");
    assert_eq!(fs::read(&file).unwrap(), b"old", "nothing is emptied");
}
