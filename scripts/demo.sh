#!/usr/bin/env bash
# A PostgreSQL of its own, a load, and what the program says of it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/need.sh "the demo" postgresql compilers
scripts/rust.sh
# Only what is run below: `make build` builds all, and for good.
cargo build --profile demo -p stallscope -p stallscope-lab --bins

built=${CARGO_TARGET_DIR:-target}/demo
# In place of this shell, so that Ctrl-C and the exit status are the lab's own.
exec "$built/stallscope-lab" demo --stallscope "$built/stallscope"
