#!/usr/bin/env bash
# Spikes whose cause is on another machine, and what they wait for on a third: a script on a, a database on b, the server that
# it asks on c. Each node has a network, processes and a recording of its own, and c's clock is 300 ms off.
#
# demo-chain.sh [SECONDS]   how long it is recorded (150)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
seconds=${1:-150}
ahead_ms=300

if [ "$(id -u)" -ne 0 ]; then
    echo "The demo makes namespaces, and runs a PostgreSQL as another user: sudo make demo-chain" >&2
    exit 1
fi
scripts/need.sh "the demo" compilers postgresql postgresql-server-dev-all util-linux iproute2 python3
if [ -z "${STALLSCOPE:-}" ]; then
    scripts/rust.sh
    cargo build --profile demo -p stallscope --bins
    STALLSCOPE=$(realpath "${CARGO_TARGET_DIR:-target}")/demo/stallscope
fi
out=$PWD/demo-chain-$(date +%Y%m%d-%H%M%S)

folder=$(mktemp -d /var/tmp/demo-chain.XXXXXX)
bridge=stallchain
nodes=()
stop() {
    for pid in "${nodes[@]}"; do kill "$pid" 2>/dev/null || true; done
    wait 2>/dev/null || true
    for node in a b c; do
        ip netns del "$bridge-$node" 2>/dev/null || true
        ip link del "$bridge-$node" 2>/dev/null || true
    done
    ip link del "$bridge" 2>/dev/null || true
    rm -rf "$folder"
}
trap stop EXIT

echo "Building the extension and its server" >&2
bin=$(for it in /usr/lib/postgresql/*/bin; do echo "$it"; done | sort -V | tail -1)
cc -O2 -shared -fPIC -I"$("$bin/pg_config" --includedir-server)" -o "$folder/metadata.so" lab/demo-spikes/metadata.c
cc -O2 -o "$folder/master" lab/demo-spikes/master.c
cp lab/demo-spikes/{deploy-agent,every,sync-permissions} scripts/demo/chain-node.sh "$folder"
cat >"$folder/settings" <<SETTINGS
stallscope=$STALLSCOPE bin=$bin seconds=$seconds address_b=10.213.78.2 address_c=10.213.78.3
SETTINGS
# What is recorded lies where only root may write.
mkdir "$folder/other"
chown nobody "$folder/other"
chmod 755 "$folder"
setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups "$bin/initdb" -D "$folder/other/data" -U postgres -A trust >/dev/null
cat >>"$folder/other/data/postgresql.conf" <<CONF
listen_addresses = '10.213.78.2'
unix_socket_directories = ''
shared_preload_libraries = '$folder/metadata.so'
metadata.server = '10.213.78.3'
metadata.port = 7155
fsync = off
# The database of the story has none. A vacuum of the catalogue invalidates it as a GRANT does, once a minute.
autovacuum = off
CONF
echo "host all all 10.213.78.0/24 trust" >>"$folder/other/data/pg_hba.conf"

echo "Starting three nodes" >&2
ip link add "$bridge" type bridge
ip link set "$bridge" up
number=0
for node in a b c; do
    number=$((number + 1))
    ip netns add "$bridge-$node"
    ip link add "$bridge-$node" type veth peer name eth0 netns "$bridge-$node"
    ip link set "$bridge-$node" master "$bridge" up
    ip -n "$bridge-$node" address add "10.213.78.$number/24" dev eth0
    ip -n "$bridge-$node" link set lo up
    ip -n "$bridge-$node" link set eth0 up
done
# The database before the agent that asks it, and its server before it.
for node in c b a; do
    mkfifo "$folder/start.$node" "$folder/stop.$node"
    nsenter --net="/run/netns/$bridge-$node" unshare --pid --fork --kill-child --mount --mount-proc --uts -- \
        bash "$folder/chain-node.sh" "$folder" "$node" &
    nodes+=($!)
    until [ -e "$folder/$node.ready" ]; do
        kill -0 "${nodes[-1]}" 2>/dev/null || { echo "demo-chain: node $node did not start" >&2; exit 1; }
        sleep 0.1
    done
done
echo "Recording for $seconds s" >&2
for node in a c b; do echo >"$folder/start.$node"; done
wait "${nodes[1]}" || { cat "$folder/b.err" >&2; exit 1; }
for node in a c; do echo >"$folder/stop.$node"; done
wait "${nodes[0]}" "${nodes[2]}" || { cat "$folder"/?.err >&2; exit 1; }

mkdir "$out"
mv "$folder"/?.stall "$out"
# c's clock, as if it had been set wrong: its recording begins so much later by the clock on the wall. A recording's
# description ends in the checksum of what is before it.
python3 - "$out/c.stall/meta.json" "$ahead_ms" <<'PYTHON'
import re, sys, zlib

path, ahead_ms = sys.argv[1:]
later = lambda it: it[1] + str(int(it[2]) + int(ahead_ms) * 1_000_000)
text = re.sub(r'("anchor_realtime_ns": )(\d+)', later, open(path).read())
head = text[: text.rindex('"checksum": "crc32:')]
open(path, "w").write(f'{head}"checksum": "crc32:{zlib.crc32(head.encode()):08x}"\n}}\n')
PYTHON
cd "$out"
echo "The recordings, and what is said of them, are in $out" >&2
"$STALLSCOPE" explain a.stall b.stall c.stall --json report.json -o report.html >report.txt
cat report.txt

python3 - "$ahead_ms" <<'PYTHON'
import json, sys

ahead_ms = float(sys.argv[1])
report = json.load(open("report.json"))
spikes = report.get("spikes") or {"node": "", "report": {"triggers": [], "trains": []}, "elsewhere": []}
said = open("report.txt").read().split("\n\n")[0]
clock = next(it for it in report["clocks"] if it["node"] == "c")
wrong = []
if spikes["node"] != "b":
    wrong.append("the spikes are b's")
trains = spikes["report"]["trains"]
if not trains or abs(trains[0]["period_ns"] / 1e9 - 15) > 0.15:
    wrong.append("the period should be 15 s")
triggers = spikes["report"]["triggers"]
first = triggers[0] if triggers else {}
# A process's name in /proc has 15 letters.
if first.get("node") != "a" or not first.get("name", "").startswith("sync-permission"):
    wrong.append("sync-permissions on a should come first")
if not any(it.get("node") == "c" and "7155" in it["name"] for it in triggers):
    wrong.append("calls of c's port should be among what comes with the spikes")
if not any(it["node"] == "c" and any("master" in one["who"] for one in it["differences"]) for it in spikes.get("elsewhere", [])):
    wrong.append("the server on c should be found at work in them")
if "not known" in said:
    wrong.append("the answer names what starts the spikes, and should not say that nobody knows it")
if clock["least_ns"] is None or not clock["least_ns"] <= ahead_ms * 1e6 <= clock["most_ns"]:
    wrong.append(f"c's clock should be found {ahead_ms:.0f} ms ahead")
for sentence in wrong:
    print(f"demo-chain: {sentence}", file=sys.stderr)
sys.exit(1 if wrong else 0)
PYTHON
