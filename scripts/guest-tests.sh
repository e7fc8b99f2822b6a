#!/usr/bin/env bash
# Tests that another kernel must pass too, Debian 13's with control groups in the unified hierarchy alone: that it
# takes, shows and gives back limits of groups, and that it verifies all programs for the kernel. `cargo test` has built
# them. Prints what the tests print.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# `Executable unittests src/lib.rs (target/debug/deps/capacity-0123456789abcdef)`
built=$(cargo test --workspace --no-run 2>&1)
binary() {
    local path
    path=$(sed -n "s|^ *Executable unittests src/lib.rs (\(.*/$1-[0-9a-f]*\))\$|\1|p" <<<"$built")
    [ -n "$path" ] || { echo "the tests of $1 are not built: $built" >&2 && exit 1; }
    realpath "$path"
}
capacity=$(binary capacity) kernel=$(binary kernel)
# Each in its own folder, as cargo runs it.
scripts/guest.sh sh -c "cd crates/capacity && $capacity --show-output && cd ../kernel && $kernel --show-output no_program_costs"
