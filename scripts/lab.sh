#!/usr/bin/env bash
# Every situation with a known cause, several times, then the score. About 15 minutes; interrupted, it
# goes on where it stopped.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/need.sh "the lab" postgresql compilers util-linux e2fsprogs iproute2
scripts/build.sh

built=${CARGO_TARGET_DIR:-target}/release
"$built/stallscope-lab" run --repeat 3
exec "$built/stallscope-lab" score
