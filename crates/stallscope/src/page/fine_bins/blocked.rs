//! What the target waited for in each bin, by its waits.

use std::sync::LazyLock;

use analysis::stacks::waits_by_process;
use model::{ClassState, Column, LedgerClass, Quality, Role, Table, Timeline, Unit};

use super::super::entities::Places;
use super::super::tables::Written;
use super::{Bins, Grid, LENGTH};

/// Classes in which something is waited for that the thread needs to go on.
const CLASSES: usize = {
    let (mut count, mut place) = (0, 0);
    while place < LedgerClass::ALL.len() {
        count += is_blocked(LedgerClass::ALL[place]) as usize;
        place += 1;
    }
    count
};

const fn is_blocked(class: LedgerClass) -> bool {
    matches!(class.state(), ClassState::Disk | ClassState::Blocked)
}

fn classes() -> impl Iterator<Item = LedgerClass> {
    LedgerClass::ALL.into_iter().filter(|it| is_blocked(*it))
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let of_class = |class: LedgerClass| {
        let (help, source) = (class.help(), "table wait_sample");
        let mut column = Column::gauge("", Unit::Nanoseconds, help, source);
        column.name = format!("{}_ns", class.word()).into();
        column.quality(Quality::Sampled)
    };
    let columns = std::iter::once(LENGTH).chain(classes().map(of_class));
    let help = "How long threads of target and dependencies waited, added up, bin by bin: time of the waits that were \
                taken, and of those that they stand for.";
    Table {
        columns: columns.collect(),
        ..super::table("blocked", help, &[])
    }
});

/// Time by class and bin; nothing of a recording without waits.
pub(super) fn write(timeline: &Timeline, grid: &Grid, places: &mut Places<'_>) -> Option<Written> {
    let window = timeline.window;
    let first = grid.number(window.start);
    let mut waiting = Waiting::new((grid.number(window.end) - first) as usize + 2);
    let mut is_empty = true;
    for (wait, process) in waits_by_process(timeline, window) {
        let is_own = matches!(process.role, Role::Target | Role::Dependency) && wait.wait_ns > 0;
        let place = classes().position(|it| it == wait.class);
        let Some(place) = place.filter(|_| is_own) else {
            continue;
        };
        is_empty = false;
        let stands_for = wait.weight_ns as f64 / wait.wait_ns as f64;
        let began = (wait.until - wait.wait_ns).max(window.start);
        for (at, change) in [(began, stands_for), (wait.until, -stands_for)] {
            let bin = grid.number(at);
            let left = grid.bin_ns - (at.ns_since(grid.origin) - bin * grid.bin_ns);
            waiting.change((bin - first) as usize, left, place, change);
        }
    }
    if is_empty {
        return None;
    }
    let sums = waiting.sums(grid.bin_ns).enumerate();
    let bins = sums.map(|(bin, sums)| (first + bin as i64, sums));
    let bins: Bins<CLASSES> = bins.filter(|(_, it)| it.iter().any(|ns| *ns > 0)).collect();
    grid.written(TABLE.clone(), bins, timeline, places)
}

/// How many threads wait, by changes: what a wait costs does not depend on how long it is.
struct Waiting {
    /// Per bin: the time that its own changes add to it, thread-ns, and by how much they change the number for the bins
    /// behind it.
    changes: Vec<[[f64; 2]; CLASSES]>,
}

impl Waiting {
    fn new(bins: usize) -> Self {
        Self {
            changes: vec![[[0.0; 2]; CLASSES]; bins],
        }
    }

    /// The number changes, so long before the end of a bin.
    fn change(&mut self, bin: usize, left_ns: i64, class: usize, change: f64) {
        if let Some(of_bin) = self.changes.get_mut(bin) {
            let [own, behind] = &mut of_bin[class];
            *own += change * left_ns as f64;
            *behind += change;
        }
    }

    /// Time by bin and class, thread-ns.
    fn sums(&self, bin_ns: i64) -> impl Iterator<Item = [i64; CLASSES]> {
        let mut waiting = [0.0; CLASSES];
        self.changes.iter().map(move |changes| {
            let mut sums = [0; CLASSES];
            for (class, [own, behind]) in changes.iter().enumerate() {
                sums[class] = (waiting[class] * bin_ns as f64 + own).round() as i64;
                waiting[class] += behind;
            }
            sums.map(|ns| ns.max(0))
        })
    }
}
