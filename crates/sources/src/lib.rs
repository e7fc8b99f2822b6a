//! What other programs report about themselves: clients, and nothing but clients.
//!
//! Each application is an `AppSource` in a folder of its own and a line of `Application`. Its clients
//! answer with rows of tables that `sensors` declares, about processes by their numbers; which entity a
//! number stands for is decided by who records. Sources open no file and read no environment: what they
//! need of either is asked for.
#![warn(missing_docs)]

mod app_source;
mod authorization;
mod blockers;
pub mod fuzz_targets;
mod mysql;
mod pgbouncer;
mod postgres;
mod prometheus;
mod redis;
mod store;
mod url;

use std::path::Path;
use std::sync::Arc;

pub use app_source::{
    AppSource, Connection, Hidden, MOST_SERIES, MOST_SESSIONS, MOST_TEXTS, Poll, Process, Sample,
    Server, SessionRow, Tables, Trouble, TroubleKind, Value,
};
pub use store::{Grid, Store};
pub use url::Endpoint;

/// The applications that can be asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Application {
    /// PostgreSQL.
    Postgres,
    /// MySQL or MariaDB.
    MySql,
    /// PgBouncer.
    PgBouncer,
    /// Redis or Valkey.
    Redis,
    /// Anything with an endpoint in Prometheus's format.
    Prometheus,
}

impl Application {
    /// Each of them.
    pub const ALL: [Self; 5] = [
        Self::Postgres,
        Self::MySql,
        Self::PgBouncer,
        Self::Redis,
        Self::Prometheus,
    ];

    /// The application at an address, completed from the surroundings as its own tools do.
    ///
    /// # Errors
    /// A sentence for the user that quotes nothing of the address, which may hold a password.
    pub fn source(
        self,
        address: &str,
        around: &dyn Surroundings,
    ) -> Result<Arc<dyn AppSource>, String> {
        match self {
            Self::Postgres => Ok(Arc::new(postgres::Address::parse(address, around)?)),
            Self::MySql => Ok(Arc::new(mysql::MySql::at(address, around)?)),
            Self::PgBouncer => Ok(Arc::new(pgbouncer::PgBouncer::at(address, around)?)),
            Self::Redis => Ok(Arc::new(redis::Redis::at(address, around)?)),
            Self::Prometheus => Ok(Arc::new(prometheus::Prometheus::at(address, around)?)),
        }
    }
}

/// What an address is completed from; asked for, so that nothing is read here.
pub trait Surroundings {
    /// An environment variable.
    fn variable(&self, name: &str) -> Option<String>;
    /// The name of the user who runs the program.
    fn user(&self) -> Option<String>;
    /// The text of a file with passwords, where it is there and closed to others.
    fn secret_file(&self, path: &Path) -> Option<String>;
    /// Whether there is something at a path.
    fn exists(&self, path: &Path) -> bool;
}
