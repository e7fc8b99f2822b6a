//! A recording in progress: what the sampler finds goes to disk, and who is measured is kept track of.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use anyhow::Result;
use collectors::{Command, Sampler, SamplerEvent, SamplerHandle, Settings};
use kernel::Environment;
use model::{Entity, EntityId, GapReason, Meta, Role, Rows, Table, Target};
use recording::{FolderHandle, Writer};
use sources::postgres::Address;
use workloads::{Bin, LATENCY_SAMPLE, SIGNAL};

use super::bounded_sender::{BoundedSender, Load};
use super::database::{Database, News, Said};
use super::gaps::keep;
use super::privacy::Privacy;
use super::search::Found;
use crate::outputs::{self, Live, Screen, too_many_files};

/// Gaps are written down this often: the whole list each time, and a starved machine has many.
const SAVE_EVERY: Duration = Duration::from_secs(1);

/// What happens while a recording is made.
pub(super) enum Event {
    /// From the sampler.
    SamplerEvent(SamplerEvent),
    /// From the workload's output.
    Bins(Vec<Bin>),
    /// From the search for servers.
    Found(Found),
    /// From PostgreSQL itself.
    Database(Said),
    /// The search gave up, for now: why, as a sentence.
    NotFound(String),
    /// The user wants it to end.
    Interrupt(kernel::Interrupt),
}

/// A recording in progress.
pub(super) struct Session {
    pub(super) meta: Meta,
    pub(super) sampler: SamplerHandle,
    /// What is on its way from the sampler.
    load: Load,
    /// When gaps were last written down, and whether some are not.
    saved: Instant,
    unsaved: bool,
    pub(super) live: Live,
    pub(super) screen: Screen,
    /// What words may be written.
    privacy: Privacy,
    /// Where the kernel's files are.
    root: PathBuf,
    writer: Option<Writer>,
    /// The recording's folder.
    folder: Arc<FolderHandle>,
    /// The server that is asked, if one was named.
    database: Option<Database>,
    /// Targets that the sampler was reported, in the order of its answers.
    unanswered: VecDeque<Option<usize>>,
    /// Machine pressure at the last reading: (time, cpu some), ns.
    last_pressure: Option<(i64, i64)>,
    /// The end of sampling, once it has come.
    pub(super) ended: bool,
    /// Whether the disk refuses what is to be written; the workload goes on all the same.
    trouble: bool,
    /// When something came that is not flushed.
    unflushed: Option<Instant>,
}

/// The sampler hands on its tables one by one, once a second: they are one record on disk.
const GATHER: Duration = Duration::from_millis(20);

impl Session {
    /// Makes the recording's folder and starts to sample.
    pub(super) fn start(
        folder: &Path,
        meta: Meta,
        environment: &Environment,
        events: &Sender<Event>,
        live: Live,
        screen: Screen,
    ) -> Result<Self> {
        let privacy = Privacy::of_this_run();
        let writer = Writer::create(folder, &privacy.meta(meta.clone()))?;
        let workload = meta.workload.as_ref();
        let settings = Settings {
            root: environment.root.clone(),
            harden: true,
            traces_all: meta.plan.trace_all,
            workload: workload.map(|workload| {
                Entity::new(model::EntityKind::Workload, &workload.name, "workload")
            }),
        };
        let (mut sender, load) = BoundedSender::new(events.clone());
        let sampler = Sampler::start(&settings, environment, move |event| {
            sender.put(event, kernel::boottime());
        });
        let sampler = match sampler {
            Ok(sampler) => sampler,
            Err(error) => {
                // What cannot be removed stays as an empty recording, which is no harm.
                let _ = writer.abandon();
                return Err(error.into());
            }
        };
        Ok(Self {
            meta,
            sampler,
            load,
            saved: Instant::now(),
            unsaved: false,
            live,
            screen,
            privacy,
            root: environment.root.clone(),
            folder: writer.folder().clone(),
            writer: Some(writer),
            database: None,
            unanswered: VecDeque::new(),
            last_pressure: None,
            ended: false,
            trouble: false,
            unflushed: None,
        })
    }

    /// The name of the first of some processes.
    pub(super) fn name_of(&self, pids: &[u32]) -> Option<String> {
        targets::name_of(&self.root.join("proc"), *pids.first()?)
    }

    /// A target that the user named, or the workload itself.
    pub(super) fn target(&self, role: Role, name: &str, found_by: &str, pids: &[u32]) -> Target {
        let proc = self.root.join("proc");
        Target {
            role,
            root: None,
            name: name.to_owned(),
            unit: "process".to_owned(),
            version: pids
                .iter()
                .find_map(|pid| kernel::postgres_version(&proc, *pid)),
            found_by: found_by.to_owned(),
            connections: 0,
            cpus_allowed: pids
                .first()
                .and_then(|pid| kernel::cpus_allowed(&self.root, *pid)),
            found_at: kernel::boottime(),
        }
    }

    /// Gives processes a part and notes them as a target.
    pub(super) fn measure(&mut self, pids: Vec<u32>, target: Target) {
        self.sampler.tell(Command::Assign {
            pids,
            role: target.role,
        });
        self.unanswered.push_back(Some(self.meta.targets.len()));
        self.meta.targets.push(target);
    }

    /// The sampler was given a role that is no new target.
    pub(super) fn expect_no_answer(&mut self) {
        self.unanswered.push_back(None);
    }

    /// Takes what the sampler hands on.
    pub(super) fn event(&mut self, event: SamplerEvent) {
        self.load.arrived(&event);
        match event {
            SamplerEvent::Rows(table, rows) => {
                self.note_pressure(table, &rows);
                self.take_rows(table, &rows);
                self.sampler.give_back(table, rows);
            }
            SamplerEvent::Entities(mut events) => {
                self.privacy.entities(&mut events);
                if let Some(database) = &mut self.database {
                    database.note(&events);
                }
                self.keep(|writer| writer.entities(&events));
            }
            SamplerEvent::Gap(gap) => {
                if matches!(gap.reason, GapReason::Dropped(_)) && gap.window.is_some() {
                    self.sampler.tell(Command::ForceFullRows);
                }
                keep(&mut self.meta.gaps, gap);
                self.unsaved = true;
            }
            // For who searches for servers.
            SamplerEvent::Contact(..) => {}
            SamplerEvent::Assigned(_, root) => self.assigned(root),
            SamplerEvent::Ended(ending) => {
                self.meta.cost = ending.cost;
                self.meta.window.end = ending.at;
                self.ended = true;
            }
        }
        if self.unsaved && self.saved.elapsed() >= SAVE_EVERY {
            self.save_meta();
            self.saved = Instant::now();
            self.unsaved = false;
        }
    }

    /// Takes bins of the workload's signal.
    pub(super) fn bins(&mut self, bins: &[Bin]) {
        if bins.is_empty() {
            return;
        }
        let mut rows = Rows::with_capacity(SIGNAL.columns.len(), bins.len());
        for bin in bins {
            rows.push(bin.end, Sampler::WORKLOAD, &bin.values());
            self.live.bin(bin);
        }
        self.take_rows(&SIGNAL, &rows);
    }

    /// Asks a server for its own word from now on.
    pub(super) fn ask(&mut self, address: Option<Address>, events: &Sender<Event>) {
        let Some(address) = address else { return };
        // A server elsewhere has no process here: what the load is about stands for it.
        let fallback = match self.meta.workload {
            Some(_) => Sampler::WORKLOAD,
            None => Sampler::MACHINE,
        };
        self.meta.environment.extend(Database::facts(&address));
        self.database = Some(Database::ask(
            address,
            self.root.join("proc"),
            events,
            fallback,
        ));
    }

    /// Takes what PostgreSQL says.
    pub(super) fn database(&mut self, said: Said) {
        if let Some(database) = &mut self.database {
            let news = database.hear(said);
            self.take(news);
        }
    }

    /// Takes the latencies of single operations.
    pub(super) fn latencies(&mut self, rows: &Rows) {
        self.take_rows(&LATENCY_SAMPLE, rows);
    }

    /// Writes down who is measured, so that a crash does not lose it.
    pub(super) fn save_meta(&mut self) {
        let mut meta = self.meta.clone();
        if let Some(database) = &self.database {
            meta.gaps.extend_from_slice(database.gaps());
        }
        if let Some(writer) = &mut self.writer {
            // Room is kept for it. Refused all the same, the old one stays, and the close tells.
            let _ = writer.meta(&self.privacy.meta(meta));
        }
    }

    /// Stops, and removes the folder of a recording that never began.
    pub(super) fn abandon(&mut self) {
        self.sampler.tell(Command::Stop);
        // What cannot be removed stays as an empty recording, which is no harm.
        let _ = self.writer.take().map(Writer::abandon);
    }

    /// The recording's folder, held open.
    pub(super) fn folder(&self) -> &Arc<FolderHandle> {
        &self.folder
    }

    /// Closes the recording; returns its size in bytes.
    ///
    /// # Errors
    /// What the disk does not take at the end; what it did not take before is a gap.
    pub(super) fn close(&mut self) -> Result<u64, recording::Error> {
        if let Some(mut database) = self.database.take() {
            let end = if self.ended {
                self.meta.window.end
            } else {
                kernel::boottime()
            };
            let (news, gaps, corrections) = database.finish(end);
            self.take(news);
            self.meta.gaps.extend(gaps);
            self.meta.cost.corrections.extend(corrections);
        }
        // Without the sampler's own end, what the recording covers is told by its rows, as after a crash.
        self.meta.complete = self.ended;
        let writer = self.writer.take();
        let meta = self.privacy.meta(self.meta.clone());
        writer.map_or(Ok(0), |writer| writer.close(&meta))
    }

    fn take(&mut self, news: News) {
        for (table, rows) in &news.rows {
            self.take_rows(table, rows);
        }
        for sentence in &news.sentences {
            self.screen.say(&format!("stallscope: {sentence}"));
        }
        if let Some(pid) = news.own {
            self.sampler.tell(Command::Assign {
                pids: vec![pid],
                role: Role::Recorder,
            });
            self.expect_no_answer();
        }
        if !(news.sentences.is_empty() && news.facts.is_empty()) {
            self.meta.environment.extend(news.facts);
            self.save_meta();
        }
    }

    fn assigned(&mut self, root: Option<EntityId>) {
        let Some(Some(target)) = self.unanswered.pop_front() else {
            return;
        };
        if let Some(target) = self.meta.targets.get_mut(target) {
            target.root = root;
        }
        self.save_meta();
    }

    /// Hands on to the kernel what came since the last time, so that a crash does not lose it: to be
    /// called often. Once a second it has something to do.
    pub(super) fn flush(&mut self) {
        if self.unflushed.is_none_or(|since| since.elapsed() < GATHER) {
            return;
        }
        self.unflushed = None;
        let flushed = self.writer.as_mut().map_or(Ok(()), Writer::flush);
        let (before, refused) = (self.trouble, flushed.is_err());
        self.note(flushed);
        if before != refused {
            // The gap, as far as it goes, or that there is none.
            self.save_meta();
        }
    }

    /// How long the next event may be waited for, of so long at most: what came is to be flushed soon.
    pub(super) fn patience(&self, most: Duration) -> Duration {
        self.unflushed.map_or(most, |_| GATHER.min(most))
    }

    fn take_rows(&mut self, table: &Table, rows: &Rows) {
        self.keep(|writer| writer.append(table, rows));
    }

    /// What is kept in memory until the next flush; refused is only what does not fit.
    fn keep(&mut self, keep: impl FnOnce(&mut Writer) -> recording::Result<()>) {
        let Some(writer) = &mut self.writer else {
            return;
        };
        self.unflushed.get_or_insert_with(Instant::now);
        if let Err(error) = keep(writer) {
            self.screen.say(&format!("stallscope: {error}"));
        }
    }

    /// Trouble with the disk is said once, and its end; the workload and the sampling go on.
    fn note(&mut self, written: recording::Result<()>) {
        match written {
            Err(error) if !self.trouble => {
                self.trouble = true;
                self.screen.say(&trouble(error));
            }
            Ok(()) if self.trouble => {
                self.trouble = false;
                // Of what found no room in memory.
                self.sampler.tell(Command::ForceFullRows);
                self.screen
                    .say("stallscope: the recording is written again");
            }
            _ => {}
        }
    }

    fn note_pressure(&mut self, table: &'static Table, rows: &Rows) {
        if table.name != "pressure" {
            return;
        }
        for (time, _, values) in rows.iter() {
            let now = (time.as_ns(), values[0]);
            if let Some(before) = self.last_pressure.replace(now)
                && now.0 > before.0
                && values[0] != model::MISSING
            {
                self.live
                    .pressure((now.1 - before.1) as f64 / (now.0 - before.0) as f64);
            }
        }
    }
}

/// What is said when the recording cannot be written any more.
fn trouble(error: recording::Error) -> String {
    let error = anyhow::Error::from(error);
    let allows = match too_many_files(&error) {
        Some(_) => "more files may be open",
        None => "the disk allows it",
    };
    let said = outputs::sentence(&error);
    format!("stallscope: {said}. The workload goes on, and so does recording as soon as {allows}")
}
