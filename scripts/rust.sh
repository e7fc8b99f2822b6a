#!/usr/bin/env bash
# Makes sure that a Rust which can build the workspace is there; silent when it is.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

install_line="curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh"

stop() {
    echo "$1" >&2
    echo "  $2" >&2
    exit 1
}

wanted=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
[ -n "$wanted" ] || stop "Cargo.toml names no rust-version." "Restore it: git checkout Cargo.toml"

for program in cargo rustc; do
    command -v "$program" >/dev/null && continue
    env_file="${CARGO_HOME:-$HOME/.cargo}/env"
    [ -f "$env_file" ] && stop "$program is installed, but not in PATH. Run:" ". \"$env_file\""
    stop "$program is not installed; Rust $wanted or newer is needed. Run:" "$install_line"
done

if ! version=$(rustc --version 2>/dev/null); then
    stop "rustc is there and does not run. Run:" "rustup default stable"
fi
found=$(awk '{ sub(/-.*/, "", $2); print $2 }' <<<"$version")
oldest=$(printf '%s\n%s\n' "$wanted" "$found" | sort -V | head -n 1)
if [ "$oldest" != "$wanted" ]; then
    update=$install_line
    command -v rustup >/dev/null && update="rustup update stable"
    stop "Rust is $found; $wanted or newer is needed. Run:" "$update"
fi
