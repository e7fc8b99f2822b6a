//! Load generators: recognise one by its command line, prepare that command, understand its output.
//!
//! An adapter is one file and one line in `all()`. It sees bytes and times, nothing else: it starts no
//! process, opens no file, and knows neither sensors nor recordings. A command that no adapter knows
//! runs as typed.
#![warn(missing_docs)]

mod ab;
mod adapter;
mod bin;
mod clock;
mod complaints;
mod decimal;
mod fio;
mod hey;
mod instance;
mod instances;
mod jmeter;
mod k6;
mod labels;
mod listener;
mod locust;
mod log;
mod mysqlslap;
mod namespace;
mod oha;
mod pattern;
mod pgbench;
mod pipe;
mod quote;
mod redact;
mod redis_benchmark;
mod reports;
mod results;
mod siege;
mod sysbench;
mod vegeta;
mod wrapper;
mod wrk;
mod ycsb;

pub use adapter::{Adapter, Adjust, Chosen, Ending, Prepared, Quantity, Reader, Stream, Unknown};
pub use bin::{Bin, SIGNAL, SIGNAL_BY_LABEL};
pub use instance::{BETWEEN, Instance};
pub use labels::MOST_LABELS;
pub use listener::Listener;
pub use log::{LATENCY_SAMPLE, LatencyLog, LogOffer, Logged};
pub use pattern::{Attached, Patterns, Rule};
pub use redact::{Secrets, is_known_option, redact, redact_text};
pub use results::{Operation, Operations, ResultsFile, ResultsReader};
pub use wrapper::name_of;

use std::ffi::OsString;

use model::sentence;

/// The tables that hold what workloads say.
pub fn tables() -> [&'static model::Table; 3] {
    [&SIGNAL, &SIGNAL_BY_LABEL, &LATENCY_SAMPLE]
}

/// Every adapter.
pub fn all() -> &'static [&'static dyn Adapter] {
    static ALL: &[&dyn Adapter] = &[
        &pgbench::PGBENCH,
        &pgbench::YSQL_BENCH,
        &wrk::WRK,
        &hey::HEY,
        &ab::AB,
        &oha::OHA,
        &vegeta::VEGETA,
        &locust::LOCUST,
        &jmeter::JMETER,
        &k6::K6,
        &sysbench::SYSBENCH,
        &redis_benchmark::REDIS_BENCHMARK,
        &redis_benchmark::VALKEY_BENCHMARK,
        &siege::SIEGE,
        &mysqlslap::MYSQLSLAP,
        &ycsb::YCSB,
        &fio::FIO,
        &pgbench::PGBENCH_INIT,
        &pgbench::YSQL_BENCH_INIT,
    ];
    ALL
}

impl std::str::FromStr for Chosen {
    type Err = String;

    /// The adapter of this name.
    ///
    /// # Errors
    /// No adapter has it; says which there are.
    fn from_str(name: &str) -> Result<Self, String> {
        let found = all().iter().find(|it| it.name() == name);
        found.map(|it| Chosen(*it)).ok_or_else(|| {
            let names: Vec<_> = all().iter().map(|it| it.name()).collect();
            format!(
                "no adapter is called {name}; there are {}",
                names.join(", ")
            )
        })
    }
}

/// The preparation of `argv` by the adapter that knows its program, or `None` for a command that none knows. A load
/// from another network namespace (`ip netns exec NAME COMMAND`), or that `timeout` and the like start, is prepared
/// like any other; one that a shell starts (`sh -c COMMAND`, alone or in a pipe) is understood, and run as typed.
pub fn prepare(argv: &[OsString], adjust: Adjust) -> Option<Prepared> {
    if instance::are(argv) {
        return instances::prepare_each(argv, adjust);
    }
    let (prefix, command) = argv.split_at(wrapper::prefix_length(argv));
    if let Some(inner) = wrapper::in_shell(command) {
        let prepared = prepare(&inner, Adjust::Forbidden)?;
        return Some(Prepared {
            argv: argv.to_vec(),
            log: LogOffer::Refused(sentence!(
                "{}: a shell starts it, so no option is added for quantiles",
                prepared.adapter
            )),
            ..prepared
        });
    }
    let mut prepared = all()
        .iter()
        .find_map(|adapter| adapter.prepare(command, adjust))?;
    if let LogOffer::Possible(log) = &mut prepared.log {
        log.behind += prefix.len();
    }
    Some(Prepared {
        argv: [prefix, &prepared.argv].concat(),
        ..prepared
    })
}

/// The preparation of `argv` by the adapter that the user chose. A command whose own name is the adapter's is prepared
/// as without the choice; any other is run as typed, and only its output is understood.
pub fn prepare_as(chosen: Chosen, argv: &[OsString], adjust: Adjust) -> Prepared {
    let Chosen(adapter) = chosen;
    if instance::are(argv) {
        let each = |own: &[OsString]| Some(prepare_as(chosen, own, adjust));
        if let Some(prepared) = instances::prepare(argv, each) {
            return prepared;
        }
    }
    match prepare(argv, adjust).filter(|prepared| prepared.adapter == adapter.name()) {
        Some(prepared) => prepared,
        None => adapter.listen(argv),
    }
}
