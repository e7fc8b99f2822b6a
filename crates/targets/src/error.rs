//! Errors in finding a target, as sentences: what failed, on what, and what to do.

/// Why a target could not be found.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Error {
    /// The argument has no known form.
    #[error("{problem} {FORMS}")]
    Form {
        /// The mistake in the argument, as a sentence.
        problem: String,
    },
    /// Nothing listens on the port.
    #[error("no process listens on port {port} (listening here: {listening}). {}", .other.map_or(START_IT.to_owned(), name_other))]
    NoListener {
        /// The requested port.
        port: u16,
        /// The listening sockets, from `listening_here`.
        listening: String,
        /// A port on which something does listen.
        other: Option<u16>,
    },
    /// Something listens, but this user may not see which process.
    #[error("cannot see who listens on port {port}: run as root, or name it: --target pid:N")]
    HiddenListener {
        /// The requested port.
        port: u16,
        /// The socket's owner.
        uid: u32,
    },
    /// Something listens that is no visible process.
    #[error(
        "no process that can be seen from here listens on port {port}, although the port is taken: \
         its server is the kernel or in another container. Name it: --target pid:N, or cgroup:PATH"
    )]
    InvisibleListener {
        /// The requested port.
        port: u16,
    },
    /// This user may not see which process serves, and the socket's owner does not decide it.
    #[error("cannot see who serves {endpoint}: run as root, or name it: --target pid:N")]
    HiddenServer {
        /// The end that a client connects to.
        endpoint: String,
    },
    /// The socket's owner runs several programs.
    #[error(
        "cannot see who serves {endpoint}: it belongs to user {uid}, who runs {}. \
         Name one: --target pid:{}, or run as root", listed(.candidates), .candidates.first().map_or(0, |first| first.0)
    )]
    Candidates {
        /// The end that a client connects to.
        endpoint: String,
        /// The owner.
        uid: u32,
        /// The owner's programs: pid and name.
        candidates: Vec<(u32, String)>,
    },
    /// No such process.
    #[error("no process {pid} is alive. Name one that is: --target pid:N, or name:REGEX")]
    NotAlive {
        /// The requested pid.
        pid: u32,
    },
    /// No process has such a name.
    #[error(
        "no process matches name:{pattern}. Names are those that `ps -e` shows; or say --target port:N"
    )]
    NoMatch {
        /// The requested pattern.
        pattern: String,
    },
    /// The target is part of the measurement itself.
    #[error("{spec} is Stallscope or its load generator: name the program that serves the load")]
    Measuring {
        /// The requested target.
        spec: String,
    },
    /// There is no such cgroup.
    #[error(
        "there is no cgroup {path} ({mounts}). `cat /proc/PID/cgroup` shows the path of a process"
    )]
    NoCgroup {
        /// The requested path.
        path: String,
        /// The mounts that were searched.
        mounts: String,
    },
    /// The cgroup is empty.
    #[error(
        "the cgroup {path} has no process: start the program first, or name another: --target pid:N"
    )]
    EmptyCgroup {
        /// The requested path.
        path: String,
    },
    /// No cgroup belongs to such a unit.
    #[error(
        "no unit {name} is running: no cgroup has that name. `systemctl status {name}` tells more"
    )]
    NoUnit {
        /// The requested name.
        name: String,
    },
}

const FORMS: &str = "A target is port:5432, cgroup:PATH, unit:NAME, pid:N or name:REGEX, \
    with dependency= or generator= before it when it does not serve the load itself";

const START_IT: &str = "Start the server first, or name it: --target pid:N";

fn name_other(port: u16) -> String {
    format!("Name another: --target port:{port}")
}

fn listed(candidates: &[(u32, String)]) -> String {
    const MOST: usize = 6;
    let shown: Vec<String> = candidates
        .iter()
        .take(MOST)
        .map(|(pid, comm)| format!("{comm} ({pid})"))
        .collect();
    match candidates.len().saturating_sub(MOST) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
