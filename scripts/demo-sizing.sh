#!/usr/bin/env bash
# How large must a cluster be? Nodes as control groups, in the four sizes of a published experiment: what limits each,
# which is best, and what its load did not test.
#
# STALLSCOPE=PATH takes a program that is built already.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [ "$(id -u)" -ne 0 ]; then
    echo "The demo gives each node a control group: sudo make demo-sizing" >&2
    exit 1
fi
scripts/need.sh "the demo" compilers util-linux postgresql python3
if [ -z "${STALLSCOPE:-}" ]; then
    scripts/rust.sh
    cargo build --profile demo -p stallscope --bins
    STALLSCOPE=$(realpath "${CARGO_TARGET_DIR:-target}")/demo/stallscope
fi
for number in 1 2 3 4 5 6 7 8 9; do
    [ -e "demo-sizing-$number" ] || break
done
out=demo-sizing-$number
[ ! -e "$out" ] || { echo "There are demo-sizing-1 to $out: remove one" >&2 && exit 1; }

# The way to the nodes and back, us.
far=9000
# Requests per second that a node's disk takes.
iops=45
lasts=10 repeat=2

node=$(realpath scripts/demo/node.sh)
folder=/var/tmp/stallscope-demo-sizing-$$
mkdir -m 755 "$folder"
stop() {
    # Where the sweep was ended on the way.
    for data in "$folder"/data-*; do
        pid=$(head -1 "$data/postmaster.pid" 2>/dev/null) || continue
        [ "$(readlink "/proc/$pid/cwd")" != "$data" ] || kill -QUIT "$pid" || true
    done
    rm -rf "$folder"
}
trap stop EXIT
chown postgres "$folder"
mkdir "$out"

echo
echo "1. A cluster of 3 or 6 nodes, each a PostgreSQL in a control group. Making its data"
"$node" template "$folder" 90M 6
"$node" template "$folder" 45M 3
for data in 90M:600000 45M:300000; do
    cat >"$folder/far-${data%:*}.sql" <<SQL
\set aid random(1, ${data#*:})
\sleep $far us
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
SQL
done
chmod a+r "$folder"/far-*.sql

# A sweep of nodes that take OWN CPUs for themselves, in runs of SECONDS.
sweep() {
    local own=$1 seconds=$2
    shift 2
    "$STALLSCOPE" sweep --prepare "$node start $folder {instance} {data} $own" \
        --cleanup "$node stop $folder {instance} {data}" "$@" -- \
        pgbench -n -M prepared -f "$folder/far-{data}.sql" -c '{clients}' -T "$seconds" -P 1 \
        -h "$folder" -p '57{instance}' -U postgres postgres
}
echo "   Measuring a request's CPU time"
# Where the quota ends them, as in what follows: with CPUs to spare a request needs a third less, or as much.
tried=0.100 tried_own=0.078
sweep "$tried_own" 5 --repeat 2 --set instances+clients+data=6/2/45M --set "quota+memory+iops=$tried/80M/$iops" \
    --folder "$out/first" --json "$out/first.json" >"$out/first.txt" 2>&1
# So that on any machine two vCPUs of each of six nodes are enough for three fifths of what the clients ask for, and four of
# each of three for all of it, with 1.56 for the node itself, as in the published figures.
read -r small large own < <(python3 - "$out/first.json" "$tried" "$tried_own" <<'PYTHON'
import json, sys

figures = {it["key"]: it["value"] for it in json.load(open(sys.argv[1]))["points"][0]["figures"]}
each = (float(sys.argv[2]) - float(sys.argv[3])) / (figures["throughput"] / 6)
asked = 2 / 0.0094
vcpu = 0.62 * asked * each / (2 - 1.56)
print(f"{2 * vcpu:.3f} {4 * vcpu:.3f} {1.56 * vcpu:.3f}")
PYTHON
)
cat <<TEXT
   What a node may use, by its size:

     2 vCPUs   $small CPUs    80 MB of memory, page cache included
     4 vCPUs   $large CPUs   160 MB

   So a size is a CPU quota here, and where it says CPU quota below, read: the CPUs of a node.
   Whatever its size, a node takes $own CPUs for itself, as nodes of clusters do, and its disk $iops requests
   per second. 270 MB of data lie on the nodes in equal parts: 90 MB on each of 3, 45 MB on each of 6.
   12 clients are 9 ms away: they wait that long on the way, ask for one row of any, wait for the answer, and
   ask again.

2. The same 12 clients on 3 x 2, 6 x 2, 6 x 4 and 3 x 4 vCPUs, in random order, twice

TEXT
sweep "$own" "$lasts" --repeat "$repeat" --set 'instances+clients+data=3/4/90M,6/2/45M' \
    --set "quota+memory+iops=$small/80M/$iops,$large/160M/$iops" \
    --folder "$out/runs" --json "$out/sweep.json" -o "$out/sweep.html"

# What clouds ask for: 0.04 for a vCPU and 0.01 for a node.
cat >"$out/prices.toml" <<TOML
currency = "EUR"

[per_hour]
"instances*quota" = $(python3 -c "print(round(2 * 0.04 / $small, 4))")
instances = 0.01
TOML

cat <<'TEXT'

3. Which is best, why, and what could these clients not show? A vCPU costs 0.04 EUR an hour, a node 0.01

TEXT
"$STALLSCOPE" size "$out/runs" --price "$out/prices.toml" --json "$out/size.json"

python3 - "$out" "$small" "$large" <<'PYTHON'
import json, sys

out, small, large = sys.argv[1:]
size = json.load(open(f"{out}/size.json"))
names = [parameter["name"] for parameter in size["parameters"]]
sizes = {}
for it in size["configurations"]:
    values = dict(zip(names, it["values"]))
    vcpus = {small: 2, large: 4}[values["quota"]]
    sizes[f"{values['instances']} x {vcpus}"] = it
chosen = next(name for name, it in sizes.items() if it is size["configurations"][size["chosen"]])
print("\n4. Beside the published figures: tps and pressure (CPU, I/O)\n")
published = {"3 x 2": "3,661 tps       71 % I/O", "6 x 2": "4,535 tps  81 % CPU",
             "6 x 4": "12,906 tps  25 % CPU", "3 x 4": "13,119 tps  29 % CPU"}
for name, theirs in published.items():
    it = sizes[name]
    limit = it["limit"]["cause"] if it["limit"] else "not known"
    print(f"   {name}  {it['throughput']['value']:6,.0f} tps  {it['cpu_some']:4.0%} CPU {it['io_some']:4.0%} I/O"
          f"  {limit:13} | {theirs}")
print("\n   The data is removed: what it says to measure is for a cluster that stays.")
print(f"   Page: {out}/sweep.html. JSON: {out}/sweep.json and {out}/size.json. Runs: {out}/runs")
rate = {name: it["throughput"]["value"] for name, it in sizes.items()}
cause = {name: it["limit"]["cause"] if it["limit"] else "" for name, it in sizes.items()}
wrong = []
if not rate["3 x 2"] < rate["6 x 2"] < min(rate["6 x 4"], rate["3 x 4"]):
    wrong.append("more should come from 6 x 2 than from 3 x 2, and from 4 vCPUs than from both")
least = min(sizes["3 x 2"]["io_some"], sizes["3 x 2"]["cpu_some"])
if cause["3 x 2"] not in ("io.throttled", "cpu.quota") or least < 0.3:
    wrong.append("3 x 2 should be short of CPU and of disk requests")
if cause["6 x 2"] != "cpu.quota" or sizes["6 x 2"]["io_some"] > 0.1:
    wrong.append("6 x 2 should be short of CPU, and of nothing else")
if chosen != "3 x 4":
    wrong.append(f"3 x 4 should be best, not {chosen}")
if not any("was not tested" in it for it in size["answers"]):
    wrong.append("it is not said that the load did not test 4 vCPUs: were others at work on this machine?")
for sentence in wrong:
    print(f"demo-sizing: {sentence}", file=sys.stderr)
sys.exit(1 if wrong else 0)
PYTHON
