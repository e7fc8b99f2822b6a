//! pgbench's command line, read as its getopt_long does: bundled short options, values attached or
//! in the next word, unique beginnings of long options, options after the database name, `--`.
//!
//! Known are the options of versions 9.6 to 17 and those of ysql_bench; any other is passed over:
//! pgbench will judge it. `-d` was `--debug` up to version 16 and names the database since 17. Which
//! version runs is not known, so letters behind it in one word are taken for a database's name; alone
//! it is followed by the database's name either way.

use std::ffi::OsString;
use std::iter::Peekable;

/// What the command line asks for.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Options {
    /// `-c`; `None` when its value is not a number.
    pub(super) clients: Option<u32>,
    /// `-j`; `None` as above.
    pub(super) threads: Option<u32>,
    /// `-R`, transactions per second.
    pub(super) rate: Option<f64>,
    /// `-L` as typed, ms.
    pub(super) latency_limit: Option<String>,
    /// `-T`, s.
    pub(super) duration_s: Option<u32>,
    /// `-t`, for each client.
    pub(super) transactions: Option<u32>,
    /// `-P`, s; 0 when its value is not a number, which pgbench refuses.
    pub(super) progress_s: Option<u32>,
    /// `--progress-timestamp`.
    pub(super) progress_timestamp: bool,
    /// `-l`.
    pub(super) log: bool,
    /// An option that needs `-l`.
    pub(super) log_detail: bool,
    /// `-C`.
    pub(super) connect: bool,
    /// The quickest of the scripts.
    pub(super) script: Script,
    /// Whether load is made at all: false for `-i`, `--help`, `--version`, `-b list` and
    /// `--show-script`.
    pub(super) is_load: bool,
}

/// What a transaction does; the quicker is greater.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Script {
    /// The default.
    TpcB,
    /// `-N`.
    SimpleUpdate,
    /// `-S`.
    SelectOnly,
    /// `-f`: anything.
    Own,
}

impl Script {
    /// The built-in script that `-b NAME[@WEIGHT]` means, by the beginning of its name.
    fn builtin(name: &str) -> Self {
        match name.get(..2) {
            Some("se") => Script::SelectOnly,
            Some("si") => Script::SimpleUpdate,
            Some("tp") => Script::TpcB,
            _ => Script::Own,
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            clients: Some(1),
            threads: Some(1),
            rate: None,
            latency_limit: None,
            duration_s: None,
            transactions: None,
            progress_s: None,
            progress_timestamp: false,
            log: false,
            log_detail: false,
            connect: false,
            script: Script::TpcB,
            is_load: true,
        }
    }
}

/// An option that takes a value is marked so, as getopt does.
const SHORT: &str = "b:c:Cd:D:f:F:h:iI:j:lL:M:nNp:P:qrR:s:St:T:U:v?V";

/// Long options and the letter that they stand for; `-` where there is none and the value, if there
/// is one, does not matter here. A `:` after the name says that it takes a value.
const LONG: &[(&str, char)] = &[
    ("aggregate-interval:", LOG_DETAIL),
    ("batch-size:", '-'),
    ("builtin:", 'b'),
    ("client:", 'c'),
    ("connect", 'C'),
    ("continue-on-error", '-'),
    ("dbname:", '-'),
    ("debug", '-'),
    ("define:", 'D'),
    ("exit-on-abort", '-'),
    ("failures-detailed", '-'),
    ("file:", 'f'),
    ("fillfactor:", 'F'),
    ("foreign-keys", '-'),
    ("help", '?'),
    ("host:", 'h'),
    ("index-tablespace:", '-'),
    ("init-steps:", 'I'),
    ("initialize", 'i'),
    ("jobs:", 'j'),
    ("latency-limit:", 'L'),
    ("log", 'l'),
    ("log-prefix:", LOG_DETAIL),
    ("max-tries:", '-'),
    ("no-vacuum", 'n'),
    ("partition-method:", '-'),
    ("partitions:", '-'),
    ("port:", 'p'),
    ("progress:", 'P'),
    ("progress-timestamp", PROGRESS_TIMESTAMP),
    ("protocol:", 'M'),
    ("quiet", 'q'),
    ("random-seed:", '-'),
    ("rate:", 'R'),
    ("report-latencies", 'r'),
    ("report-per-command", 'r'),
    ("sampling-rate:", LOG_DETAIL),
    ("scale:", 's'),
    ("select-only", 'S'),
    ("show-script:", SHOW_SCRIPT),
    ("skip-some-updates", 'N'),
    ("tablespace:", '-'),
    ("time:", 'T'),
    ("transactions:", 't'),
    ("unlogged-tables", '-'),
    ("username:", 'U'),
    ("vacuum-all", 'v'),
    ("verbose-errors", '-'),
    ("version", 'V'),
];

/// Letters that pgbench does not use, for long options without one.
const PROGRESS_TIMESTAMP: char = '1';
const SHOW_SCRIPT: char = '2';
const LOG_DETAIL: char = '3';

impl Options {
    /// Reads the words after the program's name.
    pub(super) fn parse(words: &[OsString]) -> Self {
        let mut options = Self::default();
        let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
        let mut words = words.iter().map(|word| word.as_ref()).peekable();
        while let Some(word) = words.next() {
            if word == "--" {
                break;
            }
            if let Some(long) = word.strip_prefix("--") {
                options.take_long(long, &mut words);
            } else if let Some(letters) = word.strip_prefix('-') {
                options.take_short(letters, &mut words);
            }
        }
        options
    }

    fn take_long<'a>(&mut self, word: &'a str, words: &mut impl Iterator<Item = &'a str>) {
        let (name, attached) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word, None),
        };
        let Some((full, letter)) = find_long(name) else {
            return;
        };
        let value = match (full.ends_with(':'), attached) {
            (false, _) => "",
            (true, Some(value)) => value,
            (true, None) => words.next().unwrap_or_default(),
        };
        self.set(letter, value);
    }

    fn take_short<'a>(
        &mut self,
        letters: &'a str,
        words: &mut Peekable<impl Iterator<Item = &'a str>>,
    ) {
        for (at, letter) in letters.char_indices() {
            let after = SHORT
                .split_once(letter)
                .filter(|_| letter != ':')
                .map(|(_, after)| after);
            if !after.is_some_and(|after| after.starts_with(':')) {
                self.set(letter, "");
                continue;
            }
            let attached = &letters[at + letter.len_utf8()..];
            let value = if attached.is_empty() {
                // `-d -c 4`: --debug of up to version 16, for no database is called `-c`.
                if letter == 'd' && words.peek().is_some_and(|word| word.starts_with('-')) {
                    return;
                }
                words.next().unwrap_or_default()
            } else {
                attached
            };
            self.set(letter, value);
            return;
        }
    }

    fn set(&mut self, letter: char, value: &str) {
        let number = || value.trim().parse::<u32>().ok();
        match letter {
            'c' => self.clients = number(),
            'j' => self.threads = number(),
            'R' => {
                self.rate = value
                    .trim()
                    .parse()
                    .ok()
                    .filter(|rate: &f64| *rate > 0.0 && rate.is_finite())
            }
            'L' => self.latency_limit = Some(value.trim().to_owned()),
            'T' => self.duration_s = number(),
            't' => self.transactions = number(),
            'P' => self.progress_s = Some(number().unwrap_or(0)),
            'l' => self.log = true,
            LOG_DETAIL => self.log_detail = true,
            'C' => self.connect = true,
            'S' => self.script = self.script.max(Script::SelectOnly),
            'N' => self.script = self.script.max(Script::SimpleUpdate),
            'f' => self.script = Script::Own,
            PROGRESS_TIMESTAMP => self.progress_timestamp = true,
            'b' if value == "list" => self.is_load = false,
            'b' => self.script = self.script.max(Script::builtin(value)),
            'i' | '?' | 'V' | SHOW_SCRIPT => self.is_load = false,
            _ => {}
        }
    }
}

/// The long option that `name` means: the one of that name, else the only one that begins so.
fn find_long(name: &str) -> Option<(&'static str, char)> {
    let exact = |full: &str| full.trim_end_matches(':') == name;
    let mut begins = LONG.iter().filter(|(full, _)| full.starts_with(name));
    match LONG.iter().find(|(full, _)| exact(full)) {
        Some(found) => Some(*found),
        None => begins.next().filter(|_| begins.next().is_none()).copied(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Options {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        Options::parse(&words)
    }

    #[test]
    fn forms_of_one_command() {
        let plain = parsed("-n -S -c 10 -j 2 -T 30 bench");
        assert_eq!(
            (plain.clients, plain.threads, plain.duration_s),
            (Some(10), Some(2), Some(30))
        );
        for line in [
            "-nSc10 -j2 -T30 bench",
            "bench --client=10 --jobs 2 --time=30",
            "--cli=10 --j=2 -nST 30 -- bench",
            "--cl 10 --ti 30 -j 2 -U -i -h -P -D c=3",
            "-c 3 -c 10 -j 2 -T 30 -f -i",
            "-c 10 -j 2 -T 30 -- -c 4 -i",
            "-c 10 -j 2 -T 30 --lo --new-in-pgbench-19",
            "-d -c 10 -j 2 -T 30",
            "-d bench -c 10 -j 2 -T 30",
            "-c 10 -j 2 -T 30 -dclients --dbname=c --debug --exit-on-abort --batch-size 4",
        ] {
            let script = plain.script;
            assert_eq!(
                Options {
                    script,
                    ..parsed(line)
                },
                plain,
                "{line}"
            );
        }
    }

    #[test]
    fn rate_limit_and_progress() {
        let options = parsed("-R 1000.5 -L5 -P 1 --progress-timestamp -t 200 -l -C");
        assert_eq!(options.rate, Some(1000.5));
        assert_eq!(options.latency_limit.as_deref(), Some("5"));
        assert_eq!(
            (options.progress_s, options.progress_timestamp),
            (Some(1), true)
        );
        assert_eq!(
            (options.transactions, options.duration_s),
            (Some(200), None)
        );
        assert_eq!(
            parsed("--progress=5").progress_s,
            Some(5),
            "an exact name wins over its continuations"
        );
        assert_eq!(
            parsed("--prog=5").progress_s,
            None,
            "ambiguous: pgbench refuses it"
        );
        assert!(parsed("--progress-t").progress_timestamp);
        assert_eq!(parsed("-nSP2").progress_s, Some(2));
        assert_eq!(parsed("-p 5432").progress_s, None);
    }

    #[test]
    fn logs_and_the_quickest_script() {
        for (line, script) in [
            ("-c 4", Script::TpcB),
            ("-S -b tpcb-like", Script::SelectOnly),
            ("-b simple@3 -b tp", Script::SimpleUpdate),
            ("--builtin=select-only", Script::SelectOnly),
            ("-N --file a.sql", Script::Own),
            ("-b \u{fc}", Script::Own),
        ] {
            assert_eq!(parsed(line).script, script, "{line}");
        }
        let log = parsed("-lC --sampling-rate 1");
        assert!(log.log && log.log_detail && log.connect);
        assert!(!parsed("-c 4").log);
    }

    #[test]
    fn what_makes_no_load() {
        for line in [
            "-i",
            "-nis10",
            "--initialize",
            "--initi",
            "--help",
            "-?",
            "--version",
            "-V",
            "-b list",
            "--builtin=list",
            "--show-script=tpcb",
        ] {
            assert!(!parsed(line).is_load, "{line}");
        }
        for line in ["-b tpcb", "-I dtg", "-U -i", "-f i", "bench"] {
            assert!(parsed(line).is_load, "{line}");
        }
    }

    #[test]
    fn nonsense_is_left_to_pgbench() {
        let options = parsed("-c many -j -T");
        assert_eq!(
            (options.clients, options.threads, options.duration_s),
            (None, None, None)
        );
        parsed("-\u{fc}:c -: --=x -");
    }
}
