//! The counters of many loops as text for Prometheus.
//!
//! Knows no HTTP: the program has an endpoint already, or writes the text to a file that a collector
//! reads. A loop that has ended is left out from then on, as Prometheus expects of what is gone.

use std::fmt::{self, Write};
use std::sync::{Mutex, PoisonError};

use crate::meter::{Reader, RunQueue, Snapshot};

/// Which of the two dialects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// `text/plain; version=0.0.4`
    Prometheus,
    /// `application/openmetrics-text; version=1.0.0`
    OpenMetrics,
}

/// The meters of a program, each with its labels.
#[derive(Default, Debug)]
pub struct Registry {
    loops: Mutex<Vec<Loop>>,
}

#[derive(Debug)]
struct Loop {
    /// `name="value",` for each, escaped.
    labels: String,
    reader: Reader,
}

impl Registry {
    /// No meters yet.
    pub const fn new() -> Self {
        Self {
            loops: Mutex::new(Vec::new()),
        }
    }

    /// Adds a loop. Its labels, names and values, must tell it from the others; names are those of
    /// Prometheus (`[a-zA-Z_][a-zA-Z0-9_]*`, not `class`), values may be anything.
    pub fn add(&self, labels: &[(&str, &str)], reader: Reader) {
        let mut text = String::new();
        for (name, value) in labels {
            // Writing to a string does not fail.
            let _ = write!(text, "{name}=\"{}\",", Escaped(value));
        }
        self.locked().push(Loop {
            labels: text,
            reader,
        });
    }

    /// The counters of all loops that have not ended, as of their last boundaries.
    pub fn text(&self, format: Format) -> String {
        let mut loops = self.locked();
        loops.retain(|entry| !entry.reader.read().ended);
        let seen: Vec<(&str, Snapshot)> = loops
            .iter()
            .map(|entry| (entry.labels.as_str(), entry.reader.read()))
            .collect();
        let mut page = Page {
            text: String::new(),
            format,
        };
        for family in &FAMILIES {
            page.family(family, &seen);
        }
        if format == Format::OpenMetrics {
            page.text.push_str("# EOF\n");
        }
        page.text
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, Vec<Loop>> {
        // A list of readers is whole whatever panicked beside it.
        self.loops.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One metric.
struct Family {
    /// Without the `_total` of counters.
    name: &'static str,
    kind: &'static str,
    help: &'static str,
    /// Its samples of one loop: the class, if it has one, and the value.
    samples: fn(&Snapshot) -> Vec<(Option<&'static str>, Value)>,
}

enum Value {
    Nanoseconds(u64),
    Number(u64),
}

const FAMILIES: [Family; 5] = [
    Family {
        name: "stealmeter_seconds",
        kind: "counter",
        help: "Time of the loop's thread by class; the classes add up to stealmeter_wall_seconds_total.",
        samples: |seen| {
            let classes = seen.counters.classes().into_iter();
            classes
                .map(|(class, ns)| (Some(class), Value::Nanoseconds(ns)))
                .collect()
        },
    },
    Family {
        name: "stealmeter_wall_seconds",
        kind: "counter",
        help: "Time of the loop's thread that is in a class, up to its last boundary.",
        samples: |seen| vec![(None, Value::Nanoseconds(seen.counters.wall_ns()))],
    },
    Family {
        name: "stealmeter_open_seconds",
        kind: "gauge",
        help: "Time since the loop's last boundary, in no class yet.",
        samples: |seen| vec![(None, Value::Nanoseconds(seen.open_ns()))],
    },
    Family {
        name: "stealmeter_torn_boundaries",
        kind: "counter",
        help: "Boundaries at which the times could not be read together; booked with the next one.",
        samples: |seen| vec![(None, Value::Number(seen.torn))],
    },
    Family {
        name: "stealmeter_run_queue_in_part",
        kind: "gauge",
        help: "1 where class run_queue lacks what the kernel does not tell; it is in sleep and blocked.",
        samples: |seen| {
            let in_part = seen.run_queue == RunQueue::Part;
            vec![(None, Value::Number(u64::from(in_part)))]
        },
    },
];

struct Page {
    text: String,
    format: Format,
}

impl Page {
    fn family(&mut self, family: &Family, seen: &[(&str, Snapshot)]) {
        let Family {
            name, kind, help, ..
        } = family;
        let total = if *kind == "counter" { "_total" } else { "" };
        // OpenMetrics names the family, the older format the samples.
        let title = match self.format {
            Format::OpenMetrics => "",
            Format::Prometheus => total,
        };
        let text = &mut self.text;
        let _ = writeln!(text, "# HELP {name}{title} {help}");
        let _ = writeln!(text, "# TYPE {name}{title} {kind}");
        for (labels, snapshot) in seen {
            for (class, value) in (family.samples)(snapshot) {
                let class = class.map(|class| format!("class=\"{class}\""));
                let all = format!("{labels}{}", class.unwrap_or_default());
                let all = all.trim_end_matches(',');
                let braces = if all.is_empty() { ("", "") } else { ("{", "}") };
                let _ = writeln!(text, "{name}{total}{}{all}{} {value}", braces.0, braces.1);
            }
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // Whole numbers throughout: a float would lose nanoseconds after 104 days.
            Self::Nanoseconds(ns) => write!(f, "{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000),
            Self::Number(number) => write!(f, "{number}"),
        }
    }
}

/// A label's value.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '\\' => f.write_str("\\\\")?,
                '"' => f.write_str("\\\"")?,
                '\n' => f.write_str("\\n")?,
                other => f.write_char(other)?,
            }
        }
        Ok(())
    }
}
