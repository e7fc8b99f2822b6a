#!/usr/bin/env bash
# fuzz.sh [TARGET [SECONDS]]
#
# Feeds a target (all of them when left out, one after the other) for so many seconds (60) with inputs
# that coverage guides, on stable Rust. What was found is kept in target/fuzz/corpus/TARGET and is where
# the next run begins. An input that breaks something is written to fuzz/kept/TARGET/, where
# `cargo test` finds it: mend the bug, give the file a name that says what it was, and commit both.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# An input that takes longer, or makes the process larger, counts as broken.
most_seconds=10
most_mb=1024
longest=65536

scripts/need.sh "the fuzzer" compilers
scripts/rust.sh

here=$(rustc -vV | sed -n 's/^host: //p')
built=${CARGO_TARGET_DIR:-target}/fuzz
# What cargo-fuzz passes with --sanitizer none. Only what is built for a named target gets them: build
# scripts and macros do not.
coverage="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4"
coverage+=" -Cllvm-args=-sanitizer-coverage-inline-8bit-counters"
coverage+=" -Cllvm-args=-sanitizer-coverage-pc-table"
coverage+=" -Cllvm-args=-sanitizer-coverage-trace-compares"
RUSTFLAGS=$coverage cargo build --profile fuzz --target "$here" --target-dir "$built" \
    -p stallscope-fuzz --features libfuzzer --bin stallscope-fuzzer
# What names targets and writes their seeds is an ordinary program: without libFuzzer nothing would count.
cargo build -p stallscope-fuzz --bin stallscope-fuzz

fuzzer=$built/$here/fuzz/stallscope-fuzzer
plain=${CARGO_TARGET_DIR:-target}/debug/stallscope-fuzz
seconds=${2:-60}
if [ "$#" -gt 0 ]; then
    targets=$1
else
    targets=$("$plain" targets)
fi

# Folders that a target makes and a crash leaves go with this. In memory where there is some: recordings are
# written and read thousands of times a second.
scratch=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d)
trap 'rm -rf "$scratch"' EXIT

broken=()
for target in $targets; do
    corpus=$built/corpus/$target
    mkdir -p "$corpus" "fuzz/kept/$target" "$scratch/seeds/$target"
    "$plain" seeds "$target" "$scratch/seeds/$target"
    echo "== $target, $seconds s"
    STALLSCOPE_FUZZ=$target TMPDIR=$scratch "$fuzzer" \
        -max_total_time="$seconds" -timeout="$most_seconds" -rss_limit_mb="$most_mb" \
        -max_len="$longest" -use_value_profile=1 -print_final_stats=1 \
        -artifact_prefix="fuzz/kept/$target/" \
        "$corpus" "$scratch/seeds/$target" 2>"$scratch/said" || broken+=("$target")
    grep -E 'panicked|^thread|INITED|DONE|ERROR|SUMMARY|Test unit|stat::' "$scratch/said" || true
    rmdir --ignore-fail-on-non-empty "fuzz/kept/$target"
done
if [ "${#broken[@]}" -gt 0 ]; then
    echo "broken: ${broken[*]} (inputs are in fuzz/kept)" >&2
    exit 1
fi
