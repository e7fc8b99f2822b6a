//! Where debugging information is: folders, servers that know it by build id (debuginfod(8)), and the file itself.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use kernel::stacks::symbols::build_id_of;
use tempfile::TempDir;

use super::CodeFile;

/// Debugging information of one file from a server, at most; that of Chromium has 3 GB, of PostgreSQL 15 MB.
const MOST_BYTES: u64 = 1 << 30;
/// A server that does not take a connection within this time is as good as away.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// A file that has not come wholly by then is given up.
const DOWNLOAD_TIMEOUT: Duration = Duration::from_secs(300);
/// Where distributions put it, and where debuginfod-find keeps what it has fetched, below a home.
const USUAL: &str = "/usr/lib/debug";
const FETCHED: &str = ".cache/debuginfod_client";

/// What was found of a file.
pub(super) enum Found {
    /// A file with its symbols.
    File(PathBuf),
    /// Nothing, and why.
    Nothing(String),
}

/// Where it is looked for, in order.
pub(super) struct DebugFiles {
    folders: Vec<PathBuf>,
    servers: Vec<String>,
    agent: ureq::Agent,
    /// What servers gave; it goes away at the end.
    downloads: TempDir,
}

impl DebugFiles {
    /// In the named folders and at the named servers, then where distributions put it.
    ///
    /// # Errors
    /// When a named folder is none.
    pub(super) fn new(named: &[String]) -> Result<Self> {
        let (servers, folders): (Vec<&String>, Vec<&String>) = named
            .iter()
            .partition(|it| it.starts_with("http://") || it.starts_with("https://"));
        let mut folders: Vec<PathBuf> = folders.into_iter().map(PathBuf::from).collect();
        if let Some(missing) = folders.iter().find(|folder| !folder.is_dir()) {
            bail!(
                "--debuginfo {}: there is no folder of that name. Name a folder with debugging information, or a server: https://debuginfod.debian.net",
                missing.display()
            );
        }
        folders.push(USUAL.into());
        folders.extend(std::env::home_dir().map(|home| home.join(FETCHED)));
        Ok(Self {
            folders,
            servers: servers.into_iter().cloned().collect(),
            agent: ureq::Agent::config_builder()
                .timeout_connect(Some(CONNECT_TIMEOUT))
                .timeout_global(Some(DOWNLOAD_TIMEOUT))
                .user_agent("stallscope")
                .build()
                .new_agent(),
            downloads: recording::bundle::private_folder().context(
                "cannot write in the folder for temporary files. Name another with TMPDIR=FOLDER",
            )?,
        })
    }

    /// The best that is there of a file.
    pub(super) fn find(&mut self, file: &CodeFile) -> Found {
        if !file.path.starts_with('/') || file.path.starts_with("/tmp/perf-") {
            return Found::Nothing(
                "its functions can be named only where it was recorded".to_owned(),
            );
        }
        let Some(build_id) = file.build_id.as_deref() else {
            return Found::Nothing(
                "it has no build id, so that nothing is known to belong to it".to_owned(),
            );
        };
        for folder in &self.folders {
            let by_id = file.by_build_id().map(|path| folder.join(path));
            let fetched = folder.join(build_id).join("debuginfo");
            let by_path = folder.join(file.path.trim_start_matches('/'));
            let beside = by_path.with_added_extension("debug");
            let places = by_id.into_iter().chain([fetched, beside, by_path]);
            if let Some(place) = places.into_iter().find(|it| is_of(it, build_id)) {
                return Found::File(place);
            }
        }
        let mut troubles = Vec::new();
        for server in &self.servers {
            match self.download(server, build_id) {
                Ok(place) if is_of(&place, build_id) => return Found::File(place),
                Ok(_) => troubles.push(format!("{server} gave the file of another build")),
                Err(error) => troubles.push(format!("{server}: {error:#}")),
            }
        }
        // The file itself has the names of what it exports at least.
        let own = Path::new(&file.path);
        if is_of(own, build_id) {
            return Found::File(own.to_owned());
        }
        troubles.push(format!(
            "no debugging information of build {build_id} was found"
        ));
        Found::Nothing(troubles.join("; "))
    }

    fn download(&self, server: &str, build_id: &str) -> Result<PathBuf> {
        let url = format!(
            "{}/buildid/{build_id}/debuginfo",
            server.trim_end_matches('/')
        );
        let mut answer = self.agent.get(&url).call()?;
        let place = self.downloads.path().join(build_id);
        let mut file = File::create(&place)?;
        let mut body = answer.body_mut().with_config().limit(MOST_BYTES).reader();
        let mut buffer = vec![0; 1 << 16];
        loop {
            match body.read(&mut buffer)? {
                0 => return Ok(place),
                read => file.write_all(&buffer[..read])?,
            }
        }
    }
}

/// Whether there is a file of that build.
fn is_of(place: &Path, build_id: &str) -> bool {
    File::open(place).is_ok_and(|file| build_id_of(&file).as_deref() == Some(build_id))
}
