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
# Each in its own folder, and told so, as cargo runs it. A guest has all that tests need, so none may be skipped.
in_folder() { echo "cd $PWD/crates/$1 && CARGO_MANIFEST_DIR=$PWD/crates/$1 ${*:2}"; }
also=
# What a guest writes goes with it, so that the golden file is printed.
[ -z "${UPDATE_EXPECT:-}" ] || also="&& cat ../../bpf/verifier/6.12.txt" kernel="env UPDATE_EXPECT=1 $kernel"
STALLSCOPE_REQUIRE=all scripts/guest.sh sh -c \
    "$(in_folder capacity "$capacity" --show-output) && $(in_folder kernel "$kernel" --show-output no_program_costs) $also"
