#!/usr/bin/env bash
# A blog of its own, its readers played by JMeter, and storage that gets slower: is it the CPU or the disk?
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [ "$(id -u)" -ne 0 ]; then
    echo "The demo mounts disks of its own: sudo make demo-storage" >&2
    exit 1
fi
scripts/need.sh "the demo" compilers util-linux e2fsprogs apache2 libapache2-mod-php php-cli php-mysql php-redis \
    mariadb-server redis-server wordpress wordpress-theme-twentytwentyone nbdkit libnbd-bin
scripts/rust.sh
jmeter=$(scripts/jmeter.sh)
cargo build --profile demo -p stallscope -p stallscope-lab --bins

built=${CARGO_TARGET_DIR:-target}/demo
# In place of this shell, so that Ctrl-C and the exit status are the lab's own.
exec "$built/stallscope-lab" demo-storage --stallscope "$built/stallscope" --jmeter "$jmeter"
