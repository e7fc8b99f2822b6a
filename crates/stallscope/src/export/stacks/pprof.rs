//! pprof's format (profile.proto of google/pprof), compressed by gzip.

use std::collections::{BTreeMap, HashMap};
use std::io::Write;

use analysis::stacks::Frame;
use anyhow::Result;
use flate2::Compression;
use flate2::write::GzEncoder;
use prost::Message;

use super::{Of, Profile, StackKey, id_of};

#[derive(Clone, PartialEq, Message)]
pub(super) struct ProfileMessage {
    #[prost(message, repeated, tag = "1")]
    pub(super) sample_type: Vec<ValueType>,
    #[prost(message, repeated, tag = "2")]
    pub(super) sample: Vec<SampleMessage>,
    #[prost(message, repeated, tag = "3")]
    mapping: Vec<Mapping>,
    #[prost(message, repeated, tag = "4")]
    pub(super) location: Vec<Location>,
    #[prost(message, repeated, tag = "5")]
    pub(super) function: Vec<Function>,
    #[prost(string, repeated, tag = "6")]
    pub(super) string_table: Vec<String>,
    #[prost(int64, tag = "9")]
    time_nanos: i64,
    #[prost(int64, tag = "10")]
    duration_nanos: i64,
    #[prost(message, optional, tag = "11")]
    period_type: Option<ValueType>,
    #[prost(int64, tag = "12")]
    period: i64,
}

#[derive(Clone, Copy, PartialEq, Message)]
pub(super) struct ValueType {
    /// Numbers in the table of strings, as all below that are called so.
    #[prost(int64, tag = "1")]
    kind: i64,
    #[prost(int64, tag = "2")]
    unit: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct SampleMessage {
    /// The innermost first.
    #[prost(uint64, repeated, tag = "1")]
    pub(super) location_id: Vec<u64>,
    #[prost(int64, repeated, tag = "2")]
    pub(super) value: Vec<i64>,
    #[prost(message, repeated, tag = "3")]
    pub(super) label: Vec<Label>,
}

#[derive(Clone, Copy, PartialEq, Message)]
pub(super) struct Label {
    #[prost(int64, tag = "1")]
    key: i64,
    #[prost(int64, tag = "2")]
    text: i64,
    #[prost(int64, tag = "3")]
    number: i64,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Mapping {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(uint64, tag = "3")]
    memory_limit: u64,
    #[prost(int64, tag = "5")]
    filename: i64,
    #[prost(bool, tag = "7")]
    has_functions: bool,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Location {
    #[prost(uint64, tag = "1")]
    pub(super) id: u64,
    #[prost(uint64, tag = "2")]
    mapping_id: u64,
    #[prost(uint64, tag = "3")]
    address: u64,
    #[prost(message, repeated, tag = "4")]
    pub(super) line: Vec<Line>,
}

#[derive(Clone, Copy, PartialEq, Message)]
pub(super) struct Line {
    #[prost(uint64, tag = "1")]
    pub(super) function_id: u64,
}

#[derive(Clone, Copy, PartialEq, Message)]
pub(super) struct Function {
    #[prost(uint64, tag = "1")]
    pub(super) id: u64,
    #[prost(int64, tag = "2")]
    pub(super) name: i64,
}

/// The strings of a profile; the first is empty.
struct Strings(HashMap<String, i64>);

impl Strings {
    fn number(&mut self, text: &str) -> i64 {
        let next = self.0.len() as i64;
        *self.0.entry(text.to_owned()).or_insert(next)
    }

    fn table(self) -> Vec<String> {
        let mut numbered: Vec<(i64, String)> =
            self.0.into_iter().map(|(text, it)| (it, text)).collect();
        numbered.sort_unstable();
        numbered.into_iter().map(|(_, text)| text).collect()
    }
}

pub(super) fn write(profile: &Profile<'_>, out: &mut dyn Write) -> Result<()> {
    let mut packed = GzEncoder::new(out, Compression::default());
    packed.write_all(&message(profile).encode_to_vec())?;
    packed.finish()?;
    Ok(())
}

/// One sample for each stack of a thread, with how many there were and their time.
pub(super) fn message(profile: &Profile<'_>) -> ProfileMessage {
    let mut strings = Strings(HashMap::from([(String::new(), 0)]));
    let mut places = Places::default();
    let mut sums: BTreeMap<(u32, Option<StackKey>), (usize, [i64; 2])> = BTreeMap::new();
    for (number, sample) in profile.samples.iter().enumerate() {
        let who = sample.thread.unwrap_or(sample.process);
        let (_, sum) = sums
            .entry((who.id.0, sample.stack))
            .or_insert((number, [0, 0]));
        sum[0] += 1;
        sum[1] = sum[1].saturating_add(sample.ns);
    }
    let samples = sums.into_values().map(|(first, value)| {
        let sample = &profile.samples[first];
        let frames = profile.frames(sample).iter();
        let mut label = |key: &str, text: &str, number: u32| Label {
            key: strings.number(key),
            text: strings.number(text),
            number: i64::from(number),
        };
        let mut labels = vec![
            label("process", &sample.process.entity.name, 0),
            label("pid", "", id_of(sample.process)),
        ];
        if let Some(thread) = sample.thread {
            labels.push(label("thread", &thread.entity.name, 0));
            labels.push(label("tid", "", id_of(thread)));
        }
        SampleMessage {
            location_id: frames
                .map(|frame| places.location(*frame, &mut strings))
                .collect(),
            value: value.to_vec(),
            label: labels,
        }
    });
    let sample = samples.collect();
    let mut value_type = |kind: &str, unit: &str| ValueType {
        kind: strings.number(kind),
        unit: strings.number(unit),
    };
    // As the profiles of Go call them.
    let [count, time] = match profile.of {
        Of::Cpu => ["samples", "cpu"],
        Of::Waits => ["contentions", "delay"],
    };
    let sample_type = vec![value_type(count, "count"), value_type(time, "nanoseconds")];
    ProfileMessage {
        period_type: sample_type.get(1).copied(),
        sample_type,
        sample,
        mapping: places.mapping,
        location: places.location,
        function: places.function,
        time_nanos: profile.begin_utc_ns,
        duration_nanos: profile.window.len_ns(),
        period: match profile.of {
            Of::Cpu => profile.samples.first().map_or(0, |sample| sample.ns),
            Of::Waits => 1,
        },
        string_table: strings.table(),
    }
}

/// Files, frames and functions so far.
#[derive(Default)]
struct Places<'a> {
    known: HashMap<Frame<'a>, u64>,
    files: HashMap<&'a str, u64>,
    mapping: Vec<Mapping>,
    location: Vec<Location>,
    function: Vec<Function>,
}

impl<'a> Places<'a> {
    fn location(&mut self, frame: Frame<'a>, strings: &mut Strings) -> u64 {
        if let Some(known) = self.known.get(&frame) {
            return *known;
        }
        let mapping_id = self.mapping(frame.module, strings);
        let id = self.location.len() as u64 + 1;
        self.function.push(Function {
            id,
            name: strings.number(&frame.to_string()),
        });
        self.location.push(Location {
            id,
            mapping_id,
            address: frame.address,
            line: vec![Line { function_id: id }],
        });
        self.known.insert(frame, id);
        id
    }

    fn mapping(&mut self, file: &'a str, strings: &mut Strings) -> u64 {
        let next = self.files.len() as u64 + 1;
        let id = *self.files.entry(file).or_insert(next);
        if id == next {
            self.mapping.push(Mapping {
                id,
                // Addresses are those that the file states.
                memory_limit: u64::MAX,
                filename: strings.number(file),
                has_functions: true,
            });
        }
        id
    }
}
