//! `run --on`: other machines recorded over ssh. The nodes are this machine, behind an sshd of the test's own on loopback.

use std::fs;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use model::ClusterReport;
use recording::{FolderHandle, Reader, Recording};
use rustix::process::Signal;

use crate::needs;
use crate::place::{JSON, Place};
use crate::process::{Ended, HANGS, Running, send};

/// An sshd, and a place from which nodes n1 and n2 of it are known; nobody is behind the node `dead`.
struct Machines {
    place: Place,
    sshd: PathBuf,
    port: u16,
    server: Option<Running>,
}

fn found(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into()]);
    folders
        .map(|folder| folder.join(program))
        .find(|it| it.is_file())
}

fn ran(command: &mut Command) -> String {
    let ran = command.output().expect("it can be started");
    assert!(ran.status.success(), "{command:?}: {ran:?}");
    String::from_utf8_lossy(&ran.stdout).trim().to_owned()
}

fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback");
    listener.local_addr().expect("it is bound").port()
}

impl Machines {
    /// `None` where the test cannot run.
    fn new() -> Option<Self> {
        let (Some(sshd), Some(ssh)) = (found("sshd"), found("ssh")) else {
            needs::skip("there is no sshd or ssh (openssh-server, openssh-client)");
            return None;
        };
        if needs::is_root() {
            // Where sshd shuts its unprivileged part in; a system that never started one lacks it.
            fs::create_dir_all("/run/sshd").expect("root may make it");
        }
        let place = Place::new();
        let folder = place.path().display().to_string();
        for name in ["bin", "node", "path"] {
            fs::create_dir(place.path().join(name)).expect("it is new");
        }
        for key in ["host", "user"] {
            let mut made = Command::new("ssh-keygen");
            ran(made
                .args(["-q", "-t", "ed25519", "-N", "", "-f", key])
                .current_dir(place.path()));
        }
        let (port, nobody) = (free_port(), free_port());
        place.write("sshd.conf", format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nAuthorizedKeysFile {folder}/user.pub\n\
             StrictModes no\nUsePAM no\nPasswordAuthentication no\nPermitRootLogin yes\nPidFile none\n\
             SetEnv PATH={folder}/bin:/usr/bin:/bin TMPDIR={folder}/node\n"
        ));
        let user = ran(Command::new("id").arg("-un"));
        place.write("ssh.conf", format!(
            "Host n1 n2\nHostName 127.0.0.1\nPort {port}\nUser {user}\nIdentityFile {folder}/user\nIdentitiesOnly yes\n\
             UserKnownHostsFile {folder}/known\nStrictHostKeyChecking accept-new\n\
             Host dead\nHostName 127.0.0.1\nPort {nobody}\n"
        ));
        place.script(
            "path/ssh",
            &format!(
                "echo $$ >> {folder}/pids\nexec {} -F {folder}/ssh.conf \"$@\"",
                ssh.display()
            ),
        );
        let mut machines = Self {
            place,
            sshd,
            port,
            server: None,
        };
        machines.start();
        let entered = machines
            .with_path(Command::new("ssh"))
            .args(["n1", "true"])
            .output();
        let entered = entered.expect("it is in PATH");
        if !entered.status.success() {
            let said = String::from_utf8_lossy(&entered.stderr).into_owned();
            needs::skip(&format!("sshd does not let this user in: {}", said.trim()));
            return None;
        }
        Some(machines)
    }

    fn start(&mut self) {
        let mut command = Command::new(&self.sshd);
        command
            .args(["-D", "-e", "-f"])
            .arg(self.place.path().join("sshd.conf"));
        self.server = Some(Running::start(command));
        let since = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_err() {
            assert!(since.elapsed() < HANGS, "sshd does not listen");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Has the nodes find the program.
    fn install(&self) {
        let program = self.place.path().join("bin/stallscope");
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_stallscope"), program).expect("it is new");
    }

    fn with_path(&self, mut command: Command) -> Command {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let ours = [self.place.path().join("path")];
        let all = ours.into_iter().chain(std::env::split_paths(&path));
        command.env("PATH", std::env::join_paths(all).expect("no colon in it"));
        command
    }

    fn run(&self, arguments: &[&str]) -> Ended {
        Running::start(self.with_path(self.place.stallscope(arguments))).end()
    }

    fn read(&self, name: &str) -> Recording {
        Reader::open(&self.place.path().join(name)).expect(name)
    }

    /// What nodes have left in their folder for temporary files.
    fn left_on_nodes(&self) -> Vec<PathBuf> {
        let listed = fs::read_dir(self.place.path().join("node")).expect("it is there");
        listed.flatten().map(|entry| entry.path()).collect()
    }

    fn has(&self, name: &str) -> bool {
        self.place.path().join(name).exists()
    }
}

/// A fetched recording is whole, belongs to the run, and says that this machine's clock is its own.
fn check_fetched(fetched: &Recording, run: &Recording) {
    assert!(fetched.meta.complete && fetched.damage.is_empty());
    let cpu = fetched.timeline.table("cpu").expect("a table");
    assert!(cpu.len() > 1, "{} rows", cpu.len());
    let facts = &fetched.meta.environment;
    assert_eq!(facts["clock.ahead_of"], run.meta.identity.recording_id);
    let ns = |name: &str| facts[name].parse::<i64>().expect(name);
    let within = ns("clock.ahead_within_ns");
    assert!(
        within > 0 && ns("clock.ahead_ns").abs() <= within,
        "{facts:?}"
    );
}

fn gaps_of_nodes(run: &Recording) -> Vec<String> {
    let gaps = run.meta.gaps.iter().filter(|gap| gap.table == "node");
    gaps.map(|gap| gap.what.to_string()).collect()
}

#[test]
fn nodes_are_recorded_and_a_dead_one_ends_nothing() {
    let Some(machines) = Machines::new() else {
        return;
    };
    machines.install();
    let load = "sleep 5; exit 3";
    let ended = machines.run(&[
        "run", "--on", "n1,n2", "--on", "dead", "-o", "a.stall", "--", "sh", "-c", load,
    ]);
    ended
        .status(3)
        .says("n1 is recorded")
        .says("n2 is recorded")
        .says("dead is not recorded: ssh: connect to host 127.0.0.1 port")
        .says("stallscope explain a.stall a-nodes/n1.stall a-nodes/n2.stall");
    let run = machines.read("a.stall");
    assert_eq!(gaps_of_nodes(&run), ["dead"]);
    for name in ["n1", "n2"] {
        let fetched = machines.read(&format!("a-nodes/{name}.stall"));
        check_fetched(&fetched, &run);
        // From before the workload's start until after its end.
        let wall = |it: &Recording, end: bool| {
            let window = it.meta.window;
            let at = if end { window.end } else { window.start };
            let identity = &it.meta.identity;
            identity.anchor_realtime_ns + at.ns_since(identity.anchor_boottime)
        };
        assert!(wall(&fetched, false) < wall(&run, false));
        assert!(wall(&fetched, true) > wall(&run, true));
    }
    assert_eq!(machines.left_on_nodes(), [""; 0].map(PathBuf::from));
    assert!(
        !machines.has("a-nodes/nodes.json"),
        "nothing is left to fetch"
    );
    let together = [
        "explain",
        "a.stall",
        "a-nodes/n1.stall",
        "a-nodes/n2.stall",
        "--json",
        JSON,
    ];
    machines.run(&together).status(0);
    let report: ClusterReport = serde_json::from_str(&machines.place.read(JSON)).expect("a report");
    assert_eq!(report.nodes.len(), 3);
    // Clocks that were compared anew are no difference between machines.
    machines
        .run(&[
            "compare",
            "a-nodes/n1.stall",
            "a-nodes/n2.stall",
            "--json",
            JSON,
        ])
        .status(0);
    assert!(!machines.place.read(JSON).contains("clock.ahead"));

    machines
        .run(&["run", "--on", "n1", "-o", "b.stall", "--", "./missing"])
        .status(127);
    assert!(!machines.has("b.stall") && !machines.has("b-nodes"));
    assert_eq!(machines.left_on_nodes(), [""; 0].map(PathBuf::from));
}

#[test]
fn the_program_is_copied_where_that_is_allowed() {
    let Some(machines) = Machines::new() else {
        return;
    };
    machines
        .run(&["run", "--on", "n1", "-o", "a.stall", "--", "true"])
        .says("n1 is not recorded: stallscope is not in its PATH. Let --copy bring it");
    assert_eq!(gaps_of_nodes(&machines.read("a.stall")), ["n1"]);
    assert!(!machines.has("a-nodes"));
    machines
        .run(&[
            "run", "--on", "n1", "--copy", "-o", "b.stall", "--", "sleep", "1",
        ])
        .status(0)
        .says("n1 is recorded");
    check_fetched(
        &machines.read("b-nodes/n1.stall"),
        &machines.read("b.stall"),
    );
    // Neither the copy nor the recording.
    assert_eq!(machines.left_on_nodes(), [""; 0].map(PathBuf::from));
}

/// The recording that a node has made and nobody has fetched, once its recorder has ended.
fn closed_on_node(machines: &Machines) -> PathBuf {
    let since = Instant::now();
    loop {
        let mut left = machines.left_on_nodes().into_iter();
        let is_closed = |path: &Path| {
            let folder = FolderHandle::open(path).ok()?;
            Some(recording::description(&folder).ok()?.complete)
        };
        let closed = left
            .by_ref()
            .map(|it| it.join("node.stall"))
            .find(|it| is_closed(it) == Some(true));
        if let Some(path) = closed {
            return path;
        }
        assert!(since.elapsed() < HANGS, "no recorder has ended");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn what_a_lost_connection_leaves_is_fetched_later() {
    let Some(mut machines) = Machines::new() else {
        return;
    };
    machines.install();
    let load = "echo > started; until [ -e go ]; do sleep 0.1; done";
    let words = ["run", "--on", "n1", "-o", "a.stall", "--", "sh", "-c", load];
    let running = Running::start(machines.with_path(machines.place.stallscope(&words)));
    machines.place.wait_for("started");
    // The connection, and with the server every way back.
    let pids = machines.place.read("pids");
    let ssh = pids.lines().last().and_then(|pid| pid.parse().ok());
    send(ssh.expect("its number"), Signal::KILL);
    let server = machines.server.take().expect("it runs");
    server.signal(Signal::TERM);
    server.end();
    closed_on_node(&machines);
    machines.place.write("go", "");
    let ended = running.end();
    ended
        .status(0)
        .says("what n1 recorded is still there")
        .says("stallscope fetch a-nodes");
    assert_eq!(gaps_of_nodes(&machines.read("a.stall")), ["n1"]);
    machines
        .run(&["fetch", "a-nodes"])
        .status(2)
        .says("n1 is not fetched");
    assert_eq!(machines.left_on_nodes().len(), 1);

    machines.start();
    machines
        .run(&["fetch", "a-nodes"])
        .status(0)
        .says("Fetched a-nodes/n1.stall")
        .says("stallscope explain a.stall a-nodes/n1.stall");
    let run = machines.read("a.stall");
    assert!(gaps_of_nodes(&run).is_empty() && run.damage.is_empty());
    check_fetched(&machines.read("a-nodes/n1.stall"), &run);
    assert_eq!(machines.left_on_nodes(), [""; 0].map(PathBuf::from));
    machines
        .run(&["fetch", "a-nodes"])
        .status(0)
        .says("Nothing is left");
}
