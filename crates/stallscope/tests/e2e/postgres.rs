//! A throwaway PostgreSQL for the whole test process: own folder, own port, own socket. It never
//! touches a cluster that exists.
//!
//! A janitor stops the server and removes the folder when the pipe that it reads from is closed,
//! however the test process ends.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::needs;
use crate::place::Place;

/// 500,000 accounts, 75 MB.
const SCALE: &str = "5";
/// The server's owner: no other process of the machine is his, so that the socket's owner tells who
/// serves. PostgreSQL's own user where he runs nothing else.
const FIRST_CHOICE: &str = "postgres";
/// QUIT is the server's immediate shutdown. Run as the tests' own user, not the server's.
const JANITOR: &str = r#"read _
    pid=$(head -n 1 "$0/data/postmaster.pid") && kill -QUIT "$pid"
    while [ -n "$pid" ] && kill -0 "$pid"; do sleep 0.1; done
    rm -rf "$0""#;

static SERVER: LazyLock<Result<Postgres, String>> = LazyLock::new(Postgres::start);
static ALONE: Mutex<()> = Mutex::new(());

/// A running server with the database `bench`.
pub struct Postgres {
    programs: PathBuf,
    folder: PathBuf,
    port: u16,
    owner: Owner,
    /// Never written to: closed by the kernel when this process ends.
    _pipe: ChildStdin,
}

/// Who runs the server: PostgreSQL refuses to run as root.
struct Owner {
    name: String,
    /// User and group to become; `None` for the tests' own.
    ids: Option<(u32, u32)>,
}

/// The server, for one test at a time. Says so and returns `None` where there is no PostgreSQL.
pub fn running() -> Option<(&'static Postgres, MutexGuard<'static, ()>)> {
    // Taken first: the server's own start is a load as well.
    let turn = alone();
    match &*SERVER {
        Ok(postgres) => Some((postgres, turn)),
        Err(why) => {
            needs::skip(why);
            None
        }
    }
}

/// The machine, as far as these tests go, for one test at a time.
pub fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Postgres {
    fn start() -> Result<Self, String> {
        let programs = programs().ok_or("there is no PostgreSQL server (apt: postgresql)")?;
        let owner = Owner::find()?;
        let folder = tempfile::Builder::new()
            .prefix("stallscope-e2e-postgres-")
            .tempdir()
            .map_err(|error| error.to_string())?;
        if let Some((user, group)) = owner.ids {
            chown(folder.path(), Some(user), Some(group)).map_err(|error| error.to_string())?;
        }
        // From here on the janitor removes it.
        let folder = folder.keep();
        let mut janitor = Command::new("sh");
        janitor
            .args(["-c", JANITOR])
            .arg(&folder)
            // A Ctrl-C at the tests must reach it only through the pipe.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut janitor = janitor.spawn().map_err(|error| error.to_string())?;
        let pipe = janitor.stdin.take().ok_or("the janitor has a pipe")?;
        let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let postgres = Self {
            programs,
            port: port.map_err(|error| error.to_string())?.port(),
            folder,
            owner,
            _pipe: pipe,
        };
        postgres.set_up()?;
        Ok(postgres)
    }

    fn set_up(&self) -> Result<(), String> {
        // The socket must be reachable for other users, the data must not.
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(&self.folder, mode).map_err(|error| error.to_string())?;
        let data = self.folder.join("data");
        let mut initdb = self.client("initdb");
        initdb.args(["-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C", "-D"]);
        finish(initdb.arg(&data).args(["-U", &self.owner.name]))?;
        let options = format!(
            "-p {} -k {} -c listen_addresses=127.0.0.1 -c autovacuum=off -c shared_buffers=128MB",
            self.port,
            self.folder.display()
        );
        let mut start = self.client("pg_ctl");
        start.args(["-w", "-o", &options, "-l"]);
        finish(
            start
                .arg(self.folder.join("log"))
                .arg("-D")
                .arg(&data)
                .arg("start"),
        )?;
        finish(self.client("createdb").arg("bench"))?;
        finish(
            self.client("pgbench")
                .args(["-i", "-s", SCALE, "-q", "bench"]),
        )?;
        finish(
            self.client("psql")
                .args(["-q", "-c", "CHECKPOINT", "bench"]),
        )
    }

    /// Wants a password of one role over TCP for as long as `act` takes; `trust` holds otherwise.
    pub fn with_password_for(&self, role: &str, act: impl FnOnce()) {
        let file = "pg_hba.conf";
        let line = format!("host all {role} 127.0.0.1/32 scram-sha-256\n");
        let before = self.configuration(file);
        self.reload(file, line + &before);
        act();
        self.reload(file, before);
    }

    /// Has a line more in its configuration for as long as `act` takes.
    pub fn with_setting(&self, line: &str, act: impl FnOnce()) {
        let file = "postgresql.conf";
        let before = self.configuration(file);
        self.reload(file, format!("{before}\n{line}\n"));
        act();
        self.reload(file, before);
    }

    fn configuration(&self, file: &str) -> String {
        fs::read_to_string(self.folder.join("data").join(file)).expect("initdb wrote it")
    }

    fn reload(&self, file: &str, text: String) {
        // A new connection has it from the server's first process, which obeys late where CPUs are busy.
        let loaded = || self.ask("select pg_conf_load_time()");
        fs::write(self.folder.join("data").join(file), text).expect("it can be written");
        let before = loaded();
        self.ask("select pg_reload_conf()");
        let until = Instant::now() + Duration::from_secs(20);
        while loaded() == before {
            assert!(Instant::now() < until, "the server does not read {file}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Where it is, and what its owner may write.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// The role that everything is done as.
    pub fn user(&self) -> &str {
        &self.owner.name
    }

    /// One of its programs, run as the server's owner.
    pub fn client(&self, program: &str) -> Command {
        let mut command = self.owner.command(self.programs.join(program));
        self.serve(&mut command);
        // The tests' own folder may be closed to it.
        command.current_dir(&self.folder);
        command
    }

    /// The program, with a load on this server as its workload.
    pub fn stallscope<A: AsRef<OsStr>>(&self, place: &Place, arguments: &[A]) -> Command {
        let mut command = place.stallscope(arguments);
        self.serve(&mut command);
        command
    }

    /// Makes a command a client of this server over its unix socket.
    pub fn serve(&self, command: &mut Command) {
        let others = std::env::vars_os().map(|(name, _)| name);
        for name in others.filter(|name| name.to_string_lossy().starts_with("PG")) {
            command.env_remove(name);
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(self.programs.clone()).chain(std::env::split_paths(&path));
        command
            .env("PATH", std::env::join_paths(folders).unwrap_or(path))
            .env("PGHOST", &self.folder)
            .env("PGPORT", self.port.to_string())
            .env("PGUSER", &self.owner.name);
    }

    /// Any program, run as the server's owner.
    pub fn as_owner(&self, program: &str) -> Command {
        self.owner.command(program)
    }

    /// The server's first process.
    pub fn pid(&self) -> u32 {
        let file = self.folder.join("data/postmaster.pid");
        let text = fs::read_to_string(file).unwrap_or_default();
        let first = text.lines().next().and_then(|line| line.parse().ok());
        first.expect("the server runs")
    }

    /// The processes that serve pgbench now.
    pub fn backends(&self) -> Vec<u32> {
        self.ask("select pid from pg_stat_activity where application_name='pgbench'")
            .iter()
            .filter_map(|line| line.parse().ok())
            .collect()
    }

    /// The lines that a statement gives, columns parted by `|`.
    pub fn ask(&self, statement: &str) -> Vec<String> {
        let mut psql = self.client("psql");
        psql.args(["-A", "-t", "-c", statement, "bench"]);
        let answer = psql.output().expect("psql can be run");
        let text = String::from_utf8_lossy(&answer.stdout).into_owned();
        text.lines().map(str::to_owned).collect()
    }
}

impl Owner {
    fn find() -> Result<Self, String> {
        let users = users();
        if !needs::is_root() {
            let own = rustix::process::geteuid().as_raw();
            let name = users.into_iter().find(|user| user.ids.0 == own);
            return Ok(Self {
                name: name.ok_or("this user has no name")?.name,
                ids: None,
            });
        }
        let busy = users_with_processes();
        let idle = users
            .into_iter()
            .filter(|user| (1..1000).contains(&user.ids.0) && !busy.contains(&user.ids.0));
        let chosen = idle.min_by_key(|user| user.name != FIRST_CHOICE);
        let chosen = chosen.ok_or("there is no system user to run a server as")?;
        Ok(Self {
            name: chosen.name,
            ids: Some(chosen.ids),
        })
    }

    fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        if let Some((user, group)) = self.ids {
            command.uid(user).gid(group);
        }
        command
    }
}

struct User {
    name: String,
    ids: (u32, u32),
}

fn users() -> Vec<User> {
    let text = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let user = |line: &str| {
        let fields: Vec<&str> = line.split(':').collect();
        Some(User {
            name: (*fields.first()?).to_owned(),
            ids: (fields.get(2)?.parse().ok()?, fields.get(3)?.parse().ok()?),
        })
    };
    text.lines().filter_map(user).collect()
}

fn users_with_processes() -> HashSet<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let statuses = entries.filter_map(|entry| fs::read_to_string(entry.path().join("status")).ok());
    let user = |status: String| {
        let line = status
            .lines()
            .find(|line| line.starts_with("Uid:"))?
            .to_owned();
        line.split_whitespace().nth(2)?.parse().ok()
    };
    statuses.filter_map(user).collect()
}

/// Another server's programs than the newest that is installed: initdb, pg_ctl, createdb, psql, pgbench.
const PROGRAMS: &str = "STALLSCOPE_POSTGRES";

/// The folder of the newest server's programs.
fn programs() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os(PROGRAMS) {
        return Some(named.into());
    }
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?.flatten();
    let folders = versions.filter_map(|entry| {
        let version: u32 = entry.file_name().to_str()?.parse().ok()?;
        Some((version, entry.path().join("bin")))
    });
    folders
        .filter(|(_, folder)| {
            ["initdb", "pg_ctl", "pgbench", "psql"]
                .iter()
                .all(|it| folder.join(it).is_file())
        })
        .max()
        .map(|(_, folder)| folder)
}

fn finish(command: &mut Command) -> Result<(), String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(format!("{command:?} ended with {}: {said}", output.status))
}
