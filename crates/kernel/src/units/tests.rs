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
