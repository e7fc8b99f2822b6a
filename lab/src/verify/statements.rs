//! `verify statements`: CPU time of each statement against pg_stat_kcache's, and the part of the server's time that
//! belongs to no statement.
//!
//! pg_stat_kcache reads getrusage(2) around the planner and the executor: what a statement costs outside (its message,
//! parsing, commit) is not in its figures, nor is the executor's own end (`pgsk_ExecutorEnd`), where a temporary file is
//! removed: the long statements here write none. Of what lasts less than three ticks of the kernel it takes the elapsed time
//! instead, unless its settings name a faster clock: the kernel's own account has no ticks. CPU time is compared per call, of
//! statements long enough that what is outside does not count.

use anyhow::{Context, Result, bail};
use model::StatementTime;

use super::VerifyArguments;
use super::recorded::Recorded;
use super::tally::Tally;
use crate::interrupt;
use crate::postgres::{DATABASE, Postgres};
use crate::print::say;
use crate::stage::Stage;

/// How far CPU time per call may be from pg_stat_kcache's.
const CPU: f64 = 0.05;
/// The part of all statements' time that may belong to none.
const NONE: f64 = 0.05;
/// Statements with less CPU time per call than this are not compared, ns.
const LONG: f64 = 1e6;

/// A load.
struct Case {
    name: &'static str,
    script: Option<&'static str>,
    /// Whether it has statements that are long enough to be compared.
    has_long: bool,
}

/// Short statements beside long ones: an aggregate in memory, a sort, a row that is updated, one that is read.
const MIXED: &str = "\\set aid random(1, 100000 * :scale)\n\
    SELECT count(*) FROM (SELECT generate_series(1, 300000) s) t WHERE s % 7 = 3;\n\
    SELECT count(*) FROM generate_series(1, 12000) s WHERE s % 3 = 1;\n\
    SELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n\
    UPDATE pgbench_accounts SET abalance = abalance + 1 WHERE aid = :aid;\n\
    SELECT count(DISTINCT md5(s::text)) FROM generate_series(1, 40000) s;\n";

const CASES: [Case; 2] = [
    Case {
        name: "pgbench",
        script: None,
        has_long: false,
    },
    Case {
        name: "mixed",
        script: Some(MIXED),
        has_long: true,
    },
];

/// What pg_stat_kcache says of a statement.
struct Kcache {
    id: String,
    calls: f64,
    cpu_ns: f64,
}

/// Runs both loads; the status is 1 where a figure is off.
pub fn verify(arguments: &VerifyArguments) -> Result<u8> {
    let mut tally = Tally::default();
    let mut stage = Stage::new()?;
    for case in CASES.iter().filter(|it| it.name.contains(&arguments.only)) {
        for _ in 0..arguments.repeat {
            let why = start(&mut stage).err().map(|error| format!("{error:#}"));
            if tally.can_run(why) {
                tally.count(run(arguments, &stage, case)?);
                stage.clear()?;
            }
        }
    }
    say!(
        "{tally} within {:.0} % of CPU time and {:.0} % without a statement",
        CPU * 100.0,
        NONE * 100.0
    );
    Ok(tally.status())
}

fn start(stage: &mut Stage) -> Result<()> {
    let preloaded = "shared_preload_libraries=pg_stat_statements,pg_stat_kcache";
    let exact = [
        "compute_query_id=on",
        "pg_stat_kcache.linux_hz=1000000",
        "pg_stat_kcache.track_planning=on",
    ];
    let server = stage.postgres(&[&[preloaded][..], &exact].concat());
    let server = server.context("pg_stat_kcache is needed (apt: postgresql-15-pg-stat-kcache)")?;
    server.execute("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")?;
    server.execute("CREATE EXTENSION IF NOT EXISTS pg_stat_kcache")
}

fn run(arguments: &VerifyArguments, stage: &Stage, case: &Case) -> Result<bool> {
    let server = stage.started()?;
    server.execute("SELECT pg_stat_statements_reset(), pg_stat_kcache_reset()")?;
    let mut line = format!("pgbench -n -c 2 -j 2 -T {} {DATABASE}", arguments.seconds);
    if let Some(script) = case.script {
        stage.script("load.sql", script)?;
        line.push_str(" -f load.sql");
    }
    let recorded = Recorded::run(arguments, stage, &[], &line)?;
    let statements = &recorded.report.statements;
    let none = statements.iter().filter(|it| it.text == "no statement");
    // An empty sum is below zero.
    let none = none.fold(0.0, |sum, it| sum + it.share);
    let mut holds = none <= NONE && !statements.is_empty();
    say!(
        "{} {:8} {:.1} % of {} statements' time belongs to none",
        word(holds),
        case.name,
        none * 100.0,
        statements.len()
    );
    let mut compared = 0;
    for kcache in kcache(server)? {
        let Some(own) = statements
            .iter()
            .find(|it| it.query_id.as_ref() == Some(&kcache.id))
        else {
            continue;
        };
        let [ours, theirs] = [per_call(own), kcache.cpu_ns / kcache.calls];
        let apart = ours / theirs - 1.0;
        let is_long = theirs >= LONG;
        let is_near = !is_long || apart.abs() <= CPU;
        compared += u32::from(is_long);
        holds &= is_near;
        say!(
            "{} {:8} {:.3} ms of CPU per call, pg_stat_kcache {:.3}: {:+.1} % {} {}",
            if is_long { word(is_near) } else { "   " },
            case.name,
            ours / 1e6,
            theirs / 1e6,
            apart * 100.0,
            if is_long {
                ""
            } else {
                "(its planner and executor only)"
            },
            own.text
        );
    }
    if case.has_long && compared == 0 {
        say!("OFF {:8} no statement could be compared", case.name);
    }
    Ok(holds && (compared > 0 || !case.has_long))
}

fn word(holds: bool) -> &'static str {
    if holds { "ok " } else { "OFF" }
}

/// CPU time per call, ns.
fn per_call(statement: &StatementTime) -> f64 {
    statement.on_cpu_ns / statement.calls.max(1.0)
}

/// The statements that pg_stat_kcache knows, those with most CPU time first.
fn kcache(server: &Postgres) -> Result<Vec<Kcache>> {
    let mut psql = server.client("psql");
    psql.args(["-X", "-A", "-t", "-F", " ", "-v", "ON_ERROR_STOP=1", "-c"]);
    psql.args([
        "SELECT s.queryid, s.calls, k.exec_user_time + k.exec_system_time + k.plan_user_time + k.plan_system_time \
         FROM pg_stat_statements s JOIN pg_stat_kcache() k USING (queryid, userid, dbid) \
         WHERE s.toplevel AND k.top AND s.calls > 10 ORDER BY 3 DESC LIMIT 10",
        DATABASE,
    ]);
    let output = psql.output().context("cannot run psql")?;
    interrupt::check()?;
    if !output.status.success() {
        bail!(
            "pg_stat_kcache does not answer: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let row = |line: &str| {
        let mut words = line.split(' ');
        Some(Kcache {
            id: words.next()?.to_owned(),
            calls: words.next()?.parse().ok()?,
            cpu_ns: words.next()?.parse::<f64>().ok()? * 1e9,
        })
    };
    Ok(text.lines().filter_map(row).collect())
}
