#!/usr/bin/env bash
# An experiment on another kernel, Debian 13's with control groups in the unified hierarchy alone: a server under load
# in a group with a quota; `prove` lowers it, and afterwards the quota must be what it was. Takes 3 minutes.
#
# STALLSCOPE and LAB=PATH take programs that are built already.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [ -z "${STALLSCOPE:-}" ] || [ -z "${LAB:-}" ]; then
    scripts/rust.sh
    cargo build --profile demo -p stallscope -p stallscope-lab --bins
    built=$(realpath "${CARGO_TARGET_DIR:-target}")/demo
    STALLSCOPE=$built/stallscope LAB=$built/stallscope-lab
fi

# In the guest, as root.
inside='
set -eu
stallscope=$1 lab=$2 groups=/sys/fs/cgroup quota="30000 100000"
cd /tmp
echo "+cpu +memory +io +cpuset" > $groups/cgroup.subtree_control
mkdir $groups/db
echo "$quota" > $groups/db/cpu.max
sh -c "echo \$\$ > $groups/db/cgroup.procs; exec $lab serve single-thread --loops 2" > served &
while ! [ -s served ]; do sleep 1; done
address=$(awk "{ sub(\",\", \"\", \$3); print \$3; exit }" served)
server=$(head -1 $groups/db/cgroup.procs)
"$lab" load "$address" --connections 4 --seconds 400 > /dev/null &
"$stallscope" prove --yes --capacity cpu --for 150s --at-most 6x --target "pid:$server" -o proved.stall --json proof.json
grep -q "\"outcome\": *\"proved\"" proof.json || { echo "the quota was not proved" && exit 1; }
now=$(cat $groups/db/cpu.max)
[ "$now" = "$quota" ] || { echo "cpu.max is $now after it, and was $quota" && exit 1; }
echo "Linux $(uname -r): proved, and cpu.max is $now again."
'
scripts/guest.sh sh -c "$inside" sh "$(realpath "$STALLSCOPE")" "$(realpath "$LAB")"
