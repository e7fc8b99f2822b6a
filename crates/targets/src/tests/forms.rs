//! The syntax of `--target`.

use model::Role;

use super::super::NamedTarget;

const FORMS: &str = "A target is port:5432, cgroup:PATH, unit:NAME, pid:N or name:REGEX, \
    with dependency= or generator= before it when it does not serve the load itself";

#[test]
fn forms() {
    for (text, role, spec) in [
        ("port:5432", Role::Target, "port:5432"),
        ("target=pid:1", Role::Target, "pid:1"),
        ("dependency=port:6379", Role::Dependency, "port:6379"),
        ("generator=name:^wrk$", Role::Generator, "name:^wrk$"),
        (
            "cgroup:/system.slice/x.service",
            Role::Target,
            "cgroup:/system.slice/x.service",
        ),
        (
            "unit:postgresql@15-main",
            Role::Target,
            "unit:postgresql@15-main",
        ),
        ("name:a=b:c", Role::Target, "name:a=b:c"),
    ] {
        let target: NamedTarget = text.parse().unwrap();
        assert_eq!(
            (
                target.role,
                target.spec.to_string().as_str(),
                &*target.text.to_string()
            ),
            (role, spec, text)
        );
    }
}

#[test]
fn wrong_forms_say_what_was_meant() {
    for (text, problem) in [
        (
            "17",
            "`17` does not say what it is: did you mean pid:17 or port:17?",
        ),
        (
            "postgres",
            "`postgres` does not say what it is: did you mean name:postgres or unit:postgres?",
        ),
        (
            "/a/b",
            "`/a/b` does not say what it is: did you mean cgroup:/a/b?",
        ),
        ("", "`` does not say what it is: it is empty."),
        (
            "port:",
            "`port:` names no target: nothing follows the colon.",
        ),
        (
            "port:0",
            "`port:0` names no target: a port is a number from 1 to 65535.",
        ),
        (
            "port:65536",
            "`port:65536` names no target: a port is a number from 1 to 65535.",
        ),
        (
            "pid:x",
            "`pid:x` names no target: a pid is a number above 0.",
        ),
        (
            "cgroup:a/../b",
            "`cgroup:a/../b` names no target: the path of a cgroup goes down from the mount, without `..`.",
        ),
        (
            "unit:a/b",
            "`unit:a/b` names no target: a unit has no `/` in its name (use cgroup:PATH).",
        ),
        (
            "name:(",
            "`name:(` names no target: not a regular expression (unclosed group).",
        ),
        (
            "host:x",
            "`host:x` names no target: `host` is not a way to name one.",
        ),
        (
            "rest=pid:1",
            "`rest=pid:1` gives the role `rest`: it may be target, dependency or generator.",
        ),
    ] {
        let error = text.parse::<NamedTarget>().unwrap_err();
        assert_eq!(error.to_string(), format!("{problem} {FORMS}"));
    }
}
