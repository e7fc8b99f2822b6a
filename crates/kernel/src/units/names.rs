//! The names of containers, from the files of their engines.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use serde_json::Value;

use super::Engine;
use crate::{local_files, process_list};

/// A container's description is some 10 KB; the list of all of Podman's grows with their number.
const MOST_BYTES: u64 = 4 << 20;

/// What people call a container: its name, or of one in a pod `NAMESPACE/POD/CONTAINER`.
pub(super) fn of(root: &Path, engine: Engine, id: &str) -> Option<String> {
    match engine {
        Engine::Docker => docker(root, id).or_else(|| containerd(root, id)),
        Engine::Podman => podman(root, id),
        Engine::Containerd => containerd(root, id).or_else(|| kubernetes(root, id)),
        Engine::Crio => crio(root, id).or_else(|| kubernetes(root, id)),
        Engine::Unknown => docker(root, id)
            .or_else(|| containerd(root, id))
            .or_else(|| crio(root, id))
            .or_else(|| kubernetes(root, id)),
    }
}

fn docker(root: &Path, id: &str) -> Option<String> {
    let file = |data: &Path| data.join("containers").join(id).join("config.v2.json");
    let moved = || json(&file(&docker_data(root)?));
    let config = json(&file(&root.join("var/lib/docker"))).or_else(moved)?;
    // The kubelet's, from the time when it used Docker.
    let labels = &config["Config"]["Labels"];
    let name = || text(&config["Name"]).map(|name| name.trim_start_matches('/').to_owned());
    in_pod(
        labels,
        [
            "io.kubernetes.pod.namespace",
            "io.kubernetes.pod.name",
            "io.kubernetes.container.name",
        ],
    )
    .or_else(name)
}

/// Where an administrator moved Docker's data to (dockerd(8), `data-root`).
fn docker_data(root: &Path) -> Option<PathBuf> {
    let settings = json(&root.join("etc/docker/daemon.json"))?;
    let path = text(&settings["data-root"])?;
    Some(root.join(path.trim_start_matches('/')))
}

/// What Podman's storage calls it now; else what its monitor was told at the start, where the storage cannot be read.
fn podman(root: &Path, id: &str) -> Option<String> {
    let mut storages = vec![root.join("var/lib/containers/storage")];
    // Those of users without root's rights.
    let homes = fs::read_dir(root.join("home")).into_iter().flatten();
    let homes = homes.flatten().map(|home| home.path());
    storages.extend(homes.map(|home| home.join(".local/share/containers/storage")));
    let folders = storages.iter().flat_map(|storage| {
        let drivers = ["overlay", "vfs", "btrfs", "zfs"];
        drivers.map(|driver| storage.join(format!("{driver}-containers")))
    });
    let mut folders = folders.into_iter();
    let usual = folders.find_map(|folder| stored(&folder, id));
    usual.or_else(|| {
        let proc = root.join("proc");
        let monitor = conmon(root, id)?;
        let moved = bundle_folder(root, monitor, id);
        let moved = moved.and_then(|folder| stored(&folder, id));
        moved.or_else(|| process_list::option_of(&proc, monitor, "-n"))
    })
}

/// The name in a storage's list of containers, or of those that are removed when they end (`--rm`).
fn stored(folder: &Path, id: &str) -> Option<String> {
    let lists = ["containers.json", "volatile-containers.json"];
    lists.into_iter().find_map(|list| {
        let all = json(&folder.join(list))?;
        let own = all.as_array()?.iter().find(|own| own["id"] == id)?;
        text(&own["names"][0])
    })
}

/// The container's monitor, which runs as long as the container.
fn conmon(root: &Path, id: &str) -> Option<u32> {
    let pids = process_list::pids(&root.join("proc"));
    let mut pids = pids.into_iter();
    pids.find(|pid| monitored(root, *pid).is_some_and(|of| of == id))
}

/// The id of the container that a monitor looks after; `None` where that process is none.
pub(super) fn monitored(root: &Path, pid: u32) -> Option<String> {
    let proc = root.join("proc");
    process_list::program_name(&proc, pid).filter(|name| name == "conmon")?;
    process_list::option_of(&proc, pid, "-c")
}

/// The folder of a storage at a place of its own, from the container's folder in it that the monitor was told:
/// `STORAGE/DRIVER-containers/ID/userdata`.
fn bundle_folder(root: &Path, monitor: u32, id: &str) -> Option<PathBuf> {
    let bundle = process_list::option_of(&root.join("proc"), monitor, "-b")?;
    let folder = bundle.strip_suffix(&format!("/{id}/userdata"))?;
    let folder = folder
        .strip_prefix('/')
        .filter(|folder| !folder.is_empty())?;
    Some(root.join(folder))
}

/// The description that containerd hands to the runtime, by the namespace of whoever asked for it.
fn containerd(root: &Path, id: &str) -> Option<String> {
    let tasks = root.join("run/containerd/io.containerd.runtime.v2.task");
    let namespaces = fs::read_dir(tasks).into_iter().flatten().flatten();
    namespaces.into_iter().find_map(|namespace| {
        let config = json(&namespace.path().join(id).join("config.json"))?;
        let notes = &config["annotations"];
        let keys = [
            "io.kubernetes.cri.sandbox-namespace",
            "io.kubernetes.cri.sandbox-name",
            "io.kubernetes.cri.container-name",
        ];
        in_pod(notes, keys).or_else(|| text(&notes["nerdctl/name"]))
    })
}

fn crio(root: &Path, id: &str) -> Option<String> {
    let storage = root.join("run/containers/storage/overlay-containers");
    let config = json(&storage.join(id).join("userdata/config.json"))?;
    let keys = [
        "io.kubernetes.pod.namespace",
        "io.kubernetes.pod.name",
        "io.kubernetes.container.name",
    ];
    in_pod(&config["annotations"], keys)
}

/// The kubelet's links to logs: `POD_NAMESPACE_CONTAINER-ID.log`.
fn kubernetes(root: &Path, id: &str) -> Option<String> {
    let logs = fs::read_dir(root.join("var/log/containers")).ok()?;
    logs.flatten().find_map(|log| {
        let name = log.file_name().into_string().ok()?;
        let own = name.strip_suffix(&format!("-{id}.log"))?;
        let mut parts = own.split('_');
        let (pod, namespace, container) = (parts.next()?, parts.next()?, parts.next()?);
        Some(format!("{namespace}/{pod}/{container}"))
    })
}

/// A name from these three keys, if all are there.
fn in_pod(notes: &Value, keys: [&str; 3]) -> Option<String> {
    let parts = keys.map(|key| text(&notes[key]));
    let parts: Vec<String> = parts.into_iter().collect::<Option<_>>()?;
    Some(parts.join("/"))
}

fn text(value: &Value) -> Option<String> {
    let text = value.as_str().filter(|text| !text.is_empty());
    text.map(str::to_owned)
}

/// Reads a file that a user may have put there: one that is regular, on a filesystem that is sure to answer.
fn json(file: &Path) -> Option<Value> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    local_files::owner(&mounts, file.to_str()?)?;
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = File::from(rustix::fs::open(file, flags, Mode::empty()).ok()?);
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}
