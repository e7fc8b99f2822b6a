use std::io::Write;
use std::path::PathBuf;

use sensors::log::{LogMiner, Subject};

use super::*;

struct Followed {
    home: tempfile::TempDir,
    path: PathBuf,
    tail: Tail,
    miner: LogMiner,
}

impl Followed {
    /// A file with this in it.
    fn of(text: &str) -> Self {
        let home = tempfile::tempdir().expect("a temporary folder");
        let path = home.path().join("log");
        fs::write(&path, text).expect("written");
        let tail = Tail::new(&path, false);
        let miner = LogMiner::default();
        Self {
            home,
            path,
            tail,
            miner,
        }
    }

    fn append(&self, text: &str) {
        append(&self.path, text);
    }

    fn read(&mut self) -> Option<String> {
        let mut buffer = vec![0; 4_096];
        self.tail
            .read(&mut Reading::new(&mut self.miner, &mut buffer))
    }

    /// Lines so far.
    fn lines(&mut self) -> i64 {
        assert_eq!(self.read(), None);
        let changes = self.miner.changes();
        let own = changes.iter().find(|it| it.subject == Subject::Log);
        own.map_or(-1, |it| it.counts[0])
    }
}

fn append(path: &Path, text: &str) {
    let file = fs::OpenOptions::new().append(true).create(true).open(path);
    let mut file = file.expect("opened");
    file.write_all(text.as_bytes()).expect("written");
}

#[test]
fn what_was_there_is_not_read_nor_the_rest_of_a_line_that_was_begun() {
    let mut log = Followed::of("old\nhalf of");
    assert_eq!(log.lines(), -1, "nothing came");
    log.append(" a line\nnew\nhalf");
    assert_eq!(log.lines(), 1);
    log.append(" and half\n");
    assert_eq!(log.lines(), 2);
}

#[test]
fn a_file_that_was_moved_is_read_to_its_end_beside_the_new_one() {
    let mut log = Followed::of("");
    log.append("a\n");
    assert_eq!(log.lines(), 1);
    let moved = log.home.path().join("log.1");
    fs::rename(&log.path, &moved).expect("renamed");
    append(&moved, "b\n");
    assert_eq!(log.lines(), 2, "nobody has made it anew");
    log.append("c\nd\n");
    append(&moved, "e\n");
    assert_eq!((log.lines(), log.tail.rotations), (5, 1));
    append(&moved, "of who was not told yet\n");
    assert_eq!(log.lines(), 6);
}

#[test]
fn a_file_that_was_copied_and_cut_off_is_read_from_its_beginning() {
    let mut log = Followed::of("long enough\n");
    log.append("a\n");
    assert_eq!(log.lines(), 1);
    let file = fs::OpenOptions::new().write(true).open(&log.path);
    file.expect("opened").set_len(0).expect("cut off");
    log.append("b\n");
    assert_eq!((log.lines(), log.tail.rotations), (2, 1));
}

#[test]
fn a_file_that_is_awaited_is_read_from_its_beginning() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let path = home.path().join("log");
    let (tail, miner) = (Tail::new(&path, true), LogMiner::default());
    let mut log = Followed {
        home,
        path,
        tail,
        miner,
    };
    assert_eq!(log.lines(), -1);
    log.append("a\nb\n");
    assert_eq!((log.lines(), log.tail.rotations), (2, 0));
}

#[test]
fn what_takes_the_place_of_a_file_and_is_none_is_said_once() {
    let mut log = Followed::of("");
    fs::remove_file(&log.path).expect("removed");
    fs::create_dir(&log.path).expect("made");
    let said = log.read();
    assert!(said.is_some_and(|it| it.contains("it is no file")));
    assert_eq!(log.read(), None);
}

#[test]
fn of_too_much_lines_are_counted_and_of_more_bytes() {
    let mut log = Followed::of("");
    log.append(&"0123456789abcde\n".repeat(3 << 16));
    assert_eq!(log.lines(), 3 << 16);
    assert_eq!(
        log.miner.unmined_lines(),
        5 << 15,
        "half a MiB is looked at"
    );
    log.append(&"0123456789abcde\n".repeat(5 << 18));
    let lines = log.lines();
    assert_eq!(log.miner.skipped_bytes(), 4 << 20, "16 MiB are counted");
    assert_eq!(lines, (3 << 16) + (1 << 20));
    log.append("one more\n");
    assert_eq!(log.lines(), lines + 1);
}
