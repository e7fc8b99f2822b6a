//! PgBouncer, asked on its console for pools and their sums.
//!
//! The console speaks PostgreSQL's simple protocol, so PostgreSQL's client and its connection strings do
//! for it, with two differences: it refuses session settings, and its port and database are others.
//! SHOW CLIENTS is not asked: it has a row per client, thousands in a busy pooler, whose one thread would
//! write them; SHOW POOLS has their numbers by state.

mod client;
pub(crate) mod report;

use sensors::pgbouncer::PGBOUNCER;

use crate::postgres::Address;
use crate::{AppSource, Connection, Server, Surroundings, Tables, Trouble};

/// A PgBouncer.
pub(crate) struct PgBouncer(Address);

impl PgBouncer {
    /// The one at an address.
    pub(crate) fn at(address: &str, around: &dyn Surroundings) -> Result<Self, String> {
        let address = Address::without_settings(address, &ConsoleSurroundings(around));
        // The advice of an address is about its option.
        let named = |sentence: String| sentence.replace("--postgres", "--pgbouncer");
        address.map(Self).map_err(named)
    }
}

/// PGPORT and PGDATABASE name the server behind the pooler.
struct ConsoleSurroundings<'a>(&'a dyn Surroundings);

impl Surroundings for ConsoleSurroundings<'_> {
    fn variable(&self, name: &str) -> Option<String> {
        match name {
            "PGPORT" => Some("6432".to_owned()),
            "PGDATABASE" => Some("pgbouncer".to_owned()),
            _ => self.0.variable(name),
        }
    }

    fn user(&self) -> Option<String> {
        self.0.user()
    }

    fn secret_file(&self, path: &std::path::Path) -> Option<String> {
        self.0.secret_file(path)
    }

    fn exists(&self, path: &std::path::Path) -> bool {
        self.0.exists(path)
    }
}

impl AppSource for PgBouncer {
    fn name(&self) -> &'static str {
        "PgBouncer"
    }

    fn prefix(&self) -> &'static str {
        "pgbouncer"
    }

    fn place(&self) -> String {
        self.0.to_string()
    }

    fn tables(&self) -> Tables {
        Tables {
            server: &PGBOUNCER,
            sessions: None,
            series: None,
        }
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        self.0.facts()
    }

    fn connect(&self) -> Result<(Box<dyn Connection>, Server), Trouble> {
        let (client, server) = client::Client::connect(&self.0)?;
        Ok((Box::new(client), server))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::url::tests::Around;

    #[test]
    fn the_consoles_port_and_database_are_not_the_servers() {
        let around = Around(&[
            ("PGHOST", "db7"),
            ("PGPORT", "5433"),
            ("PGDATABASE", "bench"),
            ("PGUSER", "u"),
        ]);
        let place = |text| PgBouncer::at(text, &around).map(|it| it.place());
        let shown = |text: &str| Ok(text.to_owned());
        assert_eq!(
            place(""),
            shown("db7 port 6432, database pgbouncer, role u")
        );
        assert_eq!(
            place("host=/tmp port=6433 user=monitor"),
            shown("/tmp port 6433, database pgbouncer, role monitor")
        );
        let sentence = place("nonsense=x").expect_err("it is none");
        assert!(sentence.contains("--pgbouncer") && !sentence.contains("--postgres"));
    }
}
