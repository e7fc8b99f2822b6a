#!/usr/bin/env bash
# A database that stands still every 15 s, and nobody knows why: PostgreSQL whose backends fetch the catalogue from one
# server, and a timer whose script grants rights that everybody has.
#
# demo-spikes.sh [SECONDS]   how long it is recorded (150)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
seconds=${1:-150}

if [ "$(id -u)" -ne 0 ]; then
    echo "The demo runs a PostgreSQL of its own as another user: sudo make demo-spikes" >&2
    exit 1
fi
out=${DEMO_OUT:-}
for number in 1 2 3 4 5 6 7 8 9; do
    [ -z "$out" ] || break
    [ -e "demo-spikes-$number.stall" ] || out=demo-spikes-$number.stall
done
[ -n "$out" ] || { echo "There are demo-spikes-1.stall to demo-spikes-9.stall: remove one" >&2 && exit 1; }
scripts/need.sh "the demo" compilers postgresql postgresql-server-dev-all python3
scripts/rust.sh
cargo build --profile demo -p stallscope --bins
stallscope=$(realpath "${CARGO_TARGET_DIR:-target}")/demo/stallscope
source=$PWD/lab/demo-spikes

bin=$(for it in /usr/lib/postgresql/*/bin; do echo "$it"; done | sort -V | tail -1)
place=$(mktemp -d /var/tmp/demo-spikes.XXXXXX)
# What is written as root lies where nobody else may write.
answer=$(mktemp -d)
owner=$(id -u nobody)
pids=()
stop() {
    for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
    as_owner "$bin/pg_ctl" -D "$place/data" -m immediate stop >/dev/null 2>&1 || true
    rm -rf "$place" "$answer"
}
other=(setpriv "--reuid=$owner" "--regid=$owner" --clear-groups)
as_owner() { "${other[@]}" "$@"; }
trap stop EXIT

echo "Building the extension and its server" >&2
"$bin/pg_config" --includedir-server >"$place/include"
cc -O2 -shared -fPIC -I"$(cat "$place/include")" -o "$place/metadata.so" "$source/metadata.c"
cc -O2 -o "$place/master" "$source/master.c"
cp "$source/sync-permissions" "$source/every" "$place"
chown -R "$owner:$owner" "$place"
chmod 755 "$place"

echo "Starting PostgreSQL with 214 tables and 24 clients" >&2
export PGHOST=127.0.0.1 PGPORT=5655 PGUSER=postgres PGDATABASE=postgres
as_owner "$bin/initdb" -D "$place/data" -U postgres -A trust >/dev/null
cat >>"$place/data/postgresql.conf" <<CONF
listen_addresses = '127.0.0.1'
port = $PGPORT
unix_socket_directories = ''
shared_preload_libraries = 'pg_stat_statements,$place/metadata.so'
metadata.port = 7155
fsync = off
# The database of the story has none. A vacuum of the catalogue invalidates it as a GRANT does, once a minute.
autovacuum = off
CONF
# In place of a function, whose shell would be what is stopped.
"${other[@]}" "$place/master" 7155 "$place/calls.log" &
pids+=($!)
as_owner "$bin/pg_ctl" -D "$place/data" -w -l "$place/log" start >/dev/null
seq 1 214 | sed 's/.*/CREATE TABLE orders_& (id int);/' | "$bin/psql" --quiet
"$bin/psql" --quiet -c 'CREATE ROLE reader' -c 'CREATE EXTENSION pg_stat_statements'
"$bin/pgbench" -i -q -s 5 >/dev/null 2>&1
PATH="$place:$bin:$PATH" "${other[@]}" "$place/every" 15 sync-permissions &
pids+=($!)

echo "Recording for $seconds s" >&2
"$stallscope" run --target "port:$PGPORT" --postgres --log "$place/calls.log" -o "$out" -- \
    "$bin/pgbench" -n -S -c 24 -j 2 -R 1000 -T "$seconds"

"$stallscope" explain "$out" --json "$answer/report.json" >/dev/null
python3 - "$answer/report.json" <<'PYTHON'
import json, sys

spikes = json.load(open(sys.argv[1])).get("spikes") or {"trains": [], "triggers": [], "methods": []}
trains, triggers = spikes["trains"], spikes["triggers"]
wrong = []
if not trains or abs(trains[0]["period_ns"] / 1e9 - 15) > 0.15:
    wrong.append("the period should be 15 s")
if not triggers or not triggers[0]["name"].endswith("sync-permissions"):
    wrong.append("sync-permissions should come first")
if not any(it["method"].endswith("GetTableSchema") and it["callee"].endswith(":7155") for it in spikes["methods"]):
    wrong.append("the calls to port 7155 should be found to burst")
for sentence in wrong:
    print(f"demo-spikes: {sentence}", file=sys.stderr)
sys.exit(1 if wrong else 0)
PYTHON
