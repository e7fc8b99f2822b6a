//! Compiles the programs of `bpf/` and writes the code that loads them.

use std::path::PathBuf;

use libbpf_cargo::SkeletonBuilder;

/// One program each: `bpf/NAME.bpf.c`.
const PROGRAMS: [&str; 5] = ["clock", "floor", "ledger", "pressure", "requests"];

fn main() {
    let [folder, out] = ["CARGO_MANIFEST_DIR", "OUT_DIR"]
        .map(|name| PathBuf::from(std::env::var_os(name).expect("cargo sets it")));
    let folder = folder.join("../../bpf");
    println!("cargo:rerun-if-changed={}", folder.display());
    for name in PROGRAMS {
        let source = folder.join(format!("{name}.bpf.c"));
        let skeleton = out.join(format!("{name}.skel.rs"));
        let built = SkeletonBuilder::new()
            .source(&source)
            .clang_args([
                "-Wall",
                "-Wextra",
                "-Werror",
                "-Wno-unused-parameter",
                // Atomic operations that give a value back; kernels have them since 5.12.
                "-mcpu=v3",
            ])
            .build_and_generate(&skeleton);
        if let Err(error) = built {
            panic!(
                "{} was not compiled: {error:#}. It needs clang and the headers of libelf and zlib; on \
                 Debian: apt-get install clang libelf-dev zlib1g-dev",
                source.display()
            );
        }
    }
}
