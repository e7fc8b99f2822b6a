//! Which options are harmless: of programs that are known, and by names that mean the same everywhere.

use std::sync::LazyLock;

use regex::Regex;

use super::plain::pattern;
use super::programs::{Kind, Program};

/// Options that ask for nothing, by names that mean the same nearly everywhere.
const FLAGS: &[&str] = &[
    "all",
    "append",
    "client",
    "compress",
    "csv",
    "daemon",
    "debug",
    "dry-run",
    "force",
    "foreground",
    "help",
    "histogram",
    "insecure",
    "interactive",
    "json",
    "latency",
    "no-adjust",
    "trace-all",
    "no-report",
    "no-vacuum",
    "once",
    "print-latency",
    "privileged",
    "progress",
    "q",
    "quantiles",
    "quiet",
    "recursive",
    "rm",
    "select-only",
    "server",
    "silent",
    "skip-some-updates",
    "stats",
    "tcp",
    "trace-all",
    "udp",
    "unlogged-tables",
    "v",
    "verbose",
    "version",
    "yes",
];

/// Options that take a name or a host.
const NAMES: &[&str] = &[
    "address",
    "algorithm",
    "backend",
    "bind",
    "builtin",
    "cluster",
    "codec",
    "compression",
    "database",
    "db",
    "dbname",
    "device",
    "distribution",
    "driver",
    "engine",
    "format",
    "group",
    "h",
    "host",
    "hostname",
    "hosts",
    "index",
    "index-tablespace",
    "interface",
    "ioengine",
    "keyspace",
    "level",
    "log-level",
    "method",
    "mode",
    "name",
    "namespace",
    "node",
    "op",
    "operation",
    "output-format",
    "policy",
    "protocol",
    "region",
    "role",
    "rw",
    "scenario",
    "schema",
    "server",
    "table",
    "tablespace",
    "test",
    "tests",
    "topic",
    "type",
    "user",
    "username",
    "workload",
];

/// Options that take a file or a folder.
const PATHS: &[&str] = &[
    "basedir",
    "classpath",
    "conf",
    "config",
    "cp",
    "data",
    "data-dir",
    "datadir",
    "dir",
    "directory",
    "file",
    "filename",
    "folder",
    "in",
    "input",
    "jar",
    "json",
    "lib",
    "log",
    "log-prefix",
    "logfile",
    "out",
    "output",
    "path",
    "pid",
    "pidfile",
    "script",
    "socket",
    "tmp",
    "tmpdir",
    "workdir",
];

/// Options whose numbers are harmless, so that single-dash ones (`-rate 5`) are read as one option.
const NUMBERS: &[&str] = &[
    "bs",
    "client",
    "clients",
    "concurrency",
    "connections",
    "count",
    "depth",
    "duration",
    "interval",
    "iodepth",
    "iterations",
    "jobs",
    "limit",
    "max-time",
    "n",
    "numjobs",
    "num-threads",
    "port",
    "qps",
    "rate",
    "ratio",
    "requests",
    "rps",
    "runtime",
    "scale",
    "seed",
    "size",
    "tables",
    "table-size",
    "threads",
    "time",
    "timeout",
    "transactions",
    "warmup",
    "workers",
];

/// Secrets' names that also stand behind a single dash: `-password X`.
const SECRETS: &[&str] = &[
    "access-key",
    "access-token",
    "api-key",
    "apikey",
    "auth",
    "auth-token",
    "credentials",
    "key",
    "pass",
    "passphrase",
    "passwd",
    "password",
    "pw",
    "pwd",
    "secret",
    "secret-key",
    "storepass",
    "token",
];

/// What an option takes, its name without dashes. A program's own meaning comes first.
pub(super) fn kind_of(program: Option<&Program>, name: &str) -> Kind {
    if let Some(kind) = program.and_then(|program| program.option(name)) {
        return kind;
    }
    let small = name.to_ascii_lowercase().replace('_', "-");
    // One letter means something else in nearly every program.
    let name = if name.len() == 1 { name } else { &small };
    match name {
        _ if is_secret_name(name) => Kind::Secret,
        _ if names_file(name) || PATHS.contains(&name) => Kind::Path,
        _ if program.is_some() && name.len() == 1 => Kind::Unknown,
        _ if NAMES.contains(&name) => Kind::Name,
        _ if name == "header" => Kind::Header,
        _ if FLAGS.contains(&name) || name.starts_with("no-") => Kind::Flag,
        _ => Kind::Unknown,
    }
}

/// Whether a word behind a single dash is an option by itself, not letters of several.
pub(super) fn is_long(program: Option<&Program>, name: &str) -> bool {
    let small = name.to_ascii_lowercase();
    let known = [FLAGS, NAMES, PATHS, NUMBERS, SECRETS];
    name.len() > 1
        && (program.is_some_and(|program| program.option(name).is_some())
            || known.iter().any(|list| list.contains(&&*small)))
}

/// What the name of a secret looks like.
pub(super) const NAME: &str = r"(?:[\w.-]*(?:passw(?:or)?d|passphrase|pwd|secret|token|api[-_.]?key|access[-_.]?key|private[-_.]?key|credential|signature)[\w.-]*|(?:[\w.-]*[_.-])?(?:pass|pw|key|auth|bearer|sig|sas|pin|cred|creds|login))";

/// Whether `name` names a secret, and not a file that holds one.
pub(super) fn is_secret_name(name: &str) -> bool {
    static WHOLE: LazyLock<Regex> = LazyLock::new(|| pattern(&format!("^{NAME}$")));
    WHOLE.is_match(name) && !names_file(name) && !name.starts_with("no-")
}

/// Whether a name is that of a file.
pub(super) fn names_file(name: &str) -> bool {
    name.to_ascii_lowercase().ends_with("file")
}

/// Whether a setting by this name may show a name or a path: `user=postgres`, `PGHOST=db1`.
pub(super) fn is_harmless_setting(name: &str) -> bool {
    const VARIABLES: &[&str] = &[
        "HOME",
        "HOSTNAME",
        "LANG",
        "LC_ALL",
        "PATH",
        "PGAPPNAME",
        "PGDATA",
        "PGDATABASE",
        "PGHOST",
        "PGPORT",
        "PGUSER",
        "SHELL",
        "TERM",
        "TMPDIR",
        "TZ",
        "USER",
        "LD_LIBRARY_PATH",
        "LD_PRELOAD",
    ];
    const SETTINGS: &[&str] = &[
        "application_name",
        "if",
        "of",
        "conv",
        "iflag",
        "oflag",
        "sslmode",
    ];
    VARIABLES.contains(&name)
        || SETTINGS.contains(&name)
        || matches!(kind_of(None, name), Kind::Name | Kind::Path)
}
