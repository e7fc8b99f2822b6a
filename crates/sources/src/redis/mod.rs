//! Redis and Valkey, asked for what INFO, SLOWLOG LEN and LATENCY LATEST say.
//!
//! Four commands a poll, which together take the server some 0.1 ms. No key, no argument and no entry
//! of the slow log is asked for. The protocol is so small that a client of our own weighs less than a
//! crate: the usual one brings some ten others, for commands that are not sent here.

mod address;
mod client;
pub(crate) mod info;
pub(crate) mod resp;
mod trouble;

use sensors::redis::REDIS;

use self::address::Address;
use crate::{AppSource, Connection, Server, Surroundings, Tables, Trouble};

/// A Redis server.
pub(crate) struct Redis(Address);

impl Redis {
    /// The server at an address.
    pub(crate) fn at(address: &str, around: &dyn Surroundings) -> Result<Self, String> {
        Address::parse(address, around).map(Self)
    }
}

impl AppSource for Redis {
    fn name(&self) -> &'static str {
        "Redis"
    }

    fn prefix(&self) -> &'static str {
        "redis"
    }

    fn place(&self) -> String {
        self.0.to_string()
    }

    fn tables(&self) -> Tables {
        Tables {
            server: &REDIS,
            sessions: None,
            series: None,
        }
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let Address { endpoint, user, .. } = &self.0;
        let user = user.iter().map(|user| ("user", user.clone()));
        endpoint.facts().into_iter().chain(user).collect()
    }

    fn connect(&self) -> Result<(Box<dyn Connection>, Server), Trouble> {
        let (client, server) = client::Client::connect(&self.0)?;
        Ok((Box::new(client), server))
    }
}
