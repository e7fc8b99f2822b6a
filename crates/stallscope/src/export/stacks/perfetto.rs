//! A trace for Perfetto (protos/perfetto/trace of google/perfetto): each sample at its time on its thread.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Write;

use analysis::stacks::Frame;
use anyhow::Result;
use model::EntityRecord;
use prost::Message;

use super::{Profile, StackKey, id_of};

/// All packets are of one sequence, so that they share their strings.
const SEQUENCE: u32 = 1;
const INCREMENTAL_STATE_CLEARED: u32 = 1;
const NEEDS_INCREMENTAL_STATE: u32 = 2;

#[derive(Clone, PartialEq, Message)]
pub(super) struct Trace {
    #[prost(message, repeated, tag = "1")]
    pub(super) packet: Vec<Packet>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Packet {
    #[prost(message, optional, tag = "2")]
    pub(super) process_tree: Option<ProcessTree>,
    /// On CLOCK_BOOTTIME, ns: the trace's own clock.
    #[prost(uint64, optional, tag = "8")]
    pub(super) timestamp: Option<u64>,
    #[prost(uint32, optional, tag = "10")]
    trusted_packet_sequence_id: Option<u32>,
    #[prost(message, optional, tag = "12")]
    pub(super) interned_data: Option<InternedData>,
    #[prost(uint32, optional, tag = "13")]
    sequence_flags: Option<u32>,
    #[prost(message, optional, tag = "66")]
    pub(super) perf_sample: Option<PerfSample>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ProcessTree {
    #[prost(message, repeated, tag = "1")]
    processes: Vec<Process>,
    #[prost(message, repeated, tag = "2")]
    threads: Vec<Thread>,
}

#[derive(Clone, PartialEq, Message)]
struct Process {
    #[prost(int32, optional, tag = "1")]
    pid: Option<i32>,
    #[prost(string, repeated, tag = "3")]
    cmdline: Vec<String>,
}

#[derive(Clone, PartialEq, Message)]
struct Thread {
    #[prost(int32, optional, tag = "1")]
    tid: Option<i32>,
    #[prost(string, optional, tag = "2")]
    name: Option<String>,
    #[prost(int32, optional, tag = "3")]
    tgid: Option<i32>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct InternedData {
    #[prost(message, repeated, tag = "5")]
    pub(super) function_names: Vec<InternedString>,
    #[prost(message, repeated, tag = "6")]
    frames: Vec<FrameMessage>,
    #[prost(message, repeated, tag = "7")]
    callstacks: Vec<Callstack>,
    #[prost(message, repeated, tag = "17")]
    mapping_paths: Vec<InternedString>,
    #[prost(message, repeated, tag = "19")]
    mappings: Vec<Mapping>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct InternedString {
    #[prost(uint64, optional, tag = "1")]
    iid: Option<u64>,
    #[prost(bytes = "vec", optional, tag = "2")]
    pub(super) str: Option<Vec<u8>>,
}

#[derive(Clone, PartialEq, Message)]
struct FrameMessage {
    #[prost(uint64, optional, tag = "1")]
    iid: Option<u64>,
    #[prost(uint64, optional, tag = "2")]
    function_name_id: Option<u64>,
    #[prost(uint64, optional, tag = "3")]
    mapping_id: Option<u64>,
    #[prost(uint64, optional, tag = "4")]
    rel_pc: Option<u64>,
}

#[derive(Clone, PartialEq, Message)]
struct Callstack {
    #[prost(uint64, optional, tag = "1")]
    iid: Option<u64>,
    /// The outermost first.
    #[prost(uint64, repeated, packed = "false", tag = "2")]
    frame_ids: Vec<u64>,
}

#[derive(Clone, PartialEq, Message)]
struct Mapping {
    #[prost(uint64, optional, tag = "1")]
    iid: Option<u64>,
    #[prost(uint64, repeated, packed = "false", tag = "7")]
    path_string_ids: Vec<u64>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct PerfSample {
    #[prost(uint32, optional, tag = "2")]
    pid: Option<u32>,
    #[prost(uint32, optional, tag = "3")]
    tid: Option<u32>,
    #[prost(uint64, optional, tag = "4")]
    pub(super) callstack_iid: Option<u64>,
}

pub(super) fn write(profile: &Profile<'_>, out: &mut dyn Write) -> Result<()> {
    out.write_all(&trace(profile).encode_to_vec())?;
    Ok(())
}

pub(super) fn trace(profile: &Profile<'_>) -> Trace {
    let mut interned = Interned::default();
    let mut stacks: BTreeSet<StackKey> = BTreeSet::new();
    stacks.extend(profile.stacks.keys());
    for stack in stacks {
        interned.stack(stack, &profile.stacks[&stack]);
    }
    let head = Packet {
        process_tree: Some(processes(profile)),
        timestamp: u64::try_from(profile.window.start.as_ns()).ok(),
        trusted_packet_sequence_id: Some(SEQUENCE),
        sequence_flags: Some(INCREMENTAL_STATE_CLEARED),
        interned_data: Some(interned.data),
        perf_sample: None,
    };
    let samples = profile.samples.iter().map(|sample| Packet {
        timestamp: u64::try_from(sample.at.as_ns()).ok(),
        trusted_packet_sequence_id: Some(SEQUENCE),
        sequence_flags: Some(NEEDS_INCREMENTAL_STATE),
        perf_sample: Some(PerfSample {
            pid: Some(id_of(sample.process)),
            tid: Some(id_of(sample.thread.unwrap_or(sample.process))),
            callstack_iid: sample
                .stack
                .and_then(|stack| interned.stacks.get(&stack).copied()),
        }),
        ..Packet::default()
    });
    Trace {
        packet: std::iter::once(head).chain(samples).collect(),
    }
}

fn processes(profile: &Profile<'_>) -> ProcessTree {
    let mut processes: BTreeMap<u32, &EntityRecord> = BTreeMap::new();
    let mut threads: BTreeMap<u32, (&EntityRecord, u32)> = BTreeMap::new();
    for sample in &profile.samples {
        let pid = id_of(sample.process);
        processes.insert(pid, sample.process);
        if let Some(thread) = sample.thread {
            threads.insert(id_of(thread), (thread, pid));
        }
    }
    let number = |id: u32| i32::try_from(id).ok();
    let process = |(pid, record): (u32, &EntityRecord)| Process {
        pid: number(pid),
        cmdline: vec![record.entity.name.clone()],
    };
    let thread = |(tid, (record, pid)): (u32, (&EntityRecord, u32))| Thread {
        tid: number(tid),
        name: Some(record.entity.name.clone()),
        tgid: number(pid),
    };
    ProcessTree {
        processes: processes.into_iter().map(process).collect(),
        threads: threads.into_iter().map(thread).collect(),
    }
}

/// Strings, frames and stacks so far. Their numbers begin with 1.
#[derive(Default)]
struct Interned<'a> {
    data: InternedData,
    frames: HashMap<Frame<'a>, u64>,
    files: HashMap<&'a str, u64>,
    stacks: HashMap<StackKey, u64>,
}

impl<'a> Interned<'a> {
    fn stack(&mut self, stack: StackKey, frames: &[Frame<'a>]) {
        let iid = self.stacks.len() as u64 + 1;
        let frame_ids = frames
            .iter()
            .rev()
            .map(|frame| self.frame(*frame))
            .collect();
        self.data.callstacks.push(Callstack {
            iid: Some(iid),
            frame_ids,
        });
        self.stacks.insert(stack, iid);
    }

    fn frame(&mut self, frame: Frame<'a>) -> u64 {
        if let Some(known) = self.frames.get(&frame) {
            return *known;
        }
        let mapping_id = self.file(frame.module);
        let iid = self.frames.len() as u64 + 1;
        self.data.function_names.push(InternedString {
            iid: Some(iid),
            str: Some(frame.to_string().into_bytes()),
        });
        self.data.frames.push(FrameMessage {
            iid: Some(iid),
            function_name_id: Some(iid),
            mapping_id: Some(mapping_id),
            rel_pc: Some(frame.address),
        });
        self.frames.insert(frame, iid);
        iid
    }

    fn file(&mut self, file: &'a str) -> u64 {
        let next = self.files.len() as u64 + 1;
        let iid = *self.files.entry(file).or_insert(next);
        if iid == next {
            self.data.mapping_paths.push(InternedString {
                iid: Some(iid),
                str: Some(file.as_bytes().to_vec()),
            });
            self.data.mappings.push(Mapping {
                iid: Some(iid),
                path_string_ids: vec![iid],
            });
        }
        iid
    }
}
