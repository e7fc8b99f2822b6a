//! Gives the library for C the name by which programs ask for it at run time.

fn main() {
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libstealmeter.so.0");
    println!("cargo::rerun-if-changed=build.rs");
}
