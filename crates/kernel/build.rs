//! Compiles the programs of `bpf/` and writes the code that loads them.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;

use libbpf_cargo::SkeletonBuilder;

/// One program each: `bpf/NAME.bpf.c`.
const PROGRAMS: [&str; 9] = [
    "block",
    "clock",
    "floor",
    "flow",
    "thread_time",
    "pressure",
    "processes",
    "requests",
    "tasks",
];

fn main() {
    let [folder, out] = ["CARGO_MANIFEST_DIR", "OUT_DIR"]
        .map(|name| PathBuf::from(std::env::var_os(name).expect("cargo sets it")));
    let folder = folder.join("../../bpf");
    println!("cargo:rerun-if-changed={}", folder.display());
    let mut objects = String::new();
    for name in PROGRAMS {
        let source = folder.join(format!("{name}.bpf.c"));
        let skeleton = out.join(format!("{name}.skel.rs"));
        let object = out.join(format!("{name}.bpf.o"));
        let built = SkeletonBuilder::new()
            .source(&source)
            .obj(&object)
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
        let _ = write!(objects, "(\"{name}\", include_bytes!({object:?})),");
    }
    // For the test of what they cost the verifier: all of them, and what compiled them.
    std::fs::write(out.join("objects.rs"), format!("&[{objects}]")).expect("cargo's own folder");
    println!("cargo:rustc-env=CLANG_MAJOR={}", clang_major());
}

/// As the first number in "Debian clang version 14.0.6".
fn clang_major() -> String {
    let output = Command::new("clang").arg("--version").output();
    let text = output.map_or(String::new(), |it| {
        String::from_utf8_lossy(&it.stdout).into()
    });
    let version = text.split_once("clang version ").map_or("", |(_, it)| it);
    version.split('.').next().unwrap_or_default().to_owned()
}
