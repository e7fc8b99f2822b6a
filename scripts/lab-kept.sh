#!/usr/bin/env bash
# lab-kept.sh spikes|prove: a part of the lab whose scores are kept with their date. Interrupted, it goes on where it
# stopped.
#
#   NAMES="grants cpu-burst.missed"   only some of its situations (see: stallscope-lab spikes --list)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

part=${1:?spikes or prove}
if [ "$(id -u)" -ne 0 ]; then
    echo "The lab makes disks and control groups, and records with BPF programs: sudo make lab-$part" >&2
    exit 1
fi
case $part in
    spikes)
        scores=lab/SPIKES.md
        scripts/need.sh "the lab of spikes" compilers postgresql postgresql-server-dev-all util-linux e2fsprogs \
            openjdk-17-jdk-headless nbdkit libnbd-bin
        ;;
    prove)
        scores=lab/PROOFS.md
        scripts/need.sh "the lab of experiments" compilers postgresql util-linux redis-server nginx-light \
            mariadb-server sysbench apache2 apache2-utils python3
        ;;
esac
scripts/build.sh

read -r -a names <<<"${NAMES:-}"
exec "${CARGO_TARGET_DIR:-target}/release/stallscope-lab" "$part" "${names[@]}" --append "$scores"
