//! The words of Stallscope, each defined once.
//!
//! Everything else in the workspace speaks in these types. This crate knows nothing of files, of the
//! kernel, of clocks or of rendering: it only says what a timestamp, an entity, a table, a gap, a
//! finding *is*, and keeps the few invariants that belong to the word itself (a window is half open,
//! a counter never runs backwards, missing is never zero).
#![warn(missing_docs)]

mod account;
mod by_second;
mod cluster;
mod comparison;
mod confidence;
mod connection_report;
mod counters;
mod demand_report;
mod disk_report;
mod doctor_report;
mod entity;
mod formula;
mod gap;
mod goal;
mod interval;
mod judged;
mod label_report;
mod lock_report;
mod mark;
mod monotone;
mod name;
mod narrow;
mod page;
mod phase_report;
mod plan;
mod program_report;
mod proof;
mod provenance;
mod report;
mod rows;
mod run;
mod scaling_report;
mod sentence;
mod series;
mod sizing;
mod spike_report;
mod stack_report;
mod statement_report;
mod strings;
mod sweep;
mod table;
mod table_data;
mod time;
mod timeline;
mod wait_class;
mod wait_report;

pub use account::{
    Account, AccountItem, AccountPart, Hidden, PartKind, ShareBasis, ThinkTime, ThreadTimes,
    ThreadsAccount,
};
pub use by_second::{BySecond, Omitted, SecondReport, Stall};
pub use cluster::{
    CLUSTER_SCHEMA, ClusterChange, ClusterConfiguration, ClusterEvent, ClusterNode, ClusterPhase,
    ClusterReport, ClusterSpikes, NodeCalls, NodeClock, NodeDifferences, NodeLimit, NodePhase,
    NodeSkew, OverTime, Quantities, Span,
};
pub use comparison::{
    COMPARISON_SCHEMA, ComparedFigure, ComparedGroup, ComparedMark, ComparedRun, Comparison,
    CoursePoint, Difference, EnvironmentDifference, Experiment, FigureFamily, FigureUnit,
    IntervalMethod, Taken, VoidedRun,
};
pub use confidence::Confidence;
pub use connection_report::{Party, PortReport};
pub use counters::Counters;
pub use demand_report::{DemandAtLoad, DemandCourse, DemandReport};
pub use disk_report::{DiskReport, DiskWork, IoPart, IoPattern, IoTimes};
pub use doctor_report::{Availability, Capability, DOCTOR_SCHEMA, DoctorReport, Fix};
pub use entity::{Entities, Entity, EntityEvent, EntityId, EntityKind, EntityRecord, Role};
pub use formula::{Amount, Formula, Reading, Whose};
pub use gap::{Gap, GapReason};
pub use goal::{Goal, GoalReport, Latency};
pub use interval::Interval;
pub use judged::{Answer, Caveat, Judged, RuledOut};
pub use label_report::LabelReport;
pub use lock_report::{LockHolder, LockWaiter, NamedStatement};
pub use mark::Mark;
pub use monotone::{Monotone, Rollback};
pub use name::{bytes_of, name_of};
pub use page::{
    PAGE_SCHEMA, Page, PageAgainst, PageColumn, PageEntity, PageEvent, PageEventKind, PageForm,
    PageTable,
};
pub use phase_report::{Phase, PhaseChange, PhaseDifference, PhaseKind, PhaseVerdict};
pub use plan::{Plan, ReadEvery};
pub use program_report::StartedProgram;
pub use proof::{
    Capacity, CapacityTrial, PROOF_SCHEMA, Proof, ProofEstimate, ProofOutcome, ProofPair,
    WithoutTrial,
};
pub use provenance::Provenance;
pub use report::{
    Evidence, Finding, GainOf, Headroom, MachineReport, Pressure, Quantile, REPORT_SCHEMA, Remedy,
    Report, ReportSubject, Resource, Signal, StallKind, UnitReport, UnitWait, Verdict,
};
pub use rows::{MISSING, Rows};
pub use run::{
    Complaint, ComplaintKind, Cost, CrossCheck, ExitKind, FORMAT_VERSION, Firing, Identity,
    LatencyQuantile, Load, MachineUnit, Meta, Outcome, ScriptSummary, Segment, Summary, Target,
    UnitKind, WorkloadRun,
};
pub use scaling_report::{
    Crossing, CrossingReport, CurvePoint, NoiseSource, ParameterName, RejectedModel,
    ScalingEstimate, ScalingFit, ScalingModel, ScalingParameter, ScalingPoint, ScalingReport,
    SeriesOfTwo, StrayingPoint,
};
pub use sentence::{Part, Sentence};
pub use series::{Cursor, Series};
pub use sizing::{
    NearestFull, ResourceDemand, SIZING_SCHEMA, SizedConfiguration, SizingAsk, SizingEstimate,
    SizingModel, SizingReport,
};
pub use spike_report::{
    BurstingMethod, MeasureKind, Schedule, Spike, SpikeDifference, SpikeReport, Train, Trigger,
    TriggerKind,
};
pub use stack_report::{HotPath, StackReport, WaitEnd, WaitPath, WaitReport};
pub use statement_report::{QueuedBehind, StatementTime};
pub use strings::{StringId, StringKind, Strings, Text};
pub use sweep::{
    LimitRange, PointFigure, PointSetting, SWEEP_SCHEMA, Sweep, SweepPoint, SweptCrossing,
    SweptCurve, SweptGoal, SweptParameter,
};
pub use table::{Column, ColumnKind, Quality, RowKind, Table, Unit};
pub use table_data::TableData;
pub use time::{Timestamp, Window};
pub use timeline::Timeline;
pub use wait_class::{ClassState, DecidedBy, LedgerClass, Look, Paint, ThreadTimeClass};
pub use wait_report::{Meanwhile, PoolName, WaitEdge, Waker, WakerKind};
