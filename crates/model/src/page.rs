//! What the report page is drawn from: the report, and every table over time, small enough to be sent.
//!
//! A `Page` is the page's JSON; the numbers stand beside it in blocks of bytes (`docs/page.md`), so that
//! a browser decodes only the tables that are looked at.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    ColumnKind, EntityId, EntityKind, Quality, ReadEvery, Report, Role, Timestamp, Unit, Window,
};

/// Name and version of the form of `Page` and of its blocks. A page carries its own program, so nobody
/// else reads it: the version tells a test that both were made together.
pub const PAGE_SCHEMA: &str = "stallscope.page/1";

/// All that a page knows.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Page {
    /// `PAGE_SCHEMA`.
    pub schema: String,
    /// The answer over the recording's judged window.
    pub report: Report,
    /// The recording's folder, as it is typed in a command: `pgbench-1.stall`.
    pub recording: String,
    /// The command line that recorded, secrets replaced; empty where an older version did.
    pub typed: Vec<String>,
    /// Whether the recording was closed; false after a crash, or while it is still written.
    pub complete: bool,
    /// Whether the page came from `report --serve` and may ask it for a report of any window.
    pub served: bool,
    /// What the recording covers.
    pub window: Window,
    /// The usual distance between two edges, ns: the finest step in which a window can be selected.
    pub step_ns: i64,
    /// Who is in the tables, their parents and groups included; tables name them by their place here.
    pub entities: Vec<PageEntity>,
    /// The recording that call stacks are compared with; `None` without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<PageAgainst>,
    /// What happened at an instant.
    pub events: Vec<PageEvent>,
    /// The tables, in the order of the data dictionary.
    pub tables: Vec<PageTable>,
}

/// Another recording, whose call stacks are in the tables `against_cpu_sample` and `against_wait_sample`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PageAgainst {
    /// Its name, as it was typed.
    pub recording: String,
    /// The edges of its bins, over its judged window, ns after the first.
    pub edges_ns: Vec<i64>,
    /// Operations that its workload completed in each bin; empty where it did not say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<f64>,
}

/// Somebody that rows are about.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PageEntity {
    /// Its number in the recording, which codes in tables name it by (`session.blocked_by`); `None` of
    /// those that stand for several.
    pub id: Option<EntityId>,
    /// The kind.
    pub kind: EntityKind,
    /// What a person calls it.
    pub name: String,
    /// What tells it from others of its name: a group's path, a process's number.
    pub path: String,
    /// Its role.
    pub role: Role,
    /// Whether it holds a connection of the load generator; of a thread, whether it serves requests.
    pub serving: bool,
    /// A thread's process, a process's parent, a group's parent: its index in `entities`.
    pub parent: Option<u32>,
    /// A process's control group: its index in `entities`.
    pub group: Option<u32>,
    /// When it was first sampled.
    pub first_seen: Timestamp,
    /// When it was found gone.
    pub vanished: Option<Timestamp>,
}

/// What kind of thing happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PageEventKind {
    /// The workload was started.
    WorkloadStarted,
    /// The workload ended.
    WorkloadEnded,
    /// A target was found.
    TargetFound,
    /// The kernel killed a process for want of memory.
    OomKill,
    /// A person marked it.
    Mark,
}

/// Something that happened at an instant.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PageEvent {
    /// When.
    pub at: Timestamp,
    /// What kind.
    pub kind: PageEventKind,
    /// In words.
    pub text: String,
}

/// One table: what it is, and where its numbers are.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PageTable {
    /// Its name: `cgroup_pressure`.
    pub name: String,
    /// What kind of entity its rows are about.
    pub entity: EntityKind,
    /// What it holds, one sentence.
    pub help: String,
    /// Its columns.
    pub columns: Vec<PageColumn>,
    /// The layout of its numbers in its block.
    pub form: PageForm,
    /// The block's number: the element `block-N` of the page.
    pub block: u32,
    /// How often it was read, unless that cost too much; `None` where an older version recorded, or
    /// where the workload reported it.
    pub every: Option<ReadEvery>,
    /// Number of entities that were left out: the least active.
    pub left_out: u32,
}

/// The layout of a table's numbers in its block.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum PageForm {
    /// One number per column, entity and bin; a bin is what lies between every n-th edge, with an n for
    /// each series.
    Bins {
        /// Edges per bin of the finest series.
        stride: u32,
    },
    /// The rows as they were recorded: the workload's own intervals.
    Rows,
    /// Call stacks as one tree of named frames, under the processes that were met in them.
    Stacks,
    /// Samples, each of a bin and a stack: those that are alike added up.
    Samples {
        /// One of so many samples is in the page, drawn at random, and stands for all of them.
        one_of: u32,
    },
    /// Waits, each of a bin, a stack and a class: those that are alike added up.
    Waits {
        /// Of waits that stand for less blocked time than this, ns, the page has some, drawn at random in proportion to
        /// that time, each of which stands for as much. 0 where it has all.
        least_ns: i64,
    },
}

/// One column, as the recording describes it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PageColumn {
    /// Name with the unit in it: `run_ns`.
    pub name: String,
    /// The unit.
    pub unit: Unit,
    /// Counter or gauge.
    pub kind: ColumnKind,
    /// How well it is known.
    pub quality: Quality,
    /// What it means, one sentence.
    pub help: String,
    /// Where it is read: file and field.
    pub source: String,
    /// The kernel since which it exists, or empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub since: String,
    /// Units per step of the integers in the block: 1000 where microseconds of a column in nanoseconds
    /// are kept.
    pub scale: i64,
    /// What codes that were seen stand for, beyond what `help` says.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub words: BTreeMap<i64, String>,
}
