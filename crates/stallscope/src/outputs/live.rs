//! The live line on standard error, and how it keeps out of the workload's own text.

use std::io::{IsTerminal, Write};
use std::sync::{Arc, Mutex, PoisonError};

use analysis::{duration, percent, rate};
use workloads::Bin;

/// Without a terminal, a line per this many seconds.
const LINE_EVERY_S: u64 = 10;
/// Erases the line that the cursor is on.
const ERASE: &str = "\r\x1b[K";

/// Standard output and standard error, shared by everyone who writes while a workload runs.
#[derive(Clone)]
pub(crate) struct Screen(Arc<Mutex<Drawn>>);

/// What became of text that was passed on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Taken {
    /// It was written, or could not be for a reason that is not the workload's.
    All,
    /// The pipe that it goes to has been closed.
    NobodyReads,
}

/// Whether a live line stands on the terminal and must be erased before anything else is written.
struct Drawn(bool);

impl Screen {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(Drawn(false))))
    }

    /// Passes the workload's bytes on unchanged.
    pub(crate) fn pass(&self, to_stdout: bool, bytes: &[u8]) -> Taken {
        if bytes.is_empty() {
            return Taken::All;
        }
        let mut drawn = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        drawn.erase();
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

    /// A line of our own.
    pub(crate) fn say(&self, line: &str) {
        let mut drawn = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        drawn.erase();
        super::say(line);
    }

    fn draw(&self, line: &str) {
        let mut drawn = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = write!(std::io::stderr(), "{ERASE}{line}");
        drawn.0 = true;
    }
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
        }
    }

    pub(crate) fn bin(&mut self, bin: &Bin) {
        self.newest = Some(bin.clone());
    }

    /// Part of the last 2 s in which some task waited for a CPU.
    pub(crate) fn pressure(&mut self, cpu_some: f64) {
        self.cpu_some = Some(cpu_some);
    }

    /// Shows the line if its time has come.
    pub(crate) fn show(&mut self, elapsed_s: u64) {
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
            Style::Redrawn => self.screen.draw(&line),
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
        parts.join("  ")
    }
}
