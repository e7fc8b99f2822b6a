//! A disk that is full, at its quota, or read-only: on small file systems that are mounted for it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use expect_test::{Expect, expect};
use model::{EntityId, Gap, GapReason, Rows};
use recording::{Error, Reader, Writer};

use crate::sample::{self, THREADS, at, meta};

/// A small tmpfs, unmounted when dropped.
struct Small(tempfile::TempDir);

impl Small {
    /// `None`, with a word why, where nothing may be mounted.
    fn mount(options: &str) -> Option<Self> {
        let home = tempfile::tempdir().unwrap();
        let arguments = ["-t", "tmpfs", "-o", options, "stallscope-test"];
        let mut mount = Command::new("mount");
        let mounted = mount.args(arguments).arg(home.path()).output();
        let why = match mounted {
            Ok(output) if output.status.success() => return Some(Self(home)),
            Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
            Err(error) => error.to_string(),
        };
        let required = std::env::var("STALLSCOPE_REQUIRE").is_ok_and(|value| value == "all");
        assert!(!required, "STALLSCOPE_REQUIRE=all, and {why}");
        println!("SKIPPED: a small file system cannot be mounted: {why}");
        None
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn remount(&self, options: &str) {
        let mut mount = Command::new("mount");
        let mounted = mount.args(["-o", &format!("remount,{options}")]);
        assert!(mounted.arg(self.path()).status().unwrap().success());
    }

    /// Takes all room but so many kB.
    fn fill(&self, left_kb: u64) -> PathBuf {
        let ballast = self.path().join("ballast");
        let about = rustix::fs::statvfs(self.path()).unwrap();
        let free = about.f_bavail * about.f_frsize;
        fs::write(&ballast, vec![0; (free - (left_kb << 10)) as usize]).unwrap();
        ballast
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

/// 10 rows of noise, which no compression makes small.
fn second(number: i64) -> Rows {
    let mut rows = Rows::with_capacity(3, 10);
    for row in number * 10..number * 10 + 10 {
        let noise = row.wrapping_mul(6_364_136_223_846_793_005);
        let time = at(101.0) + row * 10_000_000;
        rows.push(time, EntityId(0), &[noise, noise ^ 0x55AA, noise >> 3]);
    }
    rows
}

fn row_numbers(folder: &Path) -> Vec<i64> {
    let recording = Reader::open(folder).unwrap();
    assert_eq!(recording.damage, []);
    let data = recording.timeline.table("threads").unwrap();
    let number = |row| data.key(row).0.ns_since(at(101.0)) / 10_000_000;
    (0..data.len()).map(number).collect()
}

fn gaps(folder: &Path) -> Vec<Gap> {
    let of_disk = |gap: &Gap| matches!(gap.reason, GapReason::Unwritten(_));
    let recording = Reader::open(folder).unwrap();
    let gaps = recording.meta.gaps.iter();
    gaps.filter(|gap| of_disk(gap)).cloned().collect()
}

#[test]
fn while_memory_holds_it_a_full_disk_costs_nothing() {
    let Some(disk) = Small::mount("size=1m") else {
        return;
    };
    let folder = disk.path().join("a.stall");
    let mut writer = sample::write_open(&folder);
    let ballast = disk.fill(0);
    let mut refused = 0;
    for number in 0..60 {
        writer.append(&THREADS, &second(number)).unwrap();
        refused += i64::from(writer.flush().is_err());
    }
    assert!(refused > 40, "{refused}");
    writer.meta(&meta(false)).unwrap();
    let [gap] = &gaps(&folder)[..] else {
        panic!("one gap on disk, should the program end now")
    };
    let GapReason::Unwritten(detail) = &gap.reason else {
        unreachable!("they are chosen by it")
    };
    let start = "No space left on device (os error 28): ";
    assert!(detail.to_string().starts_with(start), "{detail}");
    let read = row_numbers(&folder).len();
    assert!((7..600).contains(&read), "what was written is read: {read}");

    fs::remove_file(ballast).unwrap();
    writer.append(&THREADS, &second(60)).unwrap();
    writer.flush().unwrap();
    writer.close(&meta(true)).unwrap();
    let rows = row_numbers(&folder);
    assert_eq!(rows[7..], Vec::from_iter(0..610), "nothing is lost");
    assert_eq!(gaps(&folder), []);
    assert!(Reader::open(&folder).unwrap().meta.complete);
}

#[test]
fn what_finds_no_room_in_memory_is_a_gap_and_the_rest_is_written() {
    let Some(disk) = Small::mount("size=24m") else {
        return;
    };
    let folder = disk.path().join("a.stall");
    let mut writer = Writer::create(&folder, &meta(false)).unwrap();
    let ballast = disk.fill(0);
    // 40 bytes a row in memory, 4 MiB at most.
    let seconds = 15_000;
    for number in 0..seconds {
        writer.append(&THREADS, &second(number)).unwrap();
        if number % 1000 == 0 {
            assert!(writer.flush().is_err());
        }
    }
    assert!(writer.flush().is_err());
    fs::remove_file(ballast).unwrap();
    writer.flush().unwrap();
    writer.append(&THREADS, &second(seconds)).unwrap();
    writer.flush().unwrap();
    writer.close(&meta(true)).unwrap();

    let rows = row_numbers(&folder);
    let lost = (seconds + 1) * 10 - rows.len() as i64;
    let kept = rows.len() as i64 - 10;
    assert!(kept > 90_000, "4 MiB of rows are kept: {kept}");
    assert_eq!(rows[..kept as usize], Vec::from_iter(0..kept));
    let after = seconds * 10..(seconds + 1) * 10;
    assert_eq!(rows[kept as usize..], Vec::from_iter(after));
    let [gap] = &gaps(&folder)[..] else {
        panic!("one gap")
    };
    let window = gap.window.unwrap();
    assert_eq!(window.start, at(101.0) + kept * 10_000_000);
    assert_eq!(window.end, at(101.0) + (seconds * 10 - 1) * 10_000_000 + 1);
    let detail = format!("No space left on device (os error 28): {lost} rows");
    let GapReason::Unwritten(told) = &gap.reason else {
        unreachable!("they are chosen by it")
    };
    assert_eq!(told, &detail.as_str());
}

#[test]
fn a_disk_that_stays_full_keeps_the_recording_and_its_gap() {
    let Some(disk) = Small::mount("size=1m") else {
        return;
    };
    let folder = disk.path().join("a.stall");
    let mut writer = sample::write_open(&folder);
    disk.fill(0);
    for number in 0..300 {
        writer.append(&THREADS, &second(number)).unwrap();
        // It is told each time, and tried again.
        let _ = writer.flush();
    }
    let refused = writer.close(&meta(true)).unwrap_err();
    assert!(matches!(refused, Error::Write { .. }), "{refused}");
    let recording = Reader::open(&folder).unwrap();
    assert_eq!(recording.damage, []);
    assert!(!recording.meta.complete);
    let read = row_numbers(&folder);
    assert!(read.len() >= 7 && read[7..] == Vec::from_iter(0..read.len() as i64 - 7));
    assert_eq!(gaps(&folder).len(), 1);
}

#[test]
fn before_the_start_a_read_only_disk_is_said() {
    let Some(disk) = Small::mount("size=1m") else {
        return;
    };
    disk.remount("ro");
    check(
        &disk,
        expect![
            "cannot write the recording HOME/a.stall: HOME is on a file system that can only be read. Choose another place with -o FOLDER"
        ],
    );
}

#[test]
fn before_the_start_a_full_disk_is_said() {
    let Some(disk) = Small::mount("size=1m") else {
        return;
    };
    disk.fill(20);
    check(
        &disk,
        expect![
            "cannot write the recording HOME/a.stall: no space is left in HOME. Make room there (df -h HOME shows how much there is), or choose another place with -o FOLDER"
        ],
    );
    assert_eq!(fs::read_dir(disk.path()).unwrap().count(), 1, "the ballast");
}

fn check(disk: &Small, sentence: Expect) {
    let folder = disk.path().join("a.stall");
    let refused = Writer::create(&folder, &meta(false)).err().unwrap();
    let home = disk.path().to_str().unwrap();
    sentence.assert_eq(&refused.to_string().replace(home, "HOME"));
}
