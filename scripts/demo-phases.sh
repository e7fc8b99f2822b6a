#!/usr/bin/env bash
# One run with three phases and three reasons: a database under a CPU quota is moved to a free host, where its data is
# cold at first. The quota is lifted, and the page cache forgets the data, while the load goes on.
#
# STALLSCOPE=PATH takes a program that is built already.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [ "$(id -u)" -ne 0 ]; then
    echo "The demo gives the database control groups and makes its data cold: sudo make demo-phases" >&2
    exit 1
fi
scripts/need.sh "the demo" compilers util-linux postgresql python3
if [ -z "${STALLSCOPE:-}" ]; then
    scripts/rust.sh
    cargo build --profile demo -p stallscope --bins
    STALLSCOPE=$(realpath "${CARGO_TARGET_DIR:-target}")/demo/stallscope
fi
for number in 1 2 3 4 5 6 7 8 9; do
    [ -e "demo-phases-$number.stall" ] || break
done
out=demo-phases-$number.stall
[ ! -e "$out" ] || { echo "There are demo-phases-1.stall to $out: remove one" >&2 && exit 1; }

# When the database is moved, and how long the load lasts, s.
moved=25 lasts=160
# CPU time of each 100 ms that it may use before, us, and bytes per second that it may read behind it.
quota=4000 reads=16000000
# Millions of rows / 10: 1.5 GB.
scale=100 clients=8

bin=$(for it in /usr/lib/postgresql/*/bin; do echo "$it"; done | sort -V | tail -1)
folder=$(mktemp -d /var/tmp/stallscope-demo-XXXXXX)
data=$folder/data
name=demo-phases-$$
groups=()
load=
stop() {
    [ -z "$load" ] || kill -INT "$load" 2>/dev/null || true
    as_owner "$bin/pg_ctl" -w -s -m immediate -D "$data" stop >/dev/null 2>&1 || true
    sleep 0.2
    for group in "${groups[@]}"; do rmdir "$group" 2>/dev/null || true; done
    rm -rf "$folder"
}
as_owner() { setpriv --reuid postgres --regid postgres --init-groups -- "$@"; }
trap stop EXIT

# A group in each hierarchy where something is limited, and in v2, which has the pressure.
unified=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
hierarchy_of() { awk -v of="$1" '$3 == "cgroup" && ("," $4 ",") ~ "," of "," { print $2; exit }' /proc/mounts; }
v1_cpu=$(hierarchy_of cpu) v1_io=$(hierarchy_of blkio) v1_memory=$(hierarchy_of memory)
for mount in $(printf '%s\n' $v1_cpu $v1_io $v1_memory $unified | sort -u); do
    mkdir "$mount/$name"
    groups+=("$mount/$name")
done
controls() { grep -qw "$1" "$unified/cgroup.subtree_control" || echo "+$1" >"$unified/cgroup.subtree_control"; }
if [ -n "$v1_cpu" ]; then
    # Each task of the root group weighs as much as a whole group.
    echo 8192 >"$v1_cpu/$name/cpu.shares"
    may_run() { echo "${1/max/-1}" >"$v1_cpu/$name/cpu.cfs_quota_us"; }
else
    controls cpu
    may_run() { echo "$1 100000" >"$unified/$name/cpu.max"; }
fi
if [ -n "$v1_io" ]; then
    may_read() { echo "$disk $1" >"$v1_io/$name/blkio.throttle.read_bps_device"; }
else
    controls io
    may_read() { echo "$disk rbps=$1" >"$unified/$name/io.max"; }
fi
disk=$(stat -c '%Hd:%Ld' "$folder")
[ ! -e "/sys/dev/block/$disk/partition" ] || disk=$(cat "/sys/dev/block/$disk/../dev")
if [ ! -e "/sys/dev/block/$disk/queue" ]; then
    echo "The demo limits reads of the disk under /var/tmp, and no single disk is there (device $disk)" >&2
    exit 1
fi

# Rows are asked for as data is in practice: the newer, the more often, so that the cache warms up evenly.
cat >"$folder/select.sql" <<'SQL'
\set aid random_exponential(1, 100000 * :scale, 4.0)
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
SQL
chown -R postgres "$folder"
as_owner "$bin/initdb" -A trust --no-sync -D "$data" >/dev/null
cat >>"$data/postgresql.conf" <<CONF
unix_socket_directories = '$folder'
listen_addresses = ''
port = 5666
fsync = off
autovacuum = off
shared_buffers = 16MB
CONF
(
    for group in "${groups[@]}"; do echo "$BASHPID" >"$group/cgroup.procs"; done
    as_owner "$bin/pg_ctl" -w -s -l "$folder/log" -D "$data" start
)
export PGHOST=$folder PGPORT=5666 PGUSER=postgres PGDATABASE=postgres
echo "Filling the database" >&2
"$bin/pgbench" -q -i -s "$scale" 2>/dev/null
"$bin/psql" -q -c CHECKPOINT
sync -f "$data"

may_run "$quota"
"$STALLSCOPE" run -o "$out" --json "$out.json" -- \
    "$bin/pgbench" -n -M prepared -f "$folder/select.sql" -s "$scale" -c "$clients" -j 2 -T "$lasts" -P 1 &
load=$!
sleep "$moved"
"$STALLSCOPE" mark 'moved to a free host' "$out"
may_run max
may_read "$reads"
# The tables and their indexes: nobody has written to them since.
find "$data/base" -type f -size +1M -exec dd if={} iflag=nocache count=0 status=none \;
wait "$load"
load=

python3 - "$out.json" <<'PYTHON'
import json, sys

report = json.load(open(sys.argv[1]))
phases = [phase for phase in report["phases"] if phase.get("verdict")]
causes = [phase["verdict"]["cause"] for phase in phases]
# Noise of the machine may cut a phase in two; a reason is told once.
reasons = [cause for at, cause in enumerate(causes) if at == 0 or cause != causes[at - 1]]
borders = [phase["change"] for phase in phases if phase.get("change")]
told = {difference["what"] for border in borders for difference in border["differences"]}
# Where the rest of the machine is fast, the ramp is two: as long as nearly everything is read from disk, the limit on
# reads is the reason, and then that less and less is read.
at = reasons.index("cache.cold") if "cache.cold" in reasons else 0
if at > 0 and reasons[at - 1] == "io.throttled":
    del reasons[at - 1]
print(f"\n{len(phases)} phases, {len(reasons)} reasons: {', '.join(reasons)}")
wrong = []
if len(reasons) != 3 or reasons[:2] != ["cpu.quota", "cache.cold"]:
    wrong.append("the reasons should be cpu.quota, cache.cold, and one that is neither")
if "limit.cpu" not in told:
    wrong.append("no border says that the CPU quota was lifted")
if "disk.read" not in told:
    wrong.append("no border says how reads from disk changed")
if not any(border["settled_after_ns"] for border in borders):
    wrong.append("no border says how long throughput took to settle")
for sentence in wrong:
    print(f"demo-phases: {sentence}", file=sys.stderr)
sys.exit(1 if wrong else 0)
PYTHON
