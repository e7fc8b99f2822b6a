//! A server at a distance: in a network namespace of its own, behind a relay of this program that
//! holds every packet for a while. The kernel's own delay (netem) is missing from many kernels.
//!
//! Nothing of it outlives its processes: the namespace ends with the server, the devices with the
//! relay.

use std::process::Command;

use anyhow::{Context, Result, bail};

use super::Stage;

/// Addresses from a corner of 10/8 that is unlikely to be in use.
const CLIENT: &str = "10.213.47.1/30";
/// Where the server is reached.
pub const SERVER: &str = "10.213.47.2";
const SERVER_NET: &str = "10.213.47.2/30";

impl Stage {
    /// Starts `serve` with these words `one_way_ms` away; its pid.
    pub fn at_a_distance(&mut self, serve: &[&str], one_way_ms: u32) -> Result<u32> {
        let server = apart(&self.own(serve)?);
        let (server, _) = self.beside_that_speaks(server)?;
        self.lay_way_to(server, one_way_ms, 0)?;
        Ok(server)
    }

    /// The same for any server, which must listen on all addresses; it may need a while until it does.
    pub fn server_at_a_distance(&mut self, server: &Command, one_way_ms: u32) -> Result<u32> {
        let server = self.beside(apart(server))?;
        self.lay_way_to(server, one_way_ms, 0)?;
        Ok(server)
    }

    /// The same behind a short way on which one packet of so many is lost in each direction; none for 0.
    pub fn server_behind_losses(&mut self, server: &Command, one_of: u32) -> Result<u32> {
        let server = self.beside(apart(server))?;
        self.lay_way_to(server, 0, one_of)?;
        Ok(server)
    }

    /// Connects a process in another namespace with ours.
    fn lay_way_to(&mut self, server: u32, one_way_ms: u32, lose: u32) -> Result<()> {
        let number = std::process::id();
        let (near, far) = (format!("stl{number}n"), format!("stl{number}f"));
        let (delay, lose) = (one_way_ms.to_string(), lose.to_string());
        let words = ["relay", "--near", &near, "--far", &far, "--delay", &delay];
        let relay = self.own(&[&words[..], &["--lose", &lose]].concat())?;
        self.beside_that_speaks(relay)?;

        let server_pid = server.to_string();
        let inside = ["nsenter", "-t", &server_pid, "-n"];
        step(&["ip", "link", "set", &far, "netns", &server_pid])?;
        step(&["ip", "addr", "add", CLIENT, "dev", &near])?;
        step(&["ip", "link", "set", &near, "up"])?;
        let far_words = ["ip", "addr", "add", SERVER_NET, "dev", &far];
        step(&[&inside[..], &far_words].concat())?;
        step(&[&inside[..], &["ip", "link", "set", &far, "up"]].concat())
    }
}

/// A command in a network namespace of its own.
fn apart(command: &Command) -> Command {
    let mut apart = Command::new("unshare");
    apart.args(["--net", "--"]);
    apart.arg(command.get_program()).args(command.get_args());
    apart
}

fn step(words: &[&str]) -> Result<()> {
    let line = words.join(" ");
    let output = Command::new(words[0])
        .args(&words[1..])
        .output()
        .with_context(|| format!("cannot run {line}"))?;
    if !output.status.success() {
        bail!("{line}: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(())
}
