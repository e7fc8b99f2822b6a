//! Real containers beside a recording of the whole machine: they stand there under the names that a person gave.

use std::fs;
use std::process::{Command, Output};

use model::UnitKind;

use crate::needs;
use crate::place::{JSON, Place};
use crate::postgres;

/// Podman's own limits are more than a container may set in which the tests themselves run.
const SETTINGS: &str = r#"[containers]
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "none"
"#;

/// An image of busybox alone.
const PACK: &str = "mkdir -p rootfs/bin rootfs/dev rootfs/etc rootfs/proc rootfs/sys rootfs/tmp &&
    cp \"$(command -v busybox)\" rootfs/bin/ && tar -C rootfs -cf busy.tar .";

/// Ends by itself if the test is killed, as all that runs in containers here.
const BUSY: [&str; 8] = [
    "busy",
    "/bin/busybox",
    "timeout",
    "60",
    "/bin/busybox",
    "sh",
    "-c",
    "while :; do :; done",
];
const IDLE: &str = "/bin/busybox sleep 60";

/// Podman with storage of its own in a temporary folder: nothing that is there already is touched.
struct Podman<'a> {
    place: &'a Place,
    runtime: &'a str,
}

impl Podman<'_> {
    /// # Errors
    /// Podman's own words.
    fn run(&self, arguments: &[&str]) -> Result<(), String> {
        let mut podman = Command::new("podman");
        let folder = self.place.path();
        podman.env("CONTAINERS_CONF", folder.join("containers.conf"));
        for (option, own) in [
            ("--root", "store"),
            ("--runroot", "run"),
            ("--tmpdir", "tmp"),
        ] {
            podman.arg(option).arg(folder.join(own));
        }
        podman.args(["--storage-driver", "vfs", "--runtime", self.runtime]);
        podman.current_dir(folder).args(arguments);
        said(&podman.output().expect("it can be started"))
    }

    /// A container that keeps a CPU busy, by itself or in a pod.
    fn start(&self, name: &str, place: [&str; 2]) -> Result<(), String> {
        let run = ["run", "--detach", "--name", name];
        self.run(&[&run[..], &place, &BUSY].concat())
    }

    fn clean(&self) -> Result<(), String> {
        self.run(&["pod", "rm", "--all", "--force", "--time", "0"])?;
        self.run(&["rm", "--all", "--force", "--time", "0"])
    }
}

impl Drop for Podman<'_> {
    fn drop(&mut self) {
        if let Err(why) = self.clean() {
            println!("Podman left containers, which end after a minute: {why}");
        }
    }
}

/// Podman with a first container, by the first runtime that can have it: crun refuses hybrid control groups, and
/// not every machine has runc.
///
/// # Errors
/// What Podman said with each runtime.
fn started<'a>(place: &'a Place, name: &str) -> Result<Podman<'a>, String> {
    place.write("containers.conf", SETTINGS);
    said(&place.shell(PACK).output().expect("a shell"))?;
    let mut refused = Vec::new();
    for runtime in ["crun", "runc"] {
        let podman = Podman { place, runtime };
        let first = podman.run(&["import", "busy.tar", "busy"]);
        match first.and_then(|()| podman.start(name, ["--network", "none"])) {
            Ok(()) => return Ok(podman),
            Err(why) => refused.push(format!("{runtime}: {why}")),
        }
    }
    Err(refused.join("; ").replace('\n', " "))
}

/// # Errors
/// What was said on standard error.
fn said(output: &Output) -> Result<(), String> {
    let words = || String::from_utf8_lossy(&output.stderr).trim().to_owned();
    output.status.success().then_some(()).ok_or_else(words)
}

#[test]
fn a_container_of_podman_stands_under_its_name() {
    let has_programs = needs::program("podman") && needs::program("busybox");
    if !needs::root() || !has_programs {
        return;
    }
    let _alone = postgres::alone();
    let place = Place::new();
    let own = |name: &str| format!("{name}-{}", std::process::id());
    let (first, renamed, in_pod, pod) = (own("old"), own("e2e"), own("in-pod"), own("pod"));
    let podman = match started(&place, &first) {
        Ok(podman) => podman,
        Err(why) => return needs::skip(&format!("Podman starts no container here: {why}")),
    };
    let network = ["--network", "none"];
    let infra = ["--infra-image", "busy", "--infra-command", IDLE];
    let create = ["pod", "create", "--name", &pod];
    let steps = podman
        .run(&[&create[..], &network, &infra].concat())
        .and_then(|()| podman.start(&in_pod, ["--pod", &pod]))
        // The container's monitor keeps the first name.
        .and_then(|()| podman.run(&["rename", &first, &renamed]));
    steps.expect("what a first container could have, a second can");
    let options = ["record", "--for", "3s", "--top", "1", "--json", JSON];
    let ended = place.run(&options);
    drop(podman);
    let machine = place.report().machine.expect("the machine was recorded");
    ended.status(0);
    for name in [&renamed, &in_pod] {
        ended.says(&format!("{name} (container)"));
        let found = machine.units.iter().find(|unit| unit.name == *name);
        let unit = found.unwrap_or_else(|| panic!("{name} in {:?}", machine.units));
        assert_eq!(unit.kind, UnitKind::Container);
        assert!(unit.target.contains("/libpod-"), "{}", unit.target);
    }
    let left = fs::read_dir(place.path().join("store/vfs-containers")).expect("its storage");
    let left = left.flatten().filter(|entry| entry.path().is_dir());
    assert_eq!(left.count(), 0, "the containers were removed");
}
