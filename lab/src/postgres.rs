//! A throwaway PostgreSQL: own folder, own port, own socket, gone when dropped. It never touches a
//! cluster that exists: everything that it writes lies in one temporary folder that it made. The
//! cluster is made once; the server can be started again on it with other settings.

mod log;
mod programs;

use std::fs::OpenOptions;
use std::net::TcpListener;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use crate::{interrupt, names};
use programs::{Owner, Programs, forget_other_servers};

/// The database that the load runs in.
pub const DATABASE: &str = "bench";
/// pgbench's scale: 1,000,000 accounts, 150 MB, which stays in the page cache.
const SCALE: &str = "10";
/// A server that is not ready by then never will be.
const START_LIMIT: Duration = Duration::from_secs(30);
const STOP_LIMIT: Duration = Duration::from_secs(10);
/// SIGINT is the server's fast shutdown: sessions end, a checkpoint is written.
const FAST: i32 = signal_hook::consts::SIGINT;
/// SIGQUIT is the server's immediate shutdown, what `pg_ctl stop -m immediate` sends.
const IMMEDIATE: i32 = signal_hook::consts::SIGQUIT;

/// A cluster of one's own, and its server while it runs.
pub struct Postgres {
    programs: Programs,
    owner: Owner,
    port: u16,
    server: Option<Child>,
    /// Removed last: fields are dropped after `Drop` has stopped the server.
    folder: TempDir,
}

impl Postgres {
    /// Makes a cluster with the database `bench`, filled and written to disk; nothing runs yet.
    pub fn make() -> Result<Self> {
        let programs = Programs::find()?;
        let owner = Owner::find()?;
        let folder = names::own_folder()?;
        if let Some((user, group)) = owner.ids {
            chown(folder.path(), Some(user), Some(group))
                .with_context(|| format!("cannot give {} to postgres", folder.path().display()))?;
        }
        let mut postgres = Self {
            programs,
            owner,
            port: free_port()?,
            server: None,
            folder,
        };
        postgres.make_cluster()?;
        postgres.start(&[])?;
        postgres.fill()?;
        // Written back now, so that it is not written back during a measurement.
        postgres.stop()?;
        Ok(postgres)
    }

    /// Starts the server anew, with these settings beside the usual ones.
    pub fn start(&mut self, settings: &[&str]) -> Result<()> {
        self.stop()?;
        self.serve(settings)
    }

    /// Stops the server, everything written to disk; its data stay.
    pub fn stop(&mut self) -> Result<()> {
        let Some(mut server) = self.server.take() else {
            return Ok(());
        };
        interrupt::signal(server.id(), FAST);
        if !interrupt::ends_within(&mut server, STOP_LIMIT) {
            end(&mut server);
            bail!("postgres did not stop within {} s", STOP_LIMIT.as_secs());
        }
        Ok(())
    }

    /// Its name for a client that takes one: over TCP, which every client can do.
    pub fn dsn(&self) -> String {
        format!(
            "postgresql://{}@127.0.0.1:{}/{DATABASE}",
            self.owner.name, self.port
        )
    }

    /// Its port, of TCP on this machine and of its socket alike.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The name of its superuser.
    pub fn user(&self) -> &str {
        &self.owner.name
    }

    /// Its unix socket.
    pub fn socket(&self) -> PathBuf {
        self.folder().join(format!(".s.PGSQL.{}", self.port))
    }

    /// Runs SQL in the database `bench`.
    pub fn execute(&self, sql: &str) -> Result<()> {
        let mut psql = self.client("psql");
        psql.args(["-q", "-v", "ON_ERROR_STOP=1", "-c", sql, DATABASE]);
        self.step(psql, "run SQL (psql)")
    }

    /// Its folder: socket, data, log, and scripts of scenarios.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The server's first process.
    pub fn pid(&self) -> u32 {
        self.running().unwrap_or(0)
    }

    /// Its process, while it runs.
    pub fn running(&self) -> Option<u32> {
        self.server.as_ref().map(Child::id)
    }

    /// Makes a command a client of this server, over its unix socket: no option needs to be typed.
    pub fn serve_command(&self, command: &mut Command) {
        forget_other_servers(command);
        command
            .env("PGHOST", self.folder())
            .env("PGPORT", self.port.to_string())
            .env("PGUSER", &self.owner.name)
            .env("PATH", self.programs.path_first());
    }

    fn make_cluster(&self) -> Result<()> {
        let mut initdb = self.as_owner("initdb");
        initdb
            .args(["-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C"])
            .args(["-U", &self.owner.name, "-D"])
            .arg(self.data());
        self.step(initdb, "make a database cluster (initdb)")
    }

    fn serve(&mut self, settings: &[&str]) -> Result<()> {
        let mut server = self.as_owner("postgres");
        server.arg("-D").arg(self.data());
        let usual = [
            "listen_addresses=127.0.0.1",
            "shared_buffers=128MB",
            // Its bursts would be a second cause in every scenario.
            "autovacuum=off",
        ];
        // The last of a name counts.
        for setting in usual.iter().chain(settings) {
            server.args(["-c", setting]);
        }
        server
            .args(["-p", &self.port.to_string(), "-k"])
            .arg(self.folder())
            // A Ctrl-C at the terminal must not stop the server under a run that is being saved.
            .process_group(0);
        self.log_output(&mut server)?;
        self.server = Some(server.spawn().context("cannot start postgres")?);
        self.wait_until_ready()
    }

    fn wait_until_ready(&mut self) -> Result<()> {
        let since = Instant::now();
        while since.elapsed() < START_LIMIT {
            interrupt::pause()?;
            let ended = self.server.as_mut().map(Child::try_wait).transpose();
            if let Ok(Some(Some(status))) = ended {
                bail!("postgres ended at once ({status}):\n{}", self.log_end());
            }
            let mut question = self.client("pg_isready");
            question.args(["-q", "-d", "postgres"]);
            if interrupt::wait(&mut question.spawn().context("cannot run pg_isready")?)?.success() {
                return Ok(());
            }
        }
        bail!(
            "postgres was not ready within {} s:\n{}",
            START_LIMIT.as_secs(),
            self.log_end()
        )
    }

    fn fill(&self) -> Result<()> {
        let mut createdb = self.client("createdb");
        createdb.arg(DATABASE);
        self.step(createdb, "create the database bench")?;
        let mut pgbench = self.client("pgbench");
        pgbench.args(["-i", "-s", SCALE, "-q", DATABASE]);
        self.step(pgbench, "fill the database (pgbench -i)")
    }

    /// Its data.
    pub fn data(&self) -> PathBuf {
        self.folder().join("data")
    }

    fn as_owner(&self, program: &str) -> Command {
        let mut command = Command::new(self.programs.path(program));
        forget_other_servers(&mut command);
        command.current_dir(self.folder()).stdin(Stdio::null());
        if let Some((user, group)) = self.owner.ids {
            command.uid(user).gid(group);
        }
        command
    }

    /// One of its programs as a client.
    pub fn client(&self, program: &str) -> Command {
        let mut command = Command::new(self.programs.path(program));
        self.serve_command(&mut command);
        command.stdin(Stdio::null());
        command
    }

    fn step(&self, mut command: Command, what: &str) -> Result<()> {
        self.log_output(&mut command)?;
        let mut child = command
            .spawn()
            .with_context(|| format!("cannot {what}: the program did not start"))?;
        let status = interrupt::wait(&mut child)?;
        interrupt::check()?;
        if status.success() {
            return Ok(());
        }
        bail!("cannot {what} ({status}):\n{}", self.log_end())
    }

    fn log_output(&self, command: &mut Command) -> Result<()> {
        let opened = OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.log());
        let log = opened.with_context(|| format!("cannot write {}", self.log().display()))?;
        let copy = log.try_clone().context("cannot duplicate a log file")?;
        command.stdout(log).stderr(copy);
        Ok(())
    }

    /// What its server says.
    pub fn log(&self) -> PathBuf {
        self.folder().join("log")
    }

    fn log_end(&self) -> String {
        let text = std::fs::read_to_string(self.log()).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(10)..].join("\n")
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        let Some(mut server) = self.server.take() else {
            return;
        };
        end(&mut server);
    }
}

/// Ends a server without writing anything more.
fn end(server: &mut Child) {
    interrupt::signal(server.id(), IMMEDIATE);
    if !interrupt::ends_within(server, STOP_LIMIT) {
        // Its backends notice within a second that their parent is gone, and end.
        let _ = server.kill();
        let _ = server.wait();
    }
}

/// A port that was free a moment ago.
fn free_port() -> Result<u16> {
    let any = TcpListener::bind(("127.0.0.1", 0)).context("cannot find a free port")?;
    Ok(any.local_addr().context("cannot read a free port")?.port())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{processes, requirement};

    #[test]
    fn a_server_leaves_nothing_behind() {
        if let Err(error) = Programs::find().and(Owner::find()) {
            return requirement::skip("a throwaway PostgreSQL", &format!("{error:#}"));
        }
        let mut postgres = Postgres::make().expect("a cluster of our own");
        postgres.start(&["max_connections=7"]).expect("a server");
        let port = postgres.port.to_string();
        assert!(postgres.dsn().contains(&port) && postgres.socket().exists());
        let (folder, pid) = (postgres.folder().to_path_buf(), postgres.pid());
        assert!(processes::exists(pid));
        let mut question = postgres.client("psql");
        question.args(["-Atc", "select count(*) from pgbench_accounts", DATABASE]);
        let answer = question.output().expect("psql runs");
        assert_eq!(String::from_utf8_lossy(&answer.stdout).trim(), "1000000");
        let prepared = ["max_prepared_transactions=2"];
        postgres.start(&prepared).expect("a server");
        let change = "BEGIN; CREATE TABLE lab_prepared (n int); PREPARE TRANSACTION 'left'";
        postgres.execute(change).expect("a prepared transaction");
        postgres.stop().expect("it stops");
        postgres.forget_prepared().expect("nothing is left of it");
        postgres.start(&[]).expect("a server without room for it");
        let pid = postgres.pid();
        drop(postgres);
        assert!(!folder.exists());
        assert!(!processes::exists(pid));
    }
}
