#!/usr/bin/env bash
# Every situation with a known cause, several times, then the score.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/need.sh "the lab" postgresql build-essential
scripts/build.sh

built=${CARGO_TARGET_DIR:-target}/release
"$built/stallscope-lab" run --repeat 3
exec "$built/stallscope-lab" score
