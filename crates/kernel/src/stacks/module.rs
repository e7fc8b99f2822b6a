//! A file that code is executed from: what unwinding and naming need of it.

use std::fs::File;
use std::ops::Range;
use std::sync::Arc;

use framehop::ExplicitModuleSectionInfo;
use object::{Object as _, ObjectSection as _, ObjectSegment, ReadCache, ReadRef, SegmentFlags};

/// Longer unwinding tables are not read: a file may be hostile, and is read as root. Chromium has 20 MB.
const MOST_TABLE_BYTES: u64 = 32 << 20;
/// The longest build id, bytes; linkers make 8 to 20.
const MOST_ID_BYTES: usize = 64;

/// What is known of a file; nothing where it is no ELF file.
#[derive(Default)]
pub(super) struct Module {
    /// In hexadecimal digits.
    pub(super) build_id: Option<String>,
    /// Of each segment of code: where it lies in the file, and at which address it wants to be.
    segments: Vec<(Range<u64>, u64)>,
    /// Where its variables want to be, those without content in the file included.
    data: Vec<Range<u64>>,
    tables: Tables,
    /// Kept open for naming: the path may lead elsewhere by then, or nowhere.
    pub(super) file: Option<File>,
}

/// The sections that unwinding reads.
#[derive(Default)]
struct Tables {
    text: Option<Range<u64>>,
    got: Option<Range<u64>>,
    frames: Section,
    index: Section,
}

/// Addresses and content of a section.
type Section = Option<(Range<u64>, Arc<[u8]>)>;

impl Module {
    /// Reads an ELF file. Whatever is damaged or too large in it is left out.
    pub(super) fn read(file: File) -> Self {
        let module = Self::of(&ReadCache::new(&file)).unwrap_or_default();
        Self {
            file: Some(file),
            ..module
        }
    }

    /// The build id of a file, in hexadecimal digits.
    pub(super) fn build_id_of(file: &File) -> Option<String> {
        let cache = ReadCache::new(file);
        let file = object::File::parse(&cache).ok()?;
        let id = file.build_id().ok().flatten()?;
        (id.len() <= MOST_ID_BYTES).then(|| hexadecimal(id))
    }

    /// Reads an ELF image in memory: the kernel's `[vdso]`.
    pub(super) fn of_image(image: &[u8]) -> Self {
        Self::of(image).unwrap_or_default()
    }

    fn of<'data>(data: impl ReadRef<'data>) -> Option<Self> {
        let file = object::File::parse(data).ok()?;
        let build_id = file.build_id().ok().flatten();
        let build_id = build_id.filter(|id| id.len() <= MOST_ID_BYTES);
        let segments = file.segments().filter(is_code).map(|segment| {
            let (start, bytes) = segment.file_range();
            (start..start.saturating_add(bytes), segment.address())
        });
        let data = file.segments().filter(is_data).map(|segment| {
            let start = segment.address();
            start..start.saturating_add(segment.size())
        });
        let addresses = |name: &str| {
            let section = file.section_by_name(name)?;
            let start = section.address();
            Some(start..start.checked_add(section.size())?)
        };
        let section = |name: &str| {
            let section = file.section_by_name(name)?;
            if section.size() > MOST_TABLE_BYTES {
                return None;
            }
            Some((addresses(name)?, Arc::from(section.data().ok()?)))
        };
        Some(Self {
            build_id: build_id.map(hexadecimal),
            segments: segments.collect(),
            data: data.collect(),
            tables: Tables {
                text: addresses(".text"),
                got: addresses(".got"),
                frames: section(".eh_frame"),
                index: section(".eh_frame_hdr"),
            },
            file: None,
        })
    }

    /// The address at which what lies at an offset of the file wants to be: the start of a mapping, which is that of
    /// a segment or up to a page before it.
    pub(super) fn address_of(&self, offset: u64) -> Option<u64> {
        let page = rustix::param::page_size() as u64;
        let holds = |range: &Range<u64>| range.start < offset + page && offset < range.end;
        let (range, address) = self.segments.iter().find(|(range, _)| holds(range))?;
        Some(address.wrapping_add(offset.wrapping_sub(range.start)))
    }

    /// Where in the file an address of its code lies.
    pub(super) fn offset_of(&self, address: u64) -> Option<u64> {
        let mut inside = self.segments.iter().map(|(range, start)| {
            let into = address.wrapping_sub(*start);
            (into < range.end - range.start).then(|| range.start + into)
        });
        inside.find_map(|offset| offset)
    }

    /// Whether a variable of the file may lie at an address.
    pub(super) fn holds_data(&self, address: u64) -> bool {
        self.data.iter().any(|range| range.contains(&address))
    }

    /// Memory that the tables take, bytes.
    pub(super) fn bytes(&self) -> usize {
        let Tables { frames, index, .. } = &self.tables;
        let bytes = |section: &Section| section.as_ref().map_or(0, |(_, bytes)| bytes.len());
        bytes(frames) + bytes(index)
    }

    /// Gives their memory back.
    pub(super) fn forget_tables(&mut self) {
        self.tables = Tables::default();
    }

    /// The sections in framehop's form; they are shared, not copied.
    pub(super) fn sections(&self) -> ExplicitModuleSectionInfo<Arc<[u8]>> {
        let Tables {
            text,
            got,
            frames,
            index,
        } = &self.tables;
        let (eh_frame_svma, eh_frame) = frames.clone().unzip();
        let (eh_frame_hdr_svma, eh_frame_hdr) = index.clone().unzip();
        ExplicitModuleSectionInfo {
            text_svma: text.clone(),
            got_svma: got.clone(),
            eh_frame_svma,
            eh_frame,
            eh_frame_hdr_svma,
            eh_frame_hdr,
            ..ExplicitModuleSectionInfo::default()
        }
    }
}

fn is_code<'data>(segment: &impl ObjectSegment<'data>) -> bool {
    has_flag(segment, object::elf::PF_X)
}

fn is_data<'data>(segment: &impl ObjectSegment<'data>) -> bool {
    has_flag(segment, object::elf::PF_W)
}

fn has_flag<'data>(segment: &impl ObjectSegment<'data>, flag: u32) -> bool {
    let SegmentFlags::Elf { p_flags } = segment.flags() else {
        return false;
    };
    p_flags & flag != 0
}

fn hexadecimal(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
