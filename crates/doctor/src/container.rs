//! Whether this is a container, and how it would have to be started instead.

use super::answer::Answer;
use super::engine::engine_of;
use super::host_facts::HostFacts;
use super::probes::Probes;

const COSTS: &str = "Whatever runs outside: cpu.neighbour and io.neighbour have no name, and a server has to run in the same \
    container to be found.";

/// Whether all of the machine is visible from here.
pub(super) fn check(host: &HostFacts<'_>) -> Answer {
    let Some(probes) = &host.probes else {
        return match engine_of(host.tree) {
            Some(engine) => Answer::missing(format!(
                "These are the files of a container ({}).",
                engine.sign
            ))
            .costs(COSTS)
            .fixed_by(host.type_in(engine.how, engine.commands)),
            None => Answer::fine("Nothing among these files is a container's."),
        };
    };
    let namespaces = [
        (probes.initial_pid_ns, "processes"),
        (probes.initial_cgroup_ns, "control groups"),
        (probes.initial_user_ns, "users"),
    ];
    let hidden: Vec<_> = namespaces
        .into_iter()
        .filter_map(|(own, what)| (!own).then_some(what))
        .collect();
    if hidden.is_empty() {
        return Answer::fine(
            "This process is in the machine's first namespaces of processes, control groups and users.",
        );
    }
    if host.is_elsewhere {
        return Answer::fine(
            "This process is in a container, and the host's files are read: give `record` the same --root.",
        );
    }
    let sign = engine_of(host.tree).map_or(String::new(), |it| format!(" ({})", it.sign));
    let answer = Answer::missing(format!(
        "This process is in a container{sign}, with namespaces of its own for {}: of these it sees its own only.",
        hidden.join(", ")
    ));
    let Some(engine) = engine_of(host.tree) else {
        let outside = "run Stallscope outside of it; docs/doctor.md says what Docker, Podman and Kubernetes need";
        return answer.costs(COSTS).fixed_by(host.type_in(outside, &[]));
    };
    let mut fix = host.type_in(engine.how, engine.commands);
    if is_confined(probes) {
        for command in &mut fix.commands {
            *command = command.replace(" IMAGE", " --security-opt apparmor=unconfined IMAGE");
        }
    }
    answer.costs(COSTS).fixed_by(fix)
}

/// Whether AppArmor forbids a look into processes of other containers and of the host.
fn is_confined(probes: &Probes) -> bool {
    probes.profile.ends_with("(enforce)")
}
