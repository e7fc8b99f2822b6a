//! Two causes at once: delays that add up, since in a closed loop only one thing can be full.

use std::process::Command;

use anyhow::Result;

use super::programs::{GO, missing};
use super::{cause, downstream, far, ninth, servers, unknown};
use crate::scenario::{Cause, Expect, Kind, Scenario, SetUp, Who};
use crate::scenarios::held_out::here;
use crate::stage::{Limit, Stage};

/// Against the 1024 of the session in which server and load run.
const SHARES: u32 = 16_384;

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    let both = |words, expect, set_up| Scenario {
        kind: Kind::TwoCauses,
        ..cause(words, expect, set_up)
    };
    vec![
        both(
            [
                "go-far-and-log",
                "fsync and a long way to the client",
                "Four connections change a key in a store in Go, 1 ms away in each direction, which \
                 writes each change to its log and to its table and waits for either, on a disk that \
                 takes its time.",
            ],
            Expect::one("net.rtt", Who::Peer).and("io.sync", Who::Target),
            far_and_log,
        ),
        both(
            [
                "apache-service-and-backup",
                "slow service and a neighbour on the CPUs",
                "Two connections ask Apache for a page in PHP, which is put together in some ms and \
                 asks a service of somebody else that takes 20 ms, while a backup in another group, of \
                 a higher weight, compresses on every CPU.",
            ],
            Expect::one("net.remote", Who::Peer).and("cpu.neighbour", Who::NeighbourGroup),
            service_and_backup,
        ),
    ]
}

/// From <https://etcd.io/docs/v3.5/faq/>: "apply entries took too long" is most often a slow disk, on which etcd waits for its
/// log with each change, and the way between zones comes on top of that; the same is said of databases in
/// <https://hackmysql.com/when-commit-is-the-slowest-query/>.
fn far_and_log(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[GO]) {
        return Ok(SetUp::NotHere(why));
    }
    let disk = match stage.slow_disk() {
        Ok(disk) => disk,
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    let store = servers::store_for_all(stage, &disk, cause == Cause::Made)?;
    let (server, address) = match far(stage, &store, cause, 1)? {
        Ok(it) => it,
        Err(why) => return Ok(SetUp::NotHere(why)),
    };
    let words = ["load", &address, "--http", "/", "--connections", "4"];
    // Sockets of another network namespace cannot be followed from here.
    unknown(stage, &words)?
        .with("--target", format!("pid:{server}"))
        .ready()
}

/// From <https://dustinrue.com/tag/performance/>, where calls to remote services were often half of the time of a page of
/// WordPress, and <https://webhosting.de/en/wordpress-backups-at-night-server-overload-cronfix-backupserver>, where the
/// compression of a backup has the CPUs meanwhile.
fn service_and_backup(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = ninth::missing_php(&[]) {
        return Ok(SetUp::NotHere(why));
    }
    let sleep_us = match cause {
        Cause::Made => 20_000,
        Cause::Removed => 0,
    };
    let (service, address) = downstream(stage, sleep_us)?;
    let peer = format!("pid:{service}@ {address}");
    stage.cast.insert(Who::Peer, peer);
    let page = ["shop.php", include_str!("../../../programs/shop.php")];
    let (pid, port) = ninth::apache_with_php(stage, page, ["SERVICE", &address])?;
    if cause == Cause::Made
        && let Some(why) = backup(stage)?
    {
        return Ok(SetUp::NotHere(why));
    }
    let address = here(&port);
    let words = ["load", &address, "--http", "/shop.php"];
    let load = unknown(stage, &[&words[..], &["--connections", "2"]].concat())?;
    // The service was started before it.
    load.with("--target", format!("pid:{pid}")).ready()
}

/// Compresses on every CPU, in a group of its own; why that cannot be.
fn backup(stage: &mut Stage) -> Result<Option<String>> {
    let gzip = || {
        let mut gzip = Command::new("gzip");
        // It would not take a device.
        gzip.args(["--force", "-9", "--stdout", "/dev/zero"]);
        gzip
    };
    let one = stage.beside(gzip())?;
    match stage.confine("backup", one, &[Limit::CpuShares(SHARES)]) {
        Ok(group) => stage.cast.insert(Who::NeighbourGroup, group.path),
        Err(error) => return Ok(Some(format!("{error:#}"))),
    };
    for _ in 1..std::thread::available_parallelism()?.get() {
        let other = stage.beside(gzip())?;
        stage.join(one, other)?;
    }
    Ok(None)
}
