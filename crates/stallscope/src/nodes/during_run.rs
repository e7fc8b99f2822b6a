//! The nodes of one run: all begin to record before its workload starts, and what they have is fetched after its end.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, bail};
use kernel::Interrupts;
use model::{Gap, GapReason, sentence};
use recording::FolderHandle;

use super::attendant::{Attendant, Begun, Order};
use super::clock_offset::ClockOffset;
use super::connection::Interrupted;
use super::destination::names;
use super::fetch::all_together;
use super::pending::{Pending, PendingNode};
use super::{Destination, TABLE};
use crate::arguments::NodeOptions;
use crate::outputs::{self, Screen};

/// How often the end of fetching is looked for.
const POLL: Duration = Duration::from_millis(20);
/// What takes longer is worth a line.
const LONG: Duration = Duration::from_secs(2);

/// Nodes that are recorded while a workload runs here.
pub(crate) struct Nodes {
    folder: Arc<FolderHandle>,
    recording: PathBuf,
    attended: Vec<Attended>,
    /// Nodes without a recording here, and why.
    missing: Vec<Missing>,
    interrupted: Interrupted,
}

/// A node, and the thread that attends to it.
struct Attended {
    name: String,
    destination: Destination,
    begun: Receiver<Result<Begun>>,
    orders: Sender<Order>,
    thread: JoinHandle<Option<(PendingNode, anyhow::Error)>>,
}

struct Missing {
    name: String,
    why: String,
}

impl Attended {
    /// Whether it has begun, once that is known; what takes long is worth a line.
    fn answer(&self, screen: &Screen) -> Result<Begun> {
        let begun = match self.begun.recv_timeout(LONG) {
            Err(RecvTimeoutError::Timeout) => {
                let name = &self.name;
                screen.say(&format!("stallscope: waiting for {name} to record"));
                self.begun
                    .recv()
                    .map_err(|_| RecvTimeoutError::Disconnected)
            }
            begun => begun,
        };
        begun.unwrap_or_else(|_| Err(anyhow!("nobody attends to it")))
    }
}

impl Nodes {
    /// Has all nodes record; returns when each does or has failed. `None` without nodes.
    ///
    /// # Errors
    /// The folder for what they record cannot be made, or the user interrupts. No node's failure is one.
    pub(crate) fn begin(
        options: &NodeOptions,
        recording: &Path,
        screen: &Screen,
    ) -> Result<Option<Self>> {
        if options.on.is_empty() {
            return Ok(None);
        }
        let is_twice =
            |it: &&Destination| options.on.iter().filter(|other| other == it).count() > 1;
        if let Some(twice) = options.on.iter().find(is_twice) {
            bail!("--on names {} twice", twice.text());
        }
        let folder = Arc::new(FolderHandle::create(&beside(recording))?);
        let interrupted = Interrupted::default();
        let signal = interrupted.clone();
        let _interrupts = Interrupts::watch(move |it| signal.store(it.signal, Ordering::Relaxed))?;
        let mut nodes = Self {
            folder,
            recording: recording.to_owned(),
            attended: Vec::new(),
            missing: Vec::new(),
            interrupted,
        };
        let begun = nodes
            .start(options, screen)
            .and_then(|()| nodes.settle(screen));
        if let Err(error) = begun {
            nodes.discard();
            return Err(error);
        }
        nodes.order(|| Order::Keep);
        Ok(Some(nodes))
    }

    /// Starts a thread for each node.
    fn start(&mut self, options: &NodeOptions, screen: &Screen) -> Result<()> {
        for (name, destination) in names(&options.on).into_iter().zip(&options.on) {
            let attendant = Attendant {
                name: name.clone(),
                destination: destination.clone(),
                copy: options.copy,
                folder: self.folder.clone(),
                screen: screen.clone(),
                interrupted: self.interrupted.clone(),
            };
            let (begins, begun) = channel();
            let (orders, ordered) = channel();
            // Who waits for it is there until it comes.
            let begins = move |it| drop(begins.send(it));
            let thread = thread::Builder::new()
                .name("node".to_owned())
                .spawn(move || attendant.attend(begins, &ordered))
                .context("cannot attend to a node")?;
            self.attended.push(Attended {
                name,
                destination: destination.clone(),
                begun,
                orders,
                thread,
            });
        }
        Ok(())
    }

    /// Waits until each node has begun or failed, says which, and writes down where recordings are from now on.
    fn settle(&mut self, screen: &Screen) -> Result<()> {
        let mut pending = Vec::new();
        for attended in std::mem::take(&mut self.attended) {
            let begun = attended.answer(screen);
            if self.interrupted.load(Ordering::Relaxed) != 0 {
                continue;
            }
            let name = &attended.name;
            match begun {
                Ok(begun) => {
                    screen.say(&format!("stallscope: {}", is_recorded(name, &begun)));
                    let Begun { path, clock, .. } = begun;
                    pending.push(PendingNode::new(name, &attended.destination, &path, clock));
                    self.attended.push(attended);
                }
                Err(error) => {
                    let why = outputs::sentence(&error);
                    screen.say(&format!(
                        "stallscope: {name} is not recorded: {why}. The run goes on without it"
                    ));
                    self.missing.push(Missing {
                        name: attended.name,
                        why,
                    });
                }
            }
        }
        if self.interrupted.load(Ordering::Relaxed) != 0 {
            bail!("interrupted before the run began");
        }
        self.save(pending)
    }

    fn save(&self, nodes: Vec<PendingNode>) -> Result<()> {
        Pending::new(&self.recording, nodes).save(&self.folder)
    }

    fn order(&self, order: impl Fn() -> Order) {
        for attended in &self.attended {
            // It follows orders until it has followed the last.
            let _ = attended.orders.send(order());
        }
    }

    /// Has nodes forget what they recorded: there was no run.
    pub(crate) fn discard(self) {
        self.order(|| Order::Discard);
        for attended in self.attended {
            drop(attended.orders);
            // A thread that panicked has removed nothing there, which the node does itself.
            let _ = attended.thread.join();
        }
        // Nobody needs what is in it, and nobody else wrote there.
        let _ = self.folder.remove_all();
    }

    /// Fetches what the nodes have, and notes in the run's recording what is missing of them. Returns what there is to
    /// say about it, in lines.
    pub(crate) fn finish(mut self, main: &Arc<FolderHandle>, screen: &Screen) -> Vec<String> {
        let signal = self.interrupted.clone();
        // Without it an interrupt has no effect until everything is here.
        let _interrupts = Interrupts::watch(move |it| signal.store(it.signal, Ordering::Relaxed));
        let id = recording::description(main).map(|meta| meta.identity.recording_id);
        let id = id.ok();
        self.order(|| Order::Fetch(id.clone()));
        let mut lines = Vec::new();
        let mut pending = Vec::new();
        let shown = self.folder.path().display().to_string();
        for (name, left) in self.ends(screen) {
            let Some((node, error)) = left else { continue };
            let why = outputs::sentence(&error);
            lines.push(format!(
                "stallscope: what {name} recorded is still there ({}): {why}. Fetch it with: stallscope fetch {shown}",
                node.path.display(),
            ));
            self.missing.push(Missing { name, why });
            pending.push(node);
        }
        let saved = self.save(pending).and_then(|()| self.note(main));
        if let Err(error) = saved {
            lines.push(format!("stallscope: {}", outputs::sentence(&error)));
        }
        let is_empty = self.folder.names().is_ok_and(|names| names.is_empty());
        match is_empty {
            // Nothing came, and nothing will.
            true => drop(self.folder.remove_all()),
            false => lines.extend(all_together(&self.recording, &self.folder)),
        }
        lines
    }

    /// What each thread has left on its node, once all have ended.
    fn ends(&mut self, screen: &Screen) -> Vec<(String, Option<(PendingNode, anyhow::Error)>)> {
        let since = Instant::now();
        let mut is_told = false;
        while self.attended.iter().any(|it| !it.thread.is_finished()) {
            if !is_told && since.elapsed() > LONG {
                is_told = true;
                let open = self.attended.iter().filter(|it| !it.thread.is_finished());
                let open: Vec<&str> = open.map(|it| &*it.name).collect();
                screen.say(&format!(
                    "stallscope: fetching what was recorded on {}; Ctrl-C leaves it there for later",
                    open.join(", ")
                ));
            }
            thread::sleep(POLL);
        }
        let ended = std::mem::take(&mut self.attended).into_iter();
        let ended = ended.map(|it| {
            let left = it.thread.join();
            (
                it.name,
                left.unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            )
        });
        ended.collect()
    }

    /// Notes in the run's recording which nodes have none.
    fn note(&self, main: &Arc<FolderHandle>) -> Result<()> {
        if self.missing.is_empty() {
            return Ok(());
        }
        let gaps = self.missing.iter().map(gap);
        recording::amend(main, |meta| meta.gaps.extend(gaps))?;
        Ok(())
    }
}

/// The folder for what nodes record beside `NAME.stall`: `NAME-nodes`.
fn beside(recording: &Path) -> PathBuf {
    let mut name = match recording.extension().is_some_and(|it| it == "stall") {
        true => recording.file_stem(),
        false => recording.file_name(),
    }
    .unwrap_or_default()
    .to_owned();
    name.push("-nodes");
    recording.with_file_name(name)
}

fn gap(missing: &Missing) -> Gap {
    let Missing { name, why } = missing;
    Gap {
        table: TABLE.to_owned(),
        what: name.clone().into(),
        window: None,
        reason: GapReason::Denied(sentence!(
            "what {} did, which was to be recorded too ({})",
            name.clone(),
            why.clone()
        )),
    }
}

fn is_recorded(name: &str, begun: &Begun) -> String {
    let rights = match begun.is_root {
        true => "",
        false => " as far as its user may, who is not root",
    };
    format!(
        "{name} is recorded{rights}; its clock {}",
        shown(begun.clock)
    )
}

/// `is 3 ms ahead of this one, give or take 0.2 ms`.
fn shown(clock: ClockOffset) -> String {
    let length = |ns: i64| analysis::duration(ns.unsigned_abs() as f64);
    let within = length(clock.within_ns);
    if clock.ahead_ns.unsigned_abs() <= clock.within_ns.unsigned_abs() {
        return format!("agrees with this one within {within}");
    }
    let side = match clock.ahead_ns < 0 {
        true => "behind",
        false => "ahead of",
    };
    let apart = length(clock.ahead_ns);
    format!("is {apart} {side} this one, give or take {within}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recordings_of_nodes_lie_beside_the_runs() {
        for (recording, folder) in [
            ("a.stall", "a-nodes"),
            ("x/a.b.stall", "x/a.b-nodes"),
            ("/x/plain", "/x/plain-nodes"),
        ] {
            assert_eq!(beside(Path::new(recording)), Path::new(folder));
        }
    }

    #[test]
    fn a_clock_is_shown_with_what_is_not_known_of_it() {
        let clock = |ahead_ns, within_ns| {
            shown(ClockOffset {
                ahead_ns,
                within_ns,
            })
        };
        assert_eq!(
            clock(20_000, 100_000),
            "agrees with this one within 0.100 ms"
        );
        assert_eq!(
            clock(-3_000_000, 200_000),
            "is 3.00 ms behind this one, give or take 0.200 ms"
        );
        assert_eq!(
            clock(2_000_000_000, 200_000),
            "is 2.00 s ahead of this one, give or take 0.200 ms"
        );
    }

    #[test]
    fn a_gap_says_which_node_is_missing_and_why() {
        let missing = Missing {
            name: "n2".to_owned(),
            why: "Connection refused".to_owned(),
        };
        let said = gap(&missing).reason.to_string();
        assert_eq!(
            said,
            "not allowed: what n2 did, which was to be recorded too (Connection refused)"
        );
    }
}
