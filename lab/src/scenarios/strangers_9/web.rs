//! Apache with PHP, and nginx.

use anyhow::Result;

use super::programs::{NGINX, REDIS, WRK, missing, wrk};
use super::{cause, far, second, servers, unknown};
use crate::scenario::{Cause, Expect, Scenario, SetUp, Who};
use crate::scenarios::held_out::{free_port, here, nginx_with};
use crate::stage::Stage;

/// As a setting that was made to save bytes, for all that is asked for.
const COMPRESSED: &str = "gzip on; gzip_comp_level 9; gzip_types text/plain;";

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        cause(
            [
                "apache-page-cache-disk",
                "cache of pages that keeps none since its disk is full",
                "Four connections ask Apache for pages in PHP, each of which takes some ms to be put \
                 together and is then kept in a file, but the disk for these files has no room, and \
                 each page is put together again.",
            ],
            Expect::one("io.full_disk", Who::Filesystem),
            page_cache_disk,
        ),
        cause(
            [
                "apache-questions-in-a-loop",
                "many small questions that a page asks a far cache one after the other",
                "Four connections ask Apache for a page in PHP, which asks Redis, 1 ms away in each \
                 direction, for 25 keys, one after the other.",
            ],
            Expect {
                // Redis answers at once; it is the way to it.
                or: &[("net.rtt", Who::Peer)],
                ..Expect::one("net.remote", Who::Peer)
            },
            questions_in_a_loop,
        ),
        cause(
            [
                "nginx-best-compression",
                "CPUs full of answers that are compressed as well as can be",
                "wrk asks nginx with two workers for a list over eight connections, which by its \
                 settings compresses each answer anew and as well as it can.",
            ],
            Expect::one("cpu.saturated", Who::Target),
            best_compression,
        ),
    ]
}

fn page_cache_disk(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = servers::missing_php(&[]) {
        return Ok(SetUp::NotHere(why));
    }
    let disk = match stage.slow_disk() {
        Ok(disk) => disk,
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    stage.give_away(&disk)?;
    let place = disk.display().to_string();
    if cause == Cause::Made {
        stage.fill_disk(&disk)?;
        stage.cast.insert(Who::Filesystem, place.clone());
    }
    let page = [
        "kept_pages.php",
        include_str!("../../../programs/kept_pages.php"),
    ];
    let (_, port) = servers::apache_with_php(stage, page, ["PAGES", &place])?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/kept_pages.php"];
    unknown(stage, &[&words[..], &["--connections", "4"]].concat())?.ready()
}

fn questions_in_a_loop(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = servers::missing_php(&[REDIS]) {
        return Ok(SetUp::NotHere(why));
    }
    let redis = servers::redis_for_all(stage)?;
    let (server, cache) = match far(stage, &redis, cause, 1)? {
        Ok(it) => it,
        Err(why) => return Ok(SetUp::NotHere(why)),
    };
    // It is known by its process too.
    let peers = format!("pid:{server}@ {cache}");
    stage.cast.insert(Who::Peer, peers);
    let page = [
        "questions.php",
        include_str!("../../../programs/questions.php"),
    ];
    let (pid, port) = servers::apache_with_php(stage, page, ["CACHE", &cache])?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/questions.php"];
    let load = unknown(stage, &[&words[..], &["--connections", "4"]].concat())?;
    // Redis was started before it.
    load.with("--target", format!("pid:{pid}")).ready()
}

fn best_compression(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[NGINX, WRK]) {
        return Ok(SetUp::NotHere(why));
    }
    let way = match cause {
        Cause::Made => COMPRESSED,
        Cause::Removed => "",
    };
    let (port, site) = (free_port()?.to_string(), second::site(stage)?);
    // With `reuseport` connections are dealt out; else the first who wakes may take them all.
    let dealt = free_port()?.to_string();
    let places = format!(
        "listen 127.0.0.1:{dealt} reuseport; root {}; {way}",
        site.display()
    );
    nginx_with(stage, 2, &port, "", &places)?;
    let port = dealt;
    let mut load = wrk(stage, &port, 8);
    load.command.pop();
    let url = format!("http://127.0.0.1:{port}/list.txt");
    load.command
        .extend(["-H", second::GZIP, &url].map(Into::into));
    load.ready()
}
