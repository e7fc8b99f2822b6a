//! The kernel's answers by netlink: datagrams of sock_diag, and single messages of them.

use std::path::Path;

use anyhow::Result;
use sensors::netlink::{attributes, messages};

use crate::{Seed, Target, seeds};

pub const TARGET: Target = Target {
    name: "messages",
    feed,
    seeds: from_fixtures,
    affordable: 10_000,
};

fn feed(bytes: &[u8]) {
    targets::fuzz_targets::datagram(bytes);
    let mut taken = 0;
    for (_, payload) in messages(bytes) {
        taken += payload.len();
        single(payload);
    }
    assert!(taken <= bytes.len(), "no byte is handed out twice");
    single(bytes);
}

fn single(message: &[u8]) {
    sensors::parse_tcp(message);
    targets::parse_unix_diag(message);
    assert!(attributes(message).count() <= message.len());
}

fn from_fixtures(repository: &Path) -> Result<Vec<Seed>> {
    let captured = seeds::files(&repository.join("crates/sensors/fixtures/kernel"))?;
    let answers = captured
        .into_iter()
        .filter(|seed| seed.name.contains("sock_diag"));
    let unix = Seed::new("sock_diag.unix", UNIX);
    Ok(answers.chain([unix]).collect())
}

/// A listening unix socket with its name, the other end's number and its user.
const UNIX: &[u8] =
    b"\x50\0\0\0\x14\0\x02\0\0\0\0\0\xfa\x2f\0\0\x01\x01\x0a\0\x23\x50\0\0\x0b\0\0\0\0\0\0\0\
    \x1f\0\0\0/tmp/pgsock/.s.PGSQL.55437\0\0\x05\0\x06\0\0\0\0\0\x08\0\x07\0\x65\0\0\0";
