//! What is added to the description of a recording after it was closed. Its tables stay as they are.

use std::io;
use std::sync::Arc;

use model::Meta;

use crate::meta_file::MetaFile;
use crate::{Error, FolderHandle, META_FILE, Result, whole};

/// The description of a recording, without its tables.
///
/// # Errors
/// When there is none, or it cannot be understood; also when its checksum does not fit.
pub fn description(folder: &FolderHandle) -> Result<Meta> {
    let (meta, doubt) = whole::read_meta(folder)?;
    match doubt {
        None => Ok(meta),
        Some(doubt) => Err(Error::read(&folder.path_of(META_FILE))(io::Error::other(
            doubt,
        ))),
    }
}

/// Changes the description of a recording that nobody writes any more. A reader finds the old or the new one.
///
/// # Errors
/// As of [`description`], since a new checksum must not vouch for what an old one does not; and when it cannot be
/// written.
pub fn amend(folder: &Arc<FolderHandle>, change: impl FnOnce(&mut Meta)) -> Result<()> {
    let mut meta = description(folder)?;
    change(&mut meta);
    MetaFile::of(folder).write_last(&meta)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Reader, sample};

    #[test]
    fn what_is_added_is_read_and_a_broken_description_stays_as_it_is() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a.stall");
        let writer = crate::Writer::create(&path, &sample::meta(false)).unwrap();
        writer.close(&sample::meta(true)).unwrap();
        let folder = Arc::new(Reader::folder(&path).unwrap());
        let add = |meta: &mut Meta| drop(meta.environment.insert("a".into(), "1".into()));
        amend(&folder, add).unwrap();
        let read = Reader::open(&path).unwrap();
        assert!(read.damage.is_empty());
        assert_eq!(
            read.meta.environment.get("a").map(String::as_str),
            Some("1")
        );
        let file = path.join(META_FILE);
        let text = std::fs::read_to_string(&file).unwrap();
        let changed = text.replace("\"a\": \"1\"", "\"a\": \"2\"");
        assert_ne!(text, changed);
        std::fs::write(&file, &changed).unwrap();
        let said = amend(&folder, add).unwrap_err().to_string();
        assert!(said.contains("checksum"), "{said}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), changed);
    }
}
