//! Container engines, by the files that they leave in their containers.

use super::tree::Tree;

/// A container engine.
#[derive(Clone, Copy)]
pub(super) struct Engine {
    pub(super) sign: &'static str,
    pub(super) how: &'static str,
    pub(super) commands: &'static [&'static str],
}

const RECORD: &str = "stallscope record --root /host --for 30s";

/// The file that marks each engine. With several, the last present one counts: a pod's container may have
/// another engine's file too.
static ENGINES: [(&str, Engine); 3] = [
    (
        ".dockerenv",
        Engine {
            sign: "Docker's, by /.dockerenv",
            how: "ask the one who starts it for this, then record from inside",
            commands: &[
                "docker run --pid=host --cgroupns=host --cap-add=SYS_PTRACE --cap-add=DAC_READ_SEARCH --cap-add=SYS_NICE --cap-add=IPC_LOCK -v /:/host:ro IMAGE",
                RECORD,
            ],
        },
    ),
    (
        "run/.containerenv",
        Engine {
            sign: "Podman's, by /run/.containerenv",
            how: "ask the one who starts it for this, as root (sudo podman), then record from inside",
            commands: &[
                "podman run --pid=host --cgroupns=host --cap-add=SYS_PTRACE --cap-add=DAC_READ_SEARCH --cap-add=SYS_NICE --cap-add=IPC_LOCK -v /:/host:ro IMAGE",
                RECORD,
            ],
        },
    ),
    (
        "run/secrets/kubernetes.io/serviceaccount/namespace",
        Engine {
            sign: "Kubernetes', by /run/secrets/kubernetes.io",
            how: "ask for this in the pod (hostPID: true; a hostPath volume of / mounted at /host; securityContext: capabilities: add: [SYS_PTRACE, DAC_READ_SEARCH, SYS_NICE, IPC_LOCK]), then record from inside",
            commands: &[RECORD],
        },
    ),
];

/// The engine that runs this container, by the files that engines leave.
pub(super) fn engine_of(tree: &dyn Tree) -> Option<Engine> {
    let is_there = |path: &str| tree.read(path).is_ok();
    // Kubernetes runs on top of other engines.
    let found = ENGINES.iter().rev().find(|(sign, _)| is_there(sign));
    found.map(|(_, engine)| *engine)
}
