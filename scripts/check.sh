#!/usr/bin/env bash
# Before a commit: what can be judged in a minute or two.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/need.sh "the check" compilers
scripts/rust.sh
cargo fmt --all --check
cargo clippy --workspace --all-targets -- -D warnings
cargo xtask tidy
# --bins: the program, the lab and xtask are binaries and have unit tests too.
cargo test --workspace --lib --bins
echo "check: all is well"
