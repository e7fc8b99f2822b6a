//! `symbolize`: the functions of a recording's call stacks looked up later, or elsewhere, where debugging information
//! is: by the build ids that were recorded.

mod debug_files;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use kernel::stacks::symbols::{self, Functions};
use model::{MISSING, StringId, StringKind, Strings, TableData, Text, Timeline};
use recording::Recording;
use sensors::stack::{STACK, SYMBOL};

use self::debug_files::{DebugFiles, Found};
use crate::arguments::Symbolize;
use crate::export::save_again;
use crate::part::Part;
use crate::stack_rate::WHY_NO_STACKS;
use crate::{open_recording, outputs, temporary_output};

pub(crate) fn symbolize(arguments: &Symbolize) -> Result<u8> {
    let _interrupts = temporary_output::watch()?;
    let opened = open_recording::open(arguments.recording.as_deref(), &Part::default())?;
    let (path, mut recording) = (opened.path, opened.recording);
    let Some(files) = files(&recording.timeline) else {
        bail!("the recording has no call stacks: {WHY_NO_STACKS}");
    };
    let mut sources = DebugFiles::new(&arguments.debuginfo)?;
    let before = named(&recording.timeline).len();
    let mut found = Vec::new();
    for file in &files {
        match sources.find(file) {
            Found::File(place) => found.push((file, names(&place, file))),
            Found::Nothing(why) => outputs::say(&format!("{}: {why}", shown(&file.path))),
        }
    }
    let Recording { meta, timeline, .. } = &mut recording;
    add(timeline, &found);
    let after = named(timeline).len();
    let addresses: usize = files.iter().map(|file| file.addresses.len()).sum();
    let folder = destination(arguments, &path);
    let bytes = save_again(&folder, timeline, meta)?;
    outputs::say(&format!(
        "Saved {} ({bytes}): {} of {} addresses have a function, {} had. What ran: stallscope explain --stacks {}",
        folder.display(),
        analysis::integer(after as f64),
        analysis::integer(addresses as f64),
        analysis::integer(before as f64),
        folder.display()
    ));
    Ok(0)
}

fn destination(arguments: &Symbolize, recording: &Path) -> PathBuf {
    let default = || {
        let mut name = recording.file_stem().unwrap_or_default().to_owned();
        name.push("-symbolized.stall");
        PathBuf::from(name)
    };
    arguments.output.clone().unwrap_or_else(default)
}

/// A file that code was executed from, with the addresses that stacks have in it.
pub(super) struct CodeFile {
    /// Its number among the strings.
    pub(super) id: StringId,
    pub(super) path: String,
    pub(super) build_id: Option<String>,
    pub(super) addresses: Vec<u64>,
}

/// The files of a recording's stacks, those with most addresses first; `None` of one without stacks.
fn files(timeline: &Timeline) -> Option<Vec<CodeFile>> {
    let data = timeline.table(&STACK.name)?;
    let module = data.table.position("module")?;
    let address = data.table.position("address")?;
    let mut addresses: BTreeMap<i64, Vec<u64>> = BTreeMap::new();
    for row in 0..data.len() {
        let of_module = addresses.entry(data.value(row, module)).or_default();
        of_module.push(data.value(row, address) as u64);
    }
    let build_ids: HashMap<StringId, &str> = timeline
        .strings
        .iter()
        .filter(|text| text.kind == StringKind::BuildId)
        .filter_map(|text| Some((text.parent?, &*text.text)))
        .collect();
    let mut files: Vec<CodeFile> = addresses
        .into_iter()
        .filter_map(|(module, mut addresses)| {
            let text = timeline.strings.of_value(module)?;
            addresses.sort_unstable();
            addresses.dedup();
            Some(CodeFile {
                id: text.id,
                path: text.text.to_string(),
                build_id: build_ids.get(&text.id).map(|id| (*id).to_owned()),
                addresses,
            })
        })
        .collect();
    files.sort_by_key(|file| std::cmp::Reverse(file.addresses.len()));
    Some(files)
}

/// The addresses that have a function: file and address, and the function.
fn named(timeline: &Timeline) -> HashMap<(i64, i64), i64> {
    let Some(data) = timeline.table(&SYMBOL.name) else {
        return HashMap::new();
    };
    let places = ["module", "address", "function"].map(|name| data.table.position(name));
    let [Some(module), Some(address), Some(function)] = places else {
        return HashMap::new();
    };
    (0..data.len())
        .map(|row| {
            let key = (data.value(row, module), data.value(row, address));
            (key, data.value(row, function))
        })
        .collect()
}

fn names(place: &Path, file: &CodeFile) -> Vec<Functions> {
    symbols::of_path(place, &file.addresses, Some(&[]))
}

/// Puts functions that were found in the place of those that were known.
fn add(timeline: &mut Timeline, found: &[(&CodeFile, Vec<Functions>)]) {
    let mut all = named(timeline);
    let mut numbers = Numbers::of(&mut timeline.strings);
    for (file, functions) in found {
        for (address, functions) in file.addresses.iter().zip(functions) {
            let mut outer = Some(file.id);
            for name in functions {
                outer = outer.and_then(|outer| numbers.number(outer, name));
            }
            if let (Some(function), false) = (outer, functions.is_empty()) {
                let key = (i64::from(file.id.0), *address as i64);
                all.insert(key, i64::from(function.0));
            }
        }
    }
    let mut table = TableData::new(SYMBOL.clone());
    let machine = timeline.entities.machine().map(|record| record.id);
    let mut all: Vec<_> = all.into_iter().filter(|(_, it)| *it != MISSING).collect();
    all.sort_unstable();
    for ((module, address), function) in all {
        let end = timeline.window.end;
        table.push(
            end,
            machine.unwrap_or_default(),
            &[module, address, function],
        );
    }
    timeline.insert(table);
}

/// Gives functions numbers among the strings.
struct Numbers<'a> {
    strings: &'a mut Strings,
    known: HashMap<(StringId, Box<str>), StringId>,
    next: u32,
}

impl<'a> Numbers<'a> {
    fn of(strings: &'a mut Strings) -> Self {
        let functions = strings.iter().filter(|it| it.kind == StringKind::Function);
        let known = functions.filter_map(|it| Some(((it.parent?, it.text.clone()), it.id)));
        Self {
            known: known.collect(),
            next: strings.iter().last().map_or(0, |text| text.id.0 + 1),
            strings,
        }
    }

    /// The number of a function within a file, or within another function.
    fn number(&mut self, parent: StringId, name: &str) -> Option<StringId> {
        let key = (parent, Box::from(name));
        if let Some(known) = self.known.get(&key) {
            return Some(*known);
        }
        let id = StringId(self.next);
        let is_in = self.strings.insert(Text {
            id,
            kind: StringKind::Function,
            parent: Some(parent),
            text: name.into(),
        });
        is_in.then(|| {
            self.next += 1;
            self.known.insert(key, id);
            id
        })
    }
}

/// A path from a recording, fit for a terminal.
fn shown(path: &str) -> String {
    outputs::harmless(path)
}

impl CodeFile {
    /// Where the build id says that debugging information lies below `/usr/lib/debug` and the like.
    pub(super) fn by_build_id(&self) -> Option<PathBuf> {
        let id = self.build_id.as_deref()?;
        let (start, rest) = id.split_at_checked(2)?;
        let plain = id.bytes().all(|byte| byte.is_ascii_hexdigit());
        (plain && !rest.is_empty())
            .then(|| PathBuf::from(format!(".build-id/{start}/{rest}.debug")))
    }
}
