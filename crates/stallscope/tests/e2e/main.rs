//! The built program, run as a user runs it: in a folder of its own, on this machine's kernel, and
//! against a PostgreSQL of its own.
//!
//! One crate, so that it is linked once. A test that cannot run here prints `SKIPPED: why` and
//! returns; under `STALLSCOPE_REQUIRE=all` it fails instead. Nothing asserts how fast anything is:
//! the machine may be busy with other work.

#![expect(
    clippy::print_stdout,
    reason = "SKIPPED lines are read by scripts/test.sh"
)]

mod allotment;
mod block_io;
mod brought;
mod bundle;
mod children;
mod compare;
mod connections;
mod containers;
mod doctor;
mod experiment;
mod explain;
mod export;
mod few_files;
mod fuse;
mod http;
mod interrupts;
mod jvm;
mod links;
mod load_generators;
mod lock_holders;
mod logs;
mod machine;
mod mark;
mod mysql;
mod names;
mod needs;
mod no_pressure;
mod no_server;
mod ordinary_user;
mod other_servers;
mod pgbench;
mod pgbench_trouble;
mod pgbouncer;
mod place;
mod postgres;
mod postgres_word;
mod pressure_source;
mod privileges;
mod process;
mod program_runs;
mod prove;
mod quantiles;
mod quota;
mod redis;
mod report;
mod request_times;
mod ring;
mod scrape;
mod secrets;
mod serve;
mod several_machines;
mod several_nodes;
mod signal;
mod silent;
mod stacks;
mod statements;
mod statuses;
mod stores;
mod streams;
mod sweep;
mod targets;
mod terminal;
mod wait_stacks;
mod waits;
