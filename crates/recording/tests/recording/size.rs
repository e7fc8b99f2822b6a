//! How small recordings are of values that are noise to the last bit (recorded ones are smaller, see
//! `bench/`): `cargo test -p recording size -- --nocapture` prints the figure.

use model::{Column, EntityId, EntityKind, Rows, Table, Timestamp, Unit};
use recording::{Reader, Writer};

use crate::sample::meta;

const THREADS: i64 = 40;
const SAMPLES_PER_S: i64 = 10;
const SECONDS: i64 = 30;

static COLUMNS: &[Column] = &[
    Column::counter("run_ns", Unit::Nanoseconds, "", ""),
    Column::counter("wait_ns", Unit::Nanoseconds, "", ""),
    Column::counter("slices", Unit::Count, "", ""),
    Column::counter("user_ns", Unit::Nanoseconds, "", ""),
    Column::counter("system_ns", Unit::Nanoseconds, "", ""),
    Column::counter("faults", Unit::Count, "", ""),
];
static TABLE: Table = Table::new("threads", EntityKind::Thread, "", COLUMNS);

/// A fixed sequence that looks random (a 64-bit LCG's upper bits), so that the figure is one.
struct Noise(u64);

impl Noise {
    fn below(&mut self, limit: i64) -> i64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as i64) % limit
    }
}

/// A second of threads of which `busy_of_8` in 8 run, a row each only when something changed.
fn second(second: i64, busy_of_8: i64, totals: &mut [[i64; 6]], noise: &mut Noise) -> Rows {
    let mut rows = Rows::with_capacity(6, 400);
    for sample in 0..SAMPLES_PER_S {
        let time = 1_000_000_000_000
            + (second * SAMPLES_PER_S + sample) * 100_000_000
            + noise.below(80_000);
        for (thread, totals) in totals.iter_mut().enumerate() {
            if thread as i64 % 8 >= busy_of_8 {
                continue;
            }
            // As the kernel gives them: two to the nanosecond, two in ticks of 10 ms.
            let ran = 5_000_000 + noise.below(2_000_000);
            let steps = [ran, noise.below(30_000_000), 20 + noise.below(30), 0, 0, 0];
            totals
                .iter_mut()
                .zip(steps)
                .for_each(|(total, step)| *total += step);
            totals[3] = totals[0] / 2 / 10_000_000 * 10_000_000;
            totals[4] = totals[0] / 3 / 10_000_000 * 10_000_000;
            totals[5] += i64::from(noise.below(50) == 0);
            rows.push(
                Timestamp::from_ns(time),
                EntityId(thread as u32),
                &totals[..],
            );
        }
    }
    rows
}

fn bytes_per_value(busy_of_8: i64) -> f64 {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("a.stall");
    let mut writer = Writer::create(&folder, &meta(false)).unwrap();
    let (mut totals, mut noise) = (vec![[0; 6]; THREADS as usize], Noise(7));
    for now in 0..SECONDS {
        writer
            .append(&TABLE, &second(now, busy_of_8, &mut totals, &mut noise))
            .unwrap();
        writer.flush().unwrap();
    }
    writer.close(&meta(true)).unwrap();
    assert_eq!(Reader::open(&folder).unwrap().damage, []);
    let bytes = std::fs::metadata(folder.join("threads.arrow"))
        .unwrap()
        .len();
    // A value is a series at a sample, whether it changed or not: so do other recorders count.
    let values = THREADS * COLUMNS.len() as i64 * SAMPLES_PER_S * SECONDS;
    let share = bytes as f64 / values as f64;
    println!(
        "{THREADS} threads x {} counters x {SAMPLES_PER_S} Hz x {SECONDS} s, {busy_of_8}/8 busy: {bytes} bytes, {share:.3} bytes per value",
        COLUMNS.len()
    );
    share
}

#[test]
fn size_of_threads() {
    let idle = bytes_per_value(1);
    let busy = bytes_per_value(8);
    assert!(idle < 0.25, "{idle}");
    assert!(busy < 1.5, "{busy}");
}
