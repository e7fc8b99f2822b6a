//! The workload's command as it will be run, with what is known of it before it starts.

use std::ffi::OsString;
use std::path::Path;

use model::{EntityKind, Load, Part, Provenance, Sentence, sentence};
use workloads::{
    Adjust, Chosen, LatencyLog, LogOffer, Patterns, Prepared, Quantity, Reader, ResultsFile, Rule,
};

use super::error::{Error, Result};

/// The word for the rate of a tool that has none of its own.
const PER_SECOND: &str = "per second";
/// Where in the recording's folder the workload writes its log, while it runs.
pub(super) const LOG_FOLDER: &str = "latency-log";
/// What the names of the log's files begin with.
const LOG_PREFIX: &str = "log";

/// A workload to start and to record.
pub struct WorkloadOptions {
    /// The program and its arguments, as typed.
    pub argv: Vec<OsString>,
    /// Whether options may be added that make a known load generator report more.
    pub adjust: Adjust,
    /// The adapter that the user chose; `None` leaves it to the command's name.
    pub adapter: Option<Chosen>,
    /// Patterns by which its output is read for numbers, one per quantity.
    pub patterns: Vec<Rule>,
    /// Whether the workload writes a log for quantiles of latency.
    pub quantiles: bool,
    /// Where its standard output goes.
    pub stdout: Stdout,
    /// What standard error is.
    pub stderr: Stderr,
}

/// Where the workload's standard output goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stdout {
    /// To standard output.
    ToStdout,
    /// To standard error: something else was asked for on standard output.
    ToStderr,
}

/// What this program's standard error is, which the workload's goes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stderr {
    /// A terminal: a command that nobody understands may want to draw there, and keeps it.
    Terminal,
    /// The same as standard output, as behind `2>&1`: what is written to both keeps its order.
    SameAsStdout,
    /// A file or a pipe of its own.
    Own,
}

/// What is heard of what it prints.
pub(super) enum Heard {
    /// Everything, by an adapter or a pattern that understands it.
    All(Box<dyn Reader>),
    /// Standard error, which is searched for complaints.
    Errors,
    Nothing,
}

/// The command as it will be run.
pub(super) struct WorkloadPlan {
    pub(super) argv: Vec<OsString>,
    pub(super) name: String,
    /// Whether an adapter knows it as a load generator.
    pub(super) known: bool,
    /// Whether somebody else is known to serve it.
    pub(super) is_served: bool,
    pub(super) load: Load,
    pub(super) latency: Provenance,
    pub(super) notices: Vec<Sentence>,
    /// What one of the server's processes is called: `backend`.
    pub(super) unit: &'static str,
    pub(super) heard: Heard,
    /// The patterns of `--metric`, as typed.
    pub(super) patterns: Vec<String>,
    /// The log for quantiles that it will write into the recording's folder.
    pub(super) log: Option<LatencyLog>,
    /// The file of results that its command line names.
    pub(super) results: Option<ResultsFile>,
    /// Whether `--quantiles` would give quantiles, and was not used.
    pub(super) is_lacking_quantiles: bool,
    pub(super) stdout: Stdout,
}

/// A command that was recognised, or was not; its plan lacks only the recording's folder.
pub(super) struct Recognised {
    plan: WorkloadPlan,
    /// The log that it could write.
    offer: Option<LogOffer>,
    /// Whether that was asked for.
    quantiles: bool,
}

impl Recognised {
    /// Looks who knows a command.
    ///
    /// # Errors
    /// Options that contradict each other.
    pub(super) fn new(options: WorkloadOptions) -> Result<Self> {
        let patterns = Patterns::new(options.patterns).map_err(Error::Options)?;
        let prepared = match options.adapter {
            Some(chosen) => Some(workloads::prepare_as(chosen, &options.argv, options.adjust)),
            None => workloads::prepare(&options.argv, options.adjust),
        };
        let mut recognised = match prepared {
            Some(prepared) => Self::known(prepared, patterns),
            None => Self::unknown(options.argv, patterns),
        };
        let plan = &mut recognised.plan;
        plan.stdout = options.stdout;
        if let Heard::Errors = plan.heard {
            match options.stderr {
                Stderr::Terminal => plan.heard = Heard::Nothing,
                Stderr::SameAsStdout => plan.stdout = Stdout::ToStderr,
                Stderr::Own => {}
            }
        }
        if !options.quantiles {
            plan.is_lacking_quantiles = options.adjust == Adjust::Allowed
                && matches!(recognised.offer, Some(LogOffer::Possible(_)));
        } else if !plan.known {
            return Err(Error::Options(format!(
                "--quantiles needs a load of pgbench or ysql_bench, and {} as typed is none: leave --quantiles away",
                plan.name
            )));
        }
        recognised.quantiles = options.quantiles;
        Ok(recognised)
    }

    /// The workload's name: `pgbench`.
    pub(super) fn name(&self) -> &str {
        &self.plan.name
    }

    /// The plan, with a log in the recording's folder where quantiles were asked for.
    pub(super) fn into_plan(self, recording: &Path) -> WorkloadPlan {
        let mut plan = self.plan;
        match self.offer.filter(|_| self.quantiles) {
            Some(LogOffer::Possible(log)) => {
                let path = recording.join(LOG_FOLDER);
                let options = log.add_to(&mut plan.argv, &path.join(LOG_PREFIX));
                let name = Part::name(EntityKind::Workload, &plan.name);
                let notice = sentence!("{}: added {} for quantiles", name, options);
                plan.notices.push(notice);
                plan.log = Some(log);
            }
            Some(LogOffer::Refused(why)) => plan.notices.push(why),
            None => {}
        }
        plan
    }

    fn known(prepared: Prepared, patterns: Patterns) -> Self {
        let plan = WorkloadPlan {
            argv: prepared.argv,
            name: prepared.adapter.to_owned(),
            known: true,
            is_served: prepared.is_served,
            load: prepared.load,
            latency: prepared.latency,
            notices: prepared.notices,
            unit: prepared.serving_unit,
            heard: Heard::All(prepared.reader),
            patterns: Vec::new(),
            log: None,
            results: prepared.results,
            is_lacking_quantiles: false,
            stdout: Stdout::ToStdout,
        };
        Self {
            plan: plan.with(patterns, prepared.gives),
            offer: Some(prepared.log),
            quantiles: false,
        }
    }

    fn unknown(argv: Vec<OsString>, patterns: Patterns) -> Self {
        let plan = WorkloadPlan {
            name: workloads::name_of(&argv),
            argv,
            known: false,
            is_served: false,
            load: Load::default(),
            latency: Provenance::None,
            notices: Vec::new(),
            unit: "process",
            heard: Heard::Errors,
            patterns: Vec::new(),
            log: None,
            results: None,
            is_lacking_quantiles: false,
            stdout: Stdout::ToStdout,
        };
        Self {
            plan: plan.with(patterns, &[]),
            offer: None,
            quantiles: false,
        }
    }
}

impl WorkloadPlan {
    /// With the patterns of `--metric` beside the adapter, which gives some quantities itself, or in the
    /// place of one.
    fn with(mut self, patterns: Patterns, gives: &[Quantity]) -> Self {
        if patterns.is_empty() {
            return self;
        }
        self.patterns = patterns.texts();
        let adapter = match self.heard {
            Heard::All(reader) => Some(reader),
            Heard::Errors | Heard::Nothing => None,
        };
        let attached = patterns.attach(&self.argv, &self.name, adapter, gives);
        self.heard = Heard::All(attached.reader);
        self.notices.extend(attached.notices);
        if attached.latency {
            self.latency = Provenance::ToolMean;
        }
        if self.load.rate_unit.is_empty() {
            self.load.rate_unit = PER_SECOND.to_owned();
        }
        self
    }
}
