//! Seeing through `ip netns exec NAME COMMAND`: the command is what makes the load, from a network
//! namespace of its own. `ip` gives its process away to it, so they are one.

use std::ffi::OsString;
use std::path::Path;

/// How many words stand before the command proper; 0 for a command that is not put into a namespace.
pub(crate) fn prefix_length(argv: &[OsString]) -> usize {
    let is_ip = argv
        .first()
        .and_then(|word| Path::new(word).file_name())
        .is_some_and(|name| name == "ip");
    // ip takes its object and its verb in short, but hardly anybody types them so.
    let enters =
        matches!(argv.get(1..3), Some([object, verb]) if object == "netns" && verb == "exec");
    match argv.get(3) {
        Some(name) if is_ip && enters && argv.len() > 4 && !starts_with_dash(name) => 4,
        _ => 0,
    }
}

/// `ip netns exec -all COMMAND` starts one in each namespace.
fn starts_with_dash(word: &OsString) -> bool {
    word.as_encoded_bytes().starts_with(b"-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Adjust, LogOffer, prepare};

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn only_a_command_in_one_namespace_is_looked_for() {
        for (line, expected) in [
            ("ip netns exec far pgbench -c 4", 4),
            ("/usr/sbin/ip netns exec far pgbench", 4),
            ("ip netns exec far", 0),
            ("ip netns exec -all pgbench -c 4", 0),
            ("ip netns list a b c", 0),
            ("pgbench -c 4", 0),
        ] {
            assert_eq!(prefix_length(&words(line)), expected, "{line}");
        }
        assert_eq!(prefix_length(&[]), 0);
    }

    #[test]
    fn a_load_from_a_namespace_is_prepared_like_any_other() {
        let prepared = prepare(&words("ip netns exec far pgbench -c 4 b"), Adjust::Allowed);
        let prepared = prepared.expect("pgbench is known");
        assert_eq!(prepared.adapter, "pgbench");
        assert_eq!(
            prepared.argv,
            words("ip netns exec far pgbench -P 1 -c 4 b")
        );
        assert!(prepare(&words("ip netns exec far sleep 1"), Adjust::Allowed).is_none());
    }

    #[test]
    fn options_of_the_log_go_to_the_tool_and_not_to_ip() {
        let typed = words("ip netns exec far pgbench -R 10 -T 5 b");
        let mut prepared = prepare(&typed, Adjust::Allowed).expect("pgbench is known");
        let LogOffer::Possible(log) = prepared.log else {
            panic!("pgbench can write a log");
        };
        log.add_to(&mut prepared.argv, Path::new("folder/log"));
        assert_eq!(
            prepared.argv,
            words("ip netns exec far pgbench -l --log-prefix=folder/log -P 1 -R 10 -T 5 b")
        );
    }
}
