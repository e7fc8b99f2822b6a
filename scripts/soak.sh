#!/usr/bin/env bash
# The long form of every trial. Interrupted, it goes on where it stopped; --fresh begins anew.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/need.sh "the soak" postgresql compilers util-linux e2fsprogs iproute2
scripts/build.sh

built=${CARGO_TARGET_DIR:-target}/release
exec "$built/stallscope-lab" soak "$@"
