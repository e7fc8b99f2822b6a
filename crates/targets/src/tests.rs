//! Parsers on captured text, decisions on made-up trees, and the whole on real sockets.

mod forms;
mod guesses;
mod live;
mod parsers;
mod survey;
mod targets;
mod trees;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

/// A process in a made-up tree: its stat, status, cmdline and sockets.
struct Fake<'a> {
    pid: u32,
    parent: u32,
    uid: u32,
    started: u64,
    comm: &'a str,
    argv0: &'a str,
    sockets: &'a [u64],
}

impl Default for Fake<'_> {
    fn default() -> Self {
        Self {
            pid: 1,
            parent: 0,
            uid: 0,
            started: 1,
            comm: "init",
            argv0: "",
            sockets: &[],
        }
    }
}

impl Fake<'_> {
    fn write(&self, proc: &Path) {
        let Self {
            pid,
            parent,
            uid,
            started,
            comm,
            argv0,
            sockets,
        } = self;
        let folder = proc.join(pid.to_string());
        fs::create_dir_all(folder.join("fd")).unwrap();
        let zeros = "0 ".repeat(17);
        fs::write(
            folder.join("stat"),
            format!("{pid} ({comm}) S {parent} {zeros}{started} 0 0\n"),
        )
        .unwrap();
        let status = format!("Name:\t{comm}\nTgid:\t{pid}\nUid:\t0\t{uid}\t{uid}\t{uid}\n");
        fs::write(folder.join("status"), status).unwrap();
        fs::write(folder.join("cmdline"), format!("{argv0}\0-D\0")).unwrap();
        for (index, inode) in sockets.iter().enumerate() {
            symlink(
                format!("socket:[{inode}]"),
                folder.join("fd").join((index + 3).to_string()),
            )
            .unwrap();
        }
    }
}

/// Writes a file of `/proc/net` into a made-up tree.
fn write_net(proc: &Path, name: &str, text: &str) {
    fs::create_dir_all(proc.join("net")).unwrap();
    fs::write(proc.join("net").join(name), text).unwrap();
}

/// One line of `/proc/net/tcp`.
fn tcp_line(ends: [(&str, u16); 2], state: u8, uid: u32, inode: u64) -> String {
    let [local, peer] = ends.map(|(ip, port)| {
        let ip: std::net::Ipv4Addr = ip.parse().unwrap();
        format!("{:08X}:{port:04X}", u32::from_ne_bytes(ip.octets()))
    });
    format!(
        "   0: {local} {peer} {state:02X} 00000000:00000000 00:00000000 00000000 {uid:5}        0 {inode} 1\n"
    )
}

const ESTABLISHED: u8 = 1;
const LISTEN: u8 = 10;
const NOBODY: (&str, u16) = ("0.0.0.0", 0);
