//! The workload's command as it will be run, with what is known of it before it starts.

use std::ffi::OsString;
use std::path::Path;

use anyhow::{Result, bail};
use model::{Load, Provenance, WorkloadRun};
use workloads::{Adjust, LatencyLog, LogOffer, Patterns, Prepared, Quantity, Reader};

use crate::arguments::Run;

/// The word for the rate of a tool that has none of its own.
const PER_SECOND: &str = "per second";
/// Where in the recording's folder the workload writes its log, while it runs.
pub(super) const LOG_FOLDER: &str = "latency-log";
/// What the names of the log's files begin with.
const LOG_PREFIX: &str = "log";

/// The command as it will be run.
pub(super) struct Typed {
    pub(super) argv: Vec<OsString>,
    pub(super) name: String,
    /// Whether an adapter knows it as a load generator.
    pub(super) known: bool,
    pub(super) load: Load,
    pub(super) latency: Provenance,
    pub(super) notices: Vec<String>,
    pub(super) unit: &'static str,
    /// Understands the output, where anybody does.
    pub(super) reader: Option<Box<dyn Reader>>,
    /// The patterns of `--metric`, as typed.
    patterns: Vec<String>,
    gives: &'static [Quantity],
    /// The log that it could write.
    offer: Option<LogOffer>,
    quantiles: Quantiles,
}

/// Whether quantiles of latency will be known.
enum Quantiles {
    /// They were asked for.
    Asked,
    /// The option would give them.
    Possible,
    /// Nothing would.
    Unknown,
}

/// The log that the workload writes into a folder of the recording's.
pub(super) struct LogFolder(pub(super) LatencyLog);

impl Typed {
    /// What the command line asks for.
    ///
    /// # Errors
    /// Options that contradict each other.
    pub(super) fn new(arguments: &Run) -> Result<Self> {
        let adjust = if arguments.no_adjust {
            Adjust::Forbidden
        } else {
            Adjust::Allowed
        };
        let patterns = Patterns::new(arguments.metric.clone()).map_err(anyhow::Error::msg)?;
        let typed = match workloads::prepare(&arguments.workload, adjust) {
            Some(prepared) => Self::known(prepared),
            None => Self::unknown(&arguments.workload),
        };
        let mut typed = typed.with(patterns);
        if arguments.quantiles {
            if !typed.known {
                bail!(
                    "--quantiles needs a load of pgbench or ysql_bench, and {} as typed is none: leave --quantiles away",
                    typed.name
                );
            }
            typed.quantiles = Quantiles::Asked;
        } else if matches!(typed.offer, Some(LogOffer::Possible(_))) && !arguments.no_adjust {
            typed.quantiles = Quantiles::Possible;
        }
        Ok(typed)
    }

    /// Has it write a log into the recording, where quantiles were asked for.
    pub(super) fn log_into(&mut self, recording: &Path) -> Option<LogFolder> {
        let Quantiles::Asked = self.quantiles else {
            return None;
        };
        match self.offer.take()? {
            LogOffer::Possible(log) => {
                let path = recording.join(LOG_FOLDER);
                let options = log.add_to(&mut self.argv, &path.join(LOG_PREFIX));
                self.notices
                    .push(format!("{}: added {options} for quantiles", self.name));
                Some(LogFolder(log))
            }
            LogOffer::Refused(why) => {
                self.notices.push(why);
                None
            }
        }
    }

    fn known(prepared: Prepared) -> Self {
        Self {
            argv: prepared.argv,
            name: prepared.adapter.to_owned(),
            known: true,
            load: prepared.load,
            latency: prepared.latency,
            notices: prepared.notices,
            unit: prepared.serving_unit,
            reader: Some(prepared.reader),
            patterns: Vec::new(),
            gives: prepared.gives,
            offer: Some(prepared.log),
            quantiles: Quantiles::Unknown,
        }
    }

    fn unknown(argv: &[OsString]) -> Self {
        let program = argv.first().map(Path::new).and_then(Path::file_name);
        Self {
            argv: argv.to_vec(),
            name: program
                .map(|name| name.to_string_lossy().into_owned())
                .unwrap_or_default(),
            known: false,
            load: Load::default(),
            latency: Provenance::None,
            notices: Vec::new(),
            unit: "process",
            reader: None,
            patterns: Vec::new(),
            gives: &[],
            offer: None,
            quantiles: Quantiles::Unknown,
        }
    }

    /// With the patterns of `--metric` beside the adapter, or in the place of one.
    fn with(mut self, patterns: Patterns) -> Self {
        if patterns.is_empty() {
            return self;
        }
        self.patterns = patterns.texts();
        let attached = patterns.attach(&self.name, self.reader.take(), self.gives);
        self.reader = Some(attached.reader);
        self.notices.extend(attached.notices);
        if attached.latency {
            self.latency = Provenance::ToolMean;
        }
        if self.load.rate_unit.is_empty() {
            self.load.rate_unit = PER_SECOND.to_owned();
        }
        self
    }

    /// The same for the recording.
    pub(super) fn description(&self) -> WorkloadRun {
        WorkloadRun {
            name: self.name.clone(),
            command: workloads::redact(&self.argv),
            adapter: self.known.then(|| self.name.clone()),
            notices: self.notices.clone(),
            signals: self.patterns.clone(),
            quantiles_option: matches!(self.quantiles, Quantiles::Possible)
                .then(|| "--quantiles".to_owned()),
            load: self.load.clone(),
            latency: self.latency,
            started: kernel::boottime(),
            outcome: None,
        }
    }
}
