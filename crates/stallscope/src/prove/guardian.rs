//! The process that watches over an experiment: when the one that changes things is gone, whatever killed it, it puts back
//! what the journal says.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};
use capacity::{Entry, Journal, Repaired};
use kernel::Interrupts;

use crate::outputs;
use crate::turns::OWN;

/// What the guardian says once it watches.
const READY: u8 = b'r';

/// The journal of this process with the process that watches over it.
pub(crate) struct Guarded {
    journal: Journal,
    guardian: Child,
    entry: Entry,
}

impl Guarded {
    /// # Errors
    /// The journal cannot be kept, or nobody can watch over it: nothing may be changed then.
    pub(crate) fn new() -> Result<Self> {
        let journal = Journal::create()?;
        let mut command = Command::new(OWN);
        command.arg("guardian").arg(journal.path());
        // Its end of this pipe ends when this process does.
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut guardian = command
            .spawn()
            .context("cannot start the process that watches over the experiment")?;
        let mut said = [0];
        let stdout = guardian.stdout.as_mut();
        let heard = stdout.map(|it| it.read_exact(&mut said));
        if !matches!(heard, Some(Ok(()))) || said != [READY] {
            bail!("the process that watches over the experiment did not start");
        }
        Ok(Self {
            journal,
            guardian,
            entry: Entry::default(),
        })
    }

    /// The process that watches.
    pub(crate) fn guardian(&self) -> u32 {
        self.guardian.id()
    }

    /// Writes down what is to be put back; only then may it be changed.
    ///
    /// # Errors
    /// It cannot be written, or nobody watches any more.
    pub(crate) fn note(&mut self, entry: Entry) -> Result<()> {
        if let Ok(Some(status)) = self.guardian.try_wait() {
            bail!(
                "the process that watches over the experiment ended ({status}): nothing more is changed"
            );
        }
        self.journal.write(&entry)?;
        self.entry = entry;
        Ok(())
    }

    /// What is to be put back now.
    pub(crate) fn noted(&self) -> &Entry {
        &self.entry
    }

    /// Puts everything back.
    ///
    /// # Errors
    /// The kernel refuses it; it stays in the journal then.
    pub(crate) fn restore(&mut self) -> Result<()> {
        self.entry.restore()?;
        self.entry = Entry::default();
        Ok(self.journal.clear()?)
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // Where that fails the guardian tries once more: the journal is still there.
        let _ = self.restore();
        drop(self.guardian.stdin.take());
        let _ = self.guardian.wait();
    }
}

/// The guardian itself: until standard input ends, which is the end of who started it.
pub(crate) fn guard(journal: &Path) -> Result<u8> {
    // What interrupts the experiment, or the terminal's end, is not for it.
    let _ = rustix::process::setsid();
    let _interrupts = Interrupts::watch(|_| {})?;
    let journal = Journal::at(journal.to_owned())?;
    let mut stdout = std::io::stdout();
    stdout
        .write_all(&[READY])
        .and_then(|()| stdout.flush())
        .context("nobody waits for this process")?;
    // An error is an end too.
    let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
    if let Some(left) = journal.read()? {
        left.restore()?;
        outputs::say("stallscope: the experiment was killed. Everything is as it was.");
    }
    journal.end()?;
    Ok(0)
}

/// Puts back what experiments left that were killed together with those that watched over them, and says so.
pub(crate) fn repair() {
    match capacity::repair() {
        Ok(repaired) => repaired.iter().for_each(|it| outputs::say(&said(it))),
        Err(error) => outputs::say(&format!("stallscope: {error}")),
    }
}

fn said(repaired: &Repaired) -> String {
    let mut parts: Vec<String> = repaired
        .groups
        .iter()
        .map(|it| format!("the limit of {} is what it was", it.display()))
        .collect();
    if !repaired.processes.is_empty() {
        let pids: Vec<String> = repaired.processes.iter().map(u32::to_string).collect();
        parts.push(format!("stopped processes go on ({})", pids.join(", ")));
    }
    format!(
        "stallscope: a killed experiment had left things changed: {}",
        parts.join("; ")
    )
}
