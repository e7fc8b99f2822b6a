#!/usr/bin/env bash
# A cluster of three to six small nodes, seen through Prometheus alone: four configurations, a rolling restart with cold
# caches, a shard that all ask for, and nodes that leave. `stallscope explain --prometheus` says which was which.
#
# A CPU of a node is a twentieth of one of this machine's: a quota of its control group.
# STALLSCOPE=PATH takes a program that is built already.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [ "$(id -u)" -ne 0 ]; then
    echo "The demo makes networks, disks and control groups: sudo make demo-cluster" >&2
    exit 1
fi
scripts/need.sh "the demo" compilers util-linux iproute2 e2fsprogs postgresql python3 prometheus prometheus-node-exporter
if [ -z "${STALLSCOPE:-}" ]; then
    scripts/rust.sh
    cargo build --profile demo -p stallscope --bins
    STALLSCOPE=$(realpath "${CARGO_TARGET_DIR:-target}")/demo/stallscope
fi
for number in 1 2 3 4 5 6 7 8 9; do
    [ -e "demo-cluster-$number" ] || break
done
out=demo-cluster-$number
[ ! -e "$out" ] || { echo "There are demo-cluster-1 to $out: remove one" >&2 && exit 1; }

unified=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
hierarchy_of() { awk -v of="$1" '$3 == "cgroup" && ("," $4 ",") ~ "," of "," { print $2; exit }' /proc/mounts; }
v1_cpu=$(hierarchy_of cpu) v1_usage=$(hierarchy_of cpuacct) v1_memory=$(hierarchy_of memory) v1_io=$(hierarchy_of blkio)
if [ -z "$unified" ] || [ -z "$v1_cpu" ] || [ -z "$v1_usage" ] || [ -z "$v1_memory" ] || [ -z "$v1_io" ]; then
    echo "The demo needs cgroup v1 (cpu, cpuacct, memory, blkio) with v2 beside it; boot with" \
        "systemd.unified_cgroup_hierarchy=0" >&2
    exit 1
fi
if [ ! -e "$unified/cpu.pressure" ] && ! compgen -G "$unified/*/cpu.pressure" >/dev/null; then
    echo "The demo shows pressure, and this kernel counts none for control groups: boot with psi=1" >&2
    exit 1
fi

if ip -brief address | grep -q ' 10\.213\.77\.'; then
    echo "The demo's nodes are 10.213.77.1 to 10.213.77.6, and this machine has such a network: another demo-cluster?" >&2
    exit 1
fi

nodes=6
bin=$(for it in /usr/lib/postgresql/*/bin; do echo "$it"; done | sort -V | tail -1)
folder=$(mktemp -d /var/tmp/stallscope-demo-XXXXXX)
name=demo-cluster-$$
bridge=demo-$$
disk=$(stat -c '%Hd:%Ld' "$folder")
[ ! -e "/sys/dev/block/$disk/partition" ] || disk=$(cat "/sys/dev/block/$disk/../dev")
if [ ! -e "/sys/dev/block/$disk/queue" ]; then
    echo "The demo limits reads of the disk under /var/tmp, and no single disk is there (device $disk)" >&2
    rmdir "$folder"
    exit 1
fi
running=()
as_owner() { setpriv --reuid postgres --regid postgres --init-groups -- "$@"; }
clean() {
    trap '' INT TERM
    for pid in "${running[@]}"; do
        kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null || true
    done
    [ ! -d "$folder/template" ] || as_owner "$bin/pg_ctl" -w -s -m immediate -D "$folder/template/data" stop >/dev/null 2>&1 || true
    if [ -e "$folder/settings" ]; then
        for number in $(seq "$nodes"); do scripts/demo/cluster-node.sh unmake "$folder" "$number" || true; done
    fi
    umount "$folder/template" 2>/dev/null || true
    ip link del "$bridge" 2>/dev/null || true
    rm -rf --one-file-system "$folder"
}
trap clean EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
chmod 755 "$folder"

cat >"$folder/settings" <<SETTINGS
name='$name' bridge='$bridge' bin='$bin' disk='$disk' unified='$unified'
v1_cpu='$v1_cpu' v1_usage='$v1_usage' v1_memory='$v1_memory' v1_io='$v1_io'
hierarchies='$(printf '%s\n' "$v1_cpu" "$v1_usage" "$v1_memory" "$v1_io" "$unified" | sort -u | tr '\n' ' ')'
# A node's CPU: so much time of each period, us.
period_us=20000 cpu_us=1000
# What a node does without being asked, CPUs of this machine: 1.2 of the node's.
own_cpu=0.06
# Reads per second that a node may do for each of its CPUs: larger machines of a cloud have faster disks.
cpu_reads=45
SETTINGS

echo "Making $nodes nodes" >&2
# The rows of a shard of three, 105 MB; with six nodes half of them are asked for.
truncate -s 400M "$folder/template.img"
mkfs.ext4 -q -b 4096 -m 0 "$folder/template.img"
mkdir "$folder/template"
mount -o loop "$folder/template.img" "$folder/template"
chown postgres "$folder/template"
as_owner "$bin/initdb" -A trust --no-sync -D "$folder/template/data" >/dev/null
cat >>"$folder/template/data/postgresql.conf" <<CONF
fsync = off
autovacuum = off
shared_buffers = 8MB
max_connections = 30
max_wal_size = 64MB
min_wal_size = 32MB
wal_level = minimal
max_wal_senders = 0
max_parallel_workers_per_gather = 0
CONF
echo 'host all all 10.213.77.0/24 trust' >>"$folder/template/data/pg_hba.conf"
as_owner "$bin/pg_ctl" -w -s -l "$folder/template/log" -o "-h '' -k $folder/template" -D "$folder/template/data" start
as_owner createdb -h "$folder/template" bench
as_owner "$bin/pgbench" -q -i -s 7 -h "$folder/template" bench 2>/dev/null
as_owner psql -q -h "$folder/template" -c CHECKPOINT bench
as_owner "$bin/pg_ctl" -w -s -D "$folder/template/data" stop
umount "$folder/template"
rmdir "$folder/template"

ip link add "$bridge" type bridge
ip address add 10.213.77.254/24 dev "$bridge"
ip link set "$bridge" up
for number in $(seq "$nodes"); do scripts/demo/cluster-node.sh make "$folder" "$number"; done

port=$(python3 -c 'import socket; it = socket.socket(); it.bind(("127.0.0.1", 0)); print(it.getsockname()[1])')
{
    printf '%s\n' 'global: { scrape_interval: 2s, scrape_timeout: 2s }' 'scrape_configs:' '- job_name: node' '  static_configs:'
    for number in $(seq "$nodes"); do
        echo "  - { targets: ['10.213.77.$number:9100'], labels: { instance: 'node-$number' } }"
    done
} >"$folder/prometheus.yml"
prometheus --config.file="$folder/prometheus.yml" --storage.tsdb.path="$folder/prometheus" \
    --web.listen-address="127.0.0.1:$port" --log.level=warn >"$folder/prometheus.log" 2>&1 &
running+=($!)

mkdir "$out"
python3 scripts/demo/cluster.py "$folder" >"$out/times" &
running+=($!)
wait $!
unset 'running[-1]'
read -r from to <"$out/times"
rm "$out/times"

# The nodes are control groups, so their sizes are what the quotas are.
echo "cpus = 'node_quota_cpus'" >"$out/names.toml"
echo
(
    set -x
    "$STALLSCOPE" explain --prometheus "http://127.0.0.1:$port" --instance 'node-.*' --from "$from" --to "$to" \
        --metric 'sum(rate(pg_stat_database_xact_commit{datname="bench"}[6s]))' --also 'pg_.*' \
        --names "$out/names.toml" --json "$out/cluster.json" -o "$out/cluster.html"
) 2> >(grep --line-buffered -v '^+ set' >&2)

python3 - "$out/cluster.json" <<'PYTHON'
import json, sys

report = json.load(open(sys.argv[1]))

wrong = []
shapes = [(it["nodes"], it["cpus_each"]) for it in report["configurations"]]
for shape in [(3, 2), (6, 2), (6, 4), (3, 4)]:
    if shape not in shapes:
        wrong.append("no configuration is %d x %d" % shape)
if shapes and shapes[0][1] != 4:
    wrong.append("the best configuration should be one of 4 CPUs each")
first = [it for it in report["phases"] if (it["nodes_present"], it.get("cpus_each")) == (3, 2)]
if not any("io" in limit.split(".") for it in first for limit in it["limits"]):
    wrong.append("I/O should be a limit of 3 x 2, whose data does not fit into its memory")
second = [it for it in report["phases"] if (it["nodes_present"], it.get("cpus_each")) == (6, 2)]
if not any(it["limits"][0].split(".")[0] == "cpu" for it in second):
    wrong.append("CPU should be the limit of 6 x 2")
events = {(kind, node) for it in report["events"] for kind in [it["kind"]] for node in it["nodes"]}
for number in (1, 2, 3):
    if ("cold_cache", f"node-{number}") not in events:
        wrong.append(f"no event says that node-{number} read from a cold cache")
for number in (4, 5, 6):
    if ("left", f"node-{number}") not in events:
        wrong.append(f"no event says that node-{number} left")
if not any(it["node"] == "node-2" and it["value"] > it["others"] for phase in report["phases"] for it in phase["skew"]):
    wrong.append("no phase says that node-2 does more than the others")
for sentence in wrong:
    print(f"demo-cluster: {sentence}", file=sys.stderr)
sys.exit(1 if wrong else 0)
PYTHON
echo "Page: $out/cluster.html; all numbers: $out/cluster.json"
