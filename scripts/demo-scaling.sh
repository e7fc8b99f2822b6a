#!/usr/bin/env bash
# How many small databases one host carries, and which of two platforms carries more: the knee and the crossing.
#
# STALLSCOPE=PATH takes a program that is built already.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [ "$(id -u)" -ne 0 ]; then
    echo "The demo gives each database a cgroup of its own: sudo make demo-scaling" >&2
    exit 1
fi
scripts/need.sh "the demo" compilers util-linux postgresql python3
if [ -z "${STALLSCOPE:-}" ]; then
    scripts/rust.sh
    cargo build --profile demo -p stallscope --bins
    STALLSCOPE=$(realpath "${CARGO_TARGET_DIR:-target}")/demo/stallscope
fi

instance=$(realpath scripts/demo/instance.sh)
folder=$(mktemp -d /var/tmp/stallscope-demo-XXXXXX)
trap 'rm -rf "$folder"' EXIT
chown postgres "$folder"
for number in 1 2 3 4 5 6 7 8 9; do
    [ -e "demo-scaling-$number" ] || break
done
out=demo-scaling-$number
[ ! -e "$out" ] || { echo "There are demo-scaling-1 to $out: remove one" >&2 && exit 1; }
mkdir "$out"
load=(pgbench -n -S -c 2 -T 6 -h "$folder" -p '56{instance}' -U postgres bench)
servers=(--prepare "$instance start $folder {instance}" --cleanup "$instance stop $folder {instance}")
# The first start makes the database that the others are copies of.
"$instance" start "$folder" 1
"$instance" stop "$folder" 1

cat <<'TEXT'

1. Each database may use 0.25 CPUs, its load generator included. How many of them does this machine carry?
   Of two CPUs that is eight, less what the machine itself, the recorder and others on it need.

TEXT
"$STALLSCOPE" sweep --set instances=1,2,3,4,5,6,8,10,12 --set quota=0.25 --repeat 3 "${servers[@]}" \
    --folder "$out/knee" --json "$out/knee.json" -o "$out/knee.html" -- "${load[@]}"
python3 - "$out/knee.json" <<'PYTHON'
import json, sys

had = []
for point in json.load(open(sys.argv[1]))["points"]:
    figures = {it["key"]: it["value"] for it in point["figures"]}
    if "cpu.both" in figures:
        had.append(figures["cpu.both"] * figures["throughput"] / 1e9)
if had:
    most = max(had)
    print(f"\nThe databases and their load generators had {most:.2f} CPUs at most: {most:.2f} / 0.25 = {most / 0.25:.1f}")
PYTHON

cat <<'TEXT'

2. Platform A gives each database 0.5 of two CPUs, platform B one CPU for all of them. Which is faster?

TEXT
"$STALLSCOPE" sweep --set instances=1,2,3,4 --set quota+cpus=0.5/0-1,none/0 --repeat 2 "${servers[@]}" \
    --folder "$out/crossing" --json "$out/crossing.json" -o "$out/crossing.html" -- "${load[@]}"

echo
echo "Pages: $out/knee.html and $out/crossing.html"
