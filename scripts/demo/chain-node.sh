#!/usr/bin/env bash
# One of three nodes, as the first process of its own PID namespace: chain-node.sh FOLDER a|b|c. It starts what runs there, and
# records it from a line in FOLDER/start.NODE on, until one in FOLDER/stop.NODE.
set -euo pipefail
folder=$1 node=$2
# shellcheck source=/dev/null
. "$folder/settings"
hostname "$node"
# The groups are of the whole machine.
mount -t tmpfs none /sys/fs/cgroup
other=(setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups)
export PATH=$folder:$bin:$PATH PGHOST=$address_b PGPORT=5432 PGUSER=postgres PGDATABASE=postgres
record=("$stallscope" record --quiet --no-report -o "$folder/$node.stall")

case $node in
c)
    "${other[@]}" "$folder/master" 7155 "$folder/other/calls.log" "$address_c" &
    record+=(--target port:7155 --log "$folder/other/calls.log")
    ;;
b)
    "${other[@]}" pg_ctl -D "$folder/other/data" -w -s -l "$folder/other/log" start
    seq 1 214 | sed 's/.*/CREATE TABLE orders_& (id int);/' | psql --quiet
    psql --quiet -c 'CREATE ROLE reader'
    pgbench -i -q -s 5 >/dev/null 2>&1
    record=("$stallscope" run --quiet --no-report -o "$folder/b.stall" --target port:5432 --quantiles --
        pgbench -n -S -c 24 -j 2 -R 1000 -P 1 -T "$seconds")
    ;;
a)
    "${other[@]}" "$folder/deploy-agent" 15 sync-permissions 2 &
    record+=(--target name:every)
    ;;
esac
touch "$folder/$node.ready"
read -r <"$folder/start.$node"
"${record[@]}" >"$folder/$node.out" 2>"$folder/$node.err" &
recorder=$!
if [ "$node" != b ]; then
    read -r <"$folder/stop.$node"
    kill -INT "$recorder" || true
fi
wait "$recorder"
