//! Guesses by the socket's owner, on made-up trees, because real ones would need other users.

use std::collections::HashSet;
use std::path::Path;

use super::super::{Error, Guess, Hidden, guess_by_owner};
use super::Fake;

const GENERATOR: u32 = 500;

fn guess(proc: &Path, uid: u32) -> Result<(Vec<u32>, Vec<u32>), Error> {
    let hidden = Hidden {
        endpoint: "port 5432".into(),
        uid: Some(uid),
        connections: 4,
    };
    let guess = guess_by_owner(proc, &hidden, 1000, &HashSet::from([GENERATOR]))?;
    assert_eq!(guess.by, Guess::Owner(uid));
    Ok((guess.roots, guess.serving))
}

fn family(proc: &Path, members: &[(u32, u32, u32, u64)]) {
    for &(pid, parent, uid, started) in members {
        Fake {
            pid,
            parent,
            uid,
            started,
            comm: "srv",
            ..Fake::default()
        }
        .write(proc);
    }
}

#[test]
fn a_single_process_tree_of_the_socket_owner_is_the_server() {
    let proc = tempfile::tempdir().unwrap();
    family(
        proc.path(),
        &[
            (1, 0, 0, 1),
            (10, 1, 101, 5),
            (11, 10, 101, 6),
            (12, 10, 101, 1000),
            (13, 10, 101, 1001),
        ],
    );
    assert_eq!(guess(proc.path(), 101), Ok((vec![10], vec![12, 13])));
    family(
        proc.path(),
        &[(20, 1, 102, 5), (21, 20, 102, 6), (22, 21, 0, 7)],
    );
    assert_eq!(
        guess(proc.path(), 102),
        Ok((vec![20], vec![20, 21, 22])),
        "threads serve: all of it"
    );
    family(
        proc.path(),
        &[(30, 1, 0, 5), (31, 30, 33, 6), (32, 30, 33, 6)],
    );
    assert_eq!(
        guess(proc.path(), 33),
        Ok((vec![31, 32], vec![31, 32])),
        "workers of a master run by root"
    );
}

#[test]
fn several_process_trees_of_the_socket_owner_are_ambiguous() {
    let proc = tempfile::tempdir().unwrap();
    family(
        proc.path(),
        &[(1, 0, 0, 1), (10, 1, 101, 5), (20, 1, 101, 5)],
    );
    let error = guess(proc.path(), 101).unwrap_err().to_string();
    assert_eq!(
        error,
        "cannot see who serves port 5432: it belongs to user 101, who runs srv (10), srv (20). \
         Name one: --target pid:10, or run as root"
    );
    for nobody in [0, 77] {
        let error = guess(proc.path(), nobody).unwrap_err().to_string();
        assert_eq!(
            error,
            "cannot see who serves port 5432: run as root, or name it: --target pid:N"
        );
    }
}
