//! From registers and the top of a stack to the functions that were being executed, by the unwinding tables
//! (.eh_frame) that nearly all programs have: most have no frame pointers.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::Read as _;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::rc::{Rc, Weak};
use std::sync::Arc;

use framehop::{
    CacheNative, Error, FrameAddress, MayAllocateDuringUnwind, Module as UnwindModule,
    UnwindRegsNative, Unwinder as _, UnwinderNative,
};

use super::maps::{Mapping, executable};
use super::module::Module;
use super::records::{Registers, UserStack};
use crate::local_files;
use crate::mounts::Mountinfo;

/// Frames of a stack, at most; of deeper ones the innermost are kept.
pub const MOST_FRAMES: usize = 256;
/// A list of mappings is read up to here.
const MOST_MAPS_BYTES: u64 = 4 << 20;
/// Files that are known at a time.
const MOST_MODULES: usize = 2_000;
/// Memory for their unwinding tables, bytes; files beyond it are unwound by frame pointers.
const MOST_TABLE_BYTES: usize = 64 << 20;

/// A file that code is executed from, by number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ModuleId(pub u32);

/// A frame of a stack.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Frame {
    /// The file; `None` for memory without one.
    pub module: Option<ModuleId>,
    /// The address as the file states it, or in memory without a file. Of callers that of the byte before the return
    /// address, which lies in the call.
    pub address: u64,
}

/// How an unwinding ended.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum End {
    /// At the outermost function.
    Whole,
    /// Where the copy of the stack ends, or at `MOST_FRAMES`.
    Cut,
    /// Where no table and no frame pointer leads on.
    Lost,
    /// At once: the process ended before its mappings could be read, or they may not be read.
    Unmapped,
}

/// What is known of a file that code is executed from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModuleName {
    /// Its path as its processes see it.
    pub path: String,
    /// Its build id, in hexadecimal digits.
    pub build_id: Option<String>,
}

/// Mappings with their files.
struct Space {
    /// By where a mapping begins: its end, what is subtracted from an address, its file.
    places: BTreeMap<u64, (u64, u64, Option<ModuleId>)>,
    unwinder: UnwinderNative<Arc<[u8]>, MayAllocateDuringUnwind>,
}

/// Unwinds the stacks of processes.
pub struct Unwinder {
    proc: PathBuf,
    cache: CacheNative<MayAllocateDuringUnwind>,
    /// By path and inode.
    numbers: HashMap<(String, u64), ModuleId>,
    modules: Vec<(ModuleName, Module)>,
    table_bytes: usize,
    processes: HashMap<u32, Option<Rc<Space>>>,
    /// By the hash of their mappings: processes that were forked have the same.
    spaces: HashMap<u64, Weak<Space>>,
}

impl Unwinder {
    /// For the processes that are shown below `proc`.
    pub fn new(proc: &Path) -> Self {
        Self {
            proc: proc.to_owned(),
            cache: CacheNative::new(),
            numbers: HashMap::new(),
            modules: Vec::new(),
            table_bytes: 0,
            processes: HashMap::new(),
            spaces: HashMap::new(),
        }
    }

    /// A process executes another program, or maps other files: what was known of it is not so any more.
    pub fn changed(&mut self, pid: u32) {
        self.processes.remove(&pid);
    }

    /// A process ended.
    pub fn exited(&mut self, pid: u32) {
        self.processes.remove(&pid);
        if self.spaces.len() > 2 * self.processes.len() + 100 {
            self.spaces.retain(|_, space| space.strong_count() > 0);
        }
    }

    /// All files so far, by number.
    pub fn modules(&self) -> impl ExactSizeIterator<Item = &ModuleName> {
        self.modules.iter().map(|(name, _)| name)
    }

    /// A file that is kept open for naming.
    pub fn file_of(&self, module: ModuleId) -> Option<&File> {
        let (_, module) = self.modules.get(module.0 as usize)?;
        module.file.as_ref()
    }

    /// Where in a file an address of its code lies.
    pub(super) fn offset_of(&self, module: ModuleId, address: u64) -> Option<u64> {
        let (_, module) = self.modules.get(module.0 as usize)?;
        module.offset_of(address)
    }

    /// The file of which an address in a process's memory is a variable, and the address as the file states it; `None` on
    /// heaps and stacks, and where nothing of the process was unwound yet.
    pub fn variable_at(&self, pid: u32, address: u64) -> Option<(ModuleId, u64)> {
        let space = self.processes.get(&pid)?.as_ref()?;
        space.places.values().find_map(|(_, bias, module)| {
            let number = (*module)?;
            let (_, module) = self.modules.get(number.0 as usize)?;
            let stated = address.wrapping_sub(*bias);
            module.holds_data(stated).then_some((number, stated))
        })
    }

    /// Memory of unwinding tables, bytes.
    pub fn table_bytes(&self) -> usize {
        self.table_bytes
    }

    /// Adds the frames of a process's stack to `frames`, the innermost first.
    pub fn unwind(&mut self, pid: u32, stack: &UserStack<'_>, frames: &mut Vec<Frame>) -> End {
        if !self.processes.contains_key(&pid) {
            let space = self.space_of(pid);
            self.processes.insert(pid, space);
        }
        let Some(Some(space)) = self.processes.get(&pid) else {
            return End::Unmapped;
        };
        let Registers { ip, sp, .. } = stack.registers;
        let mut read = |address: u64| {
            let start = usize::try_from(address.wrapping_sub(sp)).map_err(|_| ())?;
            let word = stack.bytes.get(start..).and_then(<[u8]>::first_chunk::<8>);
            word.map(|word| u64::from_ne_bytes(*word)).ok_or(())
        };
        let registers = native(&stack.registers);
        let unwinder = &space.unwinder;
        let mut steps = unwinder.iter_frames(ip, registers, &mut self.cache, &mut read);
        for _ in 0..MOST_FRAMES {
            match steps.next() {
                Ok(Some(frame)) => match space.frame_of(frame) {
                    Some(frame) => frames.push(frame),
                    // No code is there: a number on the stack was taken for a return address.
                    None => return End::Lost,
                },
                Ok(None) | Err(Error::ReturnAddressIsNull) => return End::Whole,
                Err(Error::CouldNotReadStack(address)) => {
                    // What lies behind the copy, though not what is no stack at all.
                    let end = sp.saturating_add(stack.bytes.len() as u64);
                    let is_behind = (end.saturating_sub(8)..end + (1 << 20)).contains(&address);
                    return match stack.is_cut && is_behind {
                        true => End::Cut,
                        false => End::Lost,
                    };
                }
                Err(_) => return End::Lost,
            }
        }
        End::Cut
    }

    /// The mappings of a process, read now; `None` where they cannot be.
    fn space_of(&mut self, pid: u32) -> Option<Rc<Space>> {
        let folder = self.proc.join(pid.to_string());
        let mut maps = Vec::new();
        let file = File::open(folder.join("maps")).ok()?;
        file.take(MOST_MAPS_BYTES).read_to_end(&mut maps).ok()?;
        let maps = String::from_utf8_lossy(&maps);
        let mappings: Vec<Mapping<'_>> = executable(&maps).collect();
        if mappings.is_empty() {
            return None;
        }
        let mut hasher = DefaultHasher::new();
        mappings.hash(&mut hasher);
        let hash = hasher.finish();
        if let Some(space) = self.spaces.get(&hash).and_then(Weak::upgrade) {
            return Some(space);
        }
        let space = Rc::new(self.read_space(&folder, &mappings));
        self.spaces.insert(hash, Rc::downgrade(&space));
        Some(space)
    }

    fn read_space(&mut self, folder: &Path, mappings: &[Mapping<'_>]) -> Space {
        let info = Mountinfo::default();
        let mut space = Space {
            places: BTreeMap::new(),
            unwinder: UnwinderNative::new(),
        };
        for mapping in mappings {
            let module = self.module_of(folder, &info, mapping);
            let Range { start, end } = mapping.addresses.clone();
            let mut bias = 0;
            if let Some(number) = module {
                let (name, module) = &self.modules[number.0 as usize];
                // Where it is no ELF file, addresses are offsets in it.
                let stated = module.address_of(mapping.offset).unwrap_or(mapping.offset);
                bias = start.wrapping_sub(stated);
                if module.bytes() > 0 {
                    space.unwinder.add_module(UnwindModule::new(
                        name.path.clone(),
                        start..end,
                        bias,
                        module.sections(),
                    ));
                }
            }
            space.places.insert(start, (end, bias, module));
        }
        space
    }

    /// The number of a mapping's file, which is read the first time.
    fn module_of(
        &mut self,
        folder: &Path,
        info: &Mountinfo,
        mapping: &Mapping<'_>,
    ) -> Option<ModuleId> {
        let path = mapping.path.trim_end_matches(" (deleted)");
        let is_vdso = path == "[vdso]";
        if !is_vdso && !path.starts_with('/') {
            return None;
        }
        let key = (path.to_owned(), mapping.inode);
        if let Some(known) = self.numbers.get(&key) {
            return Some(*known);
        }
        if self.modules.len() == MOST_MODULES {
            return None;
        }
        let mut module = match is_vdso {
            true => vdso(folder, mapping).unwrap_or_default(),
            false => local_files::mapped(folder, info, path, mapping.inode)
                .map_or_else(|_| Module::default(), |file| Module::read(file.into())),
        };
        if self.table_bytes + module.bytes() > MOST_TABLE_BYTES {
            module.forget_tables();
        }
        self.table_bytes += module.bytes();
        let name = ModuleName {
            path: path.to_owned(),
            build_id: module.build_id.clone(),
        };
        let number = ModuleId(self.modules.len() as u32);
        self.modules.push((name, module));
        self.numbers.insert(key, number);
        Some(number)
    }
}

impl Space {
    fn frame_of(&self, frame: FrameAddress) -> Option<Frame> {
        let address = frame.address_for_lookup();
        let (_, (end, bias, module)) = self.places.range(..=address).next_back()?;
        (address < *end).then(|| Frame {
            module: *module,
            address: match module {
                Some(_) => address.wrapping_sub(*bias),
                None => address,
            },
        })
    }
}

/// The image that the kernel maps into every process.
fn vdso(folder: &Path, mapping: &Mapping<'_>) -> Option<Module> {
    const MOST_BYTES: u64 = 64 << 10;
    let length = (mapping.addresses.end - mapping.addresses.start).min(MOST_BYTES);
    let mut image = vec![0; length as usize];
    let memory = File::open(folder.join("mem")).ok()?;
    memory
        .read_exact_at(&mut image, mapping.addresses.start)
        .ok()?;
    Some(Module::of_image(&image))
}

#[cfg(target_arch = "x86_64")]
fn native(registers: &Registers) -> UnwindRegsNative {
    let Registers { ip, sp, fp, .. } = *registers;
    UnwindRegsNative::new(ip, sp, fp)
}

#[cfg(target_arch = "aarch64")]
fn native(registers: &Registers) -> UnwindRegsNative {
    let Registers { sp, fp, lr, .. } = *registers;
    UnwindRegsNative::new(lr, sp, fp)
}
