//! Marks: a line of JSON for each, which anybody who may write in the folder adds while it is recorded, or later.
//!
//! A file of its own, so that the recorder need not be asked: a line is added by one write, and neither side waits.

use std::io::{self, Read as _, Write as _};

use model::Mark;

use crate::{Damage, FolderHandle, Refused, plausible};

pub(crate) const NAME: &str = "marks.jsonl";

/// Marks beyond this are no marks.
const MOST: usize = 10_000;
/// As many of the longest.
const MOST_BYTES: u64 = 16 << 20;

/// Adds a mark to the recording in `folder`.
///
/// # Errors
/// What the kernel says.
pub fn add_mark(folder: &FolderHandle, mark: &Mark) -> io::Result<()> {
    let mut line = serde_json::to_vec(mark)?;
    line.push(b'\n');
    folder.open_to_append(NAME)?.write_all(&line)
}

/// The marks in the order of time, and what could not be read.
pub(crate) fn read(folder: &FolderHandle) -> (Vec<Mark>, Option<Damage>) {
    let mut content = Vec::new();
    let read = match folder.read(NAME) {
        Ok((file, _)) => file.take(MOST_BYTES).read_to_end(&mut content),
        Err(Refused::Read(error)) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        Err(refused) => Err(refused.into()),
    };
    let mut trouble = read.err().map(|error| (0, error.to_string()));
    let mut marks = Vec::new();
    let mut at = 0;
    for line in content.split_inclusive(|byte| *byte == b'\n') {
        match mark_of(line) {
            Some(_) if marks.len() == MOST => {
                trouble.get_or_insert((at, format!("it has more than {MOST} marks")));
                break;
            }
            Some(mark) => marks.push(mark),
            None => {
                trouble.get_or_insert((at, "a line of it is no mark, and is left out".to_owned()));
            }
        }
        at += line.len() as u64;
    }
    marks.sort_by_key(|mark| mark.at);
    let damage = trouble.map(|(at, what)| Damage::of_all(NAME, at, what));
    (marks, damage)
}

fn mark_of(line: &[u8]) -> Option<Mark> {
    let Mark { at, text } = serde_json::from_slice(line).ok()?;
    // It may come from elsewhere.
    plausible(at).then(|| Mark::new(at, &text))?
}

#[cfg(test)]
mod tests {
    use model::Timestamp;
    use proptest::prelude::*;

    use super::*;

    fn folder() -> (tempfile::TempDir, FolderHandle) {
        let home = tempfile::tempdir().unwrap();
        let folder = FolderHandle::create(&home.path().join("a.stall")).unwrap();
        (home, folder)
    }

    fn mark(at: i64, text: &str) -> Mark {
        Mark::new(Timestamp::from_ns(at), text).unwrap()
    }

    #[test]
    fn marks_are_read_in_the_order_of_time_and_a_torn_line_costs_itself() {
        let (_home, folder) = folder();
        assert_eq!(read(&folder), (Vec::new(), None), "none is no damage");
        add_mark(&folder, &mark(7, "second")).unwrap();
        add_mark(&folder, &mark(5, "first \"quoted\"")).unwrap();
        let both = vec![mark(5, "first \"quoted\""), mark(7, "second")];
        assert_eq!(read(&folder), (both.clone(), None));
        let mut file = folder.open_to_append(NAME).unwrap();
        file.write_all(b"{\"at\":9,\"te\n").unwrap();
        add_mark(&folder, &mark(9, "third")).unwrap();
        let (marks, damage) = read(&folder);
        assert_eq!(marks, [both, vec![mark(9, "third")]].concat());
        let said = damage.expect("a line is torn").to_string();
        assert!(said.contains("is no mark"), "{said}");
    }

    #[test]
    fn no_link_is_followed() {
        let (home, folder) = folder();
        std::fs::write(home.path().join("victim"), "old").unwrap();
        std::os::unix::fs::symlink("../victim", folder.path_of(NAME)).unwrap();
        assert!(add_mark(&folder, &mark(5, "x")).is_err());
        assert!(read(&folder).1.is_some());
        assert_eq!(std::fs::read(home.path().join("victim")).unwrap(), b"old");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let (_home, folder) = folder();
            folder.open_to_append(NAME).unwrap().write_all(&bytes).unwrap();
            let (marks, _) = read(&folder);
            prop_assert!(marks.iter().all(|it| plausible(it.at) && !it.text.is_empty()));
        }
    }
}
