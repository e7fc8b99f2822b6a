//! What scenarios are made on: servers, processes beside them, control groups, network. A scenario
//! asks for things; the stage holds them and takes everything away again, in an order that works.
//!
//! Everything lies below one folder or carries this run's name, so that the next run can remove what
//! a killed one left (`leftovers`).

mod devices;
mod image;
mod limits;
mod network;
mod programs;
mod slow_disk;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use tempfile::TempDir;

use crate::groups::Group;
use crate::names;
use crate::postgres::Postgres;
use crate::scenario::Who;

use image::Mounted;

pub use devices::{device_of, disk_name_of, forget_cached};
pub use limits::Limit;
pub use network::SERVER as DELAYED_SERVER;
pub use programs::Beside;

/// What a scenario is made on.
pub struct Stage {
    /// Who is who, as reports name them: paths of groups, `pid:N`, `/tid:N`.
    pub cast: BTreeMap<Who, String>,
    /// Length of the load, s.
    pub seconds: u32,
    groups: Vec<Group>,
    beside: Vec<Beside>,
    mounted: Vec<Mounted>,
    postgres: Option<Postgres>,
    folder: TempDir,
}

impl Stage {
    /// An empty stage.
    pub fn new() -> Result<Self> {
        Ok(Self {
            cast: BTreeMap::new(),
            seconds: 0,
            groups: Vec::new(),
            beside: Vec::new(),
            mounted: Vec::new(),
            postgres: None,
            folder: names::own_folder()?,
        })
    }

    /// Its folder: everyone may look into it, since servers run as other users.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A freshly started PostgreSQL with the database `bench`, with settings of the scenario's own.
    /// The cluster is made once and kept: only the server is started anew.
    pub fn postgres(&mut self, settings: &[&str]) -> Result<&Postgres> {
        if self.postgres.is_none() {
            self.postgres = Some(Postgres::make()?);
        }
        let postgres = self.postgres.as_mut().context("it was just made")?;
        postgres.start(settings)?;
        Ok(postgres)
    }

    /// The PostgreSQL that was started, for another look.
    pub fn started(&self) -> Result<&Postgres> {
        self.postgres
            .as_ref()
            .context("the scenario has started no PostgreSQL")
    }

    /// Makes a command a client of the PostgreSQL, where there is one.
    pub fn serve_command(&self, command: &mut Command) {
        if let Some(postgres) = &self.postgres {
            postgres.serve_command(command);
        }
    }

    /// Writes a script for a client into the stage's folder.
    pub fn script(&self, name: &str, text: &str) -> Result<OsString> {
        let path = self.folder().join(name);
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path.into_os_string())
    }

    /// In the reverse order: a disk before the server that it is behind.
    fn unmount_images(&mut self) {
        while self.mounted.pop().is_some() {}
    }

    fn empty(&self) -> Result<()> {
        let folder = self.folder();
        let entries = std::fs::read_dir(folder)
            .with_context(|| format!("cannot list {}", folder.display()))?;
        for entry in entries {
            let entry = entry?;
            let path = entry.path();
            let removed = if entry.file_type()?.is_dir() {
                std::fs::remove_dir_all(&path)
            } else {
                std::fs::remove_file(&path)
            };
            removed.with_context(|| format!("cannot remove {}", path.display()))?;
        }
        Ok(())
    }

    /// Takes everything away but the prepared cluster. Groups first: their limits would make the
    /// end of the servers slow, and what runs in them moves back to where it came from.
    pub fn clear(&mut self) -> Result<()> {
        self.cast.clear();
        self.groups.clear();
        self.beside.clear();
        if let Some(postgres) = &mut self.postgres {
            postgres.stop()?;
            postgres.take_home()?;
            postgres.forget_settings()?;
            postgres.forget_prepared()?;
        }
        self.unmount_images();
        self.empty()
    }

    /// Like `postgres`, with its log (WAL) on another disk.
    pub fn postgres_with_log_on(&mut self, disk: &Path, settings: &[&str]) -> Result<&Postgres> {
        self.postgres(&[])?;
        let postgres = self.postgres.as_mut().context("it was just made")?;
        postgres.stop()?;
        postgres.put_log_on(disk)?;
        postgres.start(settings)?;
        Ok(postgres)
    }

    /// Like `postgres_with_log_on`, with its tables on that disk too.
    pub fn postgres_on(&mut self, disk: &Path, settings: &[&str]) -> Result<&Postgres> {
        self.postgres(&[])?;
        let postgres = self.postgres.as_mut().context("it was just made")?;
        postgres.stop()?;
        postgres.put_log_on(disk)?;
        postgres.put_tables_on(disk)?;
        postgres.start(settings)?;
        Ok(postgres)
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.groups.clear();
        self.beside.clear();
        // Ends with its server, which may have its log on one of the disks.
        self.postgres = None;
        self.unmount_images();
        // The folder removes itself.
    }
}
