//! Any program that reports itself in Prometheus's format, asked as Prometheus asks it: one GET a poll.
//!
//! The crates that read the format are one without OpenMetrics, unchanged for years, and one under the LGPL: `text`
//! is a parser of our own.

mod address;
mod client;
pub(crate) mod text;
mod trouble;

use sensors::scrape::{SCRAPE, SCRAPED};

use self::address::Address;
use crate::{AppSource, Connection, Server, Surroundings, Tables, Trouble};

/// An endpoint.
pub(crate) struct Prometheus(Address);

impl Prometheus {
    /// The endpoint at a URL.
    pub(crate) fn at(address: &str, around: &dyn Surroundings) -> Result<Self, String> {
        Address::parse(address, around).map(Self)
    }
}

impl AppSource for Prometheus {
    fn name(&self) -> &'static str {
        "Prometheus endpoint"
    }

    fn prefix(&self) -> &'static str {
        "scrape"
    }

    fn place(&self) -> String {
        self.0.to_string()
    }

    fn tables(&self) -> Tables {
        Tables {
            server: &SCRAPE,
            sessions: None,
            series: Some(&SCRAPED),
        }
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        self.0.endpoint.facts()
    }

    fn connect(&self) -> Result<(Box<dyn Connection>, Server), Trouble> {
        let (client, server) = client::Client::connect(&self.0)?;
        Ok((Box::new(client), server))
    }
}
