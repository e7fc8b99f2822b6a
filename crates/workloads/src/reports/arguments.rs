//! Command lines of load generators, by a table of the options that take a value.

use std::ffi::OsString;

use model::Load;

use super::measure::seconds;

/// How a tool's options are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Style {
    /// getopt: letters may share a word, a value may follow in the same word or in the next.
    Letters,
    /// Whole words, with one dash or two; the value behind `=` or in the next word.
    Words,
}

/// What the value of an option says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Means {
    /// Concurrent clients.
    Clients,
    /// Threads of the generator.
    Threads,
    /// Operations per second.
    Rate,
    /// The same for each client.
    RatePerClient,
    /// A file that it writes results to.
    Results,
    /// Nothing that matters here.
    Other,
}

/// An option with a value.
#[derive(Debug)]
pub(crate) struct Opt {
    names: &'static [&'static str],
    means: Means,
}

/// An option of these names: `-c`, `--connections`.
pub(crate) const fn opt(names: &'static [&'static str], means: Means) -> Opt {
    Opt { names, means }
}

/// What a command line says of the load. `Some(None)` is a value that is no number, or no limit.
#[derive(Debug, Default)]
pub(crate) struct Arguments {
    /// Whether load is made: not for help and version.
    pub(crate) is_load: bool,
    clients: Option<Option<u32>>,
    threads: Option<Option<u32>>,
    rate: Option<Option<f64>>,
    rate_per_client: Option<f64>,
    /// Files of results.
    pub(crate) results: Vec<String>,
}

impl Arguments {
    /// Reads the words after the program's name.
    pub(crate) fn parse(words: &[OsString], style: Style, options: &[Opt]) -> Self {
        let mut all = Self {
            is_load: true,
            ..Self::default()
        };
        let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
        let mut words = words.iter().map(|word| word.as_ref());
        while let Some(word) = words.next() {
            if word == "--" {
                break;
            }
            if !word.starts_with('-') || word.len() < 2 {
                continue;
            }
            if matches!(word, "--help" | "--version") {
                all.is_load = false;
            }
            let (name, attached) = match word.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (word, None),
            };
            if let Some(means) = meaning(options, name) {
                all.set(means, attached.or_else(|| words.next()).unwrap_or_default());
            } else if style == Style::Letters && !word.starts_with("--") {
                all.letters(&word[1..], options, &mut words);
            }
        }
        all
    }

    fn letters<'a>(
        &mut self,
        letters: &'a str,
        options: &[Opt],
        words: &mut impl Iterator<Item = &'a str>,
    ) {
        for (at, letter) in letters.char_indices() {
            let Some(means) = meaning(options, &format!("-{letter}")) else {
                continue;
            };
            let value = match &letters[at + letter.len_utf8()..] {
                "" => words.next().unwrap_or_default(),
                attached => attached,
            };
            self.set(means, value);
            return;
        }
    }

    fn set(&mut self, means: Means, value: &str) {
        match means {
            Means::Clients => self.clients = Some(value.parse().ok()),
            Means::Threads => self.threads = Some(value.parse().ok()),
            Means::Rate => self.rate = Some(per_second(value)),
            Means::RatePerClient => self.rate_per_client = per_second(value),
            Means::Results => self.results.push(value.to_owned()),
            Means::Other => {}
        }
    }

    /// The tool's own load, changed by the options.
    pub(crate) fn applied_to(&self, load: Load) -> Load {
        let clients = self.clients.unwrap_or(load.clients);
        let each = self.rate_per_client.zip(clients);
        let together = each.map(|(rate, clients)| rate * f64::from(clients));
        Load {
            clients,
            threads: self.threads.unwrap_or(load.threads),
            rate: self.rate.unwrap_or(together.or(load.rate)),
            ..load
        }
    }
}

/// A rate: `200`, or as some write it `200/1s`, `6000/m`; `None` for one that is no limit.
fn per_second(value: &str) -> Option<f64> {
    let (count, time) = value.split_once('/').unwrap_or((value, "1s"));
    let time = match time.starts_with(|c: char| c.is_ascii_digit()) {
        true => seconds(time)?,
        false => seconds(&format!("1{time}"))?,
    };
    let rate = count.parse::<f64>().ok()? / time;
    (rate.is_finite() && rate > 0.0).then_some(rate)
}

fn meaning(options: &[Opt], name: &str) -> Option<Means> {
    let found = options.iter().find(|it| it.names.contains(&name));
    found.map(|it| it.means)
}
