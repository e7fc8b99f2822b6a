//! Programs whose options are known.

/// What an option takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// Nothing.
    Flag,
    /// A name, a host, or several.
    Name,
    /// A file.
    Path,
    /// `NAME=value`.
    Pair,
    /// `Name: value`.
    Header,
    /// A database by name, pairs or URL.
    Place,
    /// Statements.
    Sql,
    /// A shell's script.
    Script,
    /// A sentence or an expression of one's own.
    Text,
    /// Something that is never stored.
    Secret,
    /// The same, and only where it is attached: `mysql -p` alone asks for one.
    Attached,
    /// It is not known; perhaps nothing.
    Unknown,
}

/// What words without a dash are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Words {
    /// Whatever their form says.
    Any,
    /// The first is a user with a password: Oracle's tools.
    Login,
    /// Never stored: `echo`, `htpasswd`.
    Secret,
    /// After so many a command begins, which this program runs.
    Command(usize),
}

/// What is known of a program.
pub(super) struct Program {
    /// Its names; a `*` at the end stands for any that begin so.
    names: &'static str,
    /// What its words without a dash are.
    pub(super) words: Words,
    /// `kind: options`, parted by `;`. One letter is a short option.
    options: &'static str,
}

const fn program(names: &'static str, words: Words, options: &'static str) -> Program {
    Program {
        names,
        words,
        options,
    }
}

const PROGRAMS: &[Program] = &[
    // Load generators and clients.
    program(
        "pgbench ysql_bench",
        Words::Any,
        "flag: i I C S N n l r v d q; name: h U b M F partition-method; path: f; pair: D; place: dbname",
    ),
    program(
        "psql ysqlsh pg_dump pg_restore createdb dropdb vacuumdb pg_isready",
        Words::Any,
        "flag: A a b E e L l n q s S t w W x X 1; name: h U; place: d dbname; path: f o; sql: c command; pair: v P",
    ),
    program(
        "mysql* mariadb*",
        Words::Any,
        "flag: A B C f H N q r s t v w X; name: h u D default-character-set; path: S defaults-file; attached: p; sql: e execute query init-command create",
    ),
    program(
        "redis-* valkey-* keydb-*",
        Words::Any,
        "flag: q l I e x tls cluster csv; name: h t user; path: s; place: u; secret: a pass",
    ),
    program(
        "memtier_benchmark",
        Words::Any,
        "name: h s server P protocol key-prefix key-pattern key-minimum key-maximum ratio data-size; path: S; secret: a authenticate",
    ),
    program("mongo*", Words::Any, "name: h u; secret: p; sql: eval"),
    program(
        "cqlsh",
        Words::Any,
        "name: u k; path: f; secret: p; sql: e execute",
    ),
    program("clickhouse*", Words::Any, "name: h u d; sql: q query"),
    program(
        "sqlplus sqlldr sqlcl expdp impdp exp imp rman",
        Words::Login,
        "flag: S L s l",
    ),
    program(
        "wrk wrk2",
        Words::Any,
        "flag: v L latency U; path: s script; header: H header",
    ),
    program(
        "ab",
        Words::Any,
        "flag: k i q l d S I r h V; name: m f Z; path: p u g e E; header: H; secret: A P C; name: T",
    ),
    program(
        "hey",
        Words::Any,
        "name: m T host; path: D o; header: H; secret: a d x; flag: h2 disable-keepalive",
    ),
    program(
        "oha",
        Words::Any,
        "name: m; path: D; header: H; secret: a d; flag: no-tui insecure latency-correction disable-keepalive",
    ),
    program("h2load", Words::Any, "flag: v; path: i; header: H header"),
    program(
        "curl wget",
        Words::Any,
        "flag: s S f i I k L v N g G O; path: o; name: X request A; header: H header; secret: u user d data b cookie F form T proxy-user oauth2-bearer",
    ),
    program(
        "sysbench",
        Words::Any,
        "name: rand-type db-driver mysql-user mysql-db mysql-host mysql-engine pgsql-user pgsql-db pgsql-host file-test-mode file-io-mode file-fsync-mode memory-oper memory-access-mode memory-scope",
    ),
    program(
        "fio",
        Words::Any,
        "name: name rw readwrite ioengine group_reporting output-format direct; path: filename directory",
    ),
    program(
        "ycsb* cassandra-stress",
        Words::Any,
        "pair: p; name: db node mode; path: P; flag: s",
    ),
    program(
        "ldap*",
        Words::Any,
        "flag: x W Z v n c; name: h; place: H; secret: w; path: y; name: s",
    ),
    program("k6", Words::Any, "pair: e; name: u i; path: out"),
    program(
        "vegeta",
        Words::Any,
        "path: targets output; header: header; name: rate duration name workers",
    ),
    program(
        "stress stress-ng",
        Words::Any,
        "name: hdd-opts cpu-method vm-method io-method metrics-brief",
    ),
    program("dd", Words::Any, ""),
    program(
        "java",
        Words::Any,
        "path: jar cp classpath; flag: server client; pair: D J",
    ),
    program(
        "jmeter",
        Words::Any,
        "flag: n; path: t l j e o; pair: J D G",
    ),
    program(
        "python* node perl ruby php lua",
        Words::Any,
        "path: m W; secret: c e E r",
    ),
    // Words that are data.
    program(
        "echo printf expect htpasswd chpasswd smbclient vault pass",
        Words::Secret,
        "flag: n e E",
    ),
    // Programs that run the command in their arguments.
    program(
        "sh bash dash zsh ash ksh",
        Words::Any,
        "flag: e u x l i; script: c",
    ),
    program(
        "su runuser",
        Words::Command(9),
        "flag: l m p; name: u user s shell; script: c command",
    ),
    program(
        "env",
        Words::Command(0),
        "flag: i 0 v; name: u; path: C; script: S",
    ),
    program(
        "sudo doas",
        Words::Command(0),
        "flag: n E H i s b k A S; name: u user g group",
    ),
    program(
        "ssh",
        Words::Command(1),
        "flag: A a C f G g K k M N n q T t V v X x Y y 4 6; name: l; path: i F E; pair: o",
    ),
    program(
        "sshpass",
        Words::Command(0),
        "flag: e v; secret: p; path: f",
    ),
    program("ip", Words::Command(3), "flag: 4 6 s d o; name: n"),
    program(
        "docker podman",
        Words::Command(2),
        "flag: it ti i t d rm init privileged P; name: name network u user w workdir; pair: e env l label; path: env-file v volume",
    ),
    program(
        "kubectl",
        Words::Command(2),
        "flag: it ti i t; name: n namespace c container context",
    ),
    program(
        "taskset timeout chrt",
        Words::Command(1),
        "flag: c p a b f o r i d foreground preserve-status; name: s signal k",
    ),
    program("flock chroot", Words::Command(1), "flag: n x s e u"),
    program("perf", Words::Command(1), "flag: a g d v; name: e; path: o"),
    program("watch", Words::Command(0), "flag: d t b e g c x"),
    program("time", Words::Command(0), "flag: v p; path: o"),
    program(
        "stdbuf ionice nice setsid nohup exec command export declare local readonly if then else elif do while until ! { } xargs nsenter numactl script setpriv strace systemd-run unshare cgexec ltrace valgrind prlimit catchsegv setarch parallel stallscope-lab",
        Words::Command(0),
        "flag: v q f t r E e p a w; name: cpunodebind membind physcpubind localalloc unit slice g reuid regid bounding-set; script: c",
    ),
    program(
        "stallscope",
        Words::Command(1),
        "flag: q v no-report json-lines; path: o output json; place: postgres mysql pgbouncer redis; text: target signal metric fail-if window slo",
    ),
];

impl Program {
    /// What is known of a program by its name.
    pub(super) fn find(name: &str) -> Option<&'static Program> {
        let fits = |pattern: &str| match pattern.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == pattern,
        };
        PROGRAMS
            .iter()
            .find(|program| program.names.split(' ').any(fits))
    }

    /// Whether it is Java's, which has options like nobody else.
    pub(super) fn is_java(&self) -> bool {
        self.names == "java"
    }

    /// Whether any of them has an option of that name.
    pub(super) fn any_has(option: &str) -> bool {
        PROGRAMS
            .iter()
            .any(|program| program.option(option).is_some())
    }

    /// What one of its own options takes.
    pub(super) fn option(&self, name: &str) -> Option<Kind> {
        let lists = self
            .options
            .split(';')
            .filter_map(|list| list.split_once(':'));
        let mut named = lists.filter(|(_, names)| names.split_whitespace().any(|it| it == name));
        named.next().map(|(kind, _)| match kind.trim() {
            "flag" => Kind::Flag,
            "name" => Kind::Name,
            "path" => Kind::Path,
            "pair" => Kind::Pair,
            "header" => Kind::Header,
            "place" => Kind::Place,
            "sql" => Kind::Sql,
            "script" => Kind::Script,
            "text" => Kind::Text,
            "attached" => Kind::Attached,
            _ => Kind::Secret,
        })
    }
}
