//! Paths as systems have them, and the files of engines.

use super::*;

const ID: &str = "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0";

fn of(path: &str) -> Option<(&'static str, String, String)> {
    let path = path.replace("ID", ID);
    let unit = GroupUnit::of(&path)?;
    let group = unit.unit.group.clone().unwrap_or_default();
    Some((unit.unit.kind.word(), unit.name, group.replace(ID, "ID")))
}

fn is(path: &str, kind: &str, name: &str, group: &str) {
    let found = of(path);
    let found = found
        .as_ref()
        .map(|(kind, name, group)| (*kind, &**name, &**group));
    assert_eq!(found, Some((kind, name, group)), "{path}");
}

#[test]
fn a_path_says_what_runs_in_it() {
    let service = "/system.slice/nginx.service";
    is(service, "service", "nginx", service);
    is(
        "/system.slice/nginx.service/worker",
        "service",
        "nginx",
        service,
    );
    let template = "/system.slice/system-postgresql.slice/postgresql@15-main.service";
    is(template, "service", "postgresql@15-main", template);
    let app = "/user.slice/user-1000.slice/user@1000.service/app.slice/app-editor.scope";
    is(app, "service", "app-editor", app);
    let short = &ID[..12];
    for path in [
        "/system.slice/docker-ID.scope",
        "/docker/ID",
        "/machine.slice/libpod-ID.scope",
        "/kubepods.slice/kubepods-pod1.slice/cri-containerd-ID.scope",
        "/kubepods/burstable/pod1/ID",
        "/kubepods.slice/kubepods-pod1.slice/crio-ID.scope",
        "/system.slice/web.service/libpod-payload-ID",
    ] {
        is(path, "container", short, path);
    }
    is(
        "/machine.slice/libpod-ID.scope/container",
        "container",
        short,
        "/machine.slice/libpod-ID.scope",
    );
    is(
        "/docker/ID/system.slice/nginx.service",
        "container",
        short,
        "/docker/ID",
    );
    is(
        "/lxc.payload.web/init.scope",
        "container",
        "web",
        "/lxc.payload.web",
    );
    let machine = r"/machine.slice/machine-qemu\x2d3\x2dweb\x2d1.scope";
    is(
        &format!("{machine}/libvirt/emulator"),
        "virtual machine",
        "web-1",
        machine,
    );
    is(
        "/machine/qemu-1-db.libvirt-qemu/emulator",
        "virtual machine",
        "db",
        "/machine/qemu-1-db.libvirt-qemu",
    );
    is("/batch/job7", "group", "job7", "/batch/job7");
    let id = "/api/0537f76c58b11d33931f34768aadd58d";
    is(id, "group", "0537f76c58b1", id);
}

#[test]
fn a_containers_monitor_is_called_after_it_and_is_no_container() {
    let monitor = format!("conmon of {}", &ID[..12]);
    for path in [
        "/machine.slice/libpod-conmon-ID.scope",
        "/system.slice/crio-conmon-ID.scope",
    ] {
        is(path, "group", &monitor, path);
    }
    let list = "var/lib/containers/storage/overlay-containers/containers.json";
    let text = r#"[{"id":"ID","names":["shop"]}]"#;
    let said = named("/machine.slice/libpod-conmon-ID.scope", &[(list, text)]);
    assert_eq!(said, "conmon of shop");
    // Of a pod with control groups of Podman's own making.
    let pod = "/libpod_parent/ID/conmon";
    is(pod, "group", "conmon", pod);
}

#[test]
fn a_login_and_the_root_say_nothing() {
    for path in [
        "/",
        "",
        "/init.scope",
        "/user.slice/user-1000.slice/session-3.scope",
        "/user.slice/user-1000.slice/user@1000.service",
        "/../../other",
    ] {
        assert_eq!(of(path), None, "{path}");
    }
}

fn named(path: &str, files: &[(&str, &str)]) -> String {
    let root = tempfile::tempdir().expect("a temporary folder");
    for (file, text) in files {
        let file = root.path().join(file.replace("ID", ID));
        let folder = file.parent().expect("it is in a folder");
        std::fs::create_dir_all(folder).expect("a folder");
        std::fs::write(&file, text.replace("ID", ID)).expect("a file");
    }
    let unit = GroupUnit::of(&path.replace("ID", ID)).expect("a container");
    unit.named(root.path()).name
}

#[test]
fn engines_keep_the_names_that_people_gave() {
    let docker = "var/lib/docker/containers/ID/config.v2.json";
    let said = named("/docker/ID", &[(docker, r#"{"ID":"ID","Name":"/web"}"#)]);
    assert_eq!(said, "web");
    for list in [
        "var/lib/containers/storage/overlay-containers/containers.json",
        "home/ann/.local/share/containers/storage/vfs-containers/containers.json",
        // Of one that was started with `--rm`.
        "var/lib/containers/storage/overlay-containers/volatile-containers.json",
    ] {
        let text = r#"[{"id":"77","names":["no"]},{"id":"ID","names":["shop"],"layer":"1"}]"#;
        assert_eq!(named("/x/libpod-ID.scope", &[(list, text)]), "shop");
    }
    let pod = r#"{"annotations":{"io.kubernetes.cri.container-name":"api",
        "io.kubernetes.cri.sandbox-name":"api-7d9","io.kubernetes.cri.sandbox-namespace":"prod"}}"#;
    let task = "run/containerd/io.containerd.runtime.v2.task/k8s.io/ID/config.json";
    let scope = "/kubepods.slice/cri-containerd-ID.scope";
    assert_eq!(named(scope, &[(task, pod)]), "prod/api-7d9/api");
    let log = "var/log/containers/api-7d9_prod_api-ID.log";
    assert_eq!(named("/kubepods/pod1/ID", &[(log, "")]), "prod/api-7d9/api");
    let crio = "run/containers/storage/overlay-containers/ID/userdata/config.json";
    let notes = r#"{"annotations":{"io.kubernetes.container.name":"db",
        "io.kubernetes.pod.name":"db-0","io.kubernetes.pod.namespace":"prod"}}"#;
    let scope = "/kubepods.slice/crio-ID.scope";
    assert_eq!(named(scope, &[(crio, notes)]), "prod/db-0/db");
}

#[test]
fn what_has_no_readable_name_keeps_its_short_id() {
    let docker = "var/lib/docker/containers/ID/config.v2.json";
    for text in ["", "{", r#"{"Name":7}"#, r#"{"Name":""}"#, "[]"] {
        assert_eq!(named("/docker/ID", &[(docker, text)]), ID[..12]);
    }
    assert_eq!(named("/docker/ID", &[]), ID[..12]);
}

/// What engines really wrote; `fixtures/engines/README.md` says which, and how it was captured.
mod captured {
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::super::{GroupUnit, monitored};

    fn fixture(name: &str) -> PathBuf {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/engines");
        folder.join(name)
    }

    /// The unit of a captured `cgroup` file's process, by its CPU's group.
    fn unit(engine: &str) -> GroupUnit {
        let text = fs::read(fixture(engine).join("cgroup")).expect("it was captured");
        let groups = crate::groups_of(&text);
        let path = String::from_utf8_lossy(groups.cpu.expect("a group")).into_owned();
        GroupUnit::of(&path).expect("a unit")
    }

    fn id(unit: &GroupUnit) -> String {
        let group = unit.unit.group.as_deref().expect("a group");
        let last = group.rsplit('/').next().expect("a name");
        last.trim_start_matches("libpod-").to_owned()
    }

    fn put(root: &Path, place: &str, content: impl AsRef<[u8]>) {
        let file = root.join(place);
        fs::create_dir_all(file.parent().expect("it is in a folder")).expect("a folder");
        fs::write(file, content).expect("a file");
    }

    #[test]
    fn dockers_name_is_read_also_where_its_data_was_moved_to() {
        let config = fs::read(fixture("docker/config.v2.json")).expect("it was captured");
        for data in ["var/lib/docker", "srv/docker"] {
            let root = tempfile::tempdir().expect("a temporary folder");
            let own = unit("docker");
            let place = format!("{data}/containers/{}/config.v2.json", id(&own));
            put(root.path(), &place, &config);
            if data == "srv/docker" {
                let settings = r#"{"data-root": "/srv/docker"}"#;
                put(root.path(), "etc/docker/daemon.json", settings);
            }
            assert_eq!(own.unit.kind.word(), "container");
            assert_eq!(own.named(root.path()).name, "web", "{data}");
        }
    }

    #[test]
    fn podmans_name_is_read_from_its_storage_or_from_the_containers_monitor() {
        let own = unit("podman");
        assert_eq!(own.unit.kind.word(), "container");
        let root = tempfile::tempdir().expect("a temporary folder");
        assert_eq!(own.clone().named(root.path()).name, id(&own)[..12]);
        let line = fs::read(fixture("podman/conmon.cmdline")).expect("it was captured");
        put(root.path(), "proc/77/cmdline", &line);
        assert_eq!(own.clone().named(root.path()).name, "web-runc");
        assert_eq!(monitored(root.path(), 77).as_deref(), Some("web-runc"));
        assert_eq!(monitored(root.path(), 78), None);
        // The monitor is not told when the container is renamed; the list beside its folder has the new name.
        let text = fs::read_to_string(fixture("podman/containers.json")).expect("it was captured");
        let place = "tmp/ctr-try/store/vfs-containers/containers.json";
        put(root.path(), place, text.replace("web-runc", "shop"));
        assert_eq!(own.clone().named(root.path()).name, "shop");
        assert_eq!(monitored(root.path(), 77).as_deref(), Some("shop"));
        let root = tempfile::tempdir().expect("a temporary folder");
        let list = fs::read(fixture("podman/containers.json")).expect("it was captured");
        let place = "var/lib/containers/storage/vfs-containers/containers.json";
        put(root.path(), place, list);
        assert_eq!(own.named(root.path()).name, "web-runc");
    }

    #[test]
    fn what_ctr_starts_has_a_group_by_its_name() {
        let own = unit("containerd");
        let root = tempfile::tempdir().expect("a temporary folder");
        let config = fs::read(fixture("containerd/config.json")).expect("it was captured");
        let place = "run/containerd/io.containerd.runtime.v2.task/default/web/config.json";
        put(root.path(), place, config);
        let found = own.named(root.path());
        assert_eq!((found.unit.kind.word(), &*found.name), ("group", "web"));
    }
}
