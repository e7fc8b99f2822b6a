//! Two causes at once: delays that add up, since in a closed loop only one thing can be full.

use anyhow::{Context, Result};

use super::eighth_databases::asked_from_far;
use super::programs::{NGINX, PYTHON, missing};
use super::{cause, eighth, far, sixth, unknown};
use crate::scenario::{Cause, Expect, Kind, Scenario, SetUp, Who};
use crate::scenarios::held_out::{MARIADB, MARIADB_PACKAGES, wait_for};
use crate::stage::{DELAYED_SERVER, Stage};

/// One packet of so many is lost, as between containers of some clusters.
const LOST: u32 = 50;

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    let both = |words, expect, set_up| Scenario {
        kind: Kind::TwoCauses,
        ..cause(words, expect, set_up)
    };
    vec![
        both(
            [
                "mariadb-other-region-and-flush",
                "database in another region, each commit of which waits for a slow disk",
                "Four sysbench threads insert rows into MariaDB, 4 ms away in each direction, which \
                 syncs its redo log at each commit on a disk that takes its time.",
            ],
            Expect::one("net.rtt", Who::Peer).and("io.sync", Who::Target),
            other_region_and_flush,
        ),
        both(
            [
                "nginx-lossy-and-unix-service",
                "way on which packets are lost and a slow service behind a unix socket",
                "Four connections ask nginx over a short way that loses one packet of 50 in each \
                 direction, and nginx passes each request on to a service behind a unix socket that \
                 takes 15 ms to answer.",
            ],
            Expect {
                or: &[("net.loss", Who::Machine)],
                ..Expect::one("net.loss", Who::Peer).and("net.remote", Who::Peer)
            },
            lossy_and_unix_service,
        ),
    ]
}

/// After <https://github.com/phpmyadmin/phpmyadmin/issues/19313>, where pages with many queries were slow for a MariaDB in
/// another region, and <https://github.com/travis-ci/travis-cookbooks/issues/887>, where tests ran 30 % faster
/// without the sync of each commit.
fn other_region_and_flush(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = crate::scenarios::missing(&MARIADB, MARIADB_PACKAGES) {
        return Ok(SetUp::NotHere(why));
    }
    let disk = match stage.slow_disk() {
        Ok(disk) => disk,
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    let mut mariadb = eighth::mariadb_for_all(stage)?;
    let log = "ib_logfile0";
    let own = stage.folder().join("mariadb").join(log);
    std::fs::copy(own, disk.join(log)).context("cannot copy the redo log")?;
    stage.give_away(&disk)?;
    stage.give_away(&disk.join(log))?;
    mariadb.arg(format!("--innodb-log-group-home-dir={}", disk.display()));
    mariadb.arg(match cause {
        Cause::Made => "--innodb-flush-log-at-trx-commit=1",
        Cause::Removed => "--innodb-flush-log-at-trx-commit=0",
    });
    let (server, _) = match far(stage, &mariadb, cause, 4)? {
        Ok(it) => it,
        Err(why) => return Ok(SetUp::NotHere(why)),
    };
    asked_from_far(stage, "oltp_insert", server)
}

/// After <https://github.com/kubernetes/kubernetes/issues/11688>, where 5 % of the packets between containers were lost, and
/// <https://github.com/magento/magento2/issues/13391>, where nginx waited for what was behind it.
fn lossy_and_unix_service(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[NGINX, PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let (lost, sleep_us) = match cause {
        Cause::Made => (LOST, "15000"),
        Cause::Removed => (0, "0"),
    };
    let (service, socket) = sixth::unix_service(stage, sleep_us)?;
    let own = format!(
        "listen 7000; proxy_ignore_client_abort on; location / {{ proxy_pass http://unix:{}:/; }}",
        socket.display()
    );
    // The socket is nobody's: who is to write to it must be nobody or root.
    let nginx = sixth::nginx_with_server(stage, "user root;", &own)?;
    let server = match stage.server_behind_losses(&nginx, lost) {
        Ok(server) => server,
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    let address = format!("{DELAYED_SERVER}:7000");
    wait_for(&address)?;
    // The one is named by its address, the other by its process.
    let peers = format!("pid:{service}@ {address}");
    stage.cast.insert(Who::Peer, peers);
    let words = ["load", &address, "--http", "/", "--connections", "4"];
    unknown(stage, &words)?
        .with("--target", format!("pid:{server}"))
        .ready()
}
