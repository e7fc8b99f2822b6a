//! One file to send: a recording's files in a compressed tar, behind a manifest that says what they are.
//!
//! A bundle comes from elsewhere. It is unpacked into a private folder that goes away with it, and only
//! ever by names that this program would have given: whatever its bytes are, nothing is written outside,
//! and no more than its own size can account for. What a bundle holds and what is refused is described
//! in `docs/export.md`. What may leave a machine is not decided here.

mod limits;
#[cfg(test)]
mod tests;

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use crate::{Error, FolderHandle, META_FILE, Result, TABLE_EXTENSION, marks_file};
use limits::{Bounded, MAX_FILES, MAX_MANIFEST_BYTES, WINDOW_LOG};

/// How a bundle's file ends.
pub const EXTENSION: &str = "stallbundle";

/// The form that this version writes and reads.
const FORMAT: &str = "stallscope.bundle/1";

/// What stands first in every bundle.
const MANIFEST: &str = "manifest.json";

/// Tables are compressed already; more effort gains nothing.
const COMPRESSION_LEVEL: i32 = 3;

/// What a bundle begins with.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the form: `stallscope.bundle/1`.
    pub format: String,
    /// Version of the program that wrote it.
    pub stallscope: String,
    /// What was done to names, and what was left out, in sentences.
    pub redaction: Vec<String>,
    /// The files that follow, in this order.
    pub files: Vec<Packed>,
}

/// A file in a bundle.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Packed {
    /// Its name: `meta.json`, `marks.jsonl`, or that of a table.
    pub name: String,
    /// Its size, bytes.
    pub bytes: u64,
}

impl Manifest {
    /// What a bundle of the recording in `folder` will hold.
    ///
    /// # Errors
    /// When the folder or a file cannot be read.
    pub fn of(folder: &Path, redaction: Vec<String>) -> Result<Self> {
        let mut files = Vec::new();
        let held = FolderHandle::open(folder).map_err(Error::read(folder))?;
        for name in held.names().map_err(Error::read(folder))? {
            if let Some(name) = name.to_str().filter(|name| is_member(name)) {
                let path = held.path_of(name);
                let read = held.read(name).map_err(std::io::Error::from);
                let (_, bytes) = read.map_err(Error::read(&path))?;
                files.push(Packed {
                    name: name.to_owned(),
                    bytes,
                });
            }
        }
        // What says most comes first, for people who list the bundle with tar.
        files.sort_by_key(|file| (file.name != META_FILE, file.name.clone()));
        Ok(Self {
            format: FORMAT.to_owned(),
            stallscope: env!("CARGO_PKG_VERSION").to_owned(),
            redaction,
            files,
        })
    }
}

/// Writes the files of a recording that `manifest` lists to `out`, as one bundle.
///
/// # Errors
/// When a file changed or cannot be read, or `out` cannot be written.
pub fn pack(folder: &Path, manifest: &Manifest, out: impl Write) -> io::Result<()> {
    let mut packed = zstd::Encoder::new(out, COMPRESSION_LEVEL)?;
    packed.include_checksum(true)?;
    let mut archive = tar::Builder::new(packed);
    let held = FolderHandle::open(folder)?;
    let mut text = serde_json::to_vec_pretty(manifest)?;
    text.push(b'\n');
    archive.append_data(&mut header(text.len() as u64), MANIFEST, text.as_slice())?;
    for file in &manifest.files {
        let (content, _) = held.read(&file.name)?;
        archive.append_data(
            &mut header(file.bytes),
            &file.name,
            content.take(file.bytes),
        )?;
    }
    archive.into_inner()?.finish()?.flush()
}

/// Of a file's description only name and size: neither times nor owners leave the machine.
fn header(bytes: u64) -> tar::Header {
    let mut header = tar::Header::new_ustar();
    header.set_entry_type(tar::EntryType::Regular);
    header.set_mode(0o644);
    header.set_size(bytes);
    header
}

/// A bundle that was opened: its recording lies in a private folder until this is dropped.
#[derive(Debug)]
pub struct Unpacked {
    folder: TempDir,
    /// What the bundle says of itself.
    pub manifest: Manifest,
}

impl Unpacked {
    /// The recording's folder, for `Reader::open`.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

/// Whether a file is a bundle, by its first bytes or its name.
pub fn is_bundle(path: &Path) -> bool {
    const ZSTD: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];
    // Only regular files: opening a pipe would wait for ever.
    if !path.is_file() {
        return false;
    }
    let mut start = [0; 4];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut start));
    path.extension().is_some_and(|it| it == EXTENSION) || read.is_ok_and(|()| start == ZSTD)
}

/// Unpacks a bundle.
///
/// # Errors
/// One sentence that names what was found, when it is damaged or none that this program could have
/// written. Nothing of it is left then.
pub fn unpack(path: &Path) -> Result<Unpacked> {
    unpack_in(path, private_folder)
}

/// As [`unpack`], in a private folder that is made by somebody whom an interrupt would not leave it
/// behind.
///
/// # Errors
/// As of [`unpack`].
pub fn unpack_in(
    path: &Path,
    private_folder: impl FnOnce() -> io::Result<TempDir>,
) -> Result<Unpacked> {
    let file = File::open(path).map_err(Error::read(path))?;
    let bytes = file.metadata().map_err(Error::read(path))?.len();
    let folder = private_folder().map_err(|source| Error::Room {
        path: path.to_owned(),
        source,
    })?;
    let held = FolderHandle::open(folder.path()).map_err(Error::read(folder.path()))?;
    match unpack_into(&held, file, bytes) {
        Ok(manifest) => Ok(Unpacked { folder, manifest }),
        Err(Trouble::Room(source)) => Err(Error::Room {
            path: path.to_owned(),
            source,
        }),
        Err(Trouble::Bundle(what)) => Err(Error::Bundle {
            path: path.to_owned(),
            what,
        }),
    }
}

/// A new temporary folder that no other user can look into, gone when dropped.
///
/// # Errors
/// When the folder for temporary files cannot be written.
pub fn private_folder() -> io::Result<TempDir> {
    tempfile::Builder::new()
        .prefix("stallscope-")
        .permissions(fs::Permissions::from_mode(0o700))
        .tempdir()
}

/// Why a bundle was not unpacked.
enum Trouble {
    /// It is not what it should be.
    Bundle(String),
    /// What it holds could not be written here.
    Room(io::Error),
}

impl From<String> for Trouble {
    fn from(what: String) -> Self {
        Trouble::Bundle(what)
    }
}

type Attempt<T> = std::result::Result<T, Trouble>;

fn unpack_into(folder: &FolderHandle, file: File, bytes: u64) -> Attempt<Manifest> {
    let mut decoder = zstd::Decoder::new(BufReader::new(file)).map_err(|error| damaged(&error))?;
    let window = decoder.window_log_max(WINDOW_LOG);
    window.map_err(|error| damaged(&error))?;
    let mut archive = tar::Archive::new(Bounded::new(decoder, bytes));
    let manifest = unpack_members(folder, &mut archive)?;
    check_end(archive.into_inner())?;
    Ok(manifest)
}

fn unpack_members(
    folder: &FolderHandle,
    archive: &mut tar::Archive<impl Read>,
) -> Attempt<Manifest> {
    // Raw: what only describes the next member (long names, sparse maps) is refused like any other
    // member that is no regular file, and never gathered in memory.
    let mut members = archive
        .entries()
        .map_err(|error| damaged(&error))?
        .raw(true);
    let manifest = read_manifest(&mut members)?;
    for file in &manifest.files {
        let mut member = next(&mut members)?.ok_or_else(|| format!("it lacks {}", file.name))?;
        if (&member.name, member.bytes) != (&file.name, file.bytes) {
            let (name, bytes) = (&member.name, member.bytes);
            return Err(Trouble::Bundle(format!(
                "it holds {name} of {bytes} bytes where its manifest lists {} of {}",
                file.name, file.bytes
            )));
        }
        write(folder, &file.name, &mut member.content)?;
    }
    match next(&mut members)? {
        Some(member) => Err(Trouble::Bundle(format!(
            "it holds {}, which its manifest does not list",
            member.name
        ))),
        None => Ok(manifest),
    }
}

/// A member that may be unpacked.
struct Member<C> {
    name: String,
    bytes: u64,
    content: C,
}

/// The next member, if its name, kind and size are such as this program writes.
fn next<'a, R: Read>(
    members: &mut tar::Entries<'a, R>,
) -> std::result::Result<Option<Member<tar::Entry<'a, R>>>, String> {
    let Some(content) = members
        .next()
        .transpose()
        .map_err(|error| damaged(&error))?
    else {
        return Ok(None);
    };
    let header = content.header();
    let name = header.path_bytes();
    let shown = shown(&name);
    if header.entry_type() != tar::EntryType::Regular {
        return Err(format!(
            "it holds {shown}, which is no regular file but {}",
            kind(header.entry_type())
        ));
    }
    let name = std::str::from_utf8(&name)
        .ok()
        .filter(|name| is_member(name) || *name == MANIFEST);
    let Some(name) = name.map(str::to_owned) else {
        return Err(format!(
            "it holds a file called {shown}, and a recording has only {META_FILE} and tables"
        ));
    };
    let bytes = header.entry_size().map_err(|error| damaged(&error))?;
    Ok(Some(Member {
        name,
        bytes,
        content,
    }))
}

fn read_manifest<R: Read>(
    members: &mut tar::Entries<'_, R>,
) -> std::result::Result<Manifest, String> {
    let first = next(members)?.filter(|member| member.name == MANIFEST);
    let mut first = first.ok_or_else(|| format!("it does not begin with {MANIFEST}"))?;
    if first.bytes > MAX_MANIFEST_BYTES {
        return Err(format!(
            "its {MANIFEST} takes {} bytes of at most {MAX_MANIFEST_BYTES}",
            first.bytes
        ));
    }
    let mut text = Vec::new();
    first
        .content
        .read_to_end(&mut text)
        .map_err(|error| damaged(&error))?;
    let unclear = |error| format!("its {MANIFEST} is not understood: {error}");
    let form: Form = serde_json::from_slice(&text).map_err(unclear)?;
    if form.format != FORMAT {
        return Err(format!(
            "it is a {:?}, and this stallscope reads {FORMAT:?}",
            form.format
        ));
    }
    let manifest: Manifest = serde_json::from_slice(&text).map_err(unclear)?;
    check_list(&manifest.files)?;
    Ok(manifest)
}

/// Of another form nothing else may be relied on.
#[derive(Deserialize)]
struct Form {
    format: String,
}

fn check_list(files: &[Packed]) -> std::result::Result<(), String> {
    if files.len() > MAX_FILES {
        return Err(format!(
            "it lists {} files of at most {MAX_FILES}",
            files.len()
        ));
    }
    for (index, file) in files.iter().enumerate() {
        if !is_member(&file.name) {
            let name = shown(file.name.as_bytes());
            return Err(format!("it lists {name}, which no recording has"));
        }
        if files[..index].iter().any(|other| other.name == file.name) {
            return Err(format!("it lists {} twice", file.name));
        }
    }
    Ok(())
}

fn write(folder: &FolderHandle, name: &str, content: &mut impl Read) -> Attempt<()> {
    let mut file = folder.create_file(name).map_err(Trouble::Room)?;
    let mut buffer = vec![0; 1 << 16];
    loop {
        // Apart, since a full disk here and damage there need different mends.
        match content.read(&mut buffer).map_err(|error| damaged(&error))? {
            0 => return Ok(()),
            read => file.write_all(&buffer[..read]).map_err(Trouble::Room)?,
        }
    }
}

/// Reads what follows the archive: the compressed stream's checksum is compared only at its end.
fn check_end(mut rest: impl Read) -> Attempt<()> {
    let mut buffer = vec![0; 1 << 16];
    loop {
        let read = rest.read(&mut buffer).map_err(|error| damaged(&error))?;
        if read == 0 {
            return Ok(());
        }
        if buffer[..read].iter().any(|byte| *byte != 0) {
            return Err(Trouble::Bundle("something follows its end".to_owned()));
        }
    }
}

/// Names that a recording's files have. None of them leads anywhere.
fn is_member(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    let table = name
        .strip_suffix(TABLE_EXTENSION)
        .and_then(|name| name.strip_suffix('.'));
    name == META_FILE
        || name == marks_file::NAME
        || table.is_some_and(|table| {
            !table.is_empty() && table.len() <= 60 && table.bytes().all(allowed)
        })
}

fn damaged(error: &io::Error) -> String {
    format!("it is cut short or damaged: {error}")
}

/// A name from elsewhere, so short and plain that it may stand in a sentence.
fn shown(name: &[u8]) -> String {
    let name: String = String::from_utf8_lossy(name).chars().take(80).collect();
    format!("{name:?}")
}

fn kind(kind: tar::EntryType) -> &'static str {
    match kind {
        tar::EntryType::Link => "a hard link",
        tar::EntryType::Symlink => "a symbolic link",
        tar::EntryType::Char | tar::EntryType::Block => "a device",
        tar::EntryType::Directory => "a folder",
        tar::EntryType::Fifo => "a pipe",
        tar::EntryType::GNUSparse => "a sparse file",
        _ => "an extension of tar",
    }
}

/// The name of a bundle of that recording or bundle: `pgbench-1.stallbundle`.
pub fn name_for(recording: &Path) -> PathBuf {
    let stem = recording.file_stem().unwrap_or(recording.as_os_str());
    PathBuf::from(stem).with_added_extension(EXTENSION)
}
