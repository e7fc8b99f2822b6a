//! A bundle from elsewhere, unpacked.
//!
//! An input is what a bundle holds before compression, an archive that may name any path: compressed, a
//! changed byte would be damage and nothing else.

use std::fs;
use std::path::Path;

use anyhow::Result;
use recording::bundle::{self, Manifest};

use crate::{Seed, Target};

pub const TARGET: Target = Target {
    name: "bundle",
    feed,
    seeds,
    affordable: 1_000,
};

fn feed(bytes: &[u8]) {
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
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    let beside = fs::read_dir(place.path()).expect("it is ours").count();
    assert_eq!(beside, 1, "nothing is written beside the bundle");
}

/// A small recording as it is packed, and the same with names that lead elsewhere.
fn seeds(repository: &Path) -> Result<Vec<Seed>> {
    let folder = repository.join("crates/recording/fixtures/format-2.stall");
    let manifest = Manifest::of(&folder, Vec::new())?;
    let mut packed = Vec::new();
    bundle::pack(&folder, &manifest, &mut packed)?;
    let whole = zstd::decode_all(packed.as_slice())?;
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
    Ok([Seed::new("whole", whole)]
        .into_iter()
        .chain(astray)
        .collect())
}
