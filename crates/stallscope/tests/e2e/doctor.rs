//! `doctor`: over machines that are drawn as files, and over this one, as root, as nobody, and shut in.

use std::fs;
use std::path::Path;

use expect_test::expect_file;
use model::{Availability, DoctorReport};

use crate::needs;
use crate::place::Place;
use crate::process::Running;

/// Writes the files of a drawn machine: `PATH = CONTENT` a line, `\n` for a line end in the content.
fn draw(place: &Place, drawing: &str) {
    for line in drawing.lines().filter(|line| !line.is_empty()) {
        let (path, content) = line.split_once(" = ").expect("a path and its content");
        let path = place.path().join("machine").join(path);
        fs::create_dir_all(path.parent().expect("it is in a folder")).expect("a folder");
        fs::write(path, content.replace("\\n", "\n")).expect("it can be written");
    }
}

fn golden(name: &str, drawing: &str) {
    let place = Place::new();
    draw(&place, drawing);
    let ended = place.run(&["doctor", "--root", "machine"]);
    ended.status(0);
    let text = ended.out_text();
    assert!(
        text.lines().all(|line| line.chars().count() <= 100),
        "{text}"
    );
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/doctor");
    expect_file![folder.join(format!("{name}.txt"))].assert_eq(&text);
}

macro_rules! machine {
    ($test:ident, $name:literal) => {
        #[test]
        fn $test() {
            golden(
                $name,
                include_str!(concat!("../../fixtures/doctor/", $name, ".machine")),
            );
        }
    };
}

machine!(rhel_8_as_it_comes, "rhel-8");
machine!(ubuntu_in_a_virtual_machine, "ubuntu-24.04");
machine!(a_raspberry_pi, "raspberry-pi");
machine!(an_old_container, "container-v1");

/// The hosts that are played to `record` are looked at too: what their README says of the tick, 100,
/// 250 or 1000 a second, the program finds where distributions write it.
#[test]
fn the_tick_of_every_host_is_what_its_readme_says() {
    let hosts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/hosts");
    let mut told = std::collections::BTreeSet::new();
    for host in fs::read_dir(hosts).expect("it is there") {
        let host = host.expect("it can be read").path();
        let Ok(readme) = fs::read_to_string(host.join("README")) else {
            continue;
        };
        let Some((_, rest)) = readme.split_once("HZ=") else {
            continue;
        };
        let hz: String = rest.chars().take_while(char::is_ascii_digit).collect();
        if !host.join("boot").exists() {
            continue;
        }
        let place = Place::new();
        let ended = place.run(&["doctor", "-v", "--root", &host.to_string_lossy()]);
        ended.status(0);
        let said = format!("HZ is {hz} (by /boot/config-");
        assert!(ended.out_text().contains(&said), "{host:?}: {said}");
        told.insert(hz);
    }
    assert_eq!(told.into_iter().collect::<Vec<_>>(), ["100", "1000", "250"]);
}

/// What the program says as JSON of this machine.
fn survey(command: &str) -> Option<DoctorReport> {
    let place = Place::new();
    let ended = Running::start(place.shell(command)).end();
    if ended.status == 99 {
        return None;
    }
    ended.status(0);
    Some(serde_json::from_str(&ended.out_text()).expect("the documented JSON"))
}

fn is(survey: &DoctorReport, check: &str) -> Availability {
    let found = survey.capabilities.iter().find(|it| it.check == check);
    found.expect("it is a check").availability
}

#[test]
fn this_machine_is_told_as_text_and_as_json() {
    let place = Place::new();
    let short = place.run(&["doctor"]);
    short.status(0);
    let short = short.out_text();
    assert!(short.lines().count() <= 25, "{short}");
    assert!(short.contains("Fine: "), "{short}");
    let ended = place.run(&["doctor", "-v"]);
    ended.status(0);
    let text = ended.out_text();
    assert!(text.starts_with("Stallscope "), "{text}");
    let survey = survey("exec \"$0\" doctor --json").expect("it ran");
    assert_eq!(survey.schema, model::DOCTOR_SCHEMA);
    for it in &survey.capabilities {
        assert!(text.contains(&it.title()), "{}", it.check);
    }
    // Text and file side by side.
    place.run(&["doctor", "--json", "survey.json"]).status(0);
    let kept: DoctorReport =
        serde_json::from_str(&place.read("survey.json")).expect("the same JSON");
    assert_eq!(kept.machine, survey.machine);
    if needs::pressure() {
        assert_eq!(is(&survey, "pressure"), Availability::Fine);
    }
}

#[test]
fn an_ordinary_user_is_told_which_rights_lack() {
    if !needs::root() || !needs::program("setpriv") {
        return;
    }
    let place = Place::new();
    fs::copy(env!("CARGO_BIN_EXE_stallscope"), place.path().join("copy")).expect("it is a file");
    let command = "exec setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs -- ./copy doctor --json";
    let ended = Running::start(place.shell(command)).end();
    ended.status(0);
    let survey: DoctorReport =
        serde_json::from_str(&ended.out_text()).expect("the documented JSON");
    assert_eq!(is(&survey, "other_users"), Availability::Missing);
    assert_eq!(is(&survey, "recordings"), Availability::Missing);
    let rights = survey
        .capabilities
        .iter()
        .find(|it| it.check == "other_users");
    let commands = &rights
        .and_then(|it| it.fix.as_ref())
        .expect("it can be mended")
        .commands;
    assert!(
        commands[0].starts_with("sudo setcap ") && commands[0].ends_with("/copy"),
        "{commands:?}"
    );
}

#[test]
fn namespaces_of_ones_own_are_noticed() {
    if !needs::root() || !needs::program("unshare") {
        return;
    }
    let command = "unshare --pid --fork --cgroup --mount-proc true || exit 99; \
        exec unshare --pid --fork --cgroup --mount-proc \"$0\" doctor --json";
    let Some(survey) = survey(command) else {
        needs::skip("no namespaces can be made here");
        return;
    };
    assert_eq!(is(&survey, "container"), Availability::Missing);
}

#[test]
fn hidden_pressure_is_told_from_pressure_that_is_off() {
    if !needs::root() || !needs::program("unshare") || !needs::pressure() {
        return;
    }
    let command = "exec unshare -m --propagation private sh -c \
        'mount -t tmpfs none /proc/pressure || exit 99; exec \"$0\" doctor --json' \"$0\"";
    let Some(survey) = survey(command) else {
        needs::skip("nothing can be mounted over /proc/pressure here");
        return;
    };
    assert_eq!(is(&survey, "pressure"), Availability::Missing);
    assert!(
        survey.summary.contains("missing: pressure"),
        "{}",
        survey.summary
    );
}

#[test]
fn a_folder_that_is_no_machine_is_an_error() {
    let place = Place::new();
    place
        .run(&["doctor", "--root", "."])
        .status(2)
        .says("no machine's files stand in .: cannot read ./proc: ")
        .says("Name the folder that holds proc and sys with --root");
    place
        .run(&["record", "--root", "."])
        .status(2)
        .says("no machine's files stand in .");
}
