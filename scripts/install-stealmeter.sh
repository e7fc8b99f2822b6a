#!/usr/bin/env bash
# Builds stealmeter for C and puts header, libraries and pkg-config file where PREFIX says
# (/usr/local). DESTDIR goes before it, for packages. PROFILE=dev takes the debug build.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

prefix=${PREFIX:-/usr/local}
root=${DESTDIR:-}$prefix
profile=${PROFILE:-release}
case "$profile" in
    dev) folder=debug ;;
    *) folder=$profile ;;
esac
built=${CARGO_TARGET_DIR:-target}/$folder

scripts/need.sh "the library for C" build-essential
scripts/rust.sh
cargo build --package stealmeter --lib --profile "$profile"

version=$(cargo pkgid --package stealmeter)
version=${version##*[@#]}
install -d "$root/include" "$root/lib/pkgconfig"
install -m 644 crates/stealmeter/include/stealmeter.h "$root/include/"
install -m 644 "$built/libstealmeter.a" "$root/lib/"
install -m 755 "$built/libstealmeter.so" "$root/lib/libstealmeter.so.$version"
# Most of their size is debug information of Rust's standard library.
strip --strip-debug "$root/lib/libstealmeter.a" "$root/lib/libstealmeter.so.$version"
# Programs ask for the soname, linkers for the plain name.
ln -sf "libstealmeter.so.$version" "$root/lib/libstealmeter.so.0"
ln -sf libstealmeter.so.0 "$root/lib/libstealmeter.so"
sed -e "s|@PREFIX@|$prefix|" -e "s|@VERSION@|$version|" crates/stealmeter/stealmeter.pc.in \
    >"$root/lib/pkgconfig/stealmeter.pc"
chmod 644 "$root/lib/pkgconfig/stealmeter.pc"
echo "stealmeter $version is in $root"
