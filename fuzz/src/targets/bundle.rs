//! A bundle from elsewhere, unpacked.
//!
//! An input is what a bundle holds before compression, an archive that may name any path: compressed, a
//! changed byte would be damage and nothing else. It is read as it is, and with headers whose sums fit.

use std::fs;
use std::path::Path;

use anyhow::Result;
use recording::Reader;
use recording::bundle::{self, Manifest};

use crate::{Seed, Target, sums};

pub const TARGET: Target = Target {
    name: "bundle",
    feed,
    seeds,
    affordable: 1_000,
};

fn feed(bytes: &[u8]) {
    unpack(bytes);
    let fitting = sums::archive(bytes.to_vec());
    if fitting != bytes {
        unpack(&fitting);
    }
}

fn unpack(bytes: &[u8]) {
    let place = tempfile::tempdir().expect("there is room for a small folder");
    let path = place.path().join("a.stallbundle");
    let packed = zstd::encode_all(bytes, 1).expect("memory can be written to");
    fs::write(&path, packed).expect("there is room for a small file");
    match bundle::unpack(&path) {
        Ok(unpacked) => {
            for entry in fs::read_dir(unpacked.folder()).expect("it was just made") {
                let entry = entry.expect("it can be listed");
                assert!(
                    entry.file_type().is_ok_and(|kind| kind.is_file()),
                    "{entry:?}"
                );
            }
            // It may be any recording, and none.
            let _ = Reader::open(unpacked.folder());
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    let beside = fs::read_dir(place.path()).expect("it is ours").count();
    assert_eq!(beside, 1, "nothing is written beside the bundle");
}

/// A small recording as it is packed, and the same with names that lead elsewhere.
fn seeds(repository: &Path) -> Result<Vec<Seed>> {
    let fixtures = repository.join("crates/recording/fixtures");
    let [older, whole] =
        ["format-2.stall", "format-3.stall"].map(|name| packed(&fixtures.join(name)));
    let (older, whole) = (older?, whole?);
    let from = b"threads.arrow";
    let astray = [&b"../eads.arrow"[..], b"/tmp/ds.arrow", b"a/b/../.arrow"].map(|name| {
        let mut bytes = whole.clone();
        for at in 0..bytes.len() - from.len() {
            if bytes[at..].starts_with(from) {
                bytes[at..at + name.len()].copy_from_slice(name);
            }
        }
        Seed::new(name.escape_ascii().to_string().replace('/', "_"), bytes)
    });
    Ok([Seed::new("older", older), Seed::new("whole", whole)]
        .into_iter()
        .chain(astray)
        .collect())
}

fn packed(folder: &Path) -> Result<Vec<u8>> {
    let manifest = Manifest::of(folder, Vec::new())?;
    let mut packed = Vec::new();
    bundle::pack(folder, &manifest, &mut packed)?;
    Ok(zstd::decode_all(packed.as_slice())?)
}
