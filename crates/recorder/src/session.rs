//! A recording in progress: what the sampler finds goes to disk, and who is measured is kept track of.

mod operations;
mod parts;
mod ring;
mod segments;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use collectors::{Command, Sampler, SamplerEvent, SamplerHandle, Settings};
use kernel::{Clocks, Interrupts};
use model::{Entity, EntityId, EntityKind, GapReason, Meta, Role, Rows, Sentence, Table, Target};
use recording::FolderHandle;
use rustix::process::Rlimit;
use sources::AppSource;
use workloads::{Bin, LATENCY_SAMPLE, MOST_LABELS, SIGNAL, SIGNAL_BY_LABEL};

use super::applications::{self, Application, Message, News, Owners};
use super::bounded_sender::{BoundedSender, Load};
use super::dependencies::Notice;
use super::description::description;
use super::error::Result;
use super::event::Event;
use super::gaps::keep;
use super::labels::Labelled;
use super::observer::{Observer, Progress};
use super::plan::Plan;
use super::storage::{Change, Storage};
use ring::Ring;
pub use ring::Savings;
use segments::Segmenting;

/// Gaps are written down this often: the whole list each time, and a starved machine has many.
const SAVE_EVERY: Duration = Duration::from_secs(1);

/// A recording in progress.
pub(super) struct Session {
    /// The recording's description: the plan, and what turned up so far.
    pub(super) meta: Meta,
    pub(super) sampler: SamplerHandle,
    pub(super) observer: Arc<dyn Observer>,
    /// The limit of open files before it was raised, which a workload gets back.
    pub(super) descriptors: Rlimit,
    /// The end of sampling, once it has come.
    pub(super) ended: bool,
    events: Sender<Event>,
    inbox: Receiver<Event>,
    _interrupts: Interrupts,
    /// What is on its way from the sampler.
    load: Load,
    storage: Storage,
    /// Where the recording is written as segments: when the next one begins.
    segmenting: Option<Segmenting>,
    /// Where only what lies around a firing is kept.
    ring: Option<Ring>,
    /// When gaps were last written down, and whether some are not.
    saved: Instant,
    unsaved: bool,
    /// Where the kernel's files are.
    root: PathBuf,
    /// The applications that are asked.
    applications: Vec<Application>,
    /// Targets that the sampler was reported, in the order of its answers.
    unanswered: VecDeque<Option<usize>>,
    /// Where the search for dependencies learns who has a part.
    dependencies: Option<Sender<Notice>>,
    /// What the workload says of its labels.
    labelled: Labelled,
    /// Whether it said of an interval what all its operations did.
    has_bins: bool,
    /// Machine pressure at the last reading: (time, cpu some), ns.
    last_pressure: Option<(i64, i64)>,
}

impl Session {
    /// Makes the recording's folder, and starts to sample and to ask.
    pub(super) fn start(plan: &Plan, observer: Arc<dyn Observer>) -> Result<Self> {
        let (events, inbox) = channel();
        let tell = events.clone();
        // A closed channel means that the program is ending, here and below.
        let interrupts =
            Interrupts::watch(move |interrupt| drop(tell.send(Event::Interrupt(interrupt))))?;
        let meta = description(plan, Clocks::read());
        let segments = plan.segments.as_ref();
        let keep = segments.map(|segments| segments.keep);
        let (folder, top) = ring::folder(plan)?;
        let privacy = plan.privacy.clone();
        let mut storage = Storage::create(&folder, &meta, privacy, keep)
            .inspect_err(|_| top.iter().for_each(|it| drop(it.remove_all())))?;
        let ring = plan.triggers.as_ref().zip(top);
        let ring = ring.map(|(options, top)| Ring::new(top, options, keep.unwrap_or_default()));
        let load = Load::default();
        let sampler = start_sampler(plan, &meta, &events, load.clone()).inspect_err(|_| {
            storage.abandon();
            ring.iter().for_each(Ring::remove_if_empty);
        })?;
        let applications = start_applications(plan, &meta, &events);
        Ok(Self {
            meta,
            sampler,
            observer,
            descriptors: plan.descriptors,
            ended: false,
            events,
            inbox,
            _interrupts: interrupts,
            load,
            storage,
            ring,
            segmenting: segments.map(|segments| Segmenting::new(segments.length)),
            saved: Instant::now(),
            unsaved: false,
            root: plan.environment.root.clone(),
            applications,
            unanswered: VecDeque::new(),
            dependencies: None,
            labelled: Labelled::new(first_label(plan)),
            has_bins: false,
            last_pressure: None,
        })
    }

    /// Where others send what this recording is to learn.
    pub(super) fn events(&self) -> &Sender<Event> {
        &self.events
    }

    /// The next event, if there is one by then.
    pub(super) fn receive(&self, most: Duration) -> Result<Event, RecvTimeoutError> {
        self.inbox.recv_timeout(most)
    }

    /// How long the next event may be waited for, of so long at most.
    pub(super) fn patience(&self, most: Duration) -> Duration {
        self.storage.patience(most)
    }

    /// Where the kernel shows its processes.
    pub(super) fn proc(&self) -> PathBuf {
        self.root.join("proc")
    }

    /// A sentence for the user.
    pub(super) fn notice(&self, sentence: &str) {
        self.observer.progress(Progress::Notice(sentence));
    }

    /// The name of the first of some processes.
    pub(super) fn name_of(&self, pids: &[u32]) -> Option<String> {
        targets::name_of(&self.proc(), *pids.first()?)
    }

    /// A target that the user named, or the workload itself.
    pub(super) fn target(
        &self,
        role: Role,
        name: &str,
        found_by: Sentence,
        pids: &[u32],
    ) -> Target {
        let proc = self.proc();
        let allowed = pids
            .first()
            .and_then(|pid| kernel::cpus_allowed(&self.root, *pid));
        Target {
            role,
            root: None,
            name: name.to_owned(),
            unit: "process".to_owned(),
            version: pids
                .iter()
                .find_map(|pid| kernel::postgres_version(&proc, *pid)),
            found_by,
            connections: 0,
            cpus_allowed: allowed.as_ref().map(|it| it.len() as u32),
            allowed: allowed.unwrap_or_default(),
            found_at: kernel::boottime(),
            machine_unit: None,
        }
    }

    /// Our own process, as this machine shows it.
    pub(super) fn own_pid(&self) -> Option<u32> {
        kernel::own_pid(&self.root)
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

    /// Gives processes a part that are no new target.
    pub(super) fn assign(&mut self, pids: Vec<u32>, role: Role) {
        self.sampler.tell(Command::Assign { pids, role });
        self.unanswered.push_back(None);
    }

    /// Takes what the sampler hands on.
    pub(super) fn sampled(&mut self, event: SamplerEvent) {
        self.load.arrived(&event);
        match event {
            SamplerEvent::Rows(table, rows) => {
                self.note_pressure(table, &rows);
                self.rows(table, &rows);
                self.sampler.give_back(table, rows);
            }
            SamplerEvent::Entities(events) => {
                for application in &mut self.applications {
                    application.note(&events);
                }
                if let Some(ring) = &mut self.ring {
                    ring.watch.entities(&events);
                }
                let kept = self.storage.entities(events);
                self.note(kept);
            }
            SamplerEvent::Strings(texts) => {
                let kept = self.storage.strings(texts);
                self.note(kept);
            }
            SamplerEvent::Gap(gap) => {
                if matches!(gap.reason, GapReason::Dropped(_)) && gap.window.is_some() {
                    self.sampler.tell(Command::ForceFullRows);
                }
                keep(&mut self.meta.gaps, gap);
                self.unsaved = true;
            }
            SamplerEvent::Contact(role, address) => self.contacted(role, address),
            SamplerEvent::Assigned(_, root) => self.assigned(root),
            SamplerEvent::Cost(cost) => self.meta.cost = *cost,
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
            if bin.label.is_some() {
                self.labelled.take(bin);
            } else {
                rows.push(bin.end, Sampler::WORKLOAD, &bin.values());
                self.observer.progress(Progress::Bin(bin));
            }
        }
        self.has_bins |= !rows.is_empty();
        self.rows(&SIGNAL, &rows);
        self.write_labelled();
    }

    fn write_labelled(&mut self) {
        let news = self.labelled.news();
        if !news.entities.is_empty() {
            let kept = self.storage.entities(news.entities);
            self.note(kept);
        }
        if !news.rows.is_empty() {
            self.rows(&SIGNAL_BY_LABEL, &news.rows);
        }
    }

    /// Takes a message of the thread that asks the application of this number.
    pub(super) fn application(&mut self, number: usize, message: Message) {
        if let Some(application) = self.applications.get_mut(number) {
            let news = application.receive(message);
            self.take(news);
        }
    }

    /// Takes the latencies of single operations.
    pub(super) fn latencies(&mut self, rows: &Rows) {
        self.rows(&LATENCY_SAMPLE, rows);
    }

    /// Writes down who is measured, so that a crash does not lose it.
    pub(super) fn save_meta(&mut self) {
        let meta = self.described();
        self.storage.description(meta);
    }

    /// The recording's description at this moment.
    fn described(&self) -> Meta {
        let mut meta = self.meta.clone();
        for application in &self.applications {
            meta.gaps.extend_from_slice(application.gaps());
        }
        meta
    }

    /// Hands on to the kernel what came since the last time: to be called often. Trouble with the disk
    /// is reported once, and its end; the workload and the sampling go on.
    pub(super) fn flush(&mut self) {
        let was_flushed = self.storage.is_flushed();
        let change = self.storage.flush();
        if !was_flushed && self.storage.is_flushed() {
            self.segment();
            self.watch_triggers();
        }
        match change {
            None => return,
            Some(Change::Refused(error)) => self.observer.progress(Progress::Unwritten(error)),
            Some(Change::Accepted) => {
                // Of what found no room in memory.
                self.sampler.tell(Command::ForceFullRows);
                self.observer.progress(Progress::WrittenAgain);
            }
        }
        // The gap, as far as it goes, or that there is none.
        self.save_meta();
    }

    /// Stops, and removes the folder of a recording that never began.
    pub(super) fn abandon(&mut self) {
        self.sampler.tell(Command::Stop);
        self.storage.abandon();
        self.ring.iter().for_each(Ring::remove_if_empty);
    }

    /// The recording's folder, held open.
    pub(super) fn folder(&self) -> &Arc<FolderHandle> {
        self.storage.folder()
    }

    /// Closes the recording; returns its size in bytes.
    ///
    /// # Errors
    /// What the disk does not take at the end; what it did not take before is a gap.
    pub(super) fn close(mut self) -> (recording::Result<u64>, Option<Savings>) {
        let end = if self.ended {
            self.meta.window.end
        } else {
            kernel::boottime()
        };
        for mut application in std::mem::take(&mut self.applications) {
            let last = application.finish(end);
            self.take(last.news);
            self.meta.gaps.extend(last.gaps);
            self.meta.cost.corrections.extend(last.corrections);
        }
        // Without the sampler's own end, what the recording covers is told by its rows, as after a crash.
        self.meta.complete = self.ended;
        if let Some(savings) = self.end_ring() {
            return (Ok(savings.bytes), Some(savings));
        }
        (self.storage.close(self.meta), None)
    }

    fn take(&mut self, news: News) {
        if !news.entities.is_empty() {
            let kept = self.storage.entities(news.entities);
            self.note(kept);
        }
        for (table, rows) in &news.rows {
            self.rows(table, rows);
        }
        for sentence in &news.sentences {
            self.notice(sentence);
        }
        if let Some(pid) = news.own {
            self.assign(vec![pid], Role::Recorder);
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

    fn rows(&mut self, table: &Table, rows: &Rows) {
        if let Some(ring) = &mut self.ring {
            ring.watch.rows(table, rows);
        }
        let kept = self.storage.rows(table, rows);
        self.note(kept);
    }

    /// Refused is only what does not fit.
    fn note(&self, kept: recording::Result<()>) {
        if let Err(error) = kept {
            self.notice(&error.to_string());
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
                let share = (now.1 - before.1) as f64 / (now.0 - before.0) as f64;
                self.observer.progress(Progress::CpuPressure(share));
            }
        }
    }
}

fn start_sampler(
    plan: &Plan,
    meta: &Meta,
    events: &Sender<Event>,
    load: Load,
) -> Result<SamplerHandle, kernel::Error> {
    let workload = meta.workload.as_ref();
    let settings = Settings {
        root: plan.environment.root.clone(),
        harden: true,
        traces_all: plan.trace_all,
        stack_rate: plan.stack_rate,
        min_wait: plan.min_wait,
        logs: plan.logs.clone(),
        workload: workload
            .map(|workload| Entity::new(EntityKind::Workload, &workload.name, "workload")),
        reserved: plan.applications.iter().map(named).sum::<u32>()
            + workload.map_or(0, |_| MOST_LABELS as u32 + 1),
    };
    let events = events.clone();
    let mut sender =
        BoundedSender::new(load, move |event| drop(events.send(Event::Sampler(event))));
    Sampler::start(&settings, &plan.environment, move |event| {
        sender.put(event, kernel::boottime());
    })
}

/// The first entity number of a label: behind those of what applications name.
fn first_label(plan: &Plan) -> EntityId {
    let before: u32 = plan.applications.iter().map(named).sum();
    EntityId(Sampler::RESERVED.0 + before)
}

/// Entity numbers that what an application names may take.
fn named(source: &Arc<dyn AppSource>) -> u32 {
    applications::named(source.tables())
}

/// Asks the applications that the plan names.
fn start_applications(plan: &Plan, meta: &Meta, events: &Sender<Event>) -> Vec<Application> {
    // A server elsewhere has no process here: what the load is about stands for it.
    let fallback = match meta.workload {
        Some(_) => Sampler::WORKLOAD,
        None => Sampler::MACHINE,
    };
    let mut next = Sampler::RESERVED;
    let start = |(number, source): (usize, &Arc<dyn AppSource>)| {
        let tell = events.clone();
        let owners = Owners {
            fallback,
            named: next,
        };
        next.0 += named(source);
        Application::ask(
            source.clone(),
            plan.environment.root.join("proc"),
            owners,
            move |message| drop(tell.send(Event::Application(number, message))),
        )
    };
    plan.applications.iter().enumerate().map(start).collect()
}
