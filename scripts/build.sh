#!/usr/bin/env bash
# Builds the program, the lab, the bench and the steal experiment for use.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/need.sh "the build" compilers
scripts/rust.sh
cargo build --release -p stallscope -p stallscope-lab -p stallscope-bench -p stealmeter-experiment
