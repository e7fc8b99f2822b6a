//! The live line on standard error, and how it keeps out of the workload's own text.

use std::collections::VecDeque;
use std::io::{IsTerminal, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use analysis::{duration, percent, rate};
use recorder::Taken;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use workloads::{Bin, Stream};

/// Without a terminal, a line per this many seconds.
const LINE_EVERY_S: u64 = 10;
/// Erases the line that the cursor is on.
const ERASE: &str = "\r\x1b[K";

/// Our own lines that wait for a reader of standard error; later ones are let go.
const MOST_WAITING: usize = 100;

/// Standard output and standard error, shared by everyone who writes while a workload runs.
///
/// Nobody may read standard error: a pager that stands, a stopped terminal. The workload's own text
/// then waits as it would without us, but our lines wait aside: recording goes on, and so does the
/// workload's other stream.
#[derive(Clone)]
pub(crate) struct Screen(Arc<Streams>);

struct Streams {
    /// Held by who writes to standard error.
    drawn: Mutex<Drawn>,
    waiting: Mutex<VecDeque<String>>,
    /// Whether both streams go to one place, where they take turns.
    one_place: bool,
}

/// Whether a live line stands on the terminal and must be erased before anything else is written.
struct Drawn(bool);

impl Screen {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Streams {
            drawn: Mutex::new(Drawn(false)),
            waiting: Mutex::default(),
            one_place: std::io::stderr().is_terminal() || one_place(),
        }))
    }

    /// Passes the workload's bytes on unchanged.
    pub(crate) fn pass(&self, to: Stream, bytes: &[u8]) -> Taken {
        let to_stdout = to == Stream::Stdout;
        if bytes.is_empty() {
            return Taken::All;
        }
        let _turn = (!to_stdout || self.0.one_place).then(|| {
            let mut drawn = self.0.drawn.lock().unwrap_or_else(PoisonError::into_inner);
            drawn.erase();
            drawn
        });
        let written = if to_stdout {
            let mut out = std::io::stdout();
            out.write_all(bytes).and_then(|()| out.flush())
        } else {
            std::io::stderr().write_all(bytes)
        };
        match written {
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Taken::NobodyReads,
            // A full disk behind a redirection, say: the run is worth more than its text.
            _ => Taken::All,
        }
    }

    /// A line of our own: now, or as soon as standard error takes it.
    pub(crate) fn say(&self, line: &str) {
        let mut waiting = self.waiting();
        if waiting.len() < MOST_WAITING {
            waiting.push_back(line.to_owned());
        }
        drop(waiting);
        self.offer();
    }

    /// Writes the lines that wait, as far as standard error takes them at once.
    fn offer(&self) {
        let Ok(mut drawn) = self.0.drawn.try_lock() else {
            return;
        };
        while takes_a_line() && self.write_next(&mut drawn) {}
    }

    /// Writes the lines that wait, however long it takes until somebody reads them.
    pub(crate) fn flush(&self) {
        let mut drawn = self.0.drawn.lock().unwrap_or_else(PoisonError::into_inner);
        while self.write_next(&mut drawn) {}
    }

    fn write_next(&self, drawn: &mut Drawn) -> bool {
        let next = self.waiting().pop_front();
        if let Some(line) = &next {
            drawn.erase();
            super::say(line);
        }
        next.is_some()
    }

    fn waiting(&self) -> MutexGuard<'_, VecDeque<String>> {
        self.0
            .waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// A line that the next one replaces, where standard error takes it at once.
    fn draw(&self, line: &str) {
        if let Ok(mut drawn) = self.0.drawn.try_lock()
            && takes_a_line()
        {
            let _ = write!(std::io::stderr(), "{ERASE}{line}");
            drawn.0 = true;
        }
    }
}

/// Whether standard output and standard error are one file, as behind `2>&1`.
pub(crate) fn one_place() -> bool {
    let place = |about: rustix::fs::Stat| (about.st_dev, about.st_ino);
    let out = rustix::fs::fstat(std::io::stdout()).map(place);
    out.is_ok() && out == rustix::fs::fstat(std::io::stderr()).map(place)
}

/// Whether a write to standard error returns at once. A pipe that is ready has room for 4096 bytes.
fn takes_a_line() -> bool {
    let stderr = std::io::stderr();
    let mut polled = [PollFd::new(&stderr, PollFlags::OUT)];
    // What cannot be asked, and what is closed, lets nobody wait.
    poll(&mut polled, Some(&Timespec::default())).is_err() || !polled[0].revents().is_empty()
}

impl Drawn {
    fn erase(&mut self) {
        if std::mem::take(&mut self.0) {
            let _ = write!(std::io::stderr(), "{ERASE}");
        }
    }
}

/// What the live line shows.
pub(crate) struct Live {
    screen: Screen,
    style: Style,
    shown_s: u64,
    newest: Option<Bin>,
    rate_unit: String,
    cpu_some: Option<f64>,
    verdict: Option<String>,
}

enum Style {
    Off,
    Redrawn,
    Lines,
}

impl Live {
    pub(crate) fn new(screen: Screen, quiet: bool, rate_unit: &str) -> Self {
        let style = match (quiet, std::io::stderr().is_terminal()) {
            (true, _) => Style::Off,
            (false, true) => Style::Redrawn,
            (false, false) => Style::Lines,
        };
        Self {
            screen,
            style,
            shown_s: 0,
            newest: None,
            rate_unit: rate_unit.to_owned(),
            cpu_some: None,
            verdict: None,
        }
    }

    /// Whether one line is drawn over and over.
    pub(crate) fn is_redrawn(&self) -> bool {
        matches!(self.style, Style::Redrawn)
    }

    /// The answer so far.
    pub(crate) fn verdict(&mut self, verdict: Option<String>) {
        self.verdict = verdict;
    }

    pub(crate) fn bin(&mut self, bin: &Bin) {
        self.newest = Some(bin.clone());
    }

    /// Part of the last 2 s in which some task waited for a CPU.
    pub(crate) fn pressure(&mut self, cpu_some: f64) {
        self.cpu_some = Some(cpu_some);
    }

    /// Shows the line if its time has come, and lines that waited for a reader.
    pub(crate) fn show(&mut self, elapsed_s: u64) {
        self.screen.offer();
        let due = match self.style {
            Style::Off => false,
            Style::Redrawn => elapsed_s > self.shown_s,
            Style::Lines => elapsed_s >= self.shown_s + LINE_EVERY_S,
        };
        if !due {
            return;
        }
        self.shown_s = elapsed_s;
        let line = self.line(elapsed_s);
        match self.style {
            // A line that is wrapped could not be erased.
            Style::Redrawn => {
                let fits = line.chars().take(super::columns() - 1);
                self.screen
                    .draw(&super::on_one_line(&fits.collect::<String>()));
            }
            Style::Off | Style::Lines => self.screen.say(&line),
        }
    }

    /// What is known of a bin. A tool that gives latency gives none where nothing was completed.
    fn signal(&self, bin: &Bin) -> Vec<String> {
        let known = |value: i64| (value != model::MISSING).then_some(value as f64);
        let throughput = known(bin.throughput_milli).map(|milli| milli / 1e3);
        let latency = known(bin.latency_mean_ns).map(duration);
        let nothing = throughput == Some(0.0) && latency.is_none();
        let throughput = throughput.map(|value| format!("{} {}", rate(value), self.rate_unit));
        let parts = [throughput, latency, nothing.then(|| "no data".to_owned())];
        parts.into_iter().flatten().collect()
    }

    fn line(&self, elapsed_s: u64) -> String {
        let mut parts = vec![format!("{elapsed_s:>4} s")];
        if let Some(bin) = &self.newest {
            parts.extend(self.signal(bin));
        }
        parts.extend(
            self.cpu_some
                .map(|some| format!("cpu {} some", percent(some))),
        );
        parts.extend(self.verdict.clone());
        parts.join("  ")
    }
}
