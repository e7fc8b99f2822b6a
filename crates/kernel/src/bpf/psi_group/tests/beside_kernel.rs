//! A PSI group by our programs and by the kernel, read at the same moments.

use super::*;

const MEASURED: Duration = Duration::from_secs(5);
/// Longest time between the reading of the kernel's values and of the programs'.
const AT_ONCE: Duration = Duration::from_millis(2);

/// The kernel's per-CPU stalled times of a group, read by the program for control groups.
pub(super) struct Kernels {
    pub(super) programs: Pressure,
    group: PsiGroup,
}

impl Kernels {
    pub(super) fn new(group: &Around) -> Self {
        let programs = Pressure::load().expect("where thread-time accounting loads, this does");
        let id = group.folder.metadata().expect("it is there").ino();
        programs.watch(1, id).expect("there is room");
        Self {
            group: first_seen(&programs, 1),
            programs,
        }
    }

    /// Stalled time so far, mean over the CPUs.
    pub(super) fn read(&mut self) -> [i64; STATES] {
        self.programs.read_monitored().expect("it can be read");
        self.group.take(&self.programs);
        self.group.density()
    }
}

/// Both, and when they were read last.
struct Both<'a> {
    programs: &'a mut ThreadTime,
    psi_group: PsiGroup,
    kernels: Kernels,
    /// End of the kernel's last interval.
    last_ended: Timestamp,
    last_read: Timestamp,
}

impl Both<'_> {
    /// Takes in what both have counted since the last reading; the kernel's stalled time so far.
    fn read(&mut self) -> [i64; STATES] {
        // Repeated until no other thread had the CPU between the two readings.
        let density = (0..100).find_map(|_| {
            let before = Instant::now();
            let density = self.kernels.read();
            self.programs.read(false).expect("it can be read");
            (before.elapsed() < AT_ONCE).then_some(density)
        });
        let density = density.expect("they can be read at one time");
        let ended = self.kernels.programs.state(1).expect("it is there");
        // Both have to end their intervals at the same time, because the distribution of a load over the CPUs
        // changes.
        let is_fresh = std::mem::replace(&mut self.last_ended, ended) != ended;
        let now = boottime();
        let since = Window::new(std::mem::replace(&mut self.last_read, now), now);
        self.psi_group.folded = if is_fresh {
            ended + -FOLD_NS
        } else {
            since.start
        };
        self.psi_group.take(self.programs);
        self.psi_group.fold(since, None);
        density
    }

    /// Ends our interval where the kernel's ended: reading its file makes it end one at that moment. Pressure and
    /// density so far.
    fn end(&mut self) -> ([i64; STALLS], [i64; STATES]) {
        self.psi_group.end(self.last_read);
        (self.psi_group.pressure(), self.psi_group.density())
    }
}

/// Pressure of a group by the kernel, and of the PSI group at a place by our programs, over the same time and
/// as shares of it; then the same for stall density.
pub(super) fn compared(
    programs: &mut ThreadTime,
    group: &Around,
    place: usize,
) -> [[(f64, f64); COMPARED]; 2] {
    let kernels = Kernels::new(group);
    // File and programs have to be read at the same time, whatever else wants the CPU.
    crate::limits::raise_priority();
    let mut both = Both {
        psi_group: first_seen(programs, place),
        programs,
        kernels,
        last_ended: Timestamp::default(),
        last_read: boottime(),
    };
    both.read();
    let (begin, kernels_before) = (Instant::now(), group.totals());
    let kernels_density = both.read();
    let (before, density_before) = both.end();
    while begin.elapsed() < MEASURED {
        sleep(Duration::from_millis(100));
        both.read();
    }
    let (kernels_after, wall) = (group.totals(), begin.elapsed());
    let kernels_after_density = both.read();
    let (after, density) = both.end();
    let share = |after: i64, before: i64| (after - before) as f64 / wall.as_nanos() as f64;
    let pressure = std::array::from_fn(|it| {
        (
            share(kernels_after[it], kernels_before[it]),
            share(after[it], before[it]),
        )
    });
    let density = std::array::from_fn(|it| {
        (
            share(kernels_after_density[it], kernels_density[it]),
            share(density[it], density_before[it]),
        )
    });
    [pressure, density]
}
