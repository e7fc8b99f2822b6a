//! The list of what leaves of a `meta.json`. A field that is not on it does not, so that one added tomorrow is
//! private until somebody puts it here.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use anyhow::{Context, Result};
use model::{EntityKind, Meta, Table, Target};
use regex::Regex;
use serde_json::Value;

use super::pseudonyms::Class;
use super::{Redactor, entities, own_tables, text};

use How::{
    Closed, Command, Database, Group, Host, Id, Known, Number, OneOf, OptionName, Program, Public,
    Script, Sentence, User, Version, Withheld,
};

/// How the text of a field leaves. Numbers and truth values of a field on the list leave as they are.
#[derive(Clone, Copy)]
enum How {
    /// It is a number: of a text nothing leaves.
    Number,
    /// As it is: a word of an `enum` of the format, so that it can be no other.
    Closed,
    /// As it is: a fact about kernel, hardware or server, the same for everybody who has such a one.
    Public,
    /// As it is where it is one of these; what does not fit its rule is withheld, here and below.
    OneOf(&'static [&'static str]),
    /// As it is: a table, column or program in the kernel that this version knows.
    Known,
    /// The random number of a recording, so that both sides can name it.
    Id,
    /// `15`, `0.1.0-rc1`.
    Version,
    /// `-c`, `--rate`.
    OptionName,
    /// Not at all; the field has to be there.
    Withheld,
    /// Renamed, as that kind of name.
    Host,
    Group,
    User,
    Database,
    Program,
    /// A script of the load generator: its own keep their names.
    Script,
    /// A command line.
    Command,
    /// A sentence: the program's own words, and renamed entities.
    Sentence,
}

/// The fields that leave, by where they stand and how. `*` is the name of a table, of a column or of a
/// program in the kernel that this version knows; members of a list share a name.
#[rustfmt::skip]
const FIELDS: &[(&str, How, &str)] = &[
    ("", Number, "format_version complete cpus"),
    ("", Sentence, "no_target"),
    ("window", Number, "start end"),
    ("identity", Id, "recording_id"),
    // They would tell two bundles of one machine.
    ("identity", Withheld, "machine_id boot_id"),
    ("identity", Host, "node"),
    ("identity", Version, "stallscope"),
    ("identity", Number, "anchor_realtime_ns anchor_boottime"),
    ("plan", OneOf(&["run", "record", "import"]), "command"),
    ("plan", Sentence, "targets"),
    ("plan", Command, "typed"),
    ("plan", Number, "fast_period_ns min_wait_ns stack_rate trace_all"),
    ("plan.goals", Closed, "of"),
    ("plan.goals", Number, "below_ns"),
    ("plan.goals.of", Number, "quantile"),
    ("plan.periods.*", Number, "near_ns rest_ns"),
    ("environment.kernel", Public, "release sched_autogroup task_delayacct"),
    ("environment.cpu", Public, "model online smt governor"),
    ("environment.machine", Public, "architecture hypervisor vendor product"),
    ("environment.memory", Public, "total huge_pages"),
    ("environment.vm", Public, "swappiness dirty_ratio"),
    ("environment.clock", Public, "source ahead_ns ahead_within_ns"),
    ("environment.clock", Id, "ahead_of"),
    ("environment.cgroup", Public, "layout"),
    ("environment.cut", Id, "of"),
    ("environment.import", Public, "tool version resolution_ns"),
    ("environment.recorder", Public, "user"),
    ("environment", Public, "distribution"),
    ("environment.mysql", Host, "host"),
    ("environment.mysql", User, "user"),
    ("environment.mysql", Public, "innodb_buffer_pool_size innodb_flush_log_at_trx_commit"),
    ("environment.mysql", Public, "innodb_flush_method innodb_lock_wait_timeout innodb_read_only"),
    ("environment.mysql", Public, "log_bin max_connections performance_schema port sync_binlog"),
    ("environment.mysql", Public, "thread_handling version"),
    ("environment.pgbouncer", Host, "host"),
    ("environment.pgbouncer", User, "user"),
    ("environment.pgbouncer", Public, "default_pool_size max_client_conn max_db_connections"),
    ("environment.pgbouncer", Public, "min_pool_size pool_mode port query_wait_timeout"),
    ("environment.pgbouncer", Public, "reserve_pool_size version"),
    ("environment.postgres", Host, "host"),
    ("environment.postgres", User, "user"),
    ("environment.postgres", Database, "database"),
    ("environment.postgres", Public, "autovacuum checkpoint_timeout fsync max_connections"),
    ("environment.postgres", Public, "max_wal_size port reserved_connections server_version"),
    ("environment.postgres", Public, "shared_buffers superuser_reserved_connections"),
    ("environment.postgres", Public, "synchronous_commit track_io_timing wal_sync_method"),
    ("environment.redis", Host, "host"),
    ("environment.redis", User, "user"),
    ("environment.redis", Public, "aof_enabled maxmemory_policy mode port role server_name"),
    ("environment.redis", Public, "valkey_version version"),
    ("environment.scrape", Host, "host"),
    ("environment.scrape", Public, "port"),
    ("targets", Closed, "role"),
    ("targets", Program, "name"),
    ("targets", OneOf(&["backend", "process"]), "unit"),
    ("targets", Version, "version"),
    ("targets", Sentence, "found_by"),
    ("targets", Number, "root connections cpus_allowed allowed found_at"),
    ("targets.machine_unit", Closed, "kind"),
    ("targets.machine_unit", Group, "group"),
    ("workload", Program, "name adapter"),
    ("workload", Command, "command"),
    ("workload", Sentence, "notices"),
    // The patterns quote somebody's output; that there are some decides what its numbers are worth.
    ("workload", Withheld, "signals"),
    ("workload", OptionName, "quantiles_option"),
    ("workload", Closed, "latency"),
    ("workload", Number, "is_heard started"),
    ("workload.load", Number, "clients threads rate"),
    ("workload.load", OneOf(&["tps", "per second"]), "rate_unit"),
    ("workload.load", OptionName, "clients_option rate_option"),
    ("workload.outcome", Number, "ended"),
    ("workload.outcome", Sentence, "remarks"),
    ("workload.outcome.exit", Number, "code signal"),
    ("workload.outcome.complaints", Closed, "kind"),
    ("workload.outcome.complaints", Number, "count"),
    // A line of somebody else's output.
    ("workload.outcome.complaints", Withheld, "message"),
    ("workload.outcome.summary", Script, "transaction_type"),
    ("workload.outcome.summary", Number, "complete clients threads duration_s completed failed"),
    ("workload.outcome.summary", Number, "skipped retried retries late latency_mean_ns"),
    ("workload.outcome.summary", Number, "latency_stddev_ns latency_derived lag_mean_ns"),
    ("workload.outcome.summary", Number, "lag_max_ns connect_ns throughput"),
    ("workload.outcome.summary.latency_quantiles", Number, "q latency_ns"),
    ("workload.outcome.summary.scripts.latency_quantiles", Number, "q latency_ns"),
    ("workload.outcome.summary.scripts", Script, "name"),
    ("workload.outcome.summary.scripts", Number, "weight completed failed throughput"),
    ("workload.outcome.summary.scripts", Number, "latency_mean_ns latency_stddev_ns"),
    ("gaps", Sentence, "what detail"),
    ("gaps", Known, "table"),
    ("gaps", Closed, "reason"),
    ("gaps.window", Number, "start end"),
    ("cost", Number, "cpu_ns wall_ns ticks late_ticks lateness_max_ns fast_period_ns memory_locked resident_bytes"),
    ("cost", OneOf(&["SCHED_RR 1", "nice -10", "normal"]), "priority"),
    ("cost.kernel_bytes", Number, "*"),
    ("cost.corrections", Number, "*"),
    ("cost.programs", Sentence, "*"),
    ("segment", Number, "number continues"),
    ("firings", Number, "at suppressed"),
    ("firings", Withheld, "trigger value"),
    ("cost.cross_check", Number, "compared diff worst_ns switches_missed drops"),
];

/// Programs in the kernel.
const PROGRAMS: &[&str] = &[
    "block",
    "flow",
    "pressure",
    "processes",
    "requests",
    "tasks",
    "thread_time",
    "wait_stacks",
];

/// pgbench's own scripts, and what it prints of several.
const SCRIPTS: &[&str] = &[
    "<builtin: TPC-B (sort of)>",
    "<builtin: select only>",
    "<builtin: simple update>",
    "multiple scripts",
];

impl Redactor {
    /// The public part of a description.
    ///
    /// # Errors
    /// When a field has to be there and is not on the list.
    pub(super) fn meta(&mut self, mut meta: Meta) -> Result<Meta> {
        for sentence in meta.sentences_mut() {
            *sentence = self.sentence(sentence);
            self.sentences
                .insert(sentence.to_string(), sentence.clone());
        }
        let whole = serde_json::to_value(meta).context("cannot write meta.json")?;
        let public = self.public("", whole).unwrap_or_default();
        let mut public: Meta =
            serde_json::from_value(public).context("meta.json needs a field that is not public")?;
        public.take_apart(&self.sentences);
        Ok(public)
    }

    /// Meets the names that facts about the environment have.
    pub(super) fn learn_environment(&mut self, facts: &BTreeMap<String, String>) {
        for (name, value) in facts {
            if let Some(how @ (Host | User | Database)) = how(&format!("environment.{name}")) {
                self.text(how, value);
            }
        }
    }

    /// Meets what people called the parts of a machine: a service and a container are no programs.
    pub(super) fn learn_units(&mut self, targets: &[Target]) {
        let named = targets.iter().filter(|it| !entities::is_process(it));
        for target in named {
            self.names.of(Class::Group, &target.name);
        }
    }

    /// What leaves of the value at `path`; `None` where the list has nothing there.
    pub(super) fn public(&mut self, path: &str, value: Value) -> Option<Value> {
        match value {
            Value::Object(members) => {
                let public = members.into_iter().filter_map(|(name, value)| {
                    let path = path_of_member(path, &name)?;
                    Some((name, self.public(&path, value)?))
                });
                Some(Value::Object(public.collect()))
            }
            Value::Array(words) if matches!(how(path), Some(Command)) => Some(self.command(&words)),
            Value::Array(values) => {
                let public = values.into_iter().filter_map(|it| self.public(path, it));
                Some(Value::Array(public.collect()))
            }
            Value::String(text) => Some(self.text(how(path)?, &text).into()),
            Value::Null => Some(Value::Null),
            number => how(path).map(|_| number),
        }
    }

    fn text(&mut self, how: How, text: &str) -> String {
        static VERSION: LazyLock<Regex> = LazyLock::new(|| {
            text::constant(r"^[0-9]{1,4}(\.[0-9]{1,4}){0,2}(-?[a-z]{1,5}[0-9]{0,2})?$")
        });
        static OPTION_NAME: LazyLock<Regex> =
            LazyLock::new(|| text::constant(r"^(-[A-Za-z]|--[a-z-]{1,20})$"));
        static ID: LazyLock<Regex> = LazyLock::new(|| text::constant(r"^[0-9a-f-]{1,36}$"));
        let stays = match how {
            Closed | Public => true,
            Number | Withheld | Command => false,
            OneOf(words) => words.contains(&text),
            Known => text == "*" || text == crate::nodes::TABLE || is_known(text),
            Id => ID.is_match(text),
            Version => VERSION.is_match(text),
            OptionName => OPTION_NAME.is_match(text),
            Sentence => self.sentences.contains_key(text),
            Host => return self.host(text),
            Group => return self.name(EntityKind::Cgroup, text),
            User => return self.names.of(Class::User, text),
            Database => return self.names.of(Class::Database, text),
            Program => return self.program(text),
            Script if SCRIPTS.contains(&text) => true,
            Script => return text::value(&mut self.names, text),
        };
        match stays {
            true => text.to_owned(),
            false => self.withhold(text),
        }
    }

    /// A command line: the program first, without where it lies.
    fn command(&mut self, words: &[Value]) -> Value {
        let words: Vec<String> = words
            .iter()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect();
        let Some((program, arguments)) = words.split_first() else {
            return Value::Array(Vec::new());
        };
        let program = program.rsplit('/').next().unwrap_or(program);
        let mut public = vec![self.program(program)];
        public.extend(text::command(&mut self.names, arguments));
        public.into()
    }
}

/// Where a member stands, if the list has it or something below it.
pub(super) fn path_of_member(path: &str, name: &str) -> Option<String> {
    let below = |name: &str| match path {
        "" => name.to_owned(),
        _ => format!("{path}.{name}"),
    };
    let any = is_known(name).then(|| below("*"));
    let is_listed = |path: &String| {
        let within = |of: &str| {
            of.strip_prefix(&**path)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        how(path).is_some() || FIELDS.iter().any(|(of, ..)| within(of))
    };
    any.into_iter().chain([below(name)]).find(is_listed)
}

/// How the field at a path leaves.
fn how(path: &str) -> Option<How> {
    let (of, name) = path.rsplit_once('.').unwrap_or(("", path));
    let mut listed = FIELDS.iter();
    let field =
        listed.find(|(place, _, names)| *place == of && names.split(' ').any(|it| it == name));
    field.map(|(_, how, _)| *how)
}

/// Whether this version has a table, a column (`table.column`) or a program of that name.
fn is_known(name: &str) -> bool {
    static KNOWN: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
        let of_table = |table: &'static Table| {
            let columns = table
                .columns
                .iter()
                .map(|column| format!("{}.{}", table.name, column.name));
            columns.chain([table.name.to_string()])
        };
        let programs = PROGRAMS.iter().map(ToString::to_string);
        own_tables().flat_map(of_table).chain(programs).collect()
    });
    KNOWN.contains(name)
}

/// Every field on the list, by its path.
#[cfg(test)]
pub(super) fn all() -> impl Iterator<Item = String> {
    let fields = FIELDS
        .iter()
        .flat_map(|(of, _, names)| names.split(' ').map(move |name| (of, name)));
    fields.map(|(of, name)| format!("{of}.{name}").trim_start_matches('.').to_owned())
}
