#!/usr/bin/env bash
# Spikes whose trigger is known, among much else that happens, and how often spikes, period and trigger are found.
# Interrupted, it goes on where it stopped.
#
#   NAMES="grants cpu-burst.missed"   only some of them (see: stallscope-lab spikes --list)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [ "$(id -u)" -ne 0 ]; then
    echo "The lab of spikes makes disks, and records with BPF programs: sudo make lab-spikes" >&2
    exit 1
fi
scripts/need.sh "the lab of spikes" compilers postgresql postgresql-server-dev-all util-linux e2fsprogs \
    openjdk-17-jdk-headless nbdkit libnbd-bin
scripts/build.sh

read -r -a names <<<"${NAMES:-}"
exec "${CARGO_TARGET_DIR:-target}/release/stallscope-lab" spikes "${names[@]}" --append lab/SPIKES.md
