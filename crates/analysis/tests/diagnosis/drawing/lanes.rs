//! From text to settings and lanes.

use std::collections::BTreeMap;

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
}

const SETTINGS: [&str; 7] = [
    "cpus", "allowed", "clients", "rate", "quota", "group", "tail",
];

/// Reads a drawing; `blocked` is kept as a setting since it has no cells.
pub fn parse(text: &str) -> Drawing {
    let mut drawing = Drawing {
        settings: BTreeMap::new(),
        lanes: Vec::new(),
        seconds: 0,
    };
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (first, others) = line.split_once(' ').expect("a name and what it is");
        if first == "blocked" {
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
    for lane in &drawing.lanes {
        assert_eq!(lane.cells.len(), drawing.seconds, "lane {}", lane.name);
    }
    drawing
}

fn lane(name: &str, others: &str) -> Lane {
    let mut lane = Lane {
        name: name.to_owned(),
        times: 1,
        cells: Vec::new(),
        group: None,
    };
    for word in others.split_whitespace() {
        if let Some(times) = word.strip_prefix('x') {
            lane.times = times.parse().expect("xN says how many");
        } else if word.starts_with('/') {
            lane.group = Some(word.to_owned());
        } else {
            lane.cells = word.chars().map(cell).collect();
        }
    }
    lane
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

    /// What the serving threads are seen in, in turn: (state, system call).
    pub fn blocked(&self) -> Vec<(i64, Option<i64>)> {
        let text = self.word("blocked").unwrap_or("S232");
        let one = |word: &str| {
            let (state, call) = word.split_at(1);
            (i64::from(state.as_bytes()[0]), call.parse().ok())
        };
        text.split_whitespace().map(one).collect()
    }
}

impl Lane {
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
