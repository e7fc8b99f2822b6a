//! From text to settings and lanes.

use std::collections::BTreeMap;

use model::{Complaint, EntityKind, Table};

/// A drawing, read.
pub struct Drawing {
    settings: BTreeMap<String, String>,
    pub lanes: Vec<Lane>,
    /// Cells of every lane.
    pub seconds: usize,
}

/// One line of cells.
pub struct Lane {
    pub name: String,
    pub times: usize,
    pub cells: Vec<Option<f64>>,
    pub group: Option<String>,
    /// Of a lane of a table: whom its rows are about, what `#` stands for, and who a cell above 0 is.
    pub about: Option<String>,
    pub scale: f64,
    pub value: Option<String>,
}

const SETTINGS: [&str; 11] = [
    "cpus",
    "allowed",
    "which",
    "clients",
    "rate",
    "quota",
    "group",
    "memory_group",
    "io_group",
    "adapter",
    "tail",
];

/// Settings that take the rest of their line.
const SENTENCES: [&str; 6] = ["blocked", "hotblocked", "complains", "ran", "spun", "slept"];

/// What a thread was seen in: state, system call, wait event, wait channel.
#[derive(Clone, Copy)]
pub struct Blocked {
    pub state: i64,
    pub call: Option<i64>,
    pub event: Option<i64>,
    pub channel: Option<i64>,
}

/// Reads a drawing.
pub fn parse(text: &str) -> Drawing {
    let mut drawing = Drawing {
        settings: BTreeMap::new(),
        lanes: Vec::new(),
        seconds: 0,
    };
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (first, others) = line.split_once(' ').expect("a name and what it is");
        if SENTENCES.contains(&first) {
            drawing.settings.insert(first.into(), others.trim().into());
        } else if SETTINGS.contains(&first) {
            let words: Vec<&str> = line.split_whitespace().collect();
            for pair in words.chunks(2) {
                assert!(SETTINGS.contains(&pair[0]), "no setting: {}", pair[0]);
                drawing.settings.insert(pair[0].into(), pair[1].into());
            }
        } else {
            drawing.lanes.push(lane(first, others));
        }
    }
    drawing.seconds = drawing.lanes.first().map_or(0, |lane| lane.cells.len());
    add_quiet_network(&mut drawing);
    for lane in &drawing.lanes {
        assert_eq!(lane.cells.len(), drawing.seconds, "lane {}", lane.name);
    }
    drawing
}

/// What every recording has, and nearly no drawing is about: a short way over which nothing is lost. A drawing that has a
/// lane of the network says all there is of it.
fn add_quiet_network(drawing: &mut Drawing) {
    /// What stands before the cells, and each cell.
    const QUIET: [(&str, &str, &str); 9] = [
        ("connection.rtt_min_ns", "c1 *1e5 ", "1"),
        ("connection.segments_out", "c1 *1e3 ", "9"),
        ("connection.retransmitted_segments", "c1 *1e3 ", "0"),
        ("tcp.out_segments", "*1e4 ", "5"),
        ("tcp.retransmitted_segments", "", "0"),
        ("tcp.listen_overflows", "", "0"),
        ("softnet.dropped", "", "0"),
        ("network.rx_drops", "eth0 ", "0"),
        ("network.tx_drops", "eth0 ", "0"),
    ];
    let tables = ["tcp.", "softnet.", "network.", "connection."];
    let is_of_network = |lane: &Lane| tables.iter().any(|it| lane.name.starts_with(it));
    if drawing.seconds == 0 || drawing.lanes.iter().any(is_of_network) {
        return;
    }
    for (name, about, cell) in QUIET {
        let cells = cell.repeat(drawing.seconds);
        drawing.lanes.push(lane(name, &format!("{about}{cells}")));
    }
}

fn lane(name: &str, others: &str) -> Lane {
    let mut lane = Lane {
        name: name.to_owned(),
        times: 1,
        cells: Vec::new(),
        group: None,
        about: None,
        scale: 1.0,
        value: None,
    };
    for word in others.split_whitespace() {
        if let Some(scale) = word.strip_prefix('*') {
            lane.scale = scale.parse().expect("*N says what # stands for");
        } else if let Some(who) = word.strip_prefix('=') {
            lane.value = Some(who.to_owned());
        } else if word.chars().all(is_cell) {
            lane.cells = word.chars().map(cell).collect();
        } else if name.contains('.') {
            lane.about = Some(word.to_owned());
        } else if let Some(times) = word.strip_prefix('x') {
            lane.times = times.parse().expect("xN says how many");
        } else {
            assert!(word.starts_with('/'), "no cells and no group: {word}");
            lane.group = Some(word.to_owned());
        }
    }
    lane
}

fn is_cell(letter: char) -> bool {
    matches!(letter, '-' | '#' | '+' | '0'..='9')
}

fn cell(letter: char) -> Option<f64> {
    match letter {
        '-' => None,
        '#' => Some(1.0),
        '+' => Some(1.1),
        digit => Some(f64::from(digit.to_digit(10).expect("a cell is 0-9, #, + or -")) / 10.0),
    }
}

impl Drawing {
    /// A setting as a number.
    pub fn number(&self, name: &str) -> Option<f64> {
        let text = self.settings.get(name)?;
        Some(text.parse().expect("a setting is a number"))
    }

    /// A setting as a word.
    pub fn word(&self, name: &str) -> Option<&str> {
        self.settings.get(name).map(String::as_str)
    }

    pub fn cpus(&self) -> usize {
        self.number("cpus").unwrap_or(2.0) as usize
    }

    pub fn clients(&self) -> f64 {
        self.number("clients").unwrap_or(10.0)
    }

    /// The first lane of a name.
    pub fn lane(&self, name: &str) -> Option<&Lane> {
        self.lanes.iter().find(|lane| lane.name == name)
    }

    /// Every lane of a name.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Lane> {
        self.lanes.iter().filter(move |lane| lane.name == name)
    }

    /// What threads are seen in, in turn.
    pub fn blocked(&self, setting: &str) -> Vec<Blocked> {
        let text = self.word(setting).unwrap_or("S232");
        text.split_whitespace().map(blocked).collect()
    }

    /// What the workload complained of.
    pub fn complaints(&self) -> Vec<Complaint> {
        let one = |text: &str| {
            let mut words = text.splitn(3, ' ');
            let mut next = || words.next().expect("a kind, how often, and the message");
            let kind = serde_json::Value::String(next().to_owned());
            Complaint {
                kind: serde_json::from_value(kind).expect("a kind of complaint"),
                count: next().parse().expect("how often"),
                message: next().to_owned(),
            }
        };
        self.word("complains").map(one).into_iter().collect()
    }
}

/// `S232!0x03000004@600`: state, system call, wait event, wait channel; only the state must be there.
fn blocked(word: &str) -> Blocked {
    let (rest, channel) = match word.split_once('@') {
        Some((rest, channel)) => (rest, Some(channel)),
        None => (word, None),
    };
    let (rest, event) = match rest.split_once('!') {
        Some((rest, event)) => (rest, Some(event)),
        None => (rest, None),
    };
    let (state, call) = rest.split_at(1);
    let hexadecimal = |event: &str| {
        let digits = event.strip_prefix("0x").expect("a wait event in hex");
        i64::from_str_radix(digits, 16).expect("a wait event in hex")
    };
    Blocked {
        state: i64::from(state.as_bytes()[0]),
        call: call.parse().ok(),
        event: event.map(hexadecimal),
        channel: channel.map(|channel| channel.parse().expect("a wait channel's code")),
    }
}

impl Lane {
    /// The table and column that it names.
    pub fn column(&self) -> Option<(&'static Table, &'static str)> {
        let (table, column) = self.name.split_once('.')?;
        let mut tables = sensors::tables();
        let table = tables.find(|known| known.name == table);
        let table = table.unwrap_or_else(|| panic!("no table: {}", self.name));
        let index = table.position(column);
        let index = index.unwrap_or_else(|| panic!("no column: {}", self.name));
        Some((table, &table.columns[index].name))
    }

    /// The control group that it speaks of.
    pub fn path(&self) -> Option<&str> {
        let about = self.about.as_deref();
        match self.column().map(|(table, _)| table.entity) {
            Some(EntityKind::Cgroup) => about,
            // `/server:254:0` is a device as a group uses it.
            Some(EntityKind::GroupDisk) => about?.split(':').next(),
            Some(_) => None,
            None => self.group.as_deref(),
        }
    }

    /// Whether rows of that second are there.
    pub fn seen(&self, second: usize) -> bool {
        self.cells.get(second).copied().flatten().is_some()
    }

    /// What went on in that second, drawn or hidden.
    pub fn value(&self, second: usize) -> f64 {
        let before = self.cells[..=second.min(self.cells.len() - 1)].iter().rev();
        before.flatten().next().copied().unwrap_or(0.0)
    }
}
