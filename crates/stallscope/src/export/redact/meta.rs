//! The content of `meta.json`, field by field.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use model::{
    Complaint, Cost, Gap, GapReason, Identity, Load, Meta, Outcome, Plan, ScriptSummary, Summary,
    Target, WorkloadRun,
};
use regex::Regex;

use super::pseudonyms::Class;
use super::{Redactor, identifier, text};

/// What stands for a text that is left out.
const LEFT_OUT: &str = "***";

/// Settings of PostgreSQL that are recorded: numbers, words of its own, and versions.
const POSTGRES_SETTINGS: &[&str] = &[
    "autovacuum",
    "checkpoint_timeout",
    "fsync",
    "max_connections",
    "max_wal_size",
    "port",
    "reserved_connections",
    "server_version",
    "shared_buffers",
    "superuser_reserved_connections",
    "synchronous_commit",
    "track_io_timing",
    "wal_sync_method",
];

impl Redactor {
    pub(super) fn meta(&mut self, meta: Meta) -> Meta {
        let Meta {
            format_version,
            identity,
            plan,
            window,
            complete,
            cpus,
            environment,
            targets,
            no_target,
            workload,
            gaps,
            cost,
        } = meta;
        Meta {
            format_version,
            identity: self.identity(identity),
            plan: self.plan(plan),
            window,
            complete,
            cpus,
            environment: self.environment(environment),
            targets: targets.into_iter().map(|it| self.target(it)).collect(),
            no_target: no_target.map(|text| self.sentence(&text)),
            workload: workload.map(|workload| self.workload(workload)),
            gaps: gaps.into_iter().map(|gap| self.gap(gap)).collect(),
            cost: self.cost(cost),
        }
    }

    /// The recording's own number is random and stays, so that both sides can name it. Those of
    /// machine and boot would tell two bundles of one machine.
    fn identity(&mut self, identity: Identity) -> Identity {
        let Identity {
            recording_id,
            machine_id: _,
            boot_id: _,
            node,
            stallscope,
            anchor_realtime_ns,
            anchor_boottime,
        } = identity;
        Identity {
            recording_id: identifier(&recording_id),
            machine_id: String::new(),
            boot_id: String::new(),
            node: self.host(&node),
            stallscope: identifier(&stallscope),
            anchor_realtime_ns,
            anchor_boottime,
        }
    }

    fn plan(&mut self, plan: Plan) -> Plan {
        let Plan {
            command,
            targets,
            fast_period_ns,
            typed,
            periods,
            trace_all,
        } = plan;
        Plan {
            trace_all,
            targets: targets.iter().map(|text| self.found_by(text)).collect(),
            command: identifier(&command),
            fast_period_ns,
            typed: match typed.split_first() {
                Some((own, words)) => {
                    let words = text::command(&mut self.names, words);
                    [identifier(own)].into_iter().chain(words).collect()
                }
                None => typed,
            },
            periods: periods
                .into_iter()
                .map(|(table, every)| (identifier(&table), every))
                .collect(),
        }
    }

    /// A target as the user named it, or how it was found.
    fn found_by(&mut self, text: &str) -> String {
        text::target(&mut self.names, text).unwrap_or_else(|| self.sentence(text))
    }

    fn environment(&mut self, facts: BTreeMap<String, String>) -> BTreeMap<String, String> {
        let fact = |(name, value): (String, String)| {
            let value = self.fact(&name, &value);
            (identifier(&name), value)
        };
        facts.into_iter().map(fact).collect()
    }

    /// What is known to describe kernel, hardware or server stays; of the rest only that it is there.
    fn fact(&mut self, name: &str, value: &str) -> String {
        // `(builder@host)`: who compiled a kernel, and where.
        static BUILDER: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(r"\([^()\s]*@[^()]*\)").expect("the pattern is a constant")
        });
        let setting = name.strip_prefix("postgres.");
        match (name, setting) {
            ("kernel.version", _) => BUILDER.replace_all(value, "(***)").into_owned(),
            (_, Some("user")) => self.names.of(Class::User, value),
            (_, Some("database")) => self.names.of(Class::Database, value),
            (_, Some("host")) => self.host(value),
            (_, Some(setting)) if POSTGRES_SETTINGS.contains(&setting) => value.to_owned(),
            ("cgroup.layout" | "machine.architecture" | "recorder.user", _) => value.to_owned(),
            _ if sensors::environment::FACTS
                .iter()
                .any(|fact| fact.name == name) =>
            {
                value.to_owned()
            }
            _ => LEFT_OUT.to_owned(),
        }
    }

    fn target(&mut self, target: Target) -> Target {
        let Target {
            role,
            root,
            name,
            unit,
            version,
            found_by,
            connections,
            cpus_allowed,
            found_at,
        } = target;
        Target {
            role,
            root,
            name: self.program(&name),
            unit: identifier(&unit),
            version: version.map(|version| identifier(&version)),
            found_by: self.found_by(&found_by),
            connections,
            cpus_allowed,
            found_at,
        }
    }

    fn workload(&mut self, workload: WorkloadRun) -> WorkloadRun {
        let WorkloadRun {
            name,
            command,
            adapter,
            notices,
            signals,
            quantiles_option,
            load,
            latency,
            started,
            outcome,
        } = workload;
        let command = match command.split_first() {
            // The program first: where it lies is somebody's own.
            Some((program, arguments)) => {
                let program = program.rsplit('/').next().unwrap_or(program);
                let mut words = vec![self.program(program)];
                words.extend(text::command(&mut self.names, arguments));
                words
            }
            None => Vec::new(),
        };
        WorkloadRun {
            name: self.program(&name),
            command,
            adapter: adapter.map(|adapter| self.program(&adapter)),
            notices: self.sentences(notices),
            signals: signals.iter().map(|rule| quantity(rule)).collect(),
            quantiles_option: quantiles_option.map(|option| identifier(&option)),
            load: self.load(load),
            latency,
            started,
            outcome: outcome.map(|outcome| self.outcome(outcome)),
        }
    }

    fn load(&mut self, load: Load) -> Load {
        Load {
            rate_unit: self.sentence(&load.rate_unit),
            clients_option: load.clients_option.map(|option| identifier(&option)),
            rate_option: load.rate_option.map(|option| identifier(&option)),
            clients: load.clients,
            threads: load.threads,
            rate: load.rate,
        }
    }

    fn outcome(&mut self, outcome: Outcome) -> Outcome {
        let Outcome {
            ended,
            exit,
            summary,
            remarks,
            complaints,
        } = outcome;
        // A line of somebody else's output: what it complains of is known by its kind.
        let complaints = complaints.into_iter().map(|complaint| Complaint {
            kind: complaint.kind,
            count: complaint.count,
            message: LEFT_OUT.to_owned(),
        });
        Outcome {
            ended,
            exit,
            summary: summary.map(|summary| self.summary(summary)),
            remarks: self.sentences(remarks),
            complaints: complaints.collect(),
        }
    }

    fn summary(&mut self, summary: Summary) -> Summary {
        let scripts = summary.scripts.into_iter().map(|script| ScriptSummary {
            name: self.script(&script.name),
            ..script
        });
        let scripts = scripts.collect();
        let kind = summary.transaction_type.as_deref();
        Summary {
            version: summary.version.map(|version| self.sentence(&version)),
            transaction_type: kind.map(|kind| self.script(kind)),
            scripts,
            ..summary
        }
    }

    /// `<builtin: select only>` is everybody's; a file's name is not.
    fn script(&mut self, name: &str) -> String {
        let own = name.starts_with("<builtin: ") || name == "multiple scripts";
        if own {
            return self.sentence(name);
        }
        text::value(&mut self.names, name)
    }

    fn gap(&mut self, gap: Gap) -> Gap {
        let Gap {
            table,
            what,
            window,
            reason,
        } = gap;
        let reason = match reason {
            GapReason::Unsupported(text) => GapReason::Unsupported(self.sentence(&text)),
            GapReason::Denied(text) => GapReason::Denied(self.sentence(&text)),
            GapReason::Unwritten(text) => GapReason::Unwritten(self.sentence(&text)),
            GapReason::Malformed(text) => GapReason::Malformed(self.sentence(&text)),
            plain @ (GapReason::Vanished | GapReason::Overrun | GapReason::Dropped(_)) => plain,
        };
        let table = if table == "*" {
            table
        } else {
            identifier(&table)
        };
        Gap {
            table,
            what: self.sentence(&what),
            window,
            reason,
        }
    }

    fn cost(&mut self, cost: Cost) -> Cost {
        let corrections = cost.corrections.into_iter();
        Cost {
            priority: self.sentence(&cost.priority),
            corrections: corrections
                .map(|(column, count)| (identifier(&column), count))
                .collect(),
            ..cost
        }
    }
}

/// Of `latency:us=lat ([0-9]+)us` what is measured: the pattern quotes somebody's output.
fn quantity(rule: &str) -> String {
    let quantity = rule.split('=').next().unwrap_or_default();
    let plain = |c: char| c.is_ascii_lowercase() || c == ':';
    let quantity = if quantity.chars().all(plain) {
        quantity
    } else {
        LEFT_OUT
    };
    format!("{quantity}={LEFT_OUT}")
}
