#!/usr/bin/env bash
# What the program costs, as ratios within one run; bench/RESULTS.md keeps what was measured.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/need.sh "the bench" postgresql build-essential
scripts/build.sh

built=${CARGO_TARGET_DIR:-target}/release
exec "$built/stallscope-bench" "$@"
