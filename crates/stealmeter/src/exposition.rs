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

    /// Adds a loop. Its labels, names and values, must tell it from the others.
    ///
    /// # Errors
    ///
    /// A name that Prometheus does not take, for which it would refuse the whole text.
    pub fn add(&self, labels: &[(&str, &str)], reader: Reader) -> Result<(), BadLabel> {
        let mut text = String::new();
        for (name, value) in labels {
            if !is_label(name) {
                return Err(BadLabel((*name).to_owned()));
            }
            // Writing to a string does not fail.
            let _ = write!(text, "{name}=\"{}\",", Escaped(value));
        }
        self.locked().push(Loop {
            labels: text,
            reader,
        });
        Ok(())
    }

    /// The counters of all loops that have not ended, as of their last boundaries.
    pub fn text(&self, format: Format) -> String {
        let mut loops = self.locked();
        loops.retain(|entry| !entry.reader.read().ended);
        let seen = loops.iter();
        let seen: Vec<(&str, Snapshot)> = seen
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

/// A name that cannot be a label's.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadLabel(String);

impl fmt::Display for BadLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the label {:?} cannot be used: letters, digits and _ make a name, a digit does not \
             begin one, two _ belong to Prometheus, and `class` is taken",
            self.0
        )
    }
}

impl std::error::Error for BadLabel {}

fn is_label(name: &str) -> bool {
    let letters = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let begins_well = !name.starts_with("__") && !name.starts_with(|c: char| c.is_ascii_digit());
    !name.is_empty() && begins_well && name.chars().all(letters) && name != "class"
}

/// One metric.
struct Family {
    /// Without the `_total` of counters.
    name: &'static str,
    kind: &'static str,
    help: &'static str,
    /// Its samples of one loop.
    samples: fn(&Snapshot) -> Vec<Sample>,
}

/// The class, if there is one for each, and the value.
type Sample = (Option<&'static str>, Value);

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

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::counters::Counters;
    use crate::meter::Meter;

    fn page(format: Format, seen: &[(&str, Snapshot)]) -> String {
        let mut page = Page {
            text: String::new(),
            format,
        };
        // Not what is open: it is of now.
        for family in FAMILIES
            .iter()
            .filter(|f| f.name != "stealmeter_open_seconds")
        {
            page.family(family, seen);
        }
        page.text
    }

    fn snapshot() -> Snapshot {
        Snapshot {
            counters: Counters::from_array([1_500_000_000, 2, 30_000_000_007, 0, 123_456_789]),
            at_ns: 40_000_000_000,
            waiting: true,
            boundaries: 12,
            torn: 3,
            run_queue: RunQueue::Part,
            settled: true,
            ended: false,
        }
    }

    #[test]
    fn samples_as_prometheus_reads_them() {
        let seen = [("loop=\"a\",", snapshot()), ("", snapshot())];
        expect![[r##"
            # HELP stealmeter_seconds_total Time of the loop's thread by class; the classes add up to stealmeter_wall_seconds_total.
            # TYPE stealmeter_seconds_total counter
            stealmeter_seconds_total{loop="a",class="cpu"} 1.500000000
            stealmeter_seconds_total{loop="a",class="run_queue"} 0.000000002
            stealmeter_seconds_total{loop="a",class="sleep"} 30.000000007
            stealmeter_seconds_total{loop="a",class="blocked"} 0.000000000
            stealmeter_seconds_total{loop="a",class="hidden"} 0.123456789
            stealmeter_seconds_total{class="cpu"} 1.500000000
            stealmeter_seconds_total{class="run_queue"} 0.000000002
            stealmeter_seconds_total{class="sleep"} 30.000000007
            stealmeter_seconds_total{class="blocked"} 0.000000000
            stealmeter_seconds_total{class="hidden"} 0.123456789
            # HELP stealmeter_wall_seconds_total Time of the loop's thread that is in a class, up to its last boundary.
            # TYPE stealmeter_wall_seconds_total counter
            stealmeter_wall_seconds_total{loop="a"} 31.623456798
            stealmeter_wall_seconds_total 31.623456798
            # HELP stealmeter_torn_boundaries_total Boundaries at which the times could not be read together; booked with the next one.
            # TYPE stealmeter_torn_boundaries_total counter
            stealmeter_torn_boundaries_total{loop="a"} 3
            stealmeter_torn_boundaries_total 3
            # HELP stealmeter_run_queue_in_part 1 where class run_queue lacks what the kernel does not tell; it is in sleep and blocked.
            # TYPE stealmeter_run_queue_in_part gauge
            stealmeter_run_queue_in_part{loop="a"} 1
            stealmeter_run_queue_in_part 1
        "##]]
        .assert_eq(&page(Format::Prometheus, &seen));
    }

    #[test]
    fn the_two_dialects_differ_in_the_name_of_a_counters_family_and_in_the_end() {
        let registry = Registry::new();
        let meter = Meter::new();
        registry
            .add(&[("loop", "a")], meter.reader())
            .expect("a good label");
        let old = registry.text(Format::Prometheus);
        let new = registry.text(Format::OpenMetrics);
        assert!(
            old.contains("# TYPE stealmeter_seconds_total counter\n"),
            "{old}"
        );
        assert!(new.contains("# TYPE stealmeter_seconds counter\n"), "{new}");
        assert!(!old.contains("EOF") && new.ends_with("\n# EOF\n"), "{new}");
        let samples = |text: &str| text.lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!((samples(&old), samples(&new)), (9, 9));
    }

    #[test]
    fn values_are_escaped_and_names_refused() {
        let registry = Registry::new();
        let meter = Meter::new();
        let value = "a\"b\\c\nd{}";
        registry
            .add(&[("loop", value)], meter.reader())
            .expect("a value may be anything");
        let text = registry.text(Format::Prometheus);
        assert!(
            text.contains(r#"{loop="a\"b\\c\nd{}",class="cpu"}"#),
            "{text}"
        );
        for name in ["", "1a", "a-b", "__a", "class", "a\nb", "\u{e4}"] {
            assert!(
                registry.add(&[(name, "x")], meter.reader()).is_err(),
                "{name:?}"
            );
        }
    }

    #[test]
    fn a_loop_that_has_ended_is_left_out() {
        let registry = Registry::new();
        let meter = Meter::new();
        registry
            .add(&[("loop", "a")], meter.reader())
            .expect("a good label");
        drop(meter);
        assert!(!registry.text(Format::Prometheus).contains("loop="));
    }
}
