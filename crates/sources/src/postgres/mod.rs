//! PostgreSQL's own word, asked by SQL: what its sessions do, whom they wait for, what it counts.
//!
//! One connection and two short statements a poll. Nothing here may disturb the server: the session
//! is read-only, gives up after 2 s, waits for no lock longer than 0.5 s, and asks for blockers (which
//! stops the lock manager for a moment) only of sessions that wait for a lock.

mod address;
mod client;
mod passfile;
pub(crate) mod queries;
pub(crate) mod rows;
mod trouble;

use sensors::postgres::{DATABASE, SESSION};

use crate::{AppSource, Connection, Server, Tables, Trouble};

pub use address::Address;
pub(crate) use trouble::causes;

impl AppSource for Address {
    fn name(&self) -> &'static str {
        "PostgreSQL"
    }

    fn prefix(&self) -> &'static str {
        "postgres"
    }

    fn place(&self) -> String {
        self.to_string()
    }

    fn tables(&self) -> Tables {
        Tables {
            server: &DATABASE,
            sessions: Some(&SESSION),
            series: None,
        }
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        vec![
            ("host", self.host.clone()),
            ("port", self.port.to_string()),
            ("database", self.database.clone()),
            ("user", self.user.clone()),
        ]
    }

    fn connect(&self) -> Result<(Box<dyn Connection>, Server), Trouble> {
        let (client, server) = client::Client::connect(self)?;
        Ok((Box::new(client), server))
    }
}
