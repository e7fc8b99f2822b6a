//! What this machine itself can do of it: groups with names that are no text, pressure switched off,
//! a group that goes, the host seen from inside a container, a container without rights.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use recording::Recording;

use crate::needs;
use crate::place::{JSON, Place};
use crate::process::Running;

/// Calls itself what nobody should, and stays for a while.
const BADLY_NAMED: &str = "$0 = qq(\\e[31m\\xff\\)\\n); print qq(ready\\n); $| = 1; open(F, '>', 'ready'); print F $$; close F; sleep 30";

/// A v2 group, gone when dropped.
struct Group(PathBuf);

impl Group {
    fn new(name: &[u8]) -> Option<Self> {
        if !needs::root() {
            return None;
        }
        let hierarchies = kernel::environment(Path::new("/")).hierarchies;
        let Some(mount) = hierarchies.v2 else {
            needs::skip("no cgroup v2 hierarchy is mounted");
            return None;
        };
        let group = mount.point.join(OsStr::from_bytes(name));
        match fs::create_dir(&group) {
            Ok(()) => Some(Self(group)),
            Err(error) => {
                needs::skip(&format!("no cgroup can be made here: {error}"));
                None
            }
        }
    }

    fn write(&self, file: &str, text: &str) {
        fs::write(self.0.join(file), text).expect("the group is ours");
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Processes that were just killed may still be leaving it.
        for _ in 0..100 {
            if fs::remove_dir(&self.0).is_ok() || !self.0.exists() {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

fn perl(place: &Place) -> Option<Running> {
    if !needs::program("perl") {
        return None;
    }
    let mut command = Command::new("perl");
    command.current_dir(place.path()).args(["-e", BADLY_NAMED]);
    Some(Running::start(command))
}

#[test]
fn pressure_of_a_badly_named_group_is_switched_off_and_another_group_goes() {
    let own = std::process::id();
    let named = |byte: u8| [format!("stallscope-{own} \u{1b}[2J").as_bytes(), &[byte]].concat();
    let (Some(stays), Some(goes)) = (Group::new(&named(0xff)), Group::new(&named(0xfe))) else {
        return;
    };
    if !needs::pressure() {
        return;
    }
    let place = Place::new();
    let Some(process) = perl(&place) else { return };
    let pid = process.pid();
    place.wait_for("ready");
    stays.write("cgroup.procs", &pid.to_string());
    let target = format!("pid:{pid}");
    let also = format!(r"dependency=cgroup:/stallscope-{own} \x1b[2J\xff");
    let recorder = Running::start(place.stallscope(&[
        "record", "-q", "--target", &target, "--target", &also, "--for", "7s", "--json", JSON,
    ]));
    // Loading the programs takes seconds on a busy machine.
    place.wait_for_rows();
    std::thread::sleep(Duration::from_millis(1_500));
    stays.write("cgroup.pressure", "0");
    drop(goes);
    let ended = recorder.end();
    ended.status(0).says(r"\x1b[31m\xff)\x0a");
    assert!(!ended.err_text().contains('\u{1b}'));
    let gaps = place.report().gaps;
    let off = gaps.iter().find(|gap| gap.table == "cgroup_pressure");
    let off = off.expect("it is said that pressure is off");
    assert_eq!(
        off.what.to_string(),
        format!(r"/stallscope-{own} \x1b[2J\xff")
    );
    let recording = place.opened();
    let group = |byte: &str| {
        let path = format!(r"/stallscope-{own} \x1b[2J{byte}");
        let mut all = recording.timeline.entities.iter();
        let found = all.find(|record| record.entity.path == path);
        found
            .expect("both groups are there, each for itself")
            .clone()
    };
    assert!(group(r"\xfe").vanished.is_some() && group(r"\xff").vanished.is_none());
    drop(process);
}

/// The host's root at `host`, and then namespaces of our own, as a container has them.
const CONTAINER: &str = r#"
    mkdir host && mount --rbind / host || exit 99
    exec unshare --pid --fork --cgroup --net --mount-proc \
        "$0" record -qv --root "$PWD/host" --target "pid:$TARGET" --for 3s --json report.json"#;

#[test]
fn a_container_with_the_hosts_root_records_the_host() {
    let own = std::process::id();
    let Some(group) = Group::new(format!("stallscope-outer-{own}").as_bytes()) else {
        return;
    };
    if !needs::program("unshare") {
        return;
    }
    let place = Place::new();
    let Some(process) = perl(&place) else { return };
    place.wait_for("ready");
    group.write("cgroup.procs", &process.pid().to_string());
    let mut command = Command::new("unshare");
    command
        .current_dir(place.path())
        .args(["--mount", "--propagation", "private", "sh", "-c", CONTAINER])
        .arg(env!("CARGO_BIN_EXE_stallscope"))
        .env("TARGET", process.pid().to_string());
    let ended = Running::start(command).end();
    if ended.status == 99 {
        needs::skip("nothing can be mounted here");
        return;
    }
    ended
        .status(0)
        .says("connections are not seen through another root");
    let recording = place.opened();
    finds_group_and_pressure(
        &recording,
        process.pid(),
        &format!("/stallscope-outer-{own}"),
    );
    let mut entities = recording.timeline.entities.iter();
    assert!(
        entities.any(|record| record.role == model::Role::Recorder),
        "it knows itself under another number"
    );
}

/// That the target is known by its number on the host, with its group, whatever its namespace calls that.
fn finds_group_and_pressure(recording: &Recording, pid: u32, group: &str) {
    let entities = &recording.timeline.entities;
    let start = format!("pid:{pid}@");
    let target = entities
        .iter()
        .find(|record| record.entity.path.starts_with(&start))
        .expect("by its number on the host");
    assert_eq!(target.role, model::Role::Target);
    let own_group = target.pressure_group.expect("it is in a v2 group");
    let placed = target.group.unwrap_or(own_group);
    assert!(entities.get(placed).is_some(), "its group is found");
    let path = &entities.get(own_group).expect("it is recorded").entity.path;
    assert!(path.ends_with(group), "{path}");
    let pressure = recording
        .timeline
        .series("cgroup_pressure", own_group, "cpu_some_ns");
    assert!(!needs::pressure() || pressure.is_some());
}

/// As an ordinary user: a user namespace, and in it all others.
const WITHOUT_RIGHTS: &str = r#"
    exec setpriv --reuid=65534 --regid=65534 --clear-groups -- \
        unshare --user --map-root-user --pid --fork --mount-proc --cgroup --net sh -c '
            echo entered >entered; sleep 30 & "$0" record -qv --target pid:$! --for 3s --json report.json; s=$?; kill $!; exit $s' "$PWD/copy""#;

#[test]
fn a_container_without_rights_records_itself() {
    if !needs::root() || !needs::program("setpriv") || !needs::program("unshare") {
        return;
    }
    let place = Place::new();
    fs::copy(env!("CARGO_BIN_EXE_stallscope"), place.path().join("copy")).expect("it is a file");
    std::os::unix::fs::chown(place.path(), Some(65_534), Some(65_534)).expect("root may");
    let ended = Running::start(place.shell(WITHOUT_RIGHTS)).end();
    if !place.path().join("entered").exists() {
        needs::skip("an ordinary user can make no container here");
        return;
    }
    ended.status(0).says("Not collected");
    let recording = place.opened();
    let processes = recording
        .timeline
        .entities
        .of_kind(model::EntityKind::Process);
    assert!(
        processes.count() <= 5,
        "only those of the container are shown"
    );
}
