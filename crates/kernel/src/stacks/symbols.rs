//! Names of functions: of ELF files by blazesym, of the kernel by /proc/kallsyms, of code that a program made itself
//! by its perf map (tools/perf/Documentation/jit-interface.txt of the kernel).
//!
//! An address that lies in no symbol has no name: the one before it is not taken for it.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read, Seek as _};
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};

use blazesym::symbolize::source::{Elf, Source};
use blazesym::symbolize::{Input, Sym, Symbolized, Symbolizer};
use object::{Object as _, ObjectSection as _, ObjectSymbol as _, ReadCache, SymbolKind};

use super::module::Module;
use super::short_names::shortened;

/// A perf map is read up to here.
const MOST_MAP_BYTES: u64 = 64 << 20;
/// Larger tables of symbols are not searched for variables. Chromium has 20 MB.
const MOST_SYMBOL_BYTES: u64 = 64 << 20;
/// Functions inlined into each other at one place, at most.
const MOST_INLINED: usize = 16;

/// The functions at an address: the outermost first, then those that are inlined there, one into another.
pub type Functions = Vec<String>;

/// Names addresses of an open ELF file, by its symbols and, if `debug` says so, by its debugging information, which
/// knows static and inlined functions, and which is looked for in these folders too. Nothing for an address without
/// a symbol.
pub fn of_file(file: &File, addresses: &[u64], debug: Option<&[PathBuf]>) -> Vec<Functions> {
    // The path may lead elsewhere by now.
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    of_path(Path::new(&path), addresses, debug)
}

/// The build id of an ELF file, in hexadecimal digits, if it has one.
pub fn build_id_of(file: &File) -> Option<String> {
    Module::build_id_of(file)
}

/// The same of a file by its path.
pub fn of_path(path: &Path, addresses: &[u64], debug: Option<&[PathBuf]>) -> Vec<Functions> {
    let symbolizer = Symbolizer::builder()
        .enable_code_info(false)
        .enable_inlined_fns(debug.is_some())
        .enable_auto_reload(false)
        .set_debug_dirs(debug)
        .build();
    let source = Source::Elf(Elf {
        debug_syms: debug.is_some(),
        ..Elf::new(path)
    });
    let found = symbolizer.symbolize(&source, Input::VirtOffset(addresses));
    let Ok(found) = found else {
        return vec![Functions::new(); addresses.len()];
    };
    found.iter().map(functions).collect()
}

fn functions(found: &Symbolized<'_>) -> Functions {
    let Symbolized::Sym(Sym { name, inlined, .. }) = found else {
        return Functions::new();
    };
    let inlined = inlined.iter().take(MOST_INLINED);
    let names = inlined.map(|function| &*function.name);
    std::iter::once(&**name)
        .chain(names)
        .map(shortened)
        .collect()
}

/// Names the variables at addresses of an ELF file, by its symbols: what lies inside of one has its distance behind it.
pub fn variables_of(file: &File, addresses: &[u64]) -> Vec<Option<String>> {
    let mut names = vec![None; addresses.len()];
    let cache = ReadCache::new(file);
    let Ok(file) = object::File::parse(&cache) else {
        return names;
    };
    // A file may be hostile, and is read as root.
    let is_large = |name| {
        let section = file.section_by_name(name);
        section.is_some_and(|section| section.size() > MOST_SYMBOL_BYTES)
    };
    if is_large(".symtab") || is_large(".dynsym") {
        return names;
    }
    let order = in_order(addresses);
    for symbol in file.symbols().chain(file.dynamic_symbols()) {
        if symbol.kind() != SymbolKind::Data {
            continue;
        }
        let start = symbol.address();
        for (address, place) in within(&order, start, start.saturating_add(symbol.size())) {
            let Ok(name) = symbol.name() else { continue };
            let name = shortened(&demangled(name));
            names[*place] = Some(match address - start {
                0 => name,
                distance => format!("{name}+{distance:#x}"),
            });
        }
    }
    names
}

fn demangled(name: &str) -> String {
    if let Ok(name) = rustc_demangle::try_demangle(name) {
        return format!("{name:#}");
    }
    let of_cpp = name
        .starts_with("_Z")
        .then(|| cpp_demangle::Symbol::new(name));
    let of_cpp = of_cpp
        .and_then(Result::ok)
        .and_then(|it| it.demangle().ok());
    of_cpp.unwrap_or_else(|| name.to_owned())
}

/// The kernel's symbols, readable by who was allowed to when this was opened.
pub struct KernelSymbols {
    file: File,
    /// Where the kernel's code begins on this boot.
    start: u64,
}

impl KernelSymbols {
    /// Opens /proc/kallsyms; `None` where it shows no addresses (kernel.kptr_restrict, or without CAP_SYSLOG).
    pub fn open(proc: &Path) -> Option<Self> {
        let file = File::open(proc.join("kallsyms")).ok()?;
        let mut start = None;
        for line in BufReader::new(&file).lines().map_while(Result::ok) {
            if let Some((address, "_text" | "_stext")) = symbol(&line) {
                start = Some(address);
                break;
            }
        }
        let start = start.filter(|address| *address != 0)?;
        Some(Self { file, start })
    }

    /// An address as it is on every boot: counted from where the kernel's code begins. Modules lie elsewhere.
    pub fn relative(&self, address: u64) -> u64 {
        address.wrapping_sub(self.start)
    }

    /// Names such addresses; nothing for those that lie in no function.
    pub fn names(&mut self, relative: &[u64]) -> Vec<Option<String>> {
        let mut text = String::new();
        let read = self.file.rewind();
        if read
            .and_then(|()| self.file.read_to_string(&mut text))
            .is_err()
        {
            return vec![None; relative.len()];
        }
        let mut symbols: Vec<(u64, &str)> = text.lines().filter_map(symbol).collect();
        symbols.sort_unstable();
        let name = |relative: &u64| {
            let address = relative.wrapping_add(self.start);
            let after = symbols.partition_point(|(start, _)| *start <= address);
            let (start, name) = symbols.get(after.checked_sub(1)?)?;
            // No function is as long as this; behind the last one of a module there may be nothing.
            const LONGEST: u64 = 1 << 20;
            (address - start < LONGEST).then(|| (*name).to_owned())
        };
        relative.iter().map(name).collect()
    }
}

/// Address and name of a function: `ffffffff81000000 T name [module]`.
fn symbol(line: &str) -> Option<(u64, &str)> {
    let mut words = line.split_ascii_whitespace();
    let address = u64::from_str_radix(words.next()?, 16).ok()?;
    let kind = words.next()?;
    matches!(kind, "t" | "T" | "w" | "W").then_some(())?;
    Some((address, words.next()?))
}

/// Where a process's runtime writes the names of the code that it made.
pub fn perf_map_of(proc: &Path, pid: u32) -> PathBuf {
    let folder = proc.join(pid.to_string());
    let status = std::fs::read_to_string(folder.join("status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
    // By its id in its own namespace, the last of these.
    let inner = line.and_then(|ids| ids.split_ascii_whitespace().last());
    let inner = inner.map_or_else(|| pid.to_string(), str::to_owned);
    folder.join(format!("root/tmp/perf-{inner}.map"))
}

/// Addresses, ascending, with their places.
fn in_order(addresses: &[u64]) -> Vec<(u64, usize)> {
    let mut order: Vec<(u64, usize)> = addresses.iter().copied().zip(0..).collect();
    order.sort_unstable();
    order
}

/// Those from a start up to an end.
fn within(order: &[(u64, usize)], start: u64, end: u64) -> impl Iterator<Item = &(u64, usize)> {
    let first = order.partition_point(|(address, _)| *address < start);
    let from = order[first..].iter();
    from.take_while(move |(address, _)| *address < end)
}

/// Names addresses by a perf map: `START SIZE NAME` in hexadecimal digits, later lines for newer code.
pub fn of_perf_map(map: impl Read, addresses: &[u64]) -> Vec<Option<String>> {
    let mut names = vec![None; addresses.len()];
    let order = in_order(addresses);
    let lines = BufReader::new(map.take(MOST_MAP_BYTES)).lines();
    for line in lines.map_while(Result::ok) {
        let mut words = line.splitn(3, ' ');
        let mut number = || u64::from_str_radix(words.next()?.trim_start_matches("0x"), 16).ok();
        let (Some(start), Some(size)) = (number(), number()) else {
            continue;
        };
        let Some(name) = words.next() else {
            continue;
        };
        for (_, place) in within(&order, start, start.saturating_add(size)) {
            names[*place] = Some(shortened(name.trim()));
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where two locks are, the second inside of an array.
    static PROBED: [std::sync::atomic::AtomicU64; 4] =
        [const { std::sync::atomic::AtomicU64::new(1) }; 4];

    #[test]
    fn variables_have_their_names_and_what_lies_in_them_a_distance() {
        let file = File::open("/proc/self/exe").expect("it runs");
        let own = std::fs::read(Path::new("/proc/self/exe")).expect("it can be read");
        let elf = object::File::parse(&*own).expect("it is an ELF file");
        let mut symbols = elf.symbols();
        let symbol = symbols.find(|it| it.name().is_ok_and(|name| name.contains("6PROBED")));
        let start = symbol.expect("it is a static").address();
        std::hint::black_box(&PROBED);
        let names = variables_of(&file, &[start, start + 8, start + 32, 1]);
        assert_eq!(
            names[..2],
            [
                Some("kernel::stacks::symbols::tests::PROBED".to_owned()),
                Some("kernel::stacks::symbols::tests::PROBED+0x8".to_owned()),
            ]
        );
        let behind = names[2].as_deref().unwrap_or_default();
        assert!(!behind.contains("PROBED"), "{behind}");
        assert_eq!(names[3], None);
    }

    #[test]
    fn what_is_no_elf_file_has_no_variables() {
        let file = File::open("/proc/self/stat").expect("it is there");
        assert_eq!(variables_of(&file, &[1, 2]), [None, None]);
    }
}
