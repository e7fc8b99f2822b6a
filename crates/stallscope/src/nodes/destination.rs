//! A node as it is typed: what ssh takes as a destination, and what its recording is called here.

use std::str::FromStr;

/// The longest destination: a user and the longest name of DNS.
const LONGEST: usize = 320;
/// The longest name of a recording, bytes.
const LONGEST_NAME: usize = 60;

/// Where ssh connects to: `HOST`, `USER@HOST`, or `ssh://USER@HOST:PORT`; HOST may be a name of ~/.ssh/config.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Destination(String);

impl FromStr for Destination {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.is_empty() {
            return Err("a node is missing: write n1,n2 or user@n1".to_owned());
        }
        if text.starts_with('-') {
            return Err(format!(
                "`{text}` is an option of ssh and not a node: options belong into ~/.ssh/config"
            ));
        }
        if text.len() > LONGEST || text.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err(
                "a node is a name without spaces: n1, user@n1 or ssh://user@n1:2222".to_owned(),
            );
        }
        let destination = Self(text.to_owned());
        let host = destination.host();
        if host.is_empty() || host.starts_with('-') {
            return Err(format!("`{text}` names no host"));
        }
        // ssh would take `host:22` for a host of that name. One of IPv6 has more colons.
        if !text.starts_with(SCHEME) && host.matches(':').count() == 1 {
            return Err(format!("write the port of `{text}` as in {SCHEME}{text}"));
        }
        Ok(destination)
    }
}

const SCHEME: &str = "ssh://";

impl Destination {
    /// As it was typed.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    /// Without user and port.
    fn host(&self) -> &str {
        let (rest, is_uri) = match self.0.strip_prefix(SCHEME) {
            Some(rest) => (rest.trim_end_matches('/'), true),
            None => (&*self.0, false),
        };
        let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
        if let Some((host, _)) = host.strip_prefix('[').and_then(|it| it.split_once(']')) {
            return host;
        }
        match host.rsplit_once(':') {
            Some((host, _)) if is_uri => host,
            _ => host,
        }
    }

    /// The host as a part of a file's name.
    fn stem(&self) -> String {
        let safe = |c: char| match c.is_ascii_alphanumeric() || "._-".contains(c) {
            true => c,
            false => '-',
        };
        let name: String = self.host().chars().map(safe).collect();
        let name = name.trim_matches(['.', '-']);
        // All characters are ASCII by now.
        match &name[..name.len().min(LONGEST_NAME)] {
            "" => "node".to_owned(),
            name => name.to_owned(),
        }
    }
}

/// A name for each: its host, with a number where several would have the same.
pub(super) fn names(destinations: &[Destination]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for destination in destinations {
        let stem = destination.stem();
        let numbered = (2..).map(|number| format!("{stem}-{number}"));
        let mut candidates = std::iter::once(stem.clone()).chain(numbered);
        names.extend(candidates.find(|it| !names.contains(it)));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parsed(text: &str) -> Destination {
        text.parse()
            .unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn what_ssh_takes_is_taken_and_named_after_its_host() {
        for (text, name) in [
            ("n1", "n1"),
            ("root@n1", "n1"),
            ("me@corp@n1.example.org", "n1.example.org"),
            ("ssh://root@n1:2222", "n1"),
            ("ssh://n1/", "n1"),
            ("ssh://root@[::1]:22", "1"),
            ("fe80::1%eth0", "fe80--1-eth0"),
            ("10.0.0.7", "10.0.0.7"),
            ("größe", "gr--e"),
            ("é", "node"),
        ] {
            assert_eq!(names(&[parsed(text)]), [name], "{text}");
        }
    }

    #[test]
    fn what_is_no_destination_is_refused_with_what_to_write() {
        for (text, said) in [
            ("", "missing"),
            ("-oProxyCommand=x", "option"),
            ("root@-oProxyCommand=x", "no host"),
            ("ssh://-oProxyCommand=x", "no host"),
            ("root@", "no host"),
            ("ssh://:22", "no host"),
            ("n1 n2", "without spaces"),
            ("n1\nreboot", "without spaces"),
            ("root@n1:2222", "ssh://root@n1:2222"),
        ] {
            let refused = text.parse::<Destination>().expect_err(text);
            assert!(refused.contains(said), "{text}: {refused}");
        }
    }

    #[test]
    fn one_host_twice_has_two_names() {
        let all = ["a@n1", "b@n1", "n1-2", "n1"].map(parsed);
        assert_eq!(names(&all), ["n1", "n1-2", "n1-2-2", "n1-3"]);
    }

    proptest! {
        #[test]
        fn any_node_has_a_name_that_leads_nowhere(text in "\\PC{0,40}") {
            if let Ok(destination) = text.parse::<Destination>() {
                prop_assert!(!destination.text().starts_with('-'));
                for name in names(&[destination.clone(), destination]) {
                    prop_assert!(!name.is_empty() && name.len() <= LONGEST_NAME + 2);
                    prop_assert!(!name.starts_with(['.', '-']));
                    prop_assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c)));
                }
            }
        }
    }
}
