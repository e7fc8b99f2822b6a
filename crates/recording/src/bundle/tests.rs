//! Bundles as they should be, and bundles that were made to do harm.

use super::*;
use proptest::prelude::*;

/// A place whose every file is known, so that one written outside a bundle's own folder is seen.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Compresses a tar and opens it as a bundle.
    fn open(&self, tar: &[u8]) -> Result<Unpacked> {
        self.open_bytes(&zstd::encode_all(tar, 1).unwrap())
    }

    fn open_bytes(&self, bytes: &[u8]) -> Result<Unpacked> {
        let path = self.0.path().join("b.stallbundle");
        fs::write(&path, bytes).unwrap();
        let opened = unpack(&path);
        let left: Vec<_> = fs::read_dir(self.0.path()).unwrap().flatten().collect();
        assert_eq!(left.len(), 1, "nothing else was written: {left:?}");
        opened
    }

    #[track_caller]
    fn refused(&self, tar: &[u8], why: &str) {
        let said = self.open(tar).map(|_| ()).unwrap_err().to_string();
        let end = format!("{why}. Ask its sender for it again");
        assert!(said.ends_with(&end), "{said}");
    }
}

fn manifest_of(files: &[(&str, usize)]) -> Vec<u8> {
    let files = files.iter().map(|(name, bytes)| Packed {
        name: (*name).to_owned(),
        bytes: *bytes as u64,
    });
    serde_json::to_vec(&Manifest {
        format: FORMAT.to_owned(),
        stallscope: "0".to_owned(),
        redaction: Vec::new(),
        files: files.collect(),
    })
    .unwrap()
}

/// A member as raw bytes: what `tar::Builder` would refuse to write is to be read here.
fn member(name: &[u8], kind: u8, link: &str, content: &[u8]) -> Vec<u8> {
    let mut header = tar::Header::new_gnu();
    header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name);
    header.set_entry_type(tar::EntryType::new(kind));
    if !link.is_empty() {
        header.as_gnu_mut().unwrap().linkname[..link.len()].copy_from_slice(link.as_bytes());
    }
    header.set_size(content.len() as u64);
    header.set_cksum();
    let mut bytes = header.as_bytes().to_vec();
    bytes.extend(content);
    bytes.resize(bytes.len().next_multiple_of(512), 0);
    bytes
}

fn file(name: &str, content: &[u8]) -> Vec<u8> {
    member(name.as_bytes(), b'0', "", content)
}

fn ended(members: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = members.concat();
    bytes.extend([0; 1024]);
    bytes
}

#[test]
fn what_was_packed_is_unpacked_and_goes_away() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("meta.json"), "{}").unwrap();
    fs::write(folder.path().join("cpu.arrow"), [7; 70_000]).unwrap();
    fs::write(folder.path().join("report.html"), "not of the recording").unwrap();
    let manifest = Manifest::of(folder.path(), vec!["none".to_owned()]).unwrap();
    let names: Vec<&str> = manifest.files.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["meta.json", "cpu.arrow"]);
    let mut bytes = Vec::new();
    pack(folder.path(), &manifest, &mut bytes).unwrap();

    let place = Place::new();
    let unpacked = place.open_bytes(&bytes).unwrap();
    assert_eq!(unpacked.manifest, manifest);
    let inside = unpacked.folder().to_owned();
    assert_eq!(fs::read(inside.join("cpu.arrow")).unwrap(), [7; 70_000]);
    let mode = fs::metadata(&inside).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700, "nobody else looks in");
    drop(unpacked);
    assert!(!inside.exists());

    for cut in [0, 3, 20, bytes.len() / 2, bytes.len() - 1] {
        let said = place.open_bytes(&bytes[..cut]).unwrap_err().to_string();
        assert!(said.contains("it is cut short or damaged"), "{cut}: {said}");
    }
    // The last byte belongs to the checksum.
    *bytes.last_mut().unwrap() ^= 1;
    let said = place.open_bytes(&bytes).unwrap_err().to_string();
    assert!(said.contains("it is cut short or damaged"), "{said}");
}

#[test]
fn names_that_lead_elsewhere_are_refused() {
    let place = Place::new();
    for name in [
        "../cpu.arrow",
        "/tmp/cpu.arrow",
        "a/cpu.arrow",
        "..",
        "",
        "cpu.arrow/",
        "Cpu.arrow",
        "cpu.arrow.so",
        ".arrow",
        "c\u{e9}.arrow",
        "cpu.txt",
    ] {
        let tar = ended(&[
            file(MANIFEST, &manifest_of(&[("cpu.arrow", 1)])),
            file(name, b"x"),
        ]);
        let why = format!(
            "it holds a file called {name:?}, and a recording has only meta.json and tables"
        );
        place.refused(&tar, &why);
        let tar = ended(&[file(MANIFEST, &manifest_of(&[(name, 1)]))]);
        place.refused(&tar, &format!("it lists {name:?}, which no recording has"));
    }
    let tar = ended(&[
        file(MANIFEST, &manifest_of(&[("cpu.arrow", 1)])),
        member(b"\xff\x1b.arrow", b'0', "", b"x"),
    ]);
    let why = "it holds a file called \"\u{fffd}\\u{1b}.arrow\", and a recording has only meta.json and tables";
    place.refused(&tar, why);
}

#[test]
fn only_regular_files_are_unpacked() {
    let place = Place::new();
    for (kind, word) in [
        (b'1', "a hard link"),
        (b'2', "a symbolic link"),
        (b'3', "a device"),
        (b'4', "a device"),
        (b'5', "a folder"),
        (b'6', "a pipe"),
        (b'S', "a sparse file"),
        (b'L', "an extension of tar"),
        (b'K', "an extension of tar"),
        (b'x', "an extension of tar"),
        (b'g', "an extension of tar"),
        (b'Z', "an extension of tar"),
    ] {
        let why = format!("it holds \"cpu.arrow\", which is no regular file but {word}");
        let odd = || member(b"cpu.arrow", kind, "/etc/passwd", b"");
        let listed = file(MANIFEST, &manifest_of(&[("cpu.arrow", 0)]));
        place.refused(&ended(&[listed, odd()]), &why);
        // In place of the manifest, and behind all that is listed.
        place.refused(&ended(&[odd()]), &why);
        place.refused(&ended(&[file(MANIFEST, &manifest_of(&[])), odd()]), &why);
    }
}

#[test]
fn a_bundle_holds_what_its_manifest_lists() {
    let place = Place::new();
    let list = |files: &[(&str, usize)]| file(MANIFEST, &manifest_of(files));
    let cpu = || file("cpu.arrow", b"x");
    place.refused(&ended(&[cpu()]), "it does not begin with manifest.json");
    place.refused(&ended(&[]), "it does not begin with manifest.json");
    place.refused(&ended(&[list(&[("cpu.arrow", 1)])]), "it lacks cpu.arrow");
    place.refused(
        &ended(&[list(&[("cpu.arrow", 2)]), cpu()]),
        "it holds cpu.arrow of 1 bytes where its manifest lists cpu.arrow of 2",
    );
    place.refused(
        &ended(&[list(&[("cpu.arrow", 1)]), cpu(), cpu()]),
        "it holds cpu.arrow, which its manifest does not list",
    );
    place.refused(
        &ended(&[list(&[("cpu.arrow", 1), ("cpu.arrow", 1)]), cpu(), cpu()]),
        "it lists cpu.arrow twice",
    );
    let mut longer = ended(&[list(&[])]);
    longer.extend(b"more");
    place.refused(&longer, "something follows its end");
    let names: Vec<String> = (0..=MAX_FILES).map(|n| format!("t{n}.arrow")).collect();
    let many: Vec<(&str, usize)> = names.iter().map(|name| (name.as_str(), 0)).collect();
    place.refused(&ended(&[list(&many)]), "it lists 201 files of at most 200");
    place.refused(
        &ended(&[file(MANIFEST, &vec![b' '; 1 + MAX_MANIFEST_BYTES as usize])]),
        "its manifest.json takes 1048577 bytes of at most 1048576",
    );
    place.refused(
        &ended(&[file(MANIFEST, br#"{"format": "stallscope.bundle/2"}"#)]),
        "it is a \"stallscope.bundle/2\", and this stallscope reads \"stallscope.bundle/1\"",
    );
}

#[test]
fn a_bundle_that_swells_is_refused() {
    let zeros = vec![0; 2 << 20];
    let tar = ended(&[
        file(MANIFEST, &manifest_of(&[("cpu.arrow", zeros.len())])),
        file("cpu.arrow", &zeros),
    ]);
    let packed = zstd::encode_all(tar.as_slice(), 1).unwrap();
    assert!(packed.len() < 10_000);
    let said = Place::new().open_bytes(&packed).unwrap_err().to_string();
    assert!(said.contains("the most for a bundle of its size"), "{said}");
}

#[test]
fn a_size_that_is_a_lie_is_refused() {
    // A header that claims 8 EiB in GNU's binary form; nothing is allocated for it.
    let mut header = tar::Header::new_gnu();
    header.as_gnu_mut().unwrap().name[..9].copy_from_slice(b"cpu.arrow");
    header.set_entry_type(tar::EntryType::Regular);
    header.set_size(1 << 62);
    header.set_cksum();
    let tar = [
        file(MANIFEST, &manifest_of(&[("cpu.arrow", 1 << 62)])),
        header.as_bytes().to_vec(),
        vec![0; 1024],
    ]
    .concat();
    let said = Place::new().open(&tar).unwrap_err().to_string();
    assert!(said.contains("it is cut short or damaged"), "{said}");
}

#[test]
fn a_window_larger_than_ours_is_refused() {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.window_log(27).unwrap();
    encoder.write_all(&vec![0; 1 << 20]).unwrap();
    let bytes = encoder.finish().unwrap();
    let said = Place::new().open_bytes(&bytes).unwrap_err().to_string();
    assert!(said.contains("it is cut short or damaged"), "{said}");
}

#[test]
fn a_bundle_is_told_by_its_name_or_its_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    assert!(is_bundle(&write("a.stallbundle", b"")));
    assert!(is_bundle(&write(
        "renamed",
        &zstd::encode_all(&b""[..], 1).unwrap()
    )));
    assert!(!is_bundle(&write("b.stall", b"")));
    assert!(!is_bundle(folder.path()));
    assert!(!is_bundle(Path::new("/nowhere")));
    assert_eq!(
        name_for(Path::new("x/pgbench-1.stall")),
        Path::new("pgbench-1.stallbundle")
    );
    assert_eq!(
        name_for(Path::new("v1.2.stall")),
        Path::new("v1.2.stallbundle")
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..4096)) {
        prop_assert!(Place::new().open_bytes(&bytes).is_err());
        prop_assert!(Place::new().open(&bytes).is_err());
    }

    #[test]
    fn no_damage_writes_outside(
        flips in prop::collection::vec((0usize..4096, any::<u8>()), 1..20)
    ) {
        let mut tar = ended(&[
            file(MANIFEST, &manifest_of(&[("meta.json", 2), ("cpu.arrow", 600)])),
            file("meta.json", b"{}"),
            file("cpu.arrow", &[9; 600]),
        ]);
        for (at, byte) in flips {
            let at = at % tar.len();
            tar[at] = byte;
        }
        // Damage within a file's content is not seen here; anything else is refused. `open` looks
        // for files that do not belong.
        if let Ok(unpacked) = Place::new().open(&tar) {
            for entry in fs::read_dir(unpacked.folder()).unwrap() {
                let name = entry.unwrap().file_name().into_string().unwrap();
                prop_assert!(is_member(&name));
            }
        }
    }
}
