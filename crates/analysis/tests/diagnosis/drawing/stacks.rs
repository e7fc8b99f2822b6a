//! Call stacks of the serving threads of `run`: ten a second of each thread, all alike.

use model::{
    EntityId, MISSING, StringId, StringKind, TableData, Text, ThreadTimeClass, Timeline, Timestamp,
};
use sensors::stack::{CPU_SAMPLE, STACK, SYMBOL, WAIT_SAMPLE};

use super::at;
use super::lanes::Drawing;
use super::people::People;

/// The file that all functions are from.
const PROGRAM: &str = "/opt/server";
const PER_SECOND: usize = 10;

/// Writes what the settings `ran`, `spun` and `slept` say: a path, the innermost function first.
pub fn write(drawing: &Drawing, people: &People, timeline: &mut Timeline) {
    let ran = [("ran", 0), ("spun", 1)].map(|(setting, spins)| (drawing.word(setting), spins));
    let slept = drawing.word("slept");
    if ran.iter().all(|(path, _)| path.is_none()) && slept.is_none() {
        return;
    }
    let mut all = Stacks::new(timeline);
    for (path, spins) in ran {
        let Some(path) = path else {
            continue;
        };
        // Behind ` x`: how much time each sample stands for, in equal parts of the drawing.
        let mut words = path.split(" x");
        let number = all.number(words.next().expect("a path"));
        let part = |word: &str| word.trim().parse::<f64>().expect("a number");
        let mut parts: Vec<f64> = words.map(part).collect();
        if parts.is_empty() {
            parts.push(1.0);
        }
        all.each(drawing, people, |all, time, thread| {
            let elapsed = time.seconds_since(at(0.0));
            let place = elapsed * parts.len() as f64 / drawing.seconds as f64;
            let ns = (parts[place as usize] * 1e9 / PER_SECOND as f64) as i64;
            all.samples.push(time, thread, &[number, ns, 0, spins]);
        });
    }
    if let Some(words) = slept {
        // Where it waited, and behind `by` where the waker was.
        let (path, by) = words.split_once(" by ").unwrap_or((words, ""));
        let stack = all.number(path);
        let by = if by.is_empty() {
            MISSING
        } else {
            all.number(by)
        };
        let futex = ThreadTimeClass::Futex as i64;
        let (lock, ns) = (0x5000, 80_000_000);
        let row = [stack, futex, ns, ns, 2, MISSING, by, lock, 0];
        all.each(drawing, people, |all, time, thread| {
            all.waits.push(time, thread, &row);
        });
    }
    all.finish();
}

struct Stacks<'a> {
    timeline: &'a mut Timeline,
    machine: EntityId,
    stacks: TableData,
    symbols: TableData,
    samples: TableData,
    waits: TableData,
    strings: u32,
}

impl<'a> Stacks<'a> {
    fn new(timeline: &'a mut Timeline) -> Self {
        let mut new = Self {
            timeline,
            machine: EntityId(0),
            stacks: TableData::new(STACK.clone()),
            symbols: TableData::new(SYMBOL.clone()),
            samples: TableData::new(CPU_SAMPLE.clone()),
            waits: TableData::new(WAIT_SAMPLE.clone()),
            strings: 0,
        };
        new.text(StringKind::Module, PROGRAM);
        new
    }

    fn text(&mut self, kind: StringKind, text: &str) -> i64 {
        let id = StringId(self.strings);
        self.strings += 1;
        let parent = (kind == StringKind::Function).then_some(StringId(0));
        assert!(self.timeline.strings.insert(Text {
            id,
            kind,
            parent,
            text: text.into(),
        }));
        i64::from(id.0)
    }

    /// The number of a stack: `innermost<caller<outermost`.
    fn number(&mut self, path: &str) -> i64 {
        let mut caller = MISSING;
        for function in path.split('<').rev() {
            let text = self.text(StringKind::Function, function);
            let number = self.stacks.len() as i64;
            let address = 0x1000 + number;
            self.stacks
                .push(at(0.0), self.machine, &[number, caller, 0, address]);
            self.symbols
                .push(at(0.0), self.machine, &[0, address, text]);
            caller = number;
        }
        caller
    }

    fn each(
        &mut self,
        drawing: &Drawing,
        people: &People,
        mut push: impl FnMut(&mut Self, Timestamp, EntityId),
    ) {
        for worker in &people.workers {
            for moment in 0..drawing.seconds * PER_SECOND {
                let second = (moment as f64 + 0.5) / PER_SECOND as f64;
                push(self, at(second), *worker);
            }
        }
    }

    fn finish(self) {
        for table in [self.stacks, self.symbols, self.samples, self.waits] {
            if !table.is_empty() {
                self.timeline.insert(table);
            }
        }
    }
}
